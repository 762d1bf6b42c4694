// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// readList reads a flag that lists models: --lora-paths a=org/a b=org/b.
func (c *container) readList(f flag, role evidence.Role) {
	values := f.values
	if !index.manyValueFlags[f.name] {
		values = values[:1]
	}
	for _, v := range values {
		c.addList(v, role, ",")
	}
}

// addList adds the models in a word: a JSON object, or items apart from each other by the
// separator, each a path or name=path.
func (c *container) addList(list word, role evidence.Role, separator string) {
	if strings.HasPrefix(list.text, "{") {
		c.addObjects(list, role)
		return
	}
	for item := range strings.SplitSeq(list.text, separator) {
		name, path, named := strings.Cut(strings.TrimSpace(item), "=")
		if !named {
			name, path = "", name
		}
		if path == "all" || path == "*" {
			continue // which of them there are is not said
		}
		m := model{value: list, role: role, served: name}
		m.value.text = path
		if !strings.Contains(path, "$") {
			m.value.missing = nil // it is another item that lacks something
		}
		// TGI takes the revision of a hub's repository behind an @, which no name there has.
		if repository, revision, ok := strings.Cut(path, "@"); ok && hubName.MatchString(repository) && !strings.Contains(repository, ":") {
			m.value.text, m.revision = repository, revision
		}
		// What lies in an archive of a store is the model of that name.
		if named && strings.HasSuffix(path, ".mar") && !strings.Contains(path, "/") {
			m.value.text, m.served = name, ""
		}
		c.addModel(m)
	}
}

// modelObject is a model in the JSON of vLLM (name and path), SGLang (lora_name and lora_path)
// and LocalAI (name and url or id).
type modelObject struct {
	Name, Path, URL, ID string
	LoRAName            string `json:"lora_name"`
	LoRAPath            string `json:"lora_path"`
}

// addObjects adds the models in a JSON object or a list of them. What is no such JSON but a
// reference stays to be resolved.
func (c *container) addObjects(w word, role evidence.Role) {
	if len(w.missing) > 0 {
		c.addModel(model{value: w, role: role})
		return
	}
	text := strings.TrimSpace(w.text)
	if strings.HasPrefix(text, "{") {
		text = "[" + text + "]"
	}
	var objects []modelObject
	if json.Unmarshal([]byte(text), &objects) != nil {
		return
	}
	for _, o := range objects {
		w.text = cmp.Or(o.Path, o.LoRAPath, o.URL, o.ID)
		c.addModel(model{value: w, role: role, served: cmp.Or(o.Name, o.LoRAName)})
	}
}
