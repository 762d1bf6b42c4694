// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// TestEveryPatternIsRecognised holds the table to what it says: each image, program, module,
// package, name, flag and label shows its product and category.
func TestEveryPatternIsRecognised(t *testing.T) {
	for i := range patterns.Products {
		p := &patterns.Products[i]
		if p.Type == "" {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			for what, in := range waysOf(p) {
				report := PodWorkload(in)
				NewWithT(t).Expect(names(report, evidence.TypeRuntime, evidence.TypeFramework)).To(ContainElement(p.Name), what)
				NewWithT(t).Expect(report.Category).To(Equal(categoryOf(p, what)), what)
			}
		})
	}
}

// categoryOf is what the product is for in one of its ways.
func categoryOf(p *product, what string) evidence.Category {
	for _, program := range p.Programs {
		if program.Category != "" && what == "program python3 -m "+program.Module {
			return program.Category
		}
	}
	return p.Category
}

// waysOf are workloads that show the product, each in one way.
func waysOf(p *product) map[string]Input {
	filled := func(pattern string) string {
		return strings.ReplaceAll(strings.ReplaceAll(pattern, "*", "x"), "//", "/")
	}
	all := map[string]Input{}
	for _, image := range p.Images {
		all["image "+image] = deployment(withArgs("mirror.example.com/" + filled(image) + ":v1.2.3"))
	}
	for _, image := range p.BaseImages {
		all["base image "+image] = job(withCommand(filled(image), "python", "train.py"))
	}
	for _, program := range p.Programs {
		if program.Download {
			continue
		}
		start := func(c corev1.Container) Input { return deployment(c) }
		if program.Shared {
			start = beside
		}
		words := append([]string{filled(program.Exec)}, program.Sub...)
		if program.Module != "" {
			words = []string{"python3", "-m", program.Module}
		}
		all["program "+strings.Join(words, " ")] = start(withCommand(plain, words...))
	}
	for _, name := range append(p.Packages[:len(p.Packages):len(p.Packages)], p.Plugins...) {
		all["package "+name] = deployment(shell(plain, "pip install "+filled(name)))
	}
	for _, module := range p.Imports {
		all["import "+module] = deployment(withCommand(plain, "python", "-c", "import "+filled(module)))
	}
	for _, module := range p.Shared.Imports {
		all["import "+module] = deployment(withCommand(plain, "python", "-c", "import "+module+"\n"+module+"."+p.Loaders[0]+"('m')"))
	}
	for _, image := range p.Shared.Images {
		all["image "+image] = beside(withArgs("mirror.example.com/" + filled(image) + ":v1.2.3"))
	}
	for _, image := range p.Shared.BaseImages {
		in := beside(withCommand(filled(image), "python", "train.py"))
		in.Workload.Kind = "Job"
		all["base image "+image] = in
	}
	for _, flag := range p.Shared.Flags {
		all["flag "+flag] = beside(withArgs(custom, "--"+flag, "1"))
	}
	for _, prefix := range p.Shared.EnvPrefixes {
		all["variable "+prefix] = beside(withEnv(withArgs(custom), prefix+"X=1"))
	}
	for _, name := range p.CommonNames {
		all["name "+name] = beside(withArgs("registry.example.com/team/" + name + ":v1.2.3"))
	}
	for _, name := range p.Names {
		in := deployment(gpu(withArgs("registry.example.com/team/my-" + name + ":v1.2.3")))
		if p.Category == evidence.CategoryTraining {
			in = job(gpu(withArgs("registry.example.com/team/my-" + name + ":v1.2.3")))
		}
		all["name "+name] = in
	}
	for _, flag := range p.Flags {
		all["flag "+flag] = deployment(withArgs(custom, "--"+flag, "1"))
	}
	for _, label := range append(p.Labels[:len(p.Labels):len(p.Labels)], p.Name) {
		all["label "+label] = labelledPod(deployment(withArgs(custom)), patterns.RuntimeLabels[0]+"="+label)
	}
	for _, prefix := range p.EnvPrefixes {
		all["variable "+prefix] = deployment(withEnv(withArgs(custom), prefix+"X=1"))
	}
	return all
}

// beside is a workload of one container with an accelerator.
func beside(c corev1.Container) Input { return deployment(gpu(c)) }

// TestNamesAreOfOneProduct holds that no two products claim the same word, flag or label.
func TestNamesAreOfOneProduct(t *testing.T) {
	claimed := map[string]string{}
	for i := range patterns.Products {
		p := &patterns.Products[i]
		for _, list := range [][]string{prefixed("name", slices.Concat(p.Names, p.CommonNames)), prefixed("flag", slices.Concat(p.Flags, p.Shared.Flags)), prefixed("label", p.Labels), prefixed("package", p.Packages)} {
			for _, claim := range list {
				if other, ok := claimed[claim]; ok {
					t.Errorf("%s is claimed by %s and %s", claim, other, p.Name)
				}
				claimed[claim] = p.Name
			}
		}
		for _, image := range p.Images {
			if _, err := path.Match(image, "x"); err != nil {
				t.Errorf("%s is no pattern: %v", image, err)
			}
		}
	}
}

func prefixed(kind string, names []string) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = kind + " " + n
	}
	return all
}

// TestEveryService holds that each key and address of each hosted API shows it, and that a
// variable that merely resembles one does not.
func TestEveryService(t *testing.T) {
	for i := range patterns.Services {
		s := &patterns.Services[i]
		for _, key := range slices.Concat(s.Keys, s.Switches) {
			report := PodWorkload(deployment(withEnv(withArgs(custom), key+"=x")))
			NewWithT(t).Expect(names(report, evidence.TypeService)).To(Equal([]string{s.Name}), key)
			report = PodWorkload(deployment(withEnv(withArgs(custom), "X"+key+"=x")))
			NewWithT(t).Expect(names(report, evidence.TypeService)).NotTo(ContainElement(s.Name), "X%s", key)
		}
		for _, host := range slices.Concat(s.Hosts, s.SharedHosts) {
			report := PodWorkload(deployment(withEnv(withArgs(custom), "LLM_BASE_URL=https://"+strings.ReplaceAll(host, "*", "x")+"/v1")))
			NewWithT(t).Expect(names(report, evidence.TypeService)).To(Equal([]string{s.Name}), host)
		}
	}
}
