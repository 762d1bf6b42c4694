// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// CheckURL says whether a URL can be the base of an HTTP sink: absolute, https (http for a
// loopback host only), and free of credentials, query and fragment. The error never repeats
// the URL, because what makes it wrong may be a secret.
func CheckURL(raw string) error {
	_, err := parseURL(raw)
	return err
}

func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("must be a URL, for example https://boms.example.com/aibom")
	}
	if u.User != nil {
		return nil, errors.New("must not hold a user name or password; use bearerTokenSecretRef")
	}
	if u.Hostname() == "" {
		return nil, errors.New("must name a host, for example https://boms.example.com/aibom")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("must not have a query or fragment; use bearerTokenSecretRef for credentials")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, errors.New("must use https (http is accepted for localhost only)")
	}
	return u, nil
}

// loopback decides by the written host alone; a name other than localhost could resolve to
// anything by the time it is used.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
