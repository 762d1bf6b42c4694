// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	certutil "k8s.io/client-go/util/cert"
)

// The ports of our servers lie below those that systems give to outgoing connections, one of
// which could otherwise take a port while its server is stopped.
const firstPort, lastPort, listenAttempts = 15000, 29999, 50

// tlsServer is an HTTPS server on loopback that can be stopped and started again on the same
// port and with the same certificate.
type tlsServer struct {
	handler     http.Handler
	certificate tls.Certificate
	// authority is the PEM bundle by which clients know the server.
	authority []byte
	// address is host:port, chosen at construction and never changed.
	address string

	// first is the listener that holds the port until the first start.
	first  net.Listener
	server *http.Server
	ended  chan error

	mu       sync.Mutex
	open     bool
	handlers sync.WaitGroup
}

func newTLSServer(handler http.Handler) (*tlsServer, error) {
	// The PEM holds the server's certificate and that of the authority that was made for it.
	pem, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pem, key)
	if err != nil {
		return nil, err
	}
	listener, err := listenLow()
	if err != nil {
		return nil, err
	}
	return &tlsServer{
		handler: handler, certificate: certificate, authority: pem,
		address: listener.Addr().String(), first: listener,
	}, nil
}

func listenLow() (net.Listener, error) {
	var errs []error
	for range listenAttempts {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			return listener, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// start serves until stop.
func (s *tlsServer) start() error {
	if s.server != nil {
		return fmt.Errorf("the server at %s serves already", s.address)
	}
	listener := s.first
	s.first = nil
	if listener == nil {
		var err error
		if listener, err = net.Listen("tcp", s.address); err != nil {
			return err
		}
	}
	s.server = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{s.certificate}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that go away are what tests are made of
	}
	s.ended = make(chan error, 1)
	s.setOpen(true)
	server, ended := s.server, s.ended
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	return nil
}

func (s *tlsServer) serve(out http.ResponseWriter, in *http.Request) {
	if !s.enter() {
		panic(http.ErrAbortHandler)
	}
	defer s.handlers.Done()
	s.handler.ServeHTTP(out, in)
}

// enter counts a request that stop awaits; it is false when stop does not any more.
func (s *tlsServer) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		s.handlers.Add(1)
	}
	return s.open
}

func (s *tlsServer) setOpen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = open
}

// stop closes the port and every connection and awaits the requests that were being served,
// whose contexts end.
func (s *tlsServer) stop() error {
	if s.first != nil {
		err := s.first.Close()
		s.first = nil
		return err
	}
	if s.server == nil {
		return nil
	}
	s.setOpen(false)
	err := s.server.Close()
	if served := <-s.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.handlers.Wait()
	s.server = nil
	return err
}
