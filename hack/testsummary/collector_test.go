// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		name    string
		in      string
		ok      bool
		shown   string
		summary string
	}{{
		name: "passed and skipped tests",
		in: `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Test":"TestX","Output":"chatter\n"}
{"Action":"pass","Package":"m/a","Test":"TestX"}
{"Action":"skip","Package":"m/a","Test":"TestY"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
`,
		ok:      true,
		shown:   "ok  \tm/a\t0.1s\n",
		summary: "ok  \tm/a\t0.1s\n1 passed, 0 failed, 1 skipped\n",
	}, {
		name: "a failed test shows its output and its name",
		in: `{"Action":"output","Package":"m/a","Test":"TestX","Output":"x_test.go:1: wrong\n"}
{"Action":"fail","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.2s\n"}
{"Action":"fail","Package":"m/a"}
`,
		shown:   "x_test.go:1: wrong\nFAIL\tm/a\t0.2s\n",
		summary: "FAIL\tm/a\t0.2s\n--- FAIL: m/a TestX\n--- FAIL: m/a\n0 passed, 1 failed, 0 skipped\n",
	}, {
		name: "a Ginkgo suite counts as its specs, whatever its colours",
		in: `{"Action":"output","Package":"m/e","Test":"TestSuite","Output":"\u001b[1mSUCCESS!\u001b[0m -- \u001b[32m7 Passed\u001b[0m | \u001b[1m0 Failed\u001b[0m | 1 Pending | 2 Skipped\n"}
{"Action":"pass","Package":"m/e","Test":"TestSuite"}
{"Action":"pass","Package":"m/e"}
`,
		ok:      true,
		shown:   "pass\tm/e\n",
		summary: "pass\tm/e\n7 passed, 0 failed, 3 skipped\n",
	}, {
		name: "a Ginkgo suite whose set-up failed is a failure",
		in: `{"Action":"output","Package":"m/e","Test":"TestSuite","Output":"FAIL! -- 3 Passed | 0 Failed | 0 Pending | 4 Skipped\n"}
{"Action":"fail","Package":"m/e","Test":"TestSuite"}
`,
		shown:   "FAIL! -- 3 Passed | 0 Failed | 0 Pending | 4 Skipped\n",
		summary: "--- FAIL: m/e TestSuite\n3 passed, 1 failed, 4 skipped\n",
	}, {
		name: "a package that does not compile",
		in: `{"ImportPath":"m/b","Action":"build-output","Output":"b.go:1: undefined: x\n"}
{"ImportPath":"m/b","Action":"build-fail"}
{"Action":"pass","Package":"m/a","Test":"TestX"}
`,
		shown:   "b.go:1: undefined: x\n",
		summary: "--- FAIL: m/b (does not compile)\n1 passed, 0 failed, 0 skipped\n",
	}, {
		name: "a run that was cut off",
		in: `{"Action":"start","Package":"m/a"}
{"Action":"pass","Package":"m/a","Test":"TestX"}
{"Action":"output","Package":"m/a","Test":"TestY","Output":"working\n"}
`,
		summary: "--- NOT FINISHED: m/a\n1 passed, 0 failed, 0 skipped\n",
	}, {
		name:    "no test at all",
		in:      "go: no packages to test\n",
		shown:   "go: no packages to test\n",
		summary: "0 passed, 0 failed, 0 skipped\n",
	}} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "summary.txt")
			var out bytes.Buffer
			ok, err := run(strings.NewReader(tc.in), &out, file)
			if err != nil {
				t.Fatal(err)
			}
			if ok != tc.ok {
				t.Errorf("ok = %v, want %v", ok, tc.ok)
			}
			if want := tc.shown + "\n" + tc.summary; out.String() != want {
				t.Errorf("output:\n%q\nwant:\n%q", out.String(), want)
			}
			written, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(written) != tc.summary {
				t.Errorf("file:\n%q\nwant:\n%q", written, tc.summary)
			}
		})
	}
}
