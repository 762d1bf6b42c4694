// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// reaperFolder is set in the copy of this program that is to be killed.
const reaperFolder = "HARNESS_REAPER_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(reaperFolder); dir != "" {
		dieWithAChild(dir)
	}
	os.Exit(m.Run())
}

// dieWithAChild starts a reaper and a child that ignores SIGTERM, and waits to be killed.
func dieWithAChild(dir string) {
	if _, err := startReaper(dir); err != nil {
		panic(err)
	}
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 600")
	child, err := startProcess("child", cmd, filepath.Join(dir, "child.log"), filepath.Join(dir, "pids"))
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(strconv.Itoa(child.cmd.Process.Pid) + "\n")
	<-child.exited
}

func TestReaperEndsTheChildrenOfAProgramThatIsKilled(t *testing.T) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "plane")
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), reaperFolder+"="+dir)
	out, err := parent.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(parent.Start()).To(Succeed())
	line := make([]byte, 32)
	n, err := out.Read(line)
	g.Expect(err).NotTo(HaveOccurred())
	child, err := strconv.Atoi(strings.TrimSpace(string(line[:n])))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(syscall.Kill(-child, 0)).To(Succeed(), "the child runs")

	g.Expect(parent.Process.Kill()).To(Succeed())
	g.Expect(parent.Wait()).NotTo(Succeed())
	g.Eventually(func() (bool, error) { return groupIsGone(child) }, 10*time.Second).Should(BeTrue(), "the reaper kills the child")
	g.Eventually(func() error { _, err := os.Stat(dir); return err }, 10*time.Second).Should(MatchError(os.ErrNotExist), "and removes the folder")
}

// groupIsGone is true when no process of the group runs. One that was killed and not yet
// awaited by whoever inherited it does not run any more either.
func groupIsGone(group int) (bool, error) {
	out, err := exec.Command("ps", "-e", "-o", "pgid=,stat=").Output()
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if fields[0] == strconv.Itoa(group) && !strings.HasPrefix(fields[1], "Z") {
			return false, nil
		}
	}
	return true, nil
}

func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		want   OmegaMatcher
	}{
		"ends on request":  {"trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done", Succeed()},
		"ends with a code": {"trap 'echo sorry; exit 3' TERM; echo up; while :; do sleep 0.05; done", MatchError(And(ContainSubstring("exit status 3"), ContainSubstring("sorry")))},
		"does not end":     {"trap '' TERM; echo up; while :; do sleep 0.05; done", MatchError(ContainSubstring("was killed"))},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pids := t.TempDir()
			log := filepath.Join(t.TempDir(), "child.log")
			p, err := startProcess("child", exec.Command("/bin/sh", "-c", tc.script), log, pids)
			g.Expect(err).NotTo(HaveOccurred())
			g.Eventually(func() (string, error) { c, err := os.ReadFile(log); return string(c), err }).Should(ContainSubstring("up"), "the trap is set")
			g.Expect(p.running()).To(BeTrue())

			g.Expect(p.stop(500 * time.Millisecond)).To(tc.want)
			g.Expect(p.running()).To(BeFalse())
			g.Expect(os.ReadDir(pids)).To(BeEmpty(), "the reaper has nothing to do")
		})
	}
}
