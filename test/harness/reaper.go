// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// reaperScript waits until the other end of its standard input is closed, which the
// operating system does however the parent ends. It then kills the process groups whose ids
// are in $1/pids and removes $1.
const reaperScript = `cat >/dev/null
for file in "$1"/pids/*; do
  if [ -s "$file" ]; then kill -s KILL -- "-$(cat "$file")" 2>/dev/null; fi
done
rm -rf "$1"`

// launcherScript runs a program of the control plane on behalf of envtest, which does not
// tell process ids. Called as bin/NAME, it leaves its id in pids/NAME and becomes
// assets/NAME. envtest also calls with --help, to look for flags.
const launcherScript = `#!/bin/sh
dir=$(dirname "$0")/..
name=$(basename "$0")
[ "$1" = --help ] || echo $$ > "$dir/pids/$name"
exec "$dir/assets/$name" "$@"
`

// reaper ends the children of a program that dies without ending them itself: by SIGKILL, a
// panic or the time limit of go test.
type reaper struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// startReaper lays out dir and starts its reaper.
func startReaper(dir string) (*reaper, error) {
	if err := os.MkdirAll(filepath.Join(dir, "pids"), 0o700); err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer read.Close()
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "reaper", dir)
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the reaper: %w", err), write.Close())
	}
	return &reaper{cmd: cmd, pipe: write}, nil
}

// finish lets the reaper do its work and awaits it.
func (r *reaper) finish() error {
	return errors.Join(r.pipe.Close(), r.cmd.Wait())
}

// layOutLaunchers puts a launcher for each program into dir/bin.
func layOutLaunchers(dir, assets string, programs ...string) error {
	if err := os.Symlink(assets, filepath.Join(dir, "assets")); err != nil {
		return err
	}
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return err
	}
	for _, program := range programs {
		if err := os.WriteFile(filepath.Join(bin, program), []byte(launcherScript), 0o700); err != nil {
			return err
		}
	}
	return nil
}
