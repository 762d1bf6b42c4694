// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"
)

var (
	stepOutput = regexp.MustCompile(`steps\.([a-z]+)\.outputs`)
	goImage    = regexp.MustCompile(`golang:(\S+) AS`)
)

// workflow holds the fields of a workflow that the tests ask for.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct {
			ID, Uses, Run string
			With          map[string]any
		}
	}
}

// TestWorkflowsHangTogether holds each workflow to steps that exist, images for every platform
// and the Go version that the image is built with.
func TestWorkflowsHangTogether(t *testing.T) {
	g := NewWithT(t)
	version := goImage.FindStringSubmatch(read(g, "Dockerfile"))
	g.Expect(version).NotTo(BeNil())
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty())
	for _, file := range files {
		flow := workflow{}
		g.Expect(yaml.Unmarshal([]byte(read(g, ".github/workflows/"+filepath.Base(file))), &flow)).To(Succeed())
		for _, job := range flow.Jobs {
			before := map[string]bool{}
			for _, step := range job.Steps {
				text, err := yaml.Marshal(step)
				g.Expect(err).NotTo(HaveOccurred())
				for _, match := range stepOutput.FindAllStringSubmatch(string(text), -1) {
					g.Expect(before).To(HaveKey(match[1]), "%s uses the output of a step that is not before it", file)
				}
				before[step.ID] = true
				if strings.HasPrefix(step.Uses, "docker/build-push-action@") {
					g.Expect(step.With).To(HaveKey("platforms"), "%s: the bundle says that it supports four architectures", file)
				}
				if strings.HasPrefix(step.Uses, "actions/setup-go@") {
					g.Expect(step.With).To(HaveKeyWithValue("go-version", version[1]), "%s: what is tested is what is built", file)
				}
			}
		}
	}
}

// TestImagesNeedNoEmulation holds every program that a build runs to a stage on the builder's
// own platform.
func TestImagesNeedNoEmulation(t *testing.T) {
	g := NewWithT(t)
	for _, file := range []string{"Dockerfile", "bundle.Dockerfile", "catalog.Dockerfile"} {
		native := false
		for _, line := range strings.Split(read(g, file), "\n") {
			if strings.HasPrefix(line, "FROM ") {
				native = strings.Contains(line, "--platform=$BUILDPLATFORM")
			}
			if strings.HasPrefix(line, "RUN ") {
				g.Expect(native).To(BeTrue(), "%s: %s", file, line)
			}
		}
	}
}
