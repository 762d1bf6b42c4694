// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readDisaggregatedSet reads a DisaggregatedSet: a LeaderWorkerSet for each of its roles. See
// https://lws.sigs.k8s.io
func readDisaggregatedSet(g *group, object field) error {
	spec := object.get("spec")
	roles, err := spec.get("roles").items()
	switch {
	case !spec.get("roles").present():
		return errors.New("spec.roles is missing")
	case err != nil && roles == nil:
		return err
	}
	g.fail(err)
	g.set(evidence.PropDisaggregatedSetSlices, spec.get("slices"))
	for _, role := range roles {
		if err := readDisaggregatedRole(g, role); err != nil {
			g.fail(err)
		}
	}
	return nil
}

func readDisaggregatedRole(g *group, role field) error {
	if err := role.object(); err != nil {
		return err
	}
	name, spec := role.get("name").text(), role.get("spec")
	parts, err := readLeaderAndWorker(g, spec)
	if err != nil {
		return err
	}
	for _, p := range parts {
		p.describe(evidence.PropDisaggregatedSetRole, name)
	}
	g.set(evidence.PropDisaggregatedSetRole, role.get("name"))
	g.setOfRole(evidence.PropDisaggregatedSetSize, name, spec.get("leaderWorkerTemplate", "size"))
	g.setOfRole(evidence.PropDisaggregatedSetReplicas, name, spec.get("replicas"))
	return nil
}

// setOfRole records a property of one role.
func (g *group) setOfRole(property, role string, f field) {
	if value := f.scalar(); value != "" {
		g.properties = append(g.properties, evidence.Property{Name: property, Value: role + "=" + value})
	}
}
