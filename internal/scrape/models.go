// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"encoding/json"
	"regexp"
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
	// into are the local paths in the command that downloads it, and below those that bear the
	// name of what is downloaded.
	into, below []string
	// alias is true for a served name that is one only beside a model that is named otherwise.
	alias bool
	// place is the path where it lies, where its name is another.
	place string
	// hub is where the program or variable that holds the model looks it up, where that is known.
	hub evidence.Origin
	// volume describes the volume that it lies in.
	volume []evidence.Property
	// inferred is true where a rule says that this is a model, not the workload's owner.
	inferred bool
	// provided is true where the name is one for LiteLLM, which only calls models.
	provided bool
	// general is true where what holds it may hold anything.
	general bool
}

// addModel keeps a model that has a name, up to a bound.
func (c *container) addModel(m model) {
	if strings.TrimSpace(m.value.text) == "" || isService(m) {
		return
	}
	if !m.dataset {
		m = m.withoutProvider()
	}
	m.nameCached()
	if len(c.models) == maxModels {
		c.pod.note("%s names more models than are read: more than %d", c.at, maxModels)
	}
	if len(c.models) <= maxModels {
		c.models = append(c.models, m)
	}
}

func (c *container) addServedName(m model) {
	if strings.TrimSpace(m.value.text) != "" && len(c.servedNames) < maxServedNames {
		c.servedNames = append(c.servedNames, m.withoutProvider())
	}
}

// readModels looks at the flags, the positional arguments and then the variables that hold
// models and datasets.
func (c *container) readModels(invocations []invocation) {
	for _, inv := range invocations {
		c.readInvocation(inv)
	}
	c.readModelVariables(invocations)
}

// conventions are what the recognised products say about their command lines.
type conventions struct {
	dashless bool
	hub      evidence.Origin
	short    map[string]string
	ignore   map[string]bool
	datasets map[string]bool
	lists    map[string][]string
	// models are flags that name models with this product only.
	models map[string]evidence.Role
	// called are the values of flags that say that a hosted API is asked for the models.
	called map[string][]string
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
		if p.ModelFlags != nil {
			cv.models = p.ModelFlags
		}
		if p.CalledBy != nil {
			cv.called = p.CalledBy
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
	cv := c.conventions(inv)
	first, firstName := len(c.models), len(c.servedNames)
	download := c.readPositional(inv, cv.hub)
	download = c.readPython(inv) || download
	revision, called := "", false
	for _, f := range inv.flags(cv.dashless, cv.short) {
		value := f.value()
		called = called || matchesGlob(cv.called[f.name], value.text)
		if value.text == "" || cv.ignore[f.name] {
			continue
		}
		if index.revisionFlags[f.name] {
			revision = known(value)
			continue
		}
		c.readFlag(f, cv)
	}
	if c.init && !download && !c.fetches(inv) {
		c.models, c.servedNames = c.models[:first], c.servedNames[:firstName]
		return
	}
	byName := c.init || (len(c.products) == 0 && c.isDownloader(inv))
	c.settle(first, revision, called, download, byName)
	// Of many models that go to one place it is not known which lies there.
	for i := first; i < min(len(c.models), first+maxDownloads); i++ {
		if c.models[i].role == evidence.RoleDownload && len(inv.code) == 0 {
			c.models[i].into, c.models[i].below = destinations(inv, c.models[i].value.text)
		}
	}
}

// settle says of the models of an invocation, which begin at first, what its flags say together:
// their revision, and whether they are called or only downloaded, be it that only a name says so.
func (c *container) settle(first int, revision string, called, download, byName bool) {
	for i := first; i < len(c.models); i++ {
		m := &c.models[i]
		if m.role == evidence.RoleServed && len(m.value.missing) == 0 {
			m.revision = cmp.Or(revision, m.revision)
		}
		if m.role == evidence.RoleServed && called {
			m.role = evidence.RoleCalled
		}
		if (download || byName) && !m.dataset {
			m.role, m.dataset, m.inferred = evidence.RoleDownload, true, m.inferred || !download
		}
	}
}

// readFlag reads what one flag names.
func (c *container) readFlag(f flag, cv conventions) {
	value := f.value()
	switch {
	case cv.lists[f.name] != nil:
		c.readPairs(value, cv.lists[f.name])
	case f.name == "speculative-config":
		c.readSpeculativeConfig(value)
	case index.adapterListFlags[f.name]:
		c.readList(f, evidence.RoleAdapter)
	case cv.models[f.name] != "":
		c.readList(f, cv.models[f.name])
	case index.servedNameFlags[f.name]:
		c.readServedNames(f)
	case cv.datasets[f.name]:
		c.readDatasets(value)
	case index.datasetFlags[f.name]:
		c.addModel(model{value: value, role: evidence.RoleDataset, dataset: true, general: c.pod.isGeneral(f.name)})
	case c.pod.modelFlags[f.name]:
		c.addModel(model{value: value, role: evidence.RoleServed})
	default:
		if role, ok := patterns.ModelFlags[f.name]; ok && !c.isOtherAdapter(f.name, value) {
			c.addModel(model{value: value, role: role, hub: cmp.Or(hubOf(f.name), cv.hub), general: c.pod.isGeneral(f.name)})
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

// pairKeys are the keys of a model in arguments such as model_name=x,dtype=y.
var pairKeys = []string{"model_name", "pretrained", "model"}

// readPositional reads the model that a known launcher takes as its first argument, and says
// whether the invocation only fetches it.
func (c *container) readPositional(inv invocation, hub evidence.Origin) (download bool) {
	for _, s := range inv.starts {
		download = download || (s.program.Download && !c.runs(s.product))
		args := inv.words[s.args:]
		switch s.program.Positional {
		case "model":
			w, ok := positional(args)
			if command := len(s.program.Except) > 0 && (slices.Contains(s.program.Except, w.text) || isScript(w.text)); ok && !command {
				c.addModel(model{value: w, role: evidence.RoleServed, hub: hub})
			}
		case "dataset":
			if w, ok := positional(args); ok {
				c.addModel(model{value: w, role: evidence.RoleDataset, dataset: true})
			}
		case "pairs":
			for _, w := range args {
				c.readPairs(w, pairKeys)
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

// readPairs reads key=value lists such as lm_eval's --model_args pretrained=x,dtype=y.
func (c *container) readPairs(w word, keys []string) {
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

// fromVariable says whether a variable names the model.
func (m model) fromVariable() bool {
	return len(m.value.evidence) > 0 && m.value.evidence[0].Source == evidence.SourceEnvironment
}

// finding is the model in the light of what the workload is for, or its container where that
// is known by itself.
func (m model) finding(c *container, category evidence.Category) evidence.Finding {
	f := evidence.Finding{
		Type: evidence.TypeModel, Name: m.value.text, Version: m.revision,
		Role: m.role, Container: c.name, Confidence: evidence.Declared,
		Evidence: m.value.evidence,
	}
	if m.dataset {
		f.Type = evidence.TypeData
	}
	if filled := c.pod.fillDefaults(f.Name); filled != f.Name && len(m.value.missing) == 0 {
		m.value.text, m.value.conditional = filled, true
		f.Name = filled
	}
	if m.inferred || m.value.conditional {
		f.Confidence = evidence.Inferred
	}
	if m.role == evidence.RoleServed && cmp.Or(c.category(), category) == evidence.CategoryAgent && !c.serves() {
		f.Role = evidence.RoleCalled
	}
	f.Properties = append(f.Properties, m.volume...)
	if m.served != "" {
		f.Properties = append(f.Properties, evidence.Property{Name: evidence.PropIdentityServedName, Value: m.served})
	}
	if len(m.value.missing) > 0 || isPlaceholder(m.value.text) {
		f.Confidence = evidence.Unresolved
		f.Name = maskCommands(f.Name)
		missing := maskCommands(strings.Join(m.value.missing, "; "))
		if missing == "" {
			missing = f.Name
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
	if hub == evidence.OriginHuggingFace && (c.usesOtherHub() || c.besideModels) {
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

// placeholder matches what has still to be filled in: what only a shell or a template engine
// would, and <what a person should>.
var placeholder = regexp.MustCompile("\\$[A-Za-z_0-9({]|`|\\{\\{|<[^<>]*>")

// isPlaceholder says whether a text has still to be filled in.
func isPlaceholder(s string) bool { return placeholder.MatchString(s) }
