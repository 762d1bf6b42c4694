// SPDX-License-Identifier: Apache-2.0

// Package checks holds an installation that runs to what the demo promises: the inventory of
// config/samples/demo is complete and correct, its documents are valid, metrics are served to
// those who may read them only, and the RBAC that was installed was enough.
package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

const (
	pollInterval = 250 * time.Millisecond
	// quietTime is how long the manager must have written nothing before an AIBOM that is
	// not there counts as absent, and not as late.
	quietTime = 3 * time.Second
)

// Checks names the installation that is looked at.
type Checks struct {
	// Plane is the control plane.
	Plane *harness.ControlPlane
	// Client reads as the administrator.
	Client client.Client
	// Manager is the manager that runs as the ServiceAccount that was installed.
	Manager *harness.ManagerProcess
	// Since is when the manager was started.
	Since harness.Mark
	// Timeout is how long the inventory may take to be complete.
	Timeout time.Duration
	// Out is the folder that documents are written to.
	Out string
	// Say tells of progress.
	Say func(format string, args ...any)
}

// Run makes every check and returns the paths of the documents.
func (c Checks) Run(ctx context.Context) ([]string, error) {
	expected, err := listExpectations(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	c.Say("waiting for the inventory of %d workloads", len(expected))
	aiboms, err := c.awaitInventory(ctx, expected)
	if err != nil {
		return nil, err
	}
	c.Say("the inventory is complete, and what is no AI workload is not in it")

	paths, err := writeDocuments(c.Out, aiboms)
	if err != nil {
		return nil, err
	}
	c.Say("%d documents are valid against the CycloneDX schema", len(paths))
	if err := c.metrics(ctx); err != nil {
		return nil, err
	}
	return paths, c.requests()
}

// awaitInventory returns the inventory once nothing in it differs from what is expected and
// the manager has come to rest. The error names every difference that is left.
func (c Checks) awaitInventory(ctx context.Context, expected []expectation) ([]v1beta1.AIBOM, error) {
	var list v1beta1.AIBOMList
	var differences []string
	writes, since := -1, time.Now()
	err := wait.PollUntilContextTimeout(ctx, pollInterval, c.Timeout, true, func(ctx context.Context) (bool, error) {
		if !c.managerRuns() {
			return false, errors.New("the manager ended")
		}
		if err := c.Client.List(ctx, &list); err != nil {
			return false, err
		}
		differences = compare(expected, list.Items)
		done, err := c.Plane.Requests(c.Since, harness.Filter{User: harness.ManagerUser, WritesOnly: true, Resource: "aiboms"})
		if err != nil {
			return false, err
		}
		if len(done) != writes {
			writes, since = len(done), time.Now()
		}
		return len(differences) == 0 && time.Since(since) >= quietTime, nil
	})
	if err == nil {
		return list.Items, nil
	}
	if len(differences) == 0 {
		return nil, fmt.Errorf("the inventory did not come to rest: %w", err)
	}
	return nil, fmt.Errorf("the inventory is not as expected: %w\n  %s", err, strings.Join(differences, "\n  "))
}

// checkRequests reads from the API server's audit log what the manager asked for.
func (c Checks) requests() error {
	all, err := c.Plane.Requests(c.Since, harness.Filter{User: harness.ManagerUser})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("the audit log has no request of %s", harness.ManagerUser)
	}
	var writes int
	var refused []string
	for _, request := range all {
		if request.IsWrite() && request.ObjectRef.Resource == "aiboms" {
			writes++
		}
		if request.ResponseStatus.Code == 403 {
			refused = append(refused, request.String())
		}
	}
	if len(refused) > 0 {
		return fmt.Errorf("the RBAC that ships refused the manager %d of %d requests:\n  %s",
			len(refused), len(all), strings.Join(refused, "\n  "))
	}
	c.Say("the manager made %d requests, %d of them writes of AIBOMs; none was refused", len(all), writes)
	return nil
}

func (c Checks) managerRuns() bool {
	select {
	case <-c.Manager.Exited():
		return false
	default:
		return true
	}
}

func (c Checks) kubectl(ctx context.Context, args ...string) error {
	_, _, err := c.Plane.Kubectl(ctx, args...)
	return err
}
