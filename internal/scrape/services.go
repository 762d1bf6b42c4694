// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// recogniseServices looks for the keys and addresses of hosted model APIs. The value of a
// key is never looked at. An address elsewhere than at the provider says that the provider's
// protocol is spoken with another server, so the key alone then shows nothing.
func (c *container) recogniseServices(invocations []invocation) {
	found := map[string]*evidence.Finding{}
	var order []string
	add := func(name, endpoint string, confidence evidence.Confidence, at evidence.Evidence) {
		f, ok := found[name]
		if !ok {
			f = &evidence.Finding{
				Type: evidence.TypeService, Name: name, Container: c.name, Confidence: confidence,
			}
			found[name] = f
			order = append(order, name)
		}
		if endpoint != "" {
			f.Endpoint, f.Confidence = endpoint, confidence
		}
		f.Evidence = appendEvidence(f.Evidence, at)
	}

	elsewhere := map[*service]bool{}
	for _, name := range c.env.order {
		s, v := index.serviceURLs[name], c.env.variables[name]
		host := hostOf(v.value)
		if (s == nil && !index.endpoints[name]) || !v.known() || host == "" {
			// An address that lies where it cannot be read leaves the provider a guess.
			continue
		}
		owner := ownerOf(host)
		if owner != nil {
			add(owner.Name, v.value, evidence.Declared, v.evidence[0])
		}
		if s != nil && owner != s {
			elsewhere[s] = true
		}
	}
	for _, name := range c.env.order {
		s, v := serviceOfKey(name), c.env.variables[name]
		if shared := index.sharedKeys[name]; shared != nil && c.speaksWith(shared, invocations) {
			s = shared
		}
		if s == nil || elsewhere[s] || isOff(v) {
			continue
		}
		add(s.Name, "", evidence.Inferred, v.evidence[0])
	}
	for _, name := range order {
		c.services = append(c.services, *found[name])
	}
	if len(order) > 0 {
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
	}
}

// serviceOfKey is the service that a key of this name opens: a name that is known, or one with a
// prefix of its own, as in SPRING_AI_OPENAI_API_KEY. Prefixes that speak of a server of one's
// own say that only the protocol is the provider's.
func serviceOfKey(name string) *service {
	if s := index.serviceKeys[name]; s != nil {
		return s
	}
	first, rest, found := strings.Cut(name, "_")
	if index.ownServers[first] {
		return nil
	}
	for found {
		if s := index.serviceKeys[rest]; s != nil && strings.HasSuffix(rest, "KEY") {
			return s
		}
		_, rest, found = strings.Cut(rest, "_")
	}
	return nil
}

// speaksWith says whether something but a key suggests that the service is called.
func (c *container) speaksWith(s *service, invocations []invocation) bool {
	for _, p := range c.products {
		if p.Category == evidence.CategoryAgent {
			return true
		}
	}
	for _, inv := range invocations {
		for _, w := range inv.installedPackages() {
			if slices.Contains(s.Packages, packageOf(w)) {
				return true
			}
		}
	}
	for _, name := range c.env.order {
		if _, isModel := patterns.ModelEnv[name]; isModel && matchesGlob(s.Models, c.env.variables[name].value) {
			return true
		}
	}
	return false
}

// isOff says whether a variable is there without saying yes.
func isOff(v variable) bool {
	return v.known() && (v.value == "" || v.value == "0" || strings.EqualFold(v.value, "false"))
}

// hostOf is the host in an address, with or without a scheme.
func hostOf(address string) string {
	if !strings.Contains(address, "://") {
		address = "//" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// ownerOf is the provider that a host name belongs to.
func ownerOf(host string) *service {
	for i := range patterns.Services {
		for _, h := range patterns.Services[i].Hosts {
			if ok, err := path.Match(h, host); err == nil && ok {
				return &patterns.Services[i]
			}
		}
	}
	return nil
}
