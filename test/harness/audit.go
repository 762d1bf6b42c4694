// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// auditPolicy records every request once it is answered, and watches also when they begin.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
`

// Stages of an audit event, as audit.k8s.io/v1 names them.
const (
	stageStarted  = "ResponseStarted"
	stageComplete = "ResponseComplete"
	stagePanic    = "Panic"
	watchVerb     = "watch"
)

// AuditEvent holds the fields of an audit.k8s.io/v1 Event that specs ask for.
type AuditEvent struct {
	AuditID    string `json:"auditID"`
	Stage      string `json:"stage"`
	Verb       string `json:"verb"`
	RequestURI string `json:"requestURI"`
	UserAgent  string `json:"userAgent"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	// ObjectRef is empty for requests that are not for a resource, such as /version.
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		APIVersion  string `json:"apiVersion"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	StageTimestamp time.Time `json:"stageTimestamp"`
}

// IsWrite is true for every verb that can change something.
func (e AuditEvent) IsWrite() bool {
	switch e.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// String is the event in a line, for failure messages.
func (e AuditEvent) String() string {
	return fmt.Sprintf("%s %s %s %d", e.User.Username, e.Verb, e.RequestURI, e.ResponseStatus.Code)
}

// Short is the request without who made it and its answer, such as
// "patch aiboms/status deployment-llm".
func (e AuditEvent) Short() string {
	resource := e.ObjectRef.Resource
	if resource == "" {
		return e.Verb + " " + e.RequestURI
	}
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	return e.Verb + " " + resource + " " + e.ObjectRef.Name
}

// counts is true for the one event by which a request is counted. A watch counts when it
// begins, so that one that began before a mark and ended after it is not a new request; a
// request that authentication refused has no later event than ResponseStarted.
func (e AuditEvent) counts() bool {
	if e.Verb == watchVerb {
		return e.Stage == stageStarted
	}
	return e.Stage == stageComplete || e.Stage == stagePanic ||
		e.Stage == stageStarted && e.ResponseStatus.Code == http.StatusUnauthorized
}

// Filter says which requests are asked for. An empty field matches everything.
type Filter struct {
	// User is the exact user name, see ServiceAccountUser.
	User string
	// Verb is the API's verb: get, list, watch, create, update, patch, delete and so on.
	Verb string
	// Resource is the plural name of the resource, without its subresource.
	Resource string
	// Namespace and Name are those of the object.
	Namespace, Name string
	// Code is the HTTP status of the answer.
	Code int
	// WritesOnly leaves reads out.
	WritesOnly bool
}

// ServiceAccountUser is the user name of a ServiceAccount.
func ServiceAccountUser(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}

func (f Filter) matches(e AuditEvent) bool {
	return (f.User == "" || f.User == e.User.Username) &&
		(f.Verb == "" || f.Verb == e.Verb) &&
		(f.Resource == "" || f.Resource == e.ObjectRef.Resource) &&
		(f.Namespace == "" || f.Namespace == e.ObjectRef.Namespace) &&
		(f.Name == "" || f.Name == e.ObjectRef.Name) &&
		(f.Code == 0 || f.Code == e.ResponseStatus.Code) &&
		(!f.WritesOnly || e.IsWrite())
}

// Mark is a point in the audit log, in bytes from its beginning. The zero Mark is the
// beginning.
type Mark int64

// Mark returns the present end of the audit log. The API server writes the event of a request
// before it finishes the response, so what a client was answered before lies before the mark.
func (cp *ControlPlane) Mark() (Mark, error) {
	_, end, err := cp.readAudit(0)
	return end, err
}

// Requests returns the requests since the mark that match the filter, in the order in which
// they were answered (watches: in which they began), each once.
func (cp *ControlPlane) Requests(since Mark, filter Filter) ([]AuditEvent, error) {
	content, _, err := cp.readAudit(since)
	if err != nil {
		return nil, err
	}
	return parseAudit(content, filter)
}

// readAudit returns the whole lines from the mark on and the mark after them. The last line
// is left out while it has no end: the API server is writing it.
func (cp *ControlPlane) readAudit(since Mark) ([]byte, Mark, error) {
	file, err := os.Open(cp.AuditLogPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, since, nil
	}
	if err != nil {
		return nil, since, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.NewSectionReader(file, int64(since), 1<<62))
	if err != nil {
		return nil, since, err
	}
	content = content[:bytes.LastIndexByte(content, '\n')+1]
	return content, since + Mark(len(content)), nil
}

func parseAudit(content []byte, filter Filter) ([]AuditEvent, error) {
	var events []AuditEvent
	seen := map[string]bool{}
	for line := range bytes.Lines(content) {
		var event AuditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("audit log: %w: %s", err, line)
		}
		if !event.counts() || seen[event.AuditID] {
			continue
		}
		seen[event.AuditID] = true
		if filter.matches(event) {
			events = append(events, event)
		}
	}
	return events, nil
}

// AuditLogPath is where the audit log lies.
func (cp *ControlPlane) AuditLogPath() string { return filepath.Join(cp.logDir, "audit.log") }

func (cp *ControlPlane) configureAudit(flags *envtest.Arguments) error {
	policy := filepath.Join(cp.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	// A log of an earlier run in the same folder is not about this control plane.
	if err := os.RemoveAll(cp.AuditLogPath()); err != nil {
		return err
	}
	flags.Set("audit-policy-file", policy)
	flags.Set("audit-log-path", cp.AuditLogPath())
	flags.Set("audit-log-mode", "blocking")
	// In MiB: never rotated, so that offsets stay valid.
	flags.Set("audit-log-maxsize", "1048576")
	return nil
}
