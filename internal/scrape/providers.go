// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// provider is what LiteLLM writes before a model's name to say who answers. See
// https://docs.litellm.ai/docs/providers
type provider struct {
	Prefix string `json:"prefix"`
	// Service is the hosted API that the prefix means; where there is none it may be a server of one's own.
	Service string `json:"service,omitempty"`
	// Models are beginnings of what must follow, and Repository says that it must be an
	// owner/name, where the prefix alone might be an owner itself.
	Models     []string `json:"models,omitempty"`
	Repository bool     `json:"repository,omitempty"`
}

// withoutProvider is the model's own name in a name for LiteLLM, and the prefix that was before
// it; there is none where the prefix may be a part of the name.
func withoutProvider(name string) (string, *provider) {
	if len(name) > maxNameBytes || !strings.Contains(name, "/") {
		return name, nil
	}
	for i := range patterns.ModelProviders {
		p := &patterns.ModelProviders[i]
		rest, found := strings.CutPrefix(name, p.Prefix)
		if !found || rest == "" || isPlaceholder(rest) {
			continue
		}
		if (p.Repository && !hubName.MatchString(rest)) || (len(p.Models) > 0 && !beginsWith(p.Models, strings.ToLower(rest))) {
			continue
		}
		return rest, p
	}
	return name, nil
}

// withoutProvider is the model under its own name.
func (m model) withoutProvider() model {
	text, p := withoutProvider(m.value.text)
	if p == nil || (m.role != evidence.RoleServed && m.role != evidence.RoleCalled) {
		return m
	}
	m.value.text, m.role, m.provided = text, evidence.RoleCalled, true
	return m
}
