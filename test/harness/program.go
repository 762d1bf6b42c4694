// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Program is a program that runs beside the control plane, for example a scheduler.
type Program struct{ process *process }

// StartProgram runs cmd as name, its output in LogPath(name), with a home folder of its own.
// It has started, and no more, when this returns. Stop ends the programs, the last one first,
// before the control plane.
func (cp *ControlPlane) StartProgram(name string, cmd *exec.Cmd) (*Program, error) {
	home := filepath.Join(cp.dir, "home", name)
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "HOME="+home)
	cmd.Dir = cp.dir
	p, err := startProcess(name, cmd, cp.LogPath(name), filepath.Join(cp.dir, "pids"))
	if err != nil {
		return nil, err
	}
	program := &Program{process: p}
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.programs = append(cp.programs, program)
	return program, nil
}

// Running returns an error with the tail of the program's log once it has ended.
func (p *Program) Running() error {
	if p.process.running() {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", p.process.name, p.process.ending(), tail(p.process.logPath))
}

// LogTail returns the last lines of the output, for failure messages.
func (p *Program) LogTail() string { return tail(p.process.logPath) }

// stopPrograms ends them, the last one first. How they exit is of no interest.
func (cp *ControlPlane) stopPrograms() {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	for i := len(cp.programs) - 1; i >= 0; i-- {
		_ = cp.programs[i].process.stop(stopTimeout)
	}
}

// FreePort returns a port on loopback that nothing listens on now.
func FreePort() (string, error) {
	ports, err := freePorts(1)
	if err != nil {
		return "", err
	}
	return ports[0], nil
}
