// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// model is a model or dataset that a container names.
type model struct {
	value    word
	role     evidence.Role
	dataset  bool
	revision string
	served   string
	// hub is where the program or variable that holds the model looks it up, where that is known.
	hub evidence.Origin
	// inferred is true where a rule says that this is a model, not the workload's owner.
	inferred bool
}

// addModel keeps a model that has a name, up to a bound.
func (c *container) addModel(m model) {
	if strings.TrimSpace(m.value.text) == "" {
		return
	}
	if len(c.models) == maxModels {
		c.pod.note("%s names more models than are read: more than %d", c.at, maxModels)
	}
	if len(c.models) <= maxModels {
		c.models = append(c.models, m)
	}
}

func (c *container) addServedName(m model) {
	if strings.TrimSpace(m.value.text) != "" && len(c.servedNames) < maxServedNames {
		c.servedNames = append(c.servedNames, m)
	}
}

// readModels looks at the flags, the positional arguments and then the variables that hold
// models and datasets.
func (c *container) readModels(invocations []invocation) {
	for _, inv := range invocations {
		c.readInvocation(inv)
	}
	c.readModelVariables()
}

// conventions are what the recognised products say about their command lines.
type conventions struct {
	dashless bool
	hub      evidence.Origin
	short    map[string]string
	ignore   map[string]bool
	datasets map[string]bool
	lists    map[string][]string
}

// conventions are those of the products that the container runs; which flags mean something
// else is for the program to say that the invocation starts.
func (c *container) conventions(inv invocation) conventions {
	cv := conventions{ignore: map[string]bool{}, datasets: map[string]bool{}}
	add := func(p *product, own bool) {
		cv.dashless = cv.dashless || p.Dashless
		if p.ListFlags != nil {
			cv.lists = p.ListFlags
		}
		for _, f := range p.DatasetFlags {
			cv.datasets[f] = true
		}
		if !own {
			return
		}
		if p.ShortFlags != nil && !inv.isPython() {
			cv.short = p.ShortFlags
		}
		for _, f := range p.IgnoreFlags {
			cv.ignore[f] = true
		}
	}
	for _, p := range c.products {
		add(p, len(inv.starts) == 0)
	}
	for _, s := range inv.starts {
		add(s.product, true)
		cv.hub = cmp.Or(cv.hub, s.product.Hub)
	}
	return cv
}

func (c *container) readInvocation(inv invocation) {
	first := len(c.models)
	cv := c.conventions(inv)
	download := c.readPositional(inv, cv.hub)
	revision := ""
	for _, f := range inv.flags(cv.dashless, cv.short) {
		value := f.value()
		if value.text == "" || cv.ignore[f.name] {
			continue
		}
		switch {
		case cv.lists[f.name] != nil:
			c.readList(value, cv.lists[f.name])
		case f.name == "speculative-config":
			c.readSpeculativeConfig(value)
		case f.name == "lora-modules":
			c.readLoRAModules(f.values)
		case index.revisionFlags[f.name]:
			revision = known(value)
		case index.servedNameFlags[f.name]:
			c.readServedNames(f)
		case cv.datasets[f.name]:
			c.readDatasets(value)
		case index.datasetFlags[f.name]:
			c.addModel(model{value: value, role: evidence.RoleDataset, dataset: true})
		case c.pod.modelFlags[f.name]:
			c.addModel(model{value: value, role: evidence.RoleServed})
		default:
			if role, ok := patterns.ModelFlags[f.name]; ok {
				c.addModel(model{value: value, role: role, hub: cmp.Or(hubOf(f.name), cv.hub)})
			}
		}
	}
	for i := first; i < len(c.models); i++ {
		m := &c.models[i]
		if m.role == evidence.RoleServed && len(m.value.missing) == 0 {
			m.revision = revision
		}
		if (download || c.init) && !m.dataset {
			m.role, m.dataset, m.inferred = evidence.RoleDownload, true, m.inferred || !download
		}
	}
}

// known is the text of a word that could be resolved.
func known(w word) string {
	if len(w.missing) > 0 {
		return ""
	}
	return clip(w.text, maxNameBytes)
}

func (c *container) readServedNames(f flag) {
	names := f.values
	if !index.manyValueFlags[f.name] {
		names = names[:1]
	}
	for _, name := range names {
		c.addServedName(model{value: name, role: evidence.RoleServed, inferred: true})
	}
}

// hubOf is the hub that a flag's or variable's own name speaks of.
func hubOf(name string) evidence.Origin {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "hf") || strings.HasPrefix(name, "huggingface") {
		return evidence.OriginHuggingFace
	}
	return evidence.OriginUnknown
}

// readPositional reads the model that a known launcher takes as its first argument, and says
// whether the invocation only fetches it.
func (c *container) readPositional(inv invocation, hub evidence.Origin) (download bool) {
	for _, s := range inv.starts {
		download = download || s.program.Download
		args := inv.words[s.args:]
		switch s.program.Positional {
		case "model":
			if w, ok := positional(args); ok {
				c.addModel(model{value: w, role: evidence.RoleServed, hub: hub})
			}
		case "source", "address":
			if w, ok := artefact(args, s.program.Positional == "address"); ok {
				c.addModel(model{value: w, role: evidence.RoleDownload, dataset: true, inferred: true})
			}
		}
	}
	if inv.entrypoint && len(inv.starts) == 0 {
		c.readEntrypoint(inv)
	}
	return download
}

// readEntrypoint reads the model that the entrypoint of a recognised image takes as its
// first argument. Where no subcommand goes before it, it must look like a model: an entrypoint
// may also be one that runs what it is given.
func (c *container) readEntrypoint(inv invocation) {
	for _, p := range c.products {
		if p.Entrypoint == nil {
			continue
		}
		args, ok := subcommand(inv.words, 0, p.Entrypoint)
		if !ok || args == len(inv.words) || strings.HasPrefix(inv.words[args].text, "-") {
			continue
		}
		w := inv.words[args]
		if args > 0 || len(w.missing) > 0 || (hubName.MatchString(w.text) && !isScript(w.text)) {
			c.addModel(model{value: w, role: evidence.RoleServed, hub: p.Hub})
			return
		}
	}
}

func isScript(name string) bool {
	return strings.HasSuffix(name, ".sh") || strings.HasSuffix(name, ".py")
}

// readImageModel reads the model out of the name of an image that is made for one model, where
// nothing else names what is served.
func (c *container) readImageModel() {
	if c.namesServedModel() {
		return
	}
	for _, p := range c.products {
		if !matchesAny(p.ModelImages, c.image) || matchesAny(p.NotModelImages, c.image) {
			continue
		}
		// Such an image is <catalogue>/<owner>/<model>.
		_, name, _ := strings.Cut(c.image.path, "/")
		at := []evidence.Evidence{c.imageEvidence()}
		c.addModel(model{value: word{text: name, evidence: at}, role: evidence.RoleServed, hub: p.Hub, inferred: true})
		return
	}
}

// readList reads key=value lists such as lm_eval's --model_args pretrained=x,dtype=y.
func (c *container) readList(w word, keys []string) {
	for item := range strings.SplitSeq(w.text, ",") {
		key, value, found := strings.Cut(item, "=")
		if found && value != "" && slices.Contains(keys, strings.TrimSpace(key)) {
			part := w
			part.text = value
			c.addModel(model{value: part, role: evidence.RoleServed})
		}
	}
}

// readDatasets reads lists such as lm_eval's --tasks hellaswag,arc_easy.
func (c *container) readDatasets(w word) {
	for name := range strings.SplitSeq(w.text, ",") {
		part := w
		if part.text = name; name != "" {
			c.addModel(model{value: part, role: evidence.RoleDataset, dataset: true})
		}
	}
}

// readSpeculativeConfig reads the draft model out of vLLM's JSON argument.
func (c *container) readSpeculativeConfig(w word) {
	var config struct {
		Model string `json:"model"`
	}
	if json.Unmarshal([]byte(w.text), &config) != nil || config.Model == "" {
		return
	}
	w.text = config.Model
	c.addModel(model{value: w, role: evidence.RoleDraft})
}

// readLoRAModules reads vLLM's --lora-modules name=path name=path, or JSON objects.
func (c *container) readLoRAModules(values []word) {
	for _, v := range values {
		if m, ok := loRAModule(v); ok {
			c.addModel(m)
		}
	}
}

func loRAModule(w word) (model, bool) {
	var object struct{ Name, Path string }
	if json.Unmarshal([]byte(w.text), &object) != nil {
		object.Name, object.Path, _ = strings.Cut(w.text, "=")
	}
	if object.Path == "" {
		return model{}, false
	}
	w.text = object.Path
	return model{value: w, role: evidence.RoleAdapter, served: object.Name}, true
}

// readModelVariables reads the variables that hold models, unless a flag was resolved from them.
func (c *container) readModelVariables() {
	resolved := map[evidence.Evidence]bool{}
	for _, m := range slices.Concat(c.models, c.servedNames) {
		for _, e := range m.value.evidence {
			resolved[e] = true
		}
	}
	for _, name := range c.env.order {
		v := c.env.variables[name]
		role, isModel := patterns.ModelEnv[name]
		if c.pod.modelEnv[name] {
			role, isModel = evidence.RoleServed, true
		}
		dataset := index.datasetEnv[name]
		served := index.servedNameEnv[name]
		if (!isModel && !dataset && !served) || resolved[v.evidence[0]] || (v.known() && v.value == "") {
			continue
		}
		w := word{text: v.value, evidence: v.evidence}
		if !v.known() {
			w.text = "$(" + name + ")"
			w.missing = []string{name + " (" + v.missing + ")"}
		}
		switch {
		case c.init:
			c.addModel(model{value: w, role: evidence.RoleDownload, dataset: true, hub: hubOf(name), inferred: true})
		case served:
			c.addServedName(model{value: w, role: evidence.RoleServed, inferred: true})
		case dataset:
			c.addModel(model{value: w, role: evidence.RoleDataset, dataset: true})
		default:
			c.addModel(model{value: w, role: role, hub: hubOf(name)})
		}
	}
}

// finding is the model in the light of what the workload is for.
func (m model) finding(c *container, category evidence.Category) evidence.Finding {
	f := evidence.Finding{
		Type: evidence.TypeModel, Name: m.value.text, Version: m.revision,
		Role: m.role, Container: c.name, Confidence: evidence.Declared,
		Evidence: m.value.evidence,
	}
	if m.dataset {
		f.Type = evidence.TypeData
	}
	if m.inferred {
		f.Confidence = evidence.Inferred
	}
	if m.role == evidence.RoleServed && category == evidence.CategoryAgent && !c.serves() {
		f.Role = evidence.RoleCalled
	}
	if m.served != "" {
		f.Properties = append(f.Properties, evidence.Property{Name: evidence.PropIdentityServedName, Value: m.served})
	}
	if len(m.value.missing) > 0 || isPlaceholder(m.value.text) {
		f.Confidence = evidence.Unresolved
		missing := strings.Join(m.value.missing, "; ")
		if missing == "" {
			missing = m.value.text
		}
		f.Properties = append(f.Properties, evidence.Property{Name: evidence.PropIdentityUnresolved, Value: missing})
		return f
	}
	f.Origin = originOf(m.value.text, m.lookedUp(c, f.Role))
	return f
}

// lookedUp is the hub where a bare name is looked up. A model that is called is named as its
// provider names it, and a name for clients is in no hub at all.
func (m model) lookedUp(c *container, role evidence.Role) evidence.Origin {
	hub := m.hub
	if hub == evidence.OriginUnknown && role != evidence.RoleCalled && !m.inferred {
		hub = c.hub()
	}
	if hub == evidence.OriginHuggingFace && c.usesModelScope() {
		return evidence.OriginUnknown
	}
	return hub
}

// serves says whether an inference runtime was recognised in the container.
func (c *container) serves() bool {
	for _, p := range c.products {
		if p.Category == evidence.CategoryInference {
			return true
		}
	}
	return false
}

// isPlaceholder says whether a text has still to be filled in.
func isPlaceholder(s string) bool {
	return strings.HasPrefix(s, "$") || strings.HasPrefix(s, "{{") || (strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">"))
}
