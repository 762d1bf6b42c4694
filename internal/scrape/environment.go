// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// variable is one environment variable of a container.
type variable struct {
	value    string
	evidence []evidence.Evidence
	// missing says where the value lies when the manifest does not state it.
	missing string
}

func (v variable) known() bool { return v.missing == "" }

// environment is a container's environment as far as its manifest states it.
type environment struct {
	variables map[string]variable
	// order lists the names as the manifest does; later definitions win.
	order []string
	// from names the ConfigMaps and Secrets whose keys join the environment unseen.
	from []string
}

func readEnvironment(p *pod, c *corev1.Container, at string) *environment {
	e := &environment{variables: map[string]variable{}}
	for _, source := range c.EnvFrom {
		switch {
		case source.ConfigMapRef != nil:
			e.from = append(e.from, "configMap/"+source.ConfigMapRef.Name)
		case source.SecretRef != nil:
			e.from = append(e.from, "secret/"+source.SecretRef.Name)
		}
	}
	for i := range c.Env {
		if i == maxEnvironment {
			p.note("%s.env[%d] and later variables were not read: more than %d variables", at, i, maxEnvironment)
			break
		}
		env := &c.Env[i]
		v := variable{evidence: []evidence.Evidence{{
			Source: evidence.SourceEnvironment, Locator: fmt.Sprintf("%s.env[%d]", at, i),
		}}}
		switch {
		case env.ValueFrom != nil:
			v.missing = valueSource(env.ValueFrom)
		default:
			w := e.expand(word{text: clip(env.Value, maxValueBytes)})
			v.value = clip(w.text, maxValueBytes)
			v.evidence = append(v.evidence, w.evidence...)
			v.missing = strings.Join(w.missing, ", ")
		}
		if _, again := e.variables[env.Name]; !again {
			e.order = append(e.order, env.Name)
		}
		e.variables[env.Name] = v
	}
	return e
}

func valueSource(from *corev1.EnvVarSource) string {
	switch {
	case from.ConfigMapKeyRef != nil:
		return "key " + from.ConfigMapKeyRef.Key + " of configMap/" + from.ConfigMapKeyRef.Name
	case from.SecretKeyRef != nil:
		return "key " + from.SecretKeyRef.Key + " of secret/" + from.SecretKeyRef.Name
	case from.FieldRef != nil:
		return "field " + from.FieldRef.FieldPath
	case from.ResourceFieldRef != nil:
		return "resource " + from.ResourceFieldRef.Resource
	default:
		return "a source that is not read"
	}
}

// lookup returns a variable's value and evidence, or where the value may lie.
func (e *environment) lookup(name string) variable {
	v, ok := e.variables[name]
	if ok && v.known() {
		return v
	}
	if ok {
		return variable{missing: name + " (" + v.missing + ")", evidence: v.evidence}
	}
	if len(e.from) > 0 {
		return variable{missing: name + " (perhaps in " + strings.Join(e.from, ", ") + ")"}
	}
	return variable{missing: name}
}

// word is one word of a command line: its text, where it was read, and which variables in it
// could not be resolved.
type word struct {
	text     string
	evidence []evidence.Evidence
	missing  []string
}

// expand replaces $(NAME) as Kubernetes does in commands, arguments and values: an unknown
// reference stays as it is, $$ stands for $. See
// https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/
func (e *environment) expand(w word) word {
	if !strings.ContainsRune(w.text, '$') {
		return w
	}
	var out strings.Builder
	text := w.text
	for {
		dollar := strings.IndexByte(text, '$')
		if dollar < 0 || dollar == len(text)-1 {
			out.WriteString(text)
			break
		}
		out.WriteString(text[:dollar])
		text = text[dollar:]
		closing := strings.IndexByte(text, ')')
		switch {
		case text[1] == '$':
			out.WriteByte('$')
			text = text[2:]
		case text[1] == '(' && closing > 2:
			name := text[2:closing]
			v := e.lookup(name)
			w.evidence = appendEvidence(w.evidence, v.evidence...)
			if v.known() {
				out.WriteString(v.value)
			} else {
				out.WriteString(text[:closing+1])
				w.missing = append(w.missing, v.missing)
			}
			text = text[closing+1:]
		default:
			out.WriteByte('$')
			text = text[1:]
		}
		// A few short references can multiply a long value without end.
		if out.Len() > maxScriptBytes {
			out.WriteString(text)
			break
		}
	}
	w.text = clip(out.String(), maxScriptBytes)
	return w
}

// appendEvidence adds what is not there yet.
func appendEvidence(to []evidence.Evidence, more ...evidence.Evidence) []evidence.Evidence {
	to = to[:len(to):len(to)]
	for _, m := range more {
		found := false
		for _, have := range to {
			found = found || have == m
		}
		if !found {
			to = append(to, m)
		}
	}
	return to
}

// clip cuts a value that is longer than anything that a person writes.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
