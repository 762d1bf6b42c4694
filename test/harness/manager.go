// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// ManagerBinaryVariable is the environment variable that names a manager binary to run
	// instead of one that is built from the checkout.
	ManagerBinaryVariable = "MANAGER_BINARY"

	// managerGrace is longer than the manager's own limit for a graceful end.
	managerGrace = 45 * time.Second
	readyTimeout = 60 * time.Second
	probeTimeout = 5 * time.Second
	portAttempts = 3
)

// ManagerOptions says how to run the manager.
type ManagerOptions struct {
	// Name tells manager processes apart: it names the log and is POD_NAME. Default: manager.
	Name string
	// Namespace is POD_NAMESPACE. Default: default.
	Namespace string
	// Kubeconfig is the file by which the manager reaches the API server. Default: the
	// administrator's.
	Kubeconfig string
	// LeaderElect turns leader election on.
	LeaderElect bool
	// InsecureMetrics serves metrics over plain HTTP and without authentication.
	InsecureMetrics bool
	// Args and Env are added to the command line and the environment.
	Args, Env []string
	// NoWait returns without waiting until the manager is ready; see WaitReady.
	NoWait bool
}

// ManagerProcess is a running manager.
type ManagerProcess struct {
	// ProbeURL is the address of /healthz and /readyz, without a path.
	ProbeURL string
	// MetricsURL is the address of the metrics, with the path.
	MetricsURL string

	cp      *ControlPlane
	process *process
}

// ManagerBinary returns the manager binary: $MANAGER_BINARY, or one that is built from the
// checkout at the first call and that Stop removes.
func (cp *ControlPlane) ManagerBinary() (string, error) {
	if path := os.Getenv(ManagerBinaryVariable); path != "" {
		return filepath.Abs(path)
	}
	cp.build.Do(func() {
		cp.binary = filepath.Join(cp.dir, "manager")
		cp.buildErr = buildManager(cp.binary)
	})
	return cp.binary, cp.buildErr
}

func buildManager(path string) error {
	root, err := RepoRoot()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", path, "./cmd/manager")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build ./cmd/manager: %w\n%s", err, out)
	}
	return nil
}

// StartManager runs the manager binary and, unless NoWait is set, returns once /readyz
// answers 200. The error of a manager that does not become ready holds the tail of its log,
// and the process has ended then.
func (cp *ControlPlane) StartManager(ctx context.Context, options ManagerOptions) (*ManagerProcess, error) {
	binary, err := cp.ManagerBinary()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		m, err := cp.launchManager(binary, options)
		if err != nil {
			return nil, err
		}
		if options.NoWait {
			return m, nil
		}
		err = m.WaitReady(ctx)
		if err == nil {
			return m, nil
		}
		_ = m.Kill()
		// Another program can take a free port before the manager does.
		if attempt == portAttempts || !strings.Contains(err.Error(), "address already in use") {
			return nil, err
		}
	}
}

func (cp *ControlPlane) launchManager(binary string, options ManagerOptions) (*ManagerProcess, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	name, namespace, kubeconfig := options.Name, options.Namespace, options.Kubeconfig
	if name == "" {
		name = "manager"
	}
	if namespace == "" {
		namespace = "default"
	}
	if kubeconfig == "" {
		kubeconfig = cp.kubeAdmin
	}
	probe, metrics := "127.0.0.1:"+ports[0], "127.0.0.1:"+ports[1]
	cmd := exec.Command(binary, append([]string{
		"--kubeconfig=" + kubeconfig,
		"--health-probe-bind-address=" + probe,
		"--metrics-bind-address=" + metrics,
		"--metrics-secure=" + strconv.FormatBool(!options.InsecureMetrics),
		"--leader-elect=" + strconv.FormatBool(options.LeaderElect),
	}, options.Args...)...)
	cmd.Env = append(os.Environ(), "POD_NAME="+name, "POD_NAMESPACE="+namespace)
	cmd.Env = append(cmd.Env, options.Env...)
	cmd.Dir = cp.dir

	p, err := startProcess(name, cmd, cp.LogPath(name), filepath.Join(cp.dir, "pids"))
	if err != nil {
		return nil, err
	}
	scheme := "https"
	if options.InsecureMetrics {
		scheme = "http"
	}
	m := &ManagerProcess{
		ProbeURL: "http://" + probe, MetricsURL: scheme + "://" + metrics + "/metrics",
		cp: cp, process: p,
	}
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.managers = append(cp.managers, m)
	return m, nil
}

// WaitReady returns once /readyz answers 200 and the metrics are served, which may come a moment
// later, for at most a minute. It fails at once when the process ends. The error holds the last answer and the tail of the log.
func (m *ManagerProcess) WaitReady(ctx context.Context) error {
	last := errors.New("never asked")
	err := wait.PollUntilContextTimeout(ctx, pollInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		if !m.process.running() {
			return false, m.process.ending()
		}
		if last = m.Probe(ctx, "/readyz"); last == nil {
			last = m.dialMetrics(ctx)
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s is not ready: %w (last probe: %w)\n%s", m.process.name, err, last, m.LogTail())
	}
	return nil
}

// dialMetrics returns an error unless somebody listens for those who want metrics.
func (m *ManagerProcess) dialMetrics(ctx context.Context) error {
	address, err := url.Parse(m.MetricsURL)
	if err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: probeTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", address.Host)
	if err != nil {
		return err
	}
	return connection.Close()
}

// Probe asks path (/healthz, /readyz) once and returns an error unless the answer is 200.
func (m *ManagerProcess) Probe(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.ProbeURL+path, nil)
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, response.Status)
	}
	return nil
}

// Stop sends SIGTERM and awaits the end. It fails when the manager exits with another code
// than 0 or has to be killed. A second call returns the same.
func (m *ManagerProcess) Stop() error {
	m.forget()
	return m.process.stop(managerGrace)
}

// Kill ends the manager without notice, as a node failure would, and awaits the end.
func (m *ManagerProcess) Kill() error {
	m.forget()
	return m.process.kill()
}

// Exited is closed when the process has ended, for whatever reason.
func (m *ManagerProcess) Exited() <-chan struct{} { return m.process.exited }

// LogPath is where the manager's output lies.
func (m *ManagerProcess) LogPath() string { return m.process.logPath }

// Log returns the manager's output so far.
func (m *ManagerProcess) Log() (string, error) {
	content, err := os.ReadFile(m.process.logPath)
	return string(content), err
}

// LogTail returns the last lines of the output, for failure messages.
func (m *ManagerProcess) LogTail() string { return tail(m.process.logPath) }

func (m *ManagerProcess) forget() {
	m.cp.mu.Lock()
	defer m.cp.mu.Unlock()
	m.cp.managers = slices.DeleteFunc(m.cp.managers, func(other *ManagerProcess) bool { return other == m })
}

func (cp *ControlPlane) runningManagers() []*ManagerProcess {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return slices.Clone(cp.managers)
}

// freePorts returns ports on loopback that nothing listens on now.
func freePorts(n int) ([]string, error) {
	var ports []string
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// Held until all are chosen, so that no port is given twice.
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}
