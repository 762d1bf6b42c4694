// SPDX-License-Identifier: Apache-2.0

package scrape

import "github.com/k8s-aibom/k8s-aibom/internal/evidence"

// readModelVariables reads the variables that hold models, unless a flag was resolved from them
// or a script sets them anew. Of an init container they count only where it fetches something.
func (c *container) readModelVariables(invocations []invocation) {
	fetches := c.fetchesAny(invocations)
	if c.init && !fetches {
		return
	}
	c.fetching = c.init || (fetches && len(c.products) == 0 && c.endsWithDownload(invocations))
	resolved := map[evidence.Evidence]bool{}
	names := map[string]bool{}
	for _, m := range append(c.models[:len(c.models):len(c.models)], c.servedNames...) {
		for _, e := range m.value.evidence {
			resolved[e] = true
		}
		names[m.value.text] = true
	}
	replaced := map[string]bool{}
	for _, e := range c.env.exported {
		replaced[e.name] = replaced[e.name] || !e.conditional
	}
	for _, name := range c.env.order {
		if v := c.env.variables[name]; !replaced[name] && !resolved[v.evidence[0]] {
			c.readModelVariable(name, v, false)
		}
	}
	for _, e := range c.env.exported {
		if v := e.value; v.known() && names[v.value] {
			continue // the script puts it into a flag as well
		}
		c.readModelVariable(e.name, e.value, e.conditional)
	}
	c.readRevisionVariable()
}

// endsWithDownload says whether the download is what the container is there for: a Job's, or
// the last thing that it does.
func (c *container) endsWithDownload(invocations []invocation) bool {
	return c.isJob() || len(invocations) == 0 || c.fetchesAny(invocations[len(invocations)-1:])
}

// readRevisionVariable reads the revision of the models that variables name.
func (c *container) readRevisionVariable() {
	for _, name := range patterns.RevisionEnv {
		v, ok := c.env.variables[name]
		if !ok || !v.known() || isPlaceholder(v.value) {
			continue
		}
		for i := range c.models {
			m := &c.models[i]
			if m.role == evidence.RoleServed && m.revision == "" && len(m.value.missing) == 0 && hubName.MatchString(m.value.text) {
				m.revision = v.value
			}
		}
	}
}

// generalName is the one variable for a served name that people also put the model itself in.
const generalName = "MODEL_NAME"

func (c *container) readModelVariable(name string, v variable, conditional bool) {
	dataset, alias := index.datasetEnv[name], index.aliasEnv[name]
	served := alias || index.servedNameEnv[name]
	role, isModel := c.roleOfVariable(name, v, served)
	if (!isModel && !dataset && !served) || (v.known() && v.value == "") {
		return
	}
	w := v.word(name, conditional)
	switch {
	case c.fetching && role != evidence.RoleOutput && !served && !dataset:
		c.addModel(model{value: w, role: evidence.RoleDownload, dataset: true, hub: hubOf(name), inferred: true})
	case served && !isModel:
		c.addServedName(model{value: w, role: evidence.RoleServed, inferred: true, alias: alias})
	case dataset:
		c.addModel(model{value: w, role: evidence.RoleDataset, dataset: true, general: c.pod.isGeneral(name)})
	case index.adapterListEnv[name]:
		c.addList(w, evidence.RoleAdapter, ",")
	case index.modelListEnv[name]:
		c.addList(w, role, ";")
	case index.modelObjectsEnv[name]:
		c.addObjects(w, role)
	default:
		c.addModel(model{value: w, role: role, hub: hubOf(name), general: c.pod.isGeneral(name)})
	}
}

// roleOfVariable is what a variable of this name and value says that a model is for, if it names one.
func (c *container) roleOfVariable(name string, v variable, served bool) (evidence.Role, bool) {
	if c.pod.modelEnv[name] {
		return evidence.RoleServed, true
	}
	if role, ok := patterns.ModelEnv[name]; ok {
		return role, true
	}
	if !v.known() || (served && name != generalName) {
		return "", false
	}
	own, _ := withoutProvider(v.value)
	return modelByName(name, own)
}

// word is what the variable of this name holds, or the reference to it.
func (v variable) word(name string, conditional bool) word {
	if v.known() {
		return word{text: v.value, evidence: v.evidence, conditional: conditional}
	}
	return word{
		text: "$(" + name + ")", missing: []string{name + " (" + v.missing + ")"},
		evidence: v.evidence, conditional: conditional,
	}
}
