// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"cmp"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

const (
	// maxSlug is how many bytes of a name a bom-ref shows.
	maxSlug = 80
	// refDigits is how many hexadecimal digits make a bom-ref unique.
	refDigits = 16
)

// refOf is a finding's bom-ref: its type and name for the reader, and a hash of what makes it
// the fact that it is. It does not depend on the other findings.
func refOf(f evidence.Finding) string {
	id := identityOf(f)
	return string(f.Type) + ":" + slug(f.Name) + "#" + digestOf(id)[:refDigits]
}

// workloadRef is the workload's bom-ref.
func workloadRef(w evidence.Workload) string {
	return "workload:" + slug(strings.ToLower(w.Kind)+"/"+w.Namespace+"/"+w.Name)
}

// slug makes a name readable in any tool: whatever is not common in names becomes a dash.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._/:@-", r):
			return r
		}
		return '-'
	}, cutAt(s, maxSlug))
}

// dependencies draws the graph: the workload uses its runtimes and images; these use the
// models, data, devices and services of their containers. What belongs to no known container
// belongs to the workload. Every node is listed, and the lists are sorted.
func dependencies(r evidence.Report) []cdx.Dependency {
	root := workloadRef(r.Workload)
	edges := map[string][]string{}
	users := usersByContainer(r.Findings)
	for _, f := range r.Findings {
		ref := refOf(f)
		if isUser(f) || len(users[f.Container]) == 0 {
			edges[root] = append(edges[root], ref)
			continue
		}
		for _, user := range users[f.Container] {
			edges[user] = append(edges[user], ref)
		}
	}
	nodes := []string{root}
	for _, f := range r.Findings {
		nodes = append(nodes, refOf(f))
	}
	list := make([]cdx.Dependency, 0, len(nodes))
	for _, node := range nodes {
		list = append(list, cdx.Dependency{
			Ref:          node,
			Dependencies: optional(sortedSet(edges[node], cmp.Compare[string])),
		})
	}
	return list
}

// isUser says whether a finding is a program that uses other things.
func isUser(f evidence.Finding) bool {
	return f.Type == evidence.TypeContainer || f.Type == evidence.TypeRuntime || f.Type == evidence.TypeFramework
}

// usersByContainer maps the names of containers to the bom-refs of the programs in them.
func usersByContainer(findings []evidence.Finding) map[string][]string {
	users := map[string][]string{}
	for _, f := range findings {
		if !isUser(f) {
			continue
		}
		containers := []string{f.Container}
		if f.Type == evidence.TypeContainer {
			containers = valuesOf(f.Properties, evidence.PropContainerName)
		}
		for _, c := range containers {
			if c != "" {
				users[c] = append(users[c], refOf(f))
			}
		}
	}
	return users
}
