// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/util/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "s3cr3t-t0ken-value"

var (
	fast     = wait.Backoff{Duration: time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 4, Cap: 5 * time.Millisecond}
	document = Delivery{Namespace: "ml", Name: "deployment-llm", SHA256: strings.Repeat("ab", 32), Document: []byte(`{"bomFormat":"CycloneDX"}`)}
)

func staticToken(t string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return t, nil }
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

func newSink(t *testing.T, o HTTPOptions) Sink {
	t.Helper()
	if o.Name == "" {
		o.Name = "audit"
	}
	if o.Backoff.Duration == 0 {
		o.Backoff = fast
	}
	if o.Client == nil {
		o.Client = DefaultClient()
	}
	t.Cleanup(o.Client.CloseIdleConnections)
	s, err := NewHTTP(o)
	if err != nil {
		t.Fatalf("NewHTTP: %v", err)
	}
	return s
}

// deliveryError also checks what holds for every error: its type and that it tells no secret.
func deliveryError(g *WithT, err error) *DeliveryError {
	var failure *DeliveryError
	g.ExpectWithOffset(1, errors.As(err, &failure)).To(BeTrue(), "every error is a *DeliveryError, got %T", err)
	g.ExpectWithOffset(1, failure.Sink).To(Equal("audit"))
	for e := err; e != nil; e = errors.Unwrap(e) {
		g.ExpectWithOffset(1, e.Error()).NotTo(ContainSubstring(secret))
	}
	return failure
}

func TestDeliverPutsTheDocument(t *testing.T) {
	g := NewWithT(t)
	type request struct {
		method, path, contentType, authorization string
		body                                     string
	}
	got := make(chan request, 1)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- request{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), string(body)}
		w.WriteHeader(http.StatusCreated)
	})
	s := newSink(t, HTTPOptions{URL: server.URL + "/boms/", Token: staticToken(secret + "\n"), WriteOnly: true})

	url, err := s.Deliver(t.Context(), document)

	g.Expect(err).NotTo(HaveOccurred())
	path := "/boms/ml/deployment-llm/" + document.SHA256 + ".cdx.json"
	g.Expect(url).To(Equal(server.URL + path))
	g.Expect(<-got).To(Equal(request{"PUT", path, "application/vnd.cyclonedx+json", "Bearer " + secret, string(document.Document)}))
	g.Expect(s.Name()).To(Equal("audit"))
	g.Expect(s.WriteOnly()).To(BeTrue())
}

func TestDeliverSendsNoAuthorizationWithoutToken(t *testing.T) {
	g := NewWithT(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Authorization"]; sent {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	_, err := newSink(t, HTTPOptions{URL: server.URL}).Deliver(t.Context(), document)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestDeliverAsksForTheTokenEachTime(t *testing.T) {
	g := NewWithT(t)
	var tokens sync.Map
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { tokens.Store(r.Header.Get("Authorization"), true) })
	var n atomic.Int32
	s := newSink(t, HTTPOptions{URL: server.URL, Token: func(context.Context) (string, error) {
		return []string{"first", "second"}[n.Add(1)-1], nil
	}})
	for range 2 {
		_, err := s.Deliver(t.Context(), document)
		g.Expect(err).NotTo(HaveOccurred())
	}
	for _, want := range []string{"Bearer first", "Bearer second"} {
		_, ok := tokens.Load(want)
		g.Expect(ok).To(BeTrue(), "%s was never sent", want)
	}
}

func TestDeliverJudgesAnswers(t *testing.T) {
	for _, c := range []struct {
		name      string
		answers   []int
		attempts  int
		status    int
		retryable bool
	}{
		{"taken at once", []int{200}, 1, 0, false},
		{"no content", []int{204}, 1, 0, false},
		{"taken at the third attempt", []int{503, 429, 201}, 3, 0, false},
		{"bad gateway first", []int{502, 200}, 2, 0, false},
		{"refused", []int{400}, 1, 400, false},
		{"not authenticated", []int{401}, 1, 401, false},
		{"forbidden after an outage", []int{500, 403}, 2, 403, false},
		{"status without a name", []int{499}, 1, 499, false},
		{"moved", []int{307}, 1, 307, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			var attempts atomic.Int32
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if string(body) != string(document.Document) {
					w.WriteHeader(http.StatusTeapot)
					return
				}
				w.WriteHeader(c.answers[attempts.Add(1)-1])
			})
			s := newSink(t, HTTPOptions{URL: server.URL, Token: staticToken(secret)})
			_, err := s.Deliver(t.Context(), document)
			g.Expect(int(attempts.Load())).To(Equal(c.attempts))
			if c.status == 0 {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			failure := deliveryError(g, err)
			g.Expect(failure.Status).To(Equal(c.status))
			g.Expect(failure.Retryable).To(Equal(c.retryable))
		})
	}
}

func TestDeliverRetriesAfterALostConnection(t *testing.T) {
	g := NewWithT(t)
	var attempts atomic.Int32
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if attempts.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusOK)
	})
	_, err := newSink(t, HTTPOptions{URL: server.URL}).Deliver(t.Context(), document)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(attempts.Load()).To(BeNumerically("==", 2))
}

func TestDeliverEndsAtItsDeadline(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		status  int
	}{
		{"the server keeps failing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503},
		{"the server never answers", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			<-r.Context().Done()
		}, 0},
		{"the server asks for more time than there is", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}, 429},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			server := serve(t, c.handler)
			s := newSink(t, HTTPOptions{URL: server.URL, Timeout: 100 * time.Millisecond, Token: staticToken(secret)})
			begin := time.Now()
			_, err := s.Deliver(t.Context(), document)
			g.Expect(time.Since(begin)).To(BeNumerically("<", 5*time.Second))
			failure := deliveryError(g, err)
			g.Expect(failure.Status).To(Equal(c.status))
			g.Expect(failure.Retryable).To(BeTrue())
			g.Expect(errors.Is(err, context.DeadlineExceeded)).To(BeTrue())
		})
	}
}

func TestDeliverEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		w.WriteHeader(500)
	})
	s := newSink(t, HTTPOptions{URL: server.URL, Timeout: time.Minute, Backoff: wait.Backoff{Duration: 30 * time.Second}})
	_, err := s.Deliver(ctx, document)
	_ = deliveryError(g, err)
	g.Expect(errors.Is(err, context.Canceled)).To(BeTrue())
}

func TestDeliverNeverFollowsARedirect(t *testing.T) {
	g := NewWithT(t)
	var reached atomic.Int32
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/steal?t="+secret, http.StatusTemporaryRedirect)
	})
	client := DefaultClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
	s := newSink(t, HTTPOptions{URL: server.URL, Token: staticToken(secret), Client: client})
	_, err := s.Deliver(t.Context(), document)
	g.Expect(deliveryError(g, err).Error()).To(ContainSubstring("redirects are not followed"))
	g.Expect(reached.Load()).To(BeZero(), "the other host must not be asked")
}

func TestDeliverHidesATokenThatTheServerEchoes(t *testing.T) {
	g := NewWithT(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, "nonsense "+secret+"\r\n\r\n")
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		done.Wait()
	})
	s := newSink(t, HTTPOptions{URL: "http://" + listener.Addr().String(), Timeout: 100 * time.Millisecond, Token: staticToken(secret)})
	_, err = s.Deliver(t.Context(), document)
	_ = deliveryError(g, err)
}

func TestDeliverReadsOnlySoMuchOfAnAnswer(t *testing.T) {
	g := NewWithT(t)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 64<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	s := newSink(t, HTTPOptions{URL: server.URL, Timeout: 30 * time.Second})
	begin := time.Now()
	_, err := s.Deliver(t.Context(), document)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(begin)).To(BeNumerically("<", 20*time.Second), "an endless answer must not hold a delivery up to its deadline")
}

func TestDeliverVerifiesCertificates(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)

	_, err := newSink(t, HTTPOptions{URL: server.URL, Token: staticToken(secret), Timeout: time.Second}).Deliver(t.Context(), document)
	g.Expect(deliveryError(g, err).Error()).To(ContainSubstring("certificate"))

	_, err = newSink(t, HTTPOptions{URL: server.URL, Token: staticToken(secret), Client: server.Client()}).Deliver(t.Context(), document)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestDeliverRefusesOldTLS(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	server.StartTLS()
	t.Cleanup(server.Close)
	client := DefaultClient()
	client.Transport.(*http.Transport).TLSClientConfig.RootCAs = server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	_, err := newSink(t, HTTPOptions{URL: server.URL, Client: client, Timeout: time.Second}).Deliver(t.Context(), document)
	g.Expect(deliveryError(g, err).Error()).To(ContainSubstring("protocol version"))
}

func TestDeliverRefusesUnusableTokensAndNames(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("nothing must be sent") })
	for _, c := range []struct {
		name  string
		token func(context.Context) (string, error)
		d     Delivery
		want  string
	}{
		{"empty token", staticToken(" \n"), document, "must not be empty"},
		{"token with a line end", staticToken(secret + "\r\nX: y"), document, "printable ASCII"},
		{"token cannot be read", func(context.Context) (string, error) { return "", errors.New("no such Secret") }, document, "no such Secret"},
		{"parent folder", nil, Delivery{Namespace: "..", Name: "a", SHA256: "b"}, "cannot be part of a URL"},
		{"slash", nil, Delivery{Namespace: "ml", Name: "a/b", SHA256: "b"}, "cannot be part of a URL"},
		{"no hash", nil, Delivery{Namespace: "ml", Name: "a"}, "must not be empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := newSink(t, HTTPOptions{URL: server.URL, Token: c.token}).Deliver(t.Context(), c.d)
			g.Expect(deliveryError(g, err).Error()).To(ContainSubstring(c.want))
		})
	}
}

func TestCheckURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://boms.example.com":                   "",
		"https://boms.example.com:8443/a/b/":         "",
		"http://localhost:8080":                      "",
		"http://127.0.0.7/x":                         "",
		"http://[::1]:80":                            "",
		"http://boms.example.com":                    "must use https",
		"http://localhost.example.com":               "must use https",
		"http://10.0.0.1":                            "must use https",
		"ftp://boms.example.com":                     "must use https",
		"https://user:" + secret + "@example.com":    "must not hold a user name",
		"https://user@example.com":                   "must not hold a user name",
		"https://example.com/?sig=" + secret:         "query or fragment",
		"https://example.com/#" + secret:             "query or fragment",
		"https://":                                   "must name a host",
		"boms.example.com/x":                         "must name a host",
		"":                                           "must name a host",
		"https://exa mple.com/" + secret:             "must be a URL",
		"https://u:" + secret + "@exa mple.com/\x00": "must be a URL",
	} {
		t.Run(url, func(t *testing.T) {
			g := NewWithT(t)
			err := CheckURL(url)
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(want)))
			g.Expect(err.Error()).NotTo(ContainSubstring(secret))
		})
	}
}

func TestNewHTTPRefusesBadOptions(t *testing.T) {
	for want, o := range map[string]HTTPOptions{
		"name":    {URL: "https://example.com"},
		"timeout": {Name: "a", URL: "https://example.com", Timeout: -1},
		"url":     {Name: "a", URL: "http://example.com"},
	} {
		_, err := NewHTTP(o)
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(want)))
	}
}
