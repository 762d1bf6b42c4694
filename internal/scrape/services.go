// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"net/url"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// recogniseServices looks for the keys and addresses of hosted model APIs. The value of a
// key is never looked at. An address elsewhere than at the provider says that the provider's
// protocol is spoken with another server, so the key alone then shows nothing.
func (c *container) recogniseServices() {
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

	elsewhere := map[string]bool{}
	for _, name := range c.env.order {
		s, v := index.serviceURLs[name], c.env.variables[name]
		if s == nil {
			continue
		}
		host := hostOf(v.value)
		if !v.known() || host == "" {
			// The address lies where it cannot be read, so the provider stays a guess.
			continue
		}
		if owner := ownerOf(host); owner != nil {
			add(owner.Name, v.value, evidence.Declared, v.evidence[0])
			elsewhere[s.Name] = elsewhere[s.Name] || owner != s
			continue
		}
		elsewhere[s.Name] = true
	}
	for _, name := range c.env.order {
		s := index.serviceKeys[name]
		if s == nil || elsewhere[s.Name] {
			continue
		}
		add(s.Name, "", evidence.Inferred, c.env.variables[name].evidence[0])
	}
	for _, name := range order {
		c.services = append(c.services, *found[name])
	}
	if len(order) > 0 {
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
	}
}

func hostOf(address string) string {
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
			if host == h || (strings.ContainsAny(h[:1], ".-") && strings.HasSuffix(host, h)) {
				return &patterns.Services[i]
			}
		}
	}
	return nil
}
