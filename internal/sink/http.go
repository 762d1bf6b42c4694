// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// ContentType of every delivery (https://www.iana.org/assignments/media-types/application/vnd.cyclonedx+json).
	ContentType = "application/vnd.cyclonedx+json"
	// DefaultTimeout limits one delivery with all its retries.
	DefaultTimeout = 10 * time.Second

	// maxResponseBytes is how much of an answer is read so that the connection can be used
	// again; beyond it the connection is closed.
	maxResponseBytes = 64 << 10
)

// DefaultBackoff spaces the attempts of one delivery: 200 ms, 400 ms and so on up to 3 s,
// each lengthened by up to half at random.
var DefaultBackoff = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 8, Cap: 3 * time.Second}

// HTTPOptions describes an HTTP sink.
type HTTPOptions struct {
	// Name of the sink; required.
	Name string
	// URL below which documents are put; CheckURL says which are accepted.
	URL string
	// WriteOnly is what Sink.WriteOnly answers.
	WriteOnly bool
	// Token returns the bearer token (RFC 6750). It is asked once for each delivery, so that
	// a changed Secret takes effect. Its errors are shown to users. nil sends no token.
	Token func(context.Context) (string, error)
	// Timeout limits one delivery with all its retries; DefaultTimeout when 0.
	Timeout time.Duration
	// Backoff spaces the attempts; DefaultBackoff when its Duration is 0.
	Backoff wait.Backoff
	// Client sends the requests; DefaultClient when nil. Redirects are never followed,
	// whatever its CheckRedirect says.
	Client *http.Client
}

// DefaultClient returns a client that verifies certificates, requires TLS 1.2, honours the
// proxy settings of the environment and gives up on connections that do not come about. It
// is safe to share among sinks, which then share its connections.
func DefaultClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    5 * time.Second,
		IdleConnTimeout:        30 * time.Second,
		MaxIdleConnsPerHost:    4,
		MaxResponseHeaderBytes: maxResponseBytes,
		ForceAttemptHTTP2:      true,
	}}
}

type httpSink struct {
	name      string
	base      *url.URL
	writeOnly bool
	token     func(context.Context) (string, error)
	timeout   time.Duration
	backoff   wait.Backoff
	client    *http.Client
}

// NewHTTP returns a sink that puts a document at <url>/<namespace>/<name>/<sha256>.cdx.json.
// It contacts nothing. The error says which option is wrong and never repeats the URL.
func NewHTTP(o HTTPOptions) (Sink, error) {
	if o.Name == "" {
		return nil, errors.New("name must not be empty")
	}
	if o.Timeout < 0 {
		return nil, errors.New("timeout must not be negative")
	}
	base, err := parseURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("url %w", err)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Backoff.Duration == 0 {
		o.Backoff = DefaultBackoff
	}
	if o.Client == nil {
		o.Client = DefaultClient()
	}
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &httpSink{
		name: o.Name, base: base, writeOnly: o.WriteOnly, token: o.Token,
		timeout: o.Timeout, backoff: o.Backoff, client: &client,
	}, nil
}

func (s *httpSink) Name() string    { return s.name }
func (s *httpSink) WriteOnly() bool { return s.writeOnly }

func (s *httpSink) Deliver(ctx context.Context, d Delivery) (string, error) {
	target, err := s.target(d)
	if err != nil {
		return "", &DeliveryError{Sink: s.name, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	token, err := s.bearer(ctx)
	if err != nil {
		return "", &DeliveryError{Sink: s.name, Retryable: true, Err: err}
	}
	backoff := s.backoff
	var last *DeliveryError
	for {
		failure, retryAfter := s.attempt(ctx, target, token, d.Document)
		if failure == nil {
			return target, nil
		}
		if !failure.Retryable {
			return "", failure
		}
		if last == nil || ctx.Err() == nil {
			last = failure // an attempt that the deadline cut off explains less than the one before
		}
		if err := pause(ctx, max(backoff.Step(), retryAfter)); err != nil {
			last.Err = fmt.Errorf("gave up (timeout %s): %w; last attempt: %w", s.timeout, err, last.Err)
			return "", last
		}
	}
}

// attempt sends the document once. The second result is how long the server asks to wait.
func (s *httpSink) attempt(ctx context.Context, target, token string, document []byte) (*DeliveryError, time.Duration) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, target, bytes.NewReader(document))
	if err != nil {
		return &DeliveryError{Sink: s.name, Err: errors.New("the request could not be made")}, 0
	}
	req.Header.Set("Content-Type", ContentType)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return &DeliveryError{Sink: s.name, Retryable: true, Err: withoutSecrets(err, token)}, 0
	}
	defer func() {
		// What fails here concerns the connection, not the delivery that was answered.
		_, _ = io.CopyN(io.Discard, resp.Body, maxResponseBytes)
		_ = resp.Body.Close()
	}()
	return s.judge(resp)
}

// judge decides what an answer means.
func (s *httpSink) judge(resp *http.Response) (*DeliveryError, time.Duration) {
	status := resp.StatusCode
	answer := strings.TrimSpace(fmt.Sprintf("the server answered %d %s", status, http.StatusText(status)))
	failure := &DeliveryError{Sink: s.name, Status: status, Err: errors.New(answer)}
	switch {
	case status >= 200 && status < 300:
		return nil, 0
	case status >= 300 && status < 400:
		failure.Err = fmt.Errorf("%s; redirects are not followed, set the url that it leads to", answer)
	case status == http.StatusTooManyRequests || status >= 500:
		failure.Retryable = true
		return failure, retryAfter(resp.Header)
	}
	return failure, 0
}

// target is the address of one document. The segments come from names that the API server
// accepted; the check keeps a mistake elsewhere from writing outside the base URL.
func (s *httpSink) target(d Delivery) (string, error) {
	for _, segment := range []string{d.Namespace, d.Name, d.SHA256} {
		if segment == "" {
			return "", errors.New("the document's namespace, name and hash must not be empty")
		}
		if problems := content.IsPathSegmentName(segment); len(problems) > 0 {
			return "", fmt.Errorf("%q cannot be part of a URL: %s", segment, strings.Join(problems, ", "))
		}
	}
	return s.base.JoinPath(url.PathEscape(d.Namespace), url.PathEscape(d.Name), url.PathEscape(d.SHA256)+".cdx.json").String(), nil
}

func (s *httpSink) bearer(ctx context.Context) (string, error) {
	if s.token == nil {
		return "", nil
	}
	token, err := s.token(ctx)
	if err != nil {
		return "", fmt.Errorf("bearer token: %w", err)
	}
	token = strings.TrimSpace(token)
	if err := CheckToken(token); err != nil {
		return "", fmt.Errorf("bearer token: %w", err)
	}
	return token, nil
}

// CheckToken says whether a bearer token can be sent: printable ASCII without spaces. Spaces
// and line ends around it are to be removed before. The error does not repeat the token.
func CheckToken(token string) error {
	if token == "" {
		return errors.New("must not be empty")
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return errors.New("must consist of printable ASCII characters without spaces")
		}
	}
	return nil
}

// withoutSecrets drops what the HTTP client adds to an error's text (method and URL) and
// removes the token in case the far side echoed it.
func withoutSecrets(err error, token string) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	text := err.Error()
	if token != "" {
		text = strings.ReplaceAll(text, token, "(redacted)")
	}
	return errors.New(text)
}

// retryAfter reads the delay in seconds that RFC 9110, section 10.2.3, allows a server to
// ask for; the form with a date is not used.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// pause waits for d and fails early when the context ends, or would end, before that.
func pause(ctx context.Context, d time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d && ctx.Err() == nil {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
