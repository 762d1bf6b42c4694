// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// recogniseTraining looks for a framework by its name where something else shows a training, and says
// whether there is one: a script's name, the name of a Job's own image, or a flag for the data to
// train with.
func (c *container) recogniseTraining(invocations []invocation) bool {
	switch {
	case c.isCapable() && c.trains(invocations):
		return c.trainsByScript(invocations)
	case c.isJob() && c.accelerated && ownEntrypoint(invocations):
		return c.trainsByImage(invocations)
	case c.isJob():
		return c.trainsByData(invocations)
	default:
		return false
	}
}

// trainsByScript takes the framework out of the training script's name, or a variable of it.
func (c *container) trainsByScript(invocations []invocation) bool {
	for _, inv := range invocations {
		for _, w := range inv.words {
			if !isScript(w.text) {
				continue
			}
			if f := frameworkIn(path.Base(w.text)); f != "" {
				return c.trainsWith(f, w.evidence...)
			}
		}
	}
	for _, name := range c.env.order {
		if f := patterns.FrameworkEnv[name]; f != "" {
			return c.trainsWith(f, c.env.variables[name].evidence[0])
		}
	}
	for _, e := range c.env.exported {
		if f := patterns.FrameworkEnv[e.name]; f != "" {
			return c.trainsWith(f, e.value.evidence...)
		}
	}
	return false
}

// trainsByImage takes framework and dataset out of the name of an image that runs by itself, where a
// flag of trainings or the dataset's name shows that it trains.
func (c *container) trainsByImage(invocations []invocation) bool {
	name := path.Base(c.image.path)
	framework, dataset := frameworkIn(name), datasetIn(name)
	steps := slices.ContainsFunc(invocations, func(inv invocation) bool {
		return slices.ContainsFunc(inv.flags(false, nil), func(f flag) bool { return slices.Contains(patterns.TrainingFlags, f.name) })
	})
	other := nameBegins(name, servingBeginnings) || speaksOf(index.benchmarkNames, name) || speaksOf(index.conversionNames, name)
	if framework == "" || other || (!steps && dataset == "") {
		return false
	}
	if dataset != "" {
		at := []evidence.Evidence{c.imageEvidence()}
		c.addModel(model{value: word{text: dataset, evidence: at}, role: evidence.RoleDataset, dataset: true, inferred: true})
	}
	return c.trainsWith(framework, c.imageEvidence())
}

// trainsByData takes the framework out of the names of a Job that is given data to train with.
func (c *container) trainsByData(invocations []invocation) bool {
	framework := ""
	for _, name := range []string{path.Base(c.image.path), c.name, c.pod.in.Workload.Name} {
		if framework == "" && (c.isCapable() || !speaksOf(index.commonFrameworks, name)) {
			framework = frameworkIn(name)
		}
	}
	if framework == "" {
		return false
	}
	for _, inv := range invocations {
		for _, f := range inv.flags(false, nil) {
			if strings.HasPrefix(f.name, "train") && index.datasetFlags[f.name] && f.value().text != "" {
				return c.trainsWith(framework, f.at...)
			}
		}
	}
	return false
}

// trainsWith records a framework, which may elsewhere be there to serve. The file of a model is then
// what it writes.
func (c *container) trainsWith(name string, at ...evidence.Evidence) bool {
	p := &product{Name: name}
	if known, ok := index.products[name]; ok {
		*p = *known
	}
	p.Category, p.Type = evidence.CategoryTraining, evidence.TypeRuntime
	p.ModelFlags = map[string]evidence.Role{"model-file": evidence.RoleOutput}
	c.detect(p, strengthEnvironment, "", at...)
	return true
}

// ownEntrypoint says whether nothing but the image's own program runs.
func ownEntrypoint(invocations []invocation) bool {
	return !slices.ContainsFunc(invocations, func(inv invocation) bool { return !inv.entrypoint })
}

// frameworkIn is the framework of which a name has a word.
func frameworkIn(name string) string {
	for _, w := range words(clip(name, maxNameBytes)) {
		if f := patterns.FrameworkNames[w]; f != "" {
			return f
		}
	}
	return ""
}

// datasetIn is the well-known dataset of which a name has the word.
func datasetIn(name string) string {
	for _, w := range words(clip(name, maxNameBytes)) {
		if slices.Contains(patterns.DatasetNames, w) {
			return w
		}
	}
	return ""
}

// trainee is what a program trains by its name, as train_esm2 and esm2-train do.
func trainee(inv invocation) string {
	name := strings.ToLower(path.Base(clip(inv.words[0].text, maxNameBytes)))
	if inv.entrypoint || strings.Contains(name, ".") {
		return ""
	}
	for _, ending := range []string{"_train", "-train"} {
		if rest, ok := strings.CutSuffix(name, ending); ok {
			return rest
		}
	}
	if rest, ok := strings.CutPrefix(name, "train_"); ok {
		return rest
	}
	return ""
}

// readTrainee names the model that a program is made to train, where it is one of a known kind and nothing
// else is named.
func (c *container) readTrainee(invocations []invocation) {
	if !c.accelerated || c.namesModel(evidence.RoleServed) {
		return
	}
	for _, inv := range invocations {
		if name := trainee(inv); isArchitecture(name) {
			c.addModel(model{value: word{text: name, evidence: inv.words[0].evidence}, role: evidence.RoleServed, inferred: true})
			return
		}
	}
}
