// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

const (
	getLine   = `{"auditID":"1","stage":"ResponseComplete","verb":"get","user":{"username":"u"},"responseStatus":{"code":200}}` + "\n"
	watchLine = `{"auditID":"2","stage":"ResponseStarted","verb":"watch","user":{"username":"u"}}` + "\n"
	watchEnd  = `{"auditID":"2","stage":"ResponseComplete","verb":"watch","user":{"username":"u"}}` + "\n"
	execStart = `{"auditID":"3","stage":"ResponseStarted","verb":"create","user":{"username":"u"},"responseStatus":{"code":101}}` + "\n"
	execEnd   = `{"auditID":"3","stage":"ResponseComplete","verb":"create","user":{"username":"u"},"responseStatus":{"code":101}}` + "\n"
	panicLine = `{"auditID":"4","stage":"Panic","verb":"list","user":{"username":"u"}}` + "\n"
)

func TestParseAudit(t *testing.T) {
	for name, tc := range map[string]struct {
		log  string
		want []string
	}{
		"nothing":              {"", nil},
		"each request once":    {getLine + watchLine + watchEnd + execStart + execEnd + panicLine, []string{"1", "2", "3", "4"}},
		"a watch that ends":    {watchEnd, nil},
		"the same event twice": {getLine + getLine, []string{"1"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			events, err := parseAudit([]byte(tc.log), Filter{User: "u"})
			g.Expect(err).NotTo(HaveOccurred())
			var ids []string
			for _, e := range events {
				ids = append(ids, e.AuditID)
			}
			g.Expect(ids).To(Equal(tc.want))
		})
	}

	t.Run("a line that is no event", func(t *testing.T) {
		_, err := parseAudit([]byte("{\n"), Filter{})
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring("audit log")))
	})
}

func TestReadAuditLeavesOutALineThatIsBeingWritten(t *testing.T) {
	g := NewWithT(t)
	cp := &ControlPlane{logDir: t.TempDir()}
	write := func(s string) {
		g.Expect(os.WriteFile(filepath.Join(cp.logDir, "audit.log"), []byte(s), 0o600)).To(Succeed())
	}

	g.Expect(cp.Mark()).To(BeZero(), "no log yet")
	write(getLine + panicLine[:20])
	g.Expect(cp.Requests(0, Filter{})).To(HaveLen(1))
	mark, err := cp.Mark()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(mark).To(BeEquivalentTo(len(getLine)))

	write(getLine + panicLine)
	g.Expect(cp.Requests(mark, Filter{})).To(ConsistOf(HaveField("AuditID", "4")))
}
