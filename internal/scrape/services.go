// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"net/url"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// recogniseServices looks for the keys and addresses of hosted model APIs. The value of a
// key is never looked at, but for whether it says that there is none. An address elsewhere than at the provider says that the provider's
// protocol is spoken with another server, so the key alone then shows nothing.
func (c *container) recogniseServices(invocations []invocation) {
	f := &serviceFindings{container: c.name, found: map[string]*evidence.Finding{}, off: map[*service]bool{}, unused: map[*service]bool{}}
	c.readSwitches(f)
	c.readAddresses(f)
	for _, name := range c.env.order {
		s, v := serviceOfKey(name), c.env.variables[name]
		if shared := index.sharedKeys[name]; shared != nil && c.speaksWith(shared, invocations) {
			s = shared
		}
		if s != nil && c.opensOther(name, s) {
			continue
		}
		if s == nil {
			s = serviceOfModel(name, v)
		}
		if s != nil && !f.off[s] && !f.unused[s] && !isOff(v) {
			f.add(s, "", v.evidence[0])
		}
	}
	for _, name := range f.order {
		c.services = append(c.services, *f.found[name])
	}
	if len(f.order) > 0 {
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
	}
}

// serviceFindings are the hosted APIs of a container.
type serviceFindings struct {
	container string
	found     map[string]*evidence.Finding
	order     []string
	// off are those that a switch says are not used, and unused those whose key shows nothing.
	off, unused map[*service]bool
}

// add reports the service: declared by its address, inferred by anything else.
func (f *serviceFindings) add(s *service, address string, at evidence.Evidence) {
	found, ok := f.found[s.Name]
	if !ok {
		found = &evidence.Finding{Type: evidence.TypeService, Name: s.Name, Container: f.container, Confidence: evidence.Inferred}
		f.found[s.Name] = found
		f.order = append(f.order, s.Name)
	}
	if address != "" {
		found.Endpoint, found.Confidence = address, evidence.Declared
	}
	found.Evidence = appendEvidence(found.Evidence, at)
}

// readSwitches reads the variables that say which API is used. A switch that is on says so even
// where the address is still to be filled in.
func (c *container) readSwitches(f *serviceFindings) {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		s := index.switches[name]
		if s != nil && isOff(v) {
			f.off[s] = f.off[s] || v.value != ""
			continue
		}
		if index.providerEnv[name] {
			s = index.providerNames[strings.ToLower(v.value)]
			if s != nil && s.Protocol {
				continue // it names the protocol, which any server may speak
			}
		}
		if s == nil {
			continue
		}
		f.add(s, "", v.evidence[0])
		if v.known() && s.InsteadOf != "" {
			f.unused[index.services[s.InsteadOf]] = true
		}
	}
}

// readAddresses reads the variables that hold an API's address, or that of a server of one's own
// which speaks the same protocol.
func (c *container) readAddresses(f *serviceFindings) {
	ownProtocol := false
	for _, name := range c.env.order {
		if v := c.env.variables[name]; v.known() {
			ownProtocol = c.readAddress(f, name, v) || ownProtocol
		} else if s := serviceOfAddress(name); s != nil && slices.Contains(s.OwnURLs, name) && !f.off[s] {
			// An address that cannot be read leaves the provider a guess, unless only one has such.
			f.add(s, "", v.evidence[0])
		}
	}
	if ownProtocol {
		c.readOwnProtocol(f)
	}
	for i := range patterns.Services {
		if s := &patterns.Services[i]; len(s.Servers) > 0 && c.hasOnlyOwn(s) {
			f.unused[s] = true
		}
	}
}

// readAddress reads one that is known, and says whether it is that of a server of one's own which
// speaks a provider's protocol.
func (c *container) readAddress(f *serviceFindings, name string, v variable) (ownProtocol bool) {
	host, s := hostOf(v.value), serviceOfAddress(name)
	named := s != nil || mayNameModelServer(name)
	asks := asksModel(v.value)
	isAddress := named || asks || (strings.Contains(v.value, "://") && endsLikeAddress(name))
	if host == "" || !isAddress {
		return false
	}
	owner := ownerOf(host, named || asks)
	if owner != nil && !f.off[owner] {
		f.add(owner, target(v.value), v.evidence[0])
	}
	if s != nil && owner != s {
		f.unused[s] = true
	}
	return owner == nil && s == nil && named && speaksProtocol(v.value)
}

// hasOnlyOwn says whether the servers of the service's models are there, and none is the provider's.
func (c *container) hasOnlyOwn(s *service) bool {
	own := false
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if !v.known() || !matchesGlob(s.Servers, name) {
			continue
		}
		if v.value == "" || ownerOf(hostOf(v.value), true) == s {
			return false
		}
		own = true
	}
	return own
}

// readOwnProtocol notes that a server of one's own speaks a provider's protocol, for which its
// clients want some key, unless a model that only the provider has is named as well.
func (c *container) readOwnProtocol(f *serviceFindings) {
	for i := range patterns.Services {
		if s := &patterns.Services[i]; s.Protocol && !c.namesModelOf(s) {
			f.unused[s] = true
		}
	}
}

// minPrefixed is how long the first word of a key's name must be to be told from the end of
// somebody's own name, as in ACME_CO_API_KEY.
const minPrefixed = 4

// serviceOfKey is the service that a key of this name opens: a name that is known, or one with a
// prefix of its own, as in SPRING_AI_OPENAI_API_KEY. Prefixes that speak of a server of one's
// own say that only the protocol is the provider's.
func serviceOfKey(name string) *service {
	if s := index.serviceKeys[name]; s != nil {
		return s
	}
	if strings.Contains(name, "__") { // a section and its key in .NET's way
		return index.squashedKeys[squash(name)]
	}
	key, ok := ownTail(name, func(rest string) bool {
		return strings.HasSuffix(rest, "KEY") && strings.IndexByte(rest, '_') >= minPrefixed && index.serviceKeys[rest] != nil
	})
	if !ok {
		return nil
	}
	return index.serviceKeys[key]
}

// serviceOfAddress is the service whose address a variable of this name holds, as serviceOfKey has it.
func serviceOfAddress(name string) *service {
	if s := index.serviceURLs[name]; s != nil {
		return s
	}
	rest, _ := ownTail(name, func(rest string) bool { return index.serviceURLs[rest] != nil })
	return index.serviceURLs[rest]
}

// ownTail is tail, unless the name begins like those of variables about a server of one's own.
func ownTail(name string, is func(string) bool) (string, bool) {
	first, _, _ := strings.Cut(name, "_")
	if index.ownServers[first] {
		return "", false
	}
	return tail(name, is)
}

// squash is the name without regard to case and to what stands between its words.
func squash(name string) string {
	return strings.ReplaceAll(strings.ToUpper(name), "_", "")
}

// serviceOfModel is the service that the name of a model for LiteLLM speaks of.
func serviceOfModel(name string, v variable) *service {
	_, known := patterns.ModelEnv[name]
	if !v.known() || (!known && !endsLikeModel(name)) {
		return nil
	}
	if _, p := withoutProvider(v.value); p != nil {
		return index.services[p.Service]
	}
	return nil
}

// speaksWith says whether something but a shared key suggests that the service is called.
func (c *container) speaksWith(s *service, invocations []invocation) bool {
	for _, inv := range invocations {
		for _, w := range inv.installedPackages() {
			if slices.Contains(s.Packages, packageOf(w)) {
				return true
			}
		}
	}
	has := func(is func(name string) bool) bool { return slices.ContainsFunc(c.env.order, is) }
	if c.namesModelOf(s) || has(func(name string) bool { return beginsWith(s.Companions, name) }) {
		return true
	}
	if s.BesideOthers && has(func(name string) bool { return c.hasKeyOfOther(name, s) }) {
		return true
	}
	if !s.ByName || has(func(name string) bool { return matchesGlob(s.OtherUses, name) }) {
		return false
	}
	return c.isNamedLikeAssistant(invocations) || slices.ContainsFunc(c.products, func(p *product) bool {
		return p.Category == evidence.CategoryAgent && !p.Tool
	})
}

// namesModelOf says whether a variable names one of the service's models.
func (c *container) namesModelOf(s *service) bool {
	return slices.ContainsFunc(c.env.order, func(name string) bool {
		_, isModel := patterns.ModelEnv[name]
		return (isModel || endsLikeModel(name)) && matchesGlob(s.Models, c.env.variables[name].value)
	})
}

// hasKeyOfOther says whether the variable is a key for another hosted API.
func (c *container) hasKeyOfOther(name string, s *service) bool {
	other := serviceOfKey(name)
	return other != nil && other != s && !isOff(c.env.variables[name]) && !c.opensOther(name, other)
}

// isOff says whether a variable is there without saying yes.
func isOff(v variable) bool { return v.off || (v.known() && saysNo(v.value)) }

// saysNo says whether a value is there to say that there is none.
func saysNo(value string) bool {
	switch strings.ToLower(value) {
	case "", "0", "false", "no", "off", "none", "disabled":
		return true
	}
	return false
}

// hostOf is the host in an address, with or without a scheme.
func hostOf(address string) string {
	address = clip(address, maxNameBytes)
	if !strings.Contains(address, "://") {
		address = "//" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// ownerOf is the provider that a host name belongs to, in a variable that speaks of models or not.
func ownerOf(host string, speaksOfModels bool) *service {
	for i := range patterns.Services {
		s := &patterns.Services[i]
		if matchesGlob(s.Hosts, host) || (speaksOfModels && matchesGlob(s.SharedHosts, host)) {
			return s
		}
	}
	return nil
}
