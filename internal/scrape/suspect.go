// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// suspect judges a container in which no product was recognised. With an accelerator or a
// hub's token, a training script trains, and so does what names a dataset or a model to write;
// any other model that is named is served. With the address of a model server the container is
// that server's client.
func (c *container) suspect(invocations []invocation) {
	if len(c.signals) > 0 {
		return
	}
	capable := c.hasHubToken() || c.accelerated
	measures := c.benchmarks(invocations) && !c.trains(invocations)
	if measures && !c.accelerated {
		return
	}
	if capable && (c.trains(invocations) || c.namesTraining(measures || infersInCode(invocations))) {
		c.evident = c.accelerated
		c.signals = append(c.signals, signal{evidence.CategoryTraining, strengthEnvironment})
		return
	}
	calls := !c.forwards(invocations) && c.callsModelServer(invocations)
	if c.namesHosted() || (calls && c.namesCalled()) {
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
		return
	}
	if at, ok := c.retrieves(invocations); ok {
		c.addStore(at)
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
		return
	}
	if calls && (c.isFrontEnd(invocations) || c.lacksModel() || slices.ContainsFunc(c.env.order, c.statesModelAddress)) {
		c.addEndpoint()
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
		return
	}
	if c.converts(invocations) {
		return
	}
	if !c.accelerated && c.embedsDocuments(invocations) {
		c.evident = true
		c.signals = append(c.signals, signal{evidence.CategoryAgent, strengthEnvironment})
		return
	}
	if !c.accelerated && c.embeds() && (c.isJob() || !c.hasHubToken()) {
		c.signals = append(c.signals, signal{c.embeddingCategory(invocations), strengthEnvironment})
		return
	}
	if capable && c.namesModel(evidence.RoleServed) {
		c.signals = append(c.signals, signal{evidence.CategoryInference, strengthEnvironment})
		return
	}
	if c.accelerated && (runsScript(invocations, patterns.ServingScripts) || c.servesByName(invocations)) {
		c.evident = true
		c.signals = append(c.signals, signal{evidence.CategoryInference, strengthEnvironment})
	}
}

// embeddingCategory is what a program without an accelerator is for that makes embeddings itself:
// most look something up with them, some serve them.
func (c *container) embeddingCategory(invocations []invocation) evidence.Category {
	if !c.isJob() && c.servesEmbeddings(invocations) {
		return evidence.CategoryInference
	}
	return evidence.CategoryAgent
}

// namesHosted says whether a model is named that only a hosted API has, or in LiteLLM's way.
func (c *container) namesHosted() bool {
	return slices.ContainsFunc(c.models, func(m model) bool {
		return m.role == evidence.RoleCalled && !m.dataset && len(m.value.missing) == 0 &&
			(m.provided || beginsWith(patterns.HostedModels, strings.ToLower(m.value.text)))
	})
}

// namesCalled says whether a model is named that a model server may be asked for.
func (c *container) namesCalled() bool {
	return c.namesModel(evidence.RoleServed, evidence.RoleCalled) || slices.ContainsFunc(c.servedNames, func(m model) bool {
		return len(m.value.missing) == 0 && !isPlaceholder(m.value.text)
	})
}

// lacksModel says whether a variable is there to name a model that is not in the manifest.
func (c *container) lacksModel() bool {
	return slices.ContainsFunc(slices.Concat(c.models, c.servedNames), func(m model) bool {
		return !m.dataset && m.fromVariable() && len(m.value.missing) > 0 && (m.role == evidence.RoleServed || m.role == evidence.RoleCalled)
	})
}

// converts says whether a Job's program is named like one that makes one model out of another,
// or moves it.
func (c *container) converts(invocations []invocation) bool {
	return c.isJob() && speaksOf(index.conversionNames, append(c.programNames(invocations), c.name, c.pod.in.Workload.Name)...)
}

// namesTraining says whether a dataset to read or a model to write is named. Where code uses a
// model, a dataset is what it uses it on.
func (c *container) namesTraining(infers bool) bool {
	for _, m := range c.models {
		trains := m.role == evidence.RoleOutput || (m.role == evidence.RoleDataset && !infers)
		if trains && len(m.value.missing) == 0 {
			return true
		}
	}
	return false
}

// infersInCode says whether Python code on the command line uses a model and trains none.
func infersInCode(invocations []invocation) bool {
	infers := false
	for _, inv := range invocations {
		for _, program := range inv.code {
			for _, call := range program.calls {
				if slices.Contains(patterns.TrainingCalls, call.name) {
					return false
				}
				infers = infers || slices.Contains(patterns.InferenceCalls, call.name)
			}
		}
	}
	return infers
}

// namesModel says whether a model of one of the roles is named.
func (c *container) namesModel(roles ...evidence.Role) bool {
	for _, m := range c.models {
		if slices.Contains(roles, m.role) && !m.dataset && len(m.value.missing) == 0 {
			return true
		}
	}
	return false
}

// trains says whether a program or module is named like one that trains.
func trains(invocations []invocation) bool {
	return runsScript(invocations, patterns.TrainingScripts)
}

// trains says whether a program does what its name says: beside an accelerator that of a program of
// one's own counts as that of a script does.
func (c *container) trains(invocations []invocation) bool {
	return trains(invocations) || (c.accelerated && slices.ContainsFunc(invocations, func(inv invocation) bool { return trainee(inv) != "" }))
}

// infers says whether a script that the invocation runs is named like one that runs a model,
// and none like one that trains.
func infers(inv invocation) bool {
	return runsScript([]invocation{inv}, patterns.ServingScripts) && !trains([]invocation{inv})
}

// benchmarks says whether a program is named like one that measures a server, which it does from
// without unless it has an accelerator.
func (c *container) benchmarks(invocations []invocation) bool {
	for _, inv := range invocations {
		if len(inv.words) > 1 && inv.words[1].text == "bench" {
			return true
		}
	}
	return speaksOf(index.benchmarkNames, append(c.programNames(invocations), c.name, c.pod.in.Workload.Name)...)
}

// webServer is the module of Python itself that serves files.
const webServer = "http.server"

// runsScript says whether a script or module has a name with one of the words.
func runsScript(invocations []invocation, vocabulary []string) bool {
	for _, inv := range invocations {
		for i, w := range inv.words {
			base := path.Base(w.text)
			name, isScript := strings.CutSuffix(base, ".py")
			if !isScript {
				name, isScript = strings.CutSuffix(base, ".sh")
			}
			if !isScript && i > 0 && inv.words[i-1].text == "-m" && inv.isPython() && base != webServer {
				name, isScript = base[strings.LastIndexByte(base, '.')+1:], true
			}
			if isScript && nameBegins(name, vocabulary) {
				return true
			}
		}
	}
	return false
}

// nameBegins says whether one of the words in the name begins like one of the vocabulary.
func nameBegins(name string, vocabulary []string) bool {
	name = "_" + strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
	return slices.ContainsFunc(vocabulary, func(word string) bool { return strings.Contains(name, "_"+word) })
}
