// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tailLines is how much of a log an error shows.
const tailLines = 30

// process is one child program in a process group of its own, its output in a file.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	pidFile string
	// exited is closed when the program has ended; waitErr is valid from then on.
	exited  chan struct{}
	waitErr error
}

// startProcess starts cmd with its output in logPath and its process id in the folder pids,
// where the reaper finds it.
func startProcess(name string, cmd *exec.Cmd, logPath, pids string) (*process, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}

	p := &process{name: name, cmd: cmd, logPath: logPath, exited: make(chan struct{})}
	p.pidFile = filepath.Join(pids, filepath.Base(logPath))
	pidErr := os.WriteFile(p.pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600)
	go p.wait()
	if pidErr != nil {
		return nil, errors.Join(pidErr, p.kill())
	}
	return p, nil
}

func (p *process) wait() {
	p.waitErr = p.cmd.Wait()
	_ = os.Remove(p.pidFile)
	close(p.exited)
}

// running is false once the program has ended.
func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// ending says how a program that has ended did so.
func (p *process) ending() error {
	if p.waitErr == nil {
		return errors.New("it ended with exit code 0")
	}
	return fmt.Errorf("it ended: %w", p.waitErr)
}

// stop asks the program to end, awaits that for at most grace, and kills it afterwards. The
// error says that it had to be killed or did not exit with 0.
func (p *process) stop(grace time.Duration) error {
	if p.running() {
		if err := p.signal(syscall.SIGTERM); err != nil {
			return err
		}
	}
	select {
	case <-p.exited:
	case <-time.After(grace):
		return errors.Join(fmt.Errorf("%s did not end within %s of SIGTERM and was killed", p.name, grace), p.kill())
	}
	if p.waitErr != nil {
		return fmt.Errorf("%s: %w\n%s", p.name, p.waitErr, tail(p.logPath))
	}
	return nil
}

func (p *process) kill() error {
	err := p.signal(syscall.SIGKILL)
	<-p.exited
	return err
}

// signal signals the whole process group; a group that is gone is no error.
func (p *process) signal(s syscall.Signal) error {
	if err := syscall.Kill(-p.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// tail returns the last lines of a log under a heading, or why they cannot be read.
func tail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("the last lines of %s:\n%s", path, strings.Join(lines, "\n"))
}
