// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// Disturbance says which requests a Proxy does not pass on, and what becomes of them.
type Disturbance struct {
	// Resource is the resource that requests must be about.
	Resource schema.GroupResource
	// Name is that of the object which requests must be about; empty means any, and requests
	// for many objects.
	Name string
	// Verbs are the API's verbs (get, list, watch and so on); none means all.
	Verbs []string
	// Status is the HTTP status of the answer, a metav1.Status. 0 means that the request is
	// accepted and never answered.
	Status int
	// Until makes the request wait, and has it passed on once the channel is closed. Status
	// counts for nothing then.
	Until <-chan struct{}
}

func (d Disturbance) matches(info *request.RequestInfo) bool {
	return info.IsResourceRequest && info.APIGroup == d.Resource.Group && info.Resource == d.Resource.Resource &&
		(d.Name == "" || d.Name == info.Name) && (len(d.Verbs) == 0 || slices.Contains(d.Verbs, info.Verb))
}

// Passage is a request that came to a Proxy, disturbed or not.
type Passage struct {
	Verb, Name string
	Resource   schema.GroupResource
	// Accept is the header that says in which form the answer is wanted. An audit log does
	// not have it.
	Accept string
}

// Proxy stands between one client and the API server and disturbs what it is told to, with
// TLS and HTTP/2 on both sides as without it. Its methods are safe for concurrent use, except
// Start and Stop.
type Proxy struct {
	server    *tlsServer
	transport *http.Transport
	reverse   *httputil.ReverseProxy
	resolver  request.RequestInfoResolver

	mu           sync.Mutex
	disturbances []Disturbance
	flights      map[*flight]bool
	passages     []Passage
}

// flight is one request under way.
type flight struct {
	info   *request.RequestInfo
	cancel context.CancelFunc
	// held is true while it waits for nothing: no answer will come.
	held bool
}

// NewProxy returns a proxy that is not started yet, in front of the API server of target,
// whose credentials it does not use.
func NewProxy(target *rest.Config) (*Proxy, error) {
	address, err := url.Parse(target.Host)
	if err != nil {
		return nil, err
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(target.CAData) {
		return nil, errors.New("the target's CAData holds no certificate")
	}
	p := &Proxy{
		flights: map[*flight]bool{},
		transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true,
		},
		resolver: &request.RequestInfoFactory{
			APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
		},
	}
	p.reverse = &httputil.ReverseProxy{
		Transport:     p.transport,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(address) },
		FlushInterval: -1, // a watch event is passed on at once
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server, err = newTLSServer(p)
	return p, err
}

// Start serves until Stop.
func (p *Proxy) Start() error { return p.server.start() }

// Stop closes every connection and awaits all that Start began.
func (p *Proxy) Stop() error {
	err := p.server.stop()
	p.transport.CloseIdleConnections()
	return err
}

// Config is config with the proxy in the place of the API server.
func (p *Proxy) Config(config *rest.Config) *rest.Config {
	through := rest.CopyConfig(config)
	through.Host = "https://" + p.server.address
	through.CAFile, through.CAData = "", p.server.authority
	return through
}

// Disturb disturbs these requests from now on, and no others. Requests under way that match,
// such as watches, are cut off.
func (p *Proxy) Disturb(some ...Disturbance) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disturbances = some
	for f := range p.flights {
		// What waited for an answer is cut off as well: who hung does not answer late.
		if _, matches := p.find(f.info); matches || f.held {
			f.cancel()
		}
	}
}

func (p *Proxy) find(info *request.RequestInfo) (Disturbance, bool) {
	i := slices.IndexFunc(p.disturbances, func(d Disturbance) bool { return d.matches(info) })
	if i < 0 {
		return Disturbance{}, false
	}
	return p.disturbances[i], true
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	info, err := p.resolver.NewRequestInfo(in)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(in.Context())
	defer cancel()
	f := &flight{info: info, cancel: cancel}
	d, disturbed := p.take(f)
	defer p.drop(f)
	p.record(info, in.Header.Get("Accept"))
	switch {
	case !disturbed:
		p.reverse.ServeHTTP(out, in.WithContext(ctx))
	case d.Until != nil:
		select {
		case <-d.Until:
			p.reverse.ServeHTTP(out, in.WithContext(ctx))
		case <-ctx.Done():
			panic(http.ErrAbortHandler)
		}
	case d.Status != 0:
		refuse(out, info, d.Status)
	default:
		<-ctx.Done()
		panic(http.ErrAbortHandler)
	}
}

func (p *Proxy) take(f *flight) (Disturbance, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, disturbed := p.find(f.info)
	f.held = disturbed && d.Status == 0 && d.Until == nil
	p.flights[f] = true
	return d, disturbed
}

func (p *Proxy) record(info *request.RequestInfo, accept string) {
	if !info.IsResourceRequest {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passages = append(p.passages, Passage{
		Verb: info.Verb, Name: info.Name, Accept: accept,
		Resource: schema.GroupResource{Group: info.APIGroup, Resource: info.Resource},
	})
}

// Passages are the requests about a resource that came so far, in their order.
func (p *Proxy) Passages(of schema.GroupResource) []Passage {
	p.mu.Lock()
	defer p.mu.Unlock()
	var some []Passage
	for _, each := range p.passages {
		if each.Resource == of {
			some = append(some, each)
		}
	}
	return some
}

func (p *Proxy) drop(f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flights, f)
}

func refuse(out http.ResponseWriter, info *request.RequestInfo, code int) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(code)
	_ = json.NewEncoder(out).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason(code),
		Message: "disturbed on purpose: " + info.Verb + " " + info.Resource,
	})
}

func reason(code int) metav1.StatusReason {
	if code == http.StatusForbidden {
		return metav1.StatusReasonForbidden
	}
	return metav1.StatusReasonInternalError
}
