// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
	"github.com/k8s-aibom/k8s-aibom/internal/scrape"
)

// BenchmarkCorpus scrapes each manifest of the corpus in turn, and reports the median of their
// times and of the garbage that each leaves.
func BenchmarkCorpus(b *testing.B) {
	folder := upstream(b)
	labels, err := ReadLabels(folder)
	if err != nil {
		b.Fatal(err)
	}
	var times, garbage []float64
	for _, l := range labels {
		run, err := reader(folder, l.File)
		if err != nil {
			continue
		}
		took, left := measure(run)
		times, garbage = append(times, took), append(garbage, left)
	}
	slices.Sort(times)
	slices.Sort(garbage)
	for b.Loop() {
		runtime.KeepAlive(times)
	}
	b.ReportMetric(0, "ns/op") // which is of nothing
	b.ReportMetric(times[len(times)/2], "µs/median")
	b.ReportMetric(times[len(times)-1], "µs/max")
	b.ReportMetric(garbage[len(garbage)/2], "KiB/median")
	b.ReportMetric(garbage[len(garbage)-1], "KiB/max")
}

// measure is the time in microseconds and the garbage in KiB of one run.
func measure(run func()) (took, left float64) {
	const runs = 100
	for range runs / 10 {
		run()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for range runs {
		run()
	}
	took = float64(time.Since(began).Nanoseconds()) / 1e3 / runs
	runtime.ReadMemStats(&after)
	return took, float64(after.TotalAlloc-before.TotalAlloc) / 1024 / runs
}

// reader prepares the scrape of one manifest, as the controller does it on what its cache holds.
func reader(folder, file string) (func(), error) {
	m, err := ReadManifest(folder, file)
	if err != nil {
		return nil, err
	}
	read, err := m.Reader()
	if err != nil {
		return nil, err
	}
	return func() { _, _ = read() }, nil
}

// BenchmarkSize scrapes a Deployment that grows to a megabyte in each of the ways in which one
// can grow. The time per byte must not grow with it.
func BenchmarkSize(b *testing.B) {
	for _, way := range []struct {
		name string
		make func(bytes int) corev1.PodSpec
	}{
		{"arguments", func(n int) corev1.PodSpec {
			c := corev1.Container{Name: "c", Image: "vllm/vllm-openai:v1", Args: []string{"--model", "org/m"}}
			for i := range n / 40 {
				c.Args = append(c.Args, fmt.Sprintf("--flag-number-%06d=%s", i, strings.Repeat("x", 18)))
			}
			return corev1.PodSpec{Containers: []corev1.Container{c}}
		}},
		{"variables", func(n int) corev1.PodSpec {
			c := corev1.Container{Name: "c", Image: "vllm/vllm-openai:v1", Args: []string{"--model", "org/m"}}
			for i := range n / 500 {
				c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("NAME_%06d_MODEL", i), Value: strings.Repeat("x", 480)})
			}
			return corev1.PodSpec{Containers: []corev1.Container{c}}
		}},
		{"script", func(n int) corev1.PodSpec {
			script := strings.Repeat("echo a line of a script that is long\n", n/37) + "vllm serve org/m"
			return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "vllm/vllm-openai:v1", Command: []string{"sh", "-c", script}}}}
		}},
		{"python", func(n int) corev1.PodSpec {
			code := strings.Repeat("x = call(a, 'b', c=[1, 2, {3: 4}])\n", n/36) + "LLM('org/m')"
			return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "vllm/vllm-openai:v1", Command: []string{"python", "-c", code}}}}
		}},
		{"containers", func(n int) corev1.PodSpec {
			var s corev1.PodSpec
			for i := range n / 8192 {
				c := corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "vllm/vllm-openai:v1", Args: []string{"--model", "org/m"}}
				for j := range 16 {
					c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("NAME_%d", j), Value: strings.Repeat("x", 490)})
				}
				s.Containers = append(s.Containers, c)
			}
			return s
		}},
	} {
		for _, kib := range []int{16, 64, 256, 1024} {
			b.Run(fmt.Sprintf("%s/%dKiB", way.name, kib), func(b *testing.B) {
				in := scrape.Input{
					Workload: evidence.Workload{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "w"},
					Template: &corev1.PodTemplateSpec{Spec: way.make(kib << 10)}, TemplateLocator: "spec.template",
				}
				b.ReportAllocs()
				for b.Loop() {
					scrape.PodWorkload(in)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(kib<<10), "ns/byte")
			})
		}
	}
}
