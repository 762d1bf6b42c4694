// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strings"
)

// neighbours are what variables say about the names that keys begin with: those that have a secret beside
// the key, which no model API wants, and the hosts of addresses. Names are squashed.
type neighbours struct {
	secrets map[string]bool
	hosts   map[string][]string
}

// maxHosts is how many hosts of one name are kept.
const maxHosts = 8

// keyEndings end the names of keys behind the name of what they open, and secretEndings those of the
// secrets that some services want beside the key.
var (
	keyEndings    = []string{"APIKEY", "KEY", "APITOKEN", "AUTHTOKEN"}
	secretEndings = []string{"APISECRET", "SECRET"}
)

// socketEndings end the names of addresses at which exchanges and the like are listened to, and no model is asked.
var socketEndings = []string{"WS_URL", "WEBSOCKET_URL"}

// readNeighbours reads them once, in the order of the variables.
func (c *container) readNeighbours() *neighbours {
	n := &neighbours{secrets: map[string]bool{}, hosts: map[string][]string{}}
	for _, name := range c.env.order {
		squashed, v := squash(clip(name, maxNameBytes)), c.env.variables[name]
		for _, ending := range secretEndings {
			if owner, ok := strings.CutSuffix(squashed, ending); ok {
				n.secrets[owner] = true
			}
		}
		host := remoteHost(v)
		if host == "" {
			continue
		}
		for _, ending := range index.squashedEndings {
			if owner, ok := strings.CutSuffix(squashed, ending); ok && index.serviceKeys[name] == nil {
				n.add(owner, host)
			}
		}
		if domain, ok := strings.CutPrefix(host, "api."); ok && !isOwn(host) {
			name, _, _ := strings.Cut(domain, ".")
			n.add(squash(name), host)
		}
	}
	return n
}

func (n *neighbours) add(owner, host string) {
	if len(n.hosts[owner]) < maxHosts {
		n.hosts[owner] = append(n.hosts[owner], host)
	}
}

// remoteHost is the host in a variable that holds an address elsewhere: one with a scheme or a domain.
func remoteHost(v variable) string {
	if !v.known() || len(v.value) > maxNameBytes || isPlaceholder(v.value) || !strings.ContainsAny(v.value, ".:") {
		return ""
	}
	host := hostOf(v.value)
	ip := ipOf(host)
	if host == "localhost" || ip.IsUnspecified() || ip.IsLoopback() || (!strings.Contains(v.value, "://") && !strings.Contains(host, ".")) {
		return ""
	}
	return host
}

// opensOther says so of a key of the container's.
func (c *container) opensOther(key string, s *service) bool {
	if c.neighbours == nil {
		c.neighbours = c.readNeighbours()
	}
	return c.neighbours.opensOther(key, s)
}

// opensOther says whether the key opens something else that is called like the service, as GEMINI_API_KEY
// does beside GEMINI_API_SECRET, an address elsewhere in GEMINI_WS_URL, or an address at api.gemini.com anywhere.
// A service whose protocol others speak, or which can be one's own, has rules of its own.
func (n *neighbours) opensOther(key string, s *service) bool {
	if s.Protocol || len(s.Servers) > 0 {
		return false
	}
	owner := squash(key)
	ends := slices.IndexFunc(keyEndings, func(ending string) bool { return strings.HasSuffix(owner, ending) })
	if ends < 0 {
		return false
	}
	owner = strings.TrimSuffix(owner, keyEndings[ends])
	return n.secrets[owner] || slices.ContainsFunc(n.hosts[owner], func(host string) bool { return !s.isAt(host) })
}

// isAt says whether the host is in one of the service's domains, or is that of another model API, which
// may hand requests on.
func (s *service) isAt(host string) bool {
	if ownerOf(host, true) != nil {
		return true
	}
	return slices.ContainsFunc(slices.Concat(s.Hosts, s.SharedHosts), func(own string) bool {
		labels := strings.Split(own, ".")
		domain := strings.Join(labels[max(0, len(labels)-2):], ".")
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}
