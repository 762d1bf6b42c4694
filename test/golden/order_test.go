// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/internal/bom"
	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
)

const shuffles = 50

func shuffle[T any](random *rand.Rand, items []T) []T {
	items = slices.Clone(items)
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// However informers and maps order what they hand over, the document is the same.
func TestOrderDoesNotMatter(t *testing.T) {
	for _, s := range readSamples(t) {
		t.Run(s.name, func(t *testing.T) {
			g := NewWithT(t)
			random := rand.New(rand.NewPCG(1, 2))
			report := scrapeSample(t, s)
			if report.Category == evidence.CategoryNone {
				return
			}
			for _, version := range versions {
				want := string(build(t, report, version))
				for range shuffles {
					again := s
					again.running = shuffle(random, s.running)
					shuffled := scrapeSample(t, again)
					shuffled.Findings = shuffle(random, shuffled.Findings)
					shuffled.Properties = shuffle(random, shuffled.Properties)
					for i := range shuffled.Findings {
						f := &shuffled.Findings[i]
						f.Evidence, f.Properties = shuffle(random, f.Evidence), shuffle(random, f.Properties)
					}
					g.Expect(string(build(t, shuffled, version))).To(Equal(want))
				}
			}
		})
	}
}

// Pods that say the same thing again, or say it of a container that is not there, change nothing.
func TestMorePodsOfTheSameImagesChangeNothing(t *testing.T) {
	g := NewWithT(t)
	s := withPods(t)
	want := hash(t, s)
	more := s
	more.running = append(slices.Clone(s.running), s.running...)
	more.running = append(more.running, scrape.RunningImage{Container: "debugger", Image: "busybox", ImageID: s.running[0].ImageID})
	g.Expect(hash(t, more)).To(Equal(want))
}

// What does not say what runs does not touch the input hash, and so costs no write.
func TestUnrelatedFieldsChangeNothing(t *testing.T) {
	g := NewWithT(t)
	s := read(t, samples+"/inference-vllm.yaml")[0]
	want := hash(t, s)
	changed := s
	object := s.object.DeepCopyObject().(*appsv1.Deployment)
	object.Generation, object.ResourceVersion = 7, "123"
	object.Labels = map[string]string{"team": "b"}
	object.Annotations["deployment.kubernetes.io/revision"] = "3"
	replicas := int32(5)
	object.Spec.Replicas = &replicas
	object.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "2026-01-01"}
	object.Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
	c := &object.Spec.Template.Spec.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: "LOG_LEVEL", Value: "debug"})
	c.ReadinessProbe = nil
	object.Status.ReadyReplicas = 5
	changed.object = client.Object(object)
	g.Expect(hash(t, changed)).To(Equal(want))

	c.Args[1] = "another-name"
	g.Expect(hash(t, changed)).NotTo(Equal(want), "a hash that never changes would prove nothing")
}

func hash(t *testing.T, s sample) string {
	t.Helper()
	return bom.InputHash(bom.Input{Report: scrapeSample(t, s), SpecVersion: "1.6", Tool: tool})
}
