// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// startTimeout and stopTimeout bound each component on a machine with two busy cores.
	startTimeout = 90 * time.Second
	stopTimeout  = 30 * time.Second
)

// Options says what control plane to start. The zero value starts etcd and kube-apiserver.
type Options struct {
	// AssetsDir holds the programs; default: $KUBEBUILDER_ASSETS.
	AssetsDir string
	// CRDPaths are files or folders of CustomResourceDefinitions to install; one that does
	// not exist is an error.
	CRDPaths []string
	// AdmissionPlugins are enabled besides the API server's defaults, for example
	// OwnerReferencesPermissionEnforcement, which OpenShift has on.
	AdmissionPlugins []string
	// APIServerFlags adds or replaces flags of the API server, without the leading dashes.
	APIServerFlags map[string][]string
	// WithControllerManager also runs kube-controller-manager, which garbage-collects and
	// makes ReplicaSets, Pods (they stay Pending), Jobs and ServiceAccounts. The admission
	// plugin ServiceAccount is on then, as in a cluster.
	WithControllerManager bool
	// LogDir keeps the components' logs and the audit log; default: a folder that Stop
	// removes.
	LogDir string
}

// ControlPlane is a running control plane. Its methods are safe for concurrent use, except
// Stop.
type ControlPlane struct {
	dir     string
	logDir  string
	env     *envtest.Environment
	reaper  *reaper
	manager *process

	mu sync.Mutex
	// managers are the manager processes that were started and not stopped yet.
	managers []*ManagerProcess
	// programs are those of StartProgram.
	programs []*Program

	build     sync.Once
	binary    string
	buildErr  error
	stopped   bool
	kubeAdmin string
}

// Start starts a control plane and returns once it serves. ctx bounds the start only; Stop
// ends the control plane. The error of a component that does not start carries the tail of
// its log, and nothing is left behind.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	programs := []string{etcdProgram, apiServerProgram, kubectlProgram}
	if options.WithControllerManager {
		programs = append(programs, controllerManagerProgram)
	}
	assets, err := findAssets(options.AssetsDir, programs...)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "k8s-aibom-")
	if err != nil {
		return nil, err
	}
	cp := &ControlPlane{dir: dir, logDir: options.LogDir}
	if cp.logDir == "" {
		cp.logDir = filepath.Join(dir, "logs")
	}
	if err := cp.start(ctx, options, assets); err != nil {
		return nil, errors.Join(err, cp.Stop())
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context, options Options, assets string) error {
	var err error
	if cp.reaper, err = startReaper(cp.dir); err != nil {
		return err
	}
	if err := layOutLaunchers(cp.dir, assets, etcdProgram, apiServerProgram); err != nil {
		return err
	}
	if err := os.MkdirAll(cp.logDir, 0o755); err != nil {
		return err
	}
	if err := cp.startAPIServer(options); err != nil {
		return err
	}
	if cp.kubeAdmin, err = cp.KubeconfigFor("admin", cp.env.Config); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !options.WithControllerManager {
		return nil
	}
	return cp.startControllerManager(ctx)
}

func (cp *ControlPlane) startAPIServer(options Options) error {
	existing := false
	cp.env = &envtest.Environment{
		UseExistingCluster:       &existing,
		CRDDirectoryPaths:        options.CRDPaths,
		ErrorIfCRDPathMissing:    true,
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	// The programs write to files, not through pipes, so that no goroutine copies.
	etcdLog, err := os.Create(cp.LogPath(etcdProgram))
	if err != nil {
		return err
	}
	defer etcdLog.Close()
	serverLog, err := os.Create(cp.LogPath(apiServerProgram))
	if err != nil {
		return err
	}
	defer serverLog.Close()

	cp.env.ControlPlane.Etcd = &envtest.Etcd{
		Path: filepath.Join(cp.dir, "bin", etcdProgram), DataDir: filepath.Join(cp.dir, "etcd"),
		Out: etcdLog, Err: etcdLog,
	}
	server := cp.env.ControlPlane.GetAPIServer()
	server.Path = filepath.Join(cp.dir, "bin", apiServerProgram)
	server.CertDir = filepath.Join(cp.dir, "certs")
	server.Out, server.Err = serverLog, serverLog
	for _, folder := range []string{cp.env.ControlPlane.Etcd.DataDir, server.CertDir} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	if err := cp.configureAPIServer(server.Configure(), options); err != nil {
		return err
	}
	if _, err := cp.env.Start(); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, tail(cp.LogPath(etcdProgram)), tail(cp.LogPath(apiServerProgram)))
	}
	return nil
}

func (cp *ControlPlane) configureAPIServer(flags *envtest.Arguments, options Options) error {
	if err := cp.configureAudit(flags); err != nil {
		return err
	}
	if options.WithControllerManager {
		flags.Disable("disable-admission-plugins")
	}
	if len(options.AdmissionPlugins) > 0 {
		flags.Set("enable-admission-plugins", options.AdmissionPlugins...)
	}
	for name, values := range options.APIServerFlags {
		flags.Set(name, values...)
	}
	return nil
}

// Stop ends everything that was started, manager processes first, awaits the end and removes
// what lies on disk, except a LogDir that the caller named. A second call does nothing.
func (cp *ControlPlane) Stop() error {
	if cp.stopped {
		return nil
	}
	cp.stopped = true
	var errs []error
	for _, m := range cp.runningManagers() {
		errs = append(errs, m.Stop())
	}
	cp.stopPrograms()
	if cp.manager != nil {
		// Its exit code is of no interest: without leader election it exits as it likes.
		_ = cp.manager.stop(stopTimeout)
	}
	if cp.env != nil {
		errs = append(errs, cp.env.Stop())
	}
	if cp.reaper == nil {
		return errors.Join(append(errs, os.RemoveAll(cp.dir))...)
	}
	// What envtest awaited has ended, and an id that is free may be given to another program.
	errs = append(errs, os.RemoveAll(filepath.Join(cp.dir, "pids")), cp.reaper.finish())
	return errors.Join(errs...)
}

// Config returns a copy of the administrator's client configuration.
func (cp *ControlPlane) Config() *rest.Config { return rest.CopyConfig(cp.env.Config) }

// LogPath is where a component's log lies: etcd, kube-apiserver, kube-controller-manager.
func (cp *ControlPlane) LogPath(component string) string {
	return filepath.Join(cp.logDir, component+".log")
}
