// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// suspect judges a container in which no product was recognised. With an accelerator or a
// hub's token, a training script trains, and so does what names a dataset or a model to write;
// any other model that is named is served. With the address of a model server the container is
// that server's client.
func (c *container) suspect(invocations []invocation) {
	measures := c.benchmarks(invocations) && !c.trains(invocations)
	if len(c.signals) > 0 || (measures && !c.accelerated) {
		return
	}
	var category evidence.Category
	switch {
	case c.looksLikeTraining(invocations, measures):
		category, c.evident = evidence.CategoryTraining, c.accelerated
	case c.asksOthers(invocations):
		category = evidence.CategoryAgent
	case c.converts(invocations):
		return
	case !c.accelerated && c.embedsDocuments(invocations):
		category, c.evident = evidence.CategoryAgent, true
	case !c.accelerated && c.embeds() && (c.isJob() || !c.hasHubToken()):
		category = c.embeddingCategory(invocations)
	case c.usesModel(invocations):
		category = evidence.CategoryInference
	case c.accelerated && c.isNamedLikeServer(invocations):
		category, c.evident = evidence.CategoryInference, true
	default:
		return
	}
	c.signals = append(c.signals, signal{category, strengthEnvironment})
}

// isCapable says whether the container could run a model: it has an accelerator, or may fetch one.
func (c *container) isCapable() bool { return c.accelerated || c.hasHubToken() }

// usesModel says whether a container that could run a model names one, or its code loads one.
func (c *container) usesModel(invocations []invocation) bool {
	return (c.isCapable() && c.showsModel(c.doesOtherWork(invocations))) || (!c.isJob() && c.loadsInPython(invocations))
}

// isNamedLikeServer says whether the names of scripts or people's own say that the container serves.
func (c *container) isNamedLikeServer(invocations []invocation) bool {
	byScript := servesByScript(invocations) && !c.doesOtherWork(invocations) && !c.showsThings()
	return byScript || c.servesByName(invocations)
}

// looksLikeTraining says whether a container that could train does so by a script's name, or names
// what only a training does. What one measures a model with is read as what it trains with elsewhere.
func (c *container) looksLikeTraining(invocations []invocation, measures bool) bool {
	return c.isCapable() && !c.doesOtherWork(invocations) && (c.trains(invocations) || c.namesTraining(measures || infersInCode(invocations)))
}

// asksOthers says whether the container is a client of a hosted API, a model server or a vector
// database, and keeps where the latter two are.
func (c *container) asksOthers(invocations []invocation) bool {
	calls := !c.forwards(invocations) && c.callsModelServer(invocations)
	if calls && !c.namesCalled() {
		c.readAskedModels()
	}
	if c.namesHosted() || (calls && c.namesCalled()) {
		return true
	}
	if at, ok := c.retrieves(invocations); ok {
		c.addStore(at)
		return true
	}
	if calls && ((c.isFrontEnd(invocations) && !c.callsForeign()) || c.lacksModel() || slices.ContainsFunc(c.env.order, c.statesModelAddress)) {
		c.addEndpoint()
		return true
	}
	return false
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

// namesTraining says whether a dataset to read or a model to write is named, which beside a model need not
// show itself. Where code uses a model, a dataset is what it uses it on.
func (c *container) namesTraining(infers bool) bool {
	model := sync.OnceValue(func() bool { return c.showsModel(false) })
	for _, m := range c.models {
		trains := m.role == evidence.RoleOutput || (m.role == evidence.RoleDataset && !infers)
		if trains && len(m.value.missing) == 0 && (c.isShown(m) || model()) {
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
// and none like one that trains. Beside a known launcher of models any beginning of such a name will do.
func infers(inv invocation) bool {
	return runsScript([]invocation{inv}, servingBeginnings) && !trains([]invocation{inv})
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
	return runsScriptLike(invocations, func(name string, _ bool) bool { return nameBegins(name, vocabulary) })
}

// servingBeginnings are those of the names of all scripts that may serve.
var servingBeginnings = slices.Concat(patterns.ServingScripts, patterns.CommonServingScripts)

// servesByScript says whether a script or module is named like one that runs a model.
func servesByScript(invocations []invocation) bool {
	return runsScriptLike(invocations, func(name string, shell bool) bool {
		return nameBegins(name, patterns.ServingScripts) || isServingName(name, shell)
	})
}

// isServingName says whether a script is named after what is done with models and with other things too,
// and no other thing's name follows. A shell script called serve may start any server.
func isServingName(name string, shell bool) bool {
	parts := words(clip(name, maxNameBytes))
	at := slices.IndexFunc(parts, func(w string) bool { return slices.Contains(patterns.CommonServingScripts, w) })
	if at < 0 || (shell && len(parts) == 1 && parts[0] == "serve") {
		return false
	}
	for i := at + 1; i < len(parts); i++ {
		w := parts[i]
		known := index.servingObjects[w] || index.servingSubjects[w] || index.servingWords[w] || patterns.FrameworkNames[w] != "" || isArchitecture(w)
		if _, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(w, "v"), "b")); !known && err != nil {
			return false
		}
	}
	return true
}

// runsScriptLike says whether a script or module has such a name; shell is true for a shell's.
func runsScriptLike(invocations []invocation, like func(name string, shell bool) bool) bool {
	for _, inv := range invocations {
		for i, w := range inv.words {
			base := path.Base(w.text)
			name, isScript := strings.CutSuffix(base, ".py")
			shell := false
			if !isScript {
				name, shell = strings.CutSuffix(base, ".sh")
			}
			if !isScript && !shell && i > 0 && inv.words[i-1].text == "-m" && inv.isPython() && base != webServer {
				name, isScript = base[strings.LastIndexByte(base, '.')+1:], true
			}
			if (isScript || shell) && like(name, shell) {
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
