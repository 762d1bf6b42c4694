// SPDX-License-Identifier: Apache-2.0

package scrape

import (
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
	// hub is where the flag that named the model looks it up, where its name says so.
	hub evidence.Origin
}

// readModels looks at the flags, the positional arguments and then the variables that hold
// models and datasets.
func (c *container) readModels(p *pod, invocations []invocation) {
	extraFlags := flagSet(p.in.Rules.ModelArgFlags)
	for _, inv := range invocations {
		c.readInvocation(inv, extraFlags)
	}
	c.readModelVariables(set(p.in.Rules.ModelEnvVarNames))
}

func flagSet(flags []string) map[string]bool {
	m := make(map[string]bool, len(flags))
	for _, f := range flags {
		m[flagName(f)] = true
	}
	return m
}

// conventions are what the recognised products say about their command lines.
type conventions struct {
	dashless bool
	short    map[string]string
	ignore   map[string]bool
	datasets map[string]bool
	lists    map[string][]string
}

func (c *container) conventions() conventions {
	cv := conventions{ignore: map[string]bool{}, datasets: map[string]bool{}}
	for _, p := range c.products {
		cv.dashless = cv.dashless || p.Dashless
		if p.ShortFlags != nil {
			cv.short = p.ShortFlags
		}
		for _, f := range p.IgnoreFlags {
			cv.ignore[f] = true
		}
		for _, f := range p.DatasetFlags {
			cv.datasets[f] = true
		}
		if p.ListFlags != nil {
			cv.lists = p.ListFlags
		}
	}
	return cv
}

func (c *container) readInvocation(inv invocation, extraFlags map[string]bool) {
	first := len(c.models)
	download := c.readPositional(inv)
	cv := c.conventions()
	revision := ""
	for _, f := range inv.flags(cv.dashless, cv.short) {
		if f.value.text == "" || cv.ignore[f.name] {
			continue
		}
		switch {
		case cv.lists[f.name] != nil:
			c.readList(f.value, cv.lists[f.name])
		case f.name == "speculative-config":
			c.readSpeculativeConfig(f.value)
		case f.name == "lora-modules":
			c.readLoRAModules(inv, f)
		case index.revisionFlags[f.name]:
			revision = f.value.text
		case index.servedNameFlags[f.name]:
			c.servedNames = append(c.servedNames, model{value: f.value, role: evidence.RoleServed})
		case index.datasetFlags[f.name] || cv.datasets[f.name]:
			c.models = append(c.models, model{value: f.value, role: evidence.RoleDataset, dataset: true})
		case extraFlags[f.name]:
			c.models = append(c.models, model{value: f.value, role: evidence.RoleServed})
		default:
			if role, ok := patterns.ModelFlags[f.name]; ok {
				c.models = append(c.models, model{value: f.value, role: role, hub: hubOf(f.name)})
			}
		}
	}
	for i := first; i < len(c.models); i++ {
		m := &c.models[i]
		if m.role == evidence.RoleServed && len(m.value.missing) == 0 {
			m.revision = revision
		}
		if (download || c.init) && !m.dataset {
			m.role, m.dataset = evidence.RoleDownload, true
		}
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
func (c *container) readPositional(inv invocation) (download bool) {
	for i := range patterns.Products {
		p := &patterns.Products[i]
		for j := range p.Programs {
			program := &p.Programs[j]
			args, ok := inv.runs(program)
			if !ok {
				continue
			}
			download = download || program.Download
			if w, ok := inv.positional(args); ok && program.Positional == "model" {
				c.models = append(c.models, model{value: w, role: evidence.RoleServed})
			}
			break // the programs of a product go from the most to the least specific
		}
	}
	return download
}

// readList reads key=value lists such as lm_eval's --model_args pretrained=x,dtype=y.
func (c *container) readList(w word, keys []string) {
	wanted := set(keys)
	for _, item := range strings.Split(w.text, ",") {
		key, value, found := strings.Cut(item, "=")
		if found && value != "" && wanted[strings.TrimSpace(key)] {
			part := w
			part.text = value
			c.models = append(c.models, model{value: part, role: evidence.RoleServed})
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
	c.models = append(c.models, model{value: w, role: evidence.RoleDraft})
}

// readLoRAModules reads vLLM's --lora-modules name=path name=path, or JSON objects.
func (c *container) readLoRAModules(inv invocation, f flag) {
	for i, w := range inv.words {
		if flagName(strings.SplitN(w.text, "=", 2)[0]) != "lora-modules" {
			continue
		}
		values := []word{f.value}
		if !strings.Contains(w.text, "=") {
			values = nil
			for _, next := range inv.words[i+1:] {
				if strings.HasPrefix(next.text, "-") {
					break
				}
				values = append(values, next)
			}
		}
		for _, v := range values {
			if m, ok := loRAModule(v); ok {
				c.models = append(c.models, m)
			}
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
func (c *container) readModelVariables(extra map[string]bool) {
	resolved := map[evidence.Evidence]bool{}
	for _, m := range slices.Concat(c.models, c.servedNames) {
		for _, e := range m.value.evidence {
			resolved[e] = true
		}
	}
	for _, name := range c.env.order {
		v := c.env.variables[name]
		role, isModel := patterns.ModelEnv[name]
		if extra[name] {
			role, isModel = evidence.RoleServed, true
		}
		dataset := index.datasetEnv[name]
		served := index.servedNameEnv[name]
		if resolved[v.evidence[0]] || (!isModel && !dataset && !served) || (v.known() && v.value == "") {
			continue
		}
		w := word{text: v.value, evidence: v.evidence}
		if !v.known() {
			w.text = "$(" + name + ")"
			w.missing = []string{name + " (" + v.missing + ")"}
		}
		switch {
		case served:
			c.servedNames = append(c.servedNames, model{value: w, role: evidence.RoleServed})
		case dataset:
			c.models = append(c.models, model{value: w, role: evidence.RoleDataset, dataset: true})
		case c.init:
			c.models = append(c.models, model{value: w, role: evidence.RoleDownload, dataset: true})
		default:
			c.models = append(c.models, model{value: w, role: role, hub: hubOf(name)})
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
	hub := m.hub
	if hub == evidence.OriginUnknown {
		hub = c.hub()
	}
	f.Origin = originOf(m.value.text, hub)
	return f
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
	return strings.HasPrefix(s, "$") || (strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">"))
}

var (
	scheme  = regexp.MustCompile(`^([a-z][a-z0-9+.-]{0,15})://`)
	hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)
)

var schemeOrigins = map[string]evidence.Origin{
	"s3": evidence.OriginObjectStore, "gs": evidence.OriginObjectStore, "gcs": evidence.OriginObjectStore,
	"az": evidence.OriginObjectStore, "abfs": evidence.OriginObjectStore, "abfss": evidence.OriginObjectStore,
	"wasb": evidence.OriginObjectStore, "wasbs": evidence.OriginObjectStore, "hdfs": evidence.OriginObjectStore,
	"hf": evidence.OriginHuggingFace, "oci": evidence.OriginOCI, "modelcar": evidence.OriginOCI,
	"ngc": evidence.OriginNGC, "pvc": evidence.OriginVolume, "file": evidence.OriginFile,
	"http": evidence.OriginHTTP, "https": evidence.OriginHTTP,
}

// originOf says where the identity points: by its scheme, by being a path, or, for a bare
// org/name, by the hub that the program looks it up in.
func originOf(identity string, hub evidence.Origin) evidence.Origin {
	if m := scheme.FindStringSubmatch(identity); m != nil {
		if strings.HasPrefix(identity, "https://huggingface.co/") {
			return evidence.OriginHuggingFace
		}
		return schemeOrigins[m[1]]
	}
	if strings.HasPrefix(identity, "/") || strings.HasPrefix(identity, "./") || strings.HasPrefix(identity, "../") {
		return evidence.OriginFile
	}
	if hub == evidence.OriginHuggingFace && !hubName.MatchString(identity) {
		return evidence.OriginUnknown
	}
	return hub
}
