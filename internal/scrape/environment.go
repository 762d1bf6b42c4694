// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"regexp"
	"slices"
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
	// off is true for a credential that says that there is none.
	off bool
	// perhaps is true for a value that a script sets under a condition, of which the first certain
	// bytes are there in any case.
	perhaps bool
	certain int
	// partial is a value of several words of which not all are known: these stand as written.
	partial string
}

func (v variable) known() bool { return v.missing == "" }

// environment is a container's environment as far as its manifest states it.
type environment struct {
	variables map[string]variable
	// order lists the names as the manifest does; later definitions win.
	order []string
	// from names the ConfigMaps and Secrets whose keys join the environment unseen.
	from string
	// exported are the variables that the container's scripts set for the programs they run.
	exported []export
}

// export is a variable that may name a model or a hub and that a script sets.
type export struct {
	name  string
	value variable
	// conditional is true where it may not be set at all.
	conditional bool
}

// export keeps a variable that a script sets; one that is certainly set replaces those before it.
func (e *environment) export(name string, v variable, conditional bool) {
	if !conditional {
		e.exported = slices.DeleteFunc(e.exported, func(have export) bool { return have.name == name })
	}
	if len(e.exported) < maxModels {
		e.exported = append(e.exported, export{name, v, conditional})
	}
}

// notRead is why the value of a variable that holds a credential is missing.
const notRead = "a credential, which is not read"

func readEnvironment(p *pod, c *corev1.Container, at string) *environment {
	e := &environment{variables: make(map[string]variable, min(len(c.Env), maxEnvironment)), from: envFrom(c)}
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
		case env.Value != "" && p.isCredential(env.Name):
			v.missing, v.off = notRead, saysNo(env.Value)
		default:
			if len(env.Value) > maxValueBytes {
				p.note("%s.env[%d] was read up to its first %d bytes", at, i, maxValueBytes)
			}
			w := e.expand(word{text: clip(env.Value, maxValueBytes)})
			v.value = clip(w.text, maxValueBytes)
			v.evidence = appendEvidence(v.evidence, w.evidence...)
			v.missing = joinMissing(w.missing)
		}
		if _, again := e.variables[env.Name]; !again {
			e.order = append(e.order, env.Name)
		}
		e.variables[env.Name] = v
	}
	return e
}

// envFrom names the sources whose keys join the environment.
func envFrom(c *corev1.Container) string {
	var names []string
	for i := range c.EnvFrom {
		switch source := &c.EnvFrom[i]; {
		case source.ConfigMapRef != nil:
			names = addMissing(names, "configMap/"+source.ConfigMapRef.Name)
		case source.SecretRef != nil:
			names = addMissing(names, "secret/"+source.SecretRef.Name)
		}
	}
	return joinMissing(names)
}

// isCredential says whether the variable's name is that of a secret. Its value is never read,
// so that it cannot reach a document by way of a reference to it.
func (p *pod) isCredential(name string) bool {
	if _, isModel := patterns.ModelEnv[name]; isModel || p.modelEnv[name] {
		return false
	}
	if index.hubTokens[name] || len(name) > maxNameBytes { // nobody reads so long a name
		return true
	}
	parts := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for _, part := range parts {
		if index.credentialWords[part] {
			return true
		}
		for _, ending := range patterns.CredentialEndings {
			if strings.HasSuffix(part, ending) {
				return true
			}
		}
	}
	return false
}

// matters says whether a variable of this name is read for a model, a dataset, a hub or a framework.
func (p *pod) matters(name string) bool {
	_, isModel := patterns.ModelEnv[name]
	return isModel || patterns.FrameworkEnv[name] != "" || p.modelEnv[name] || index.datasetEnv[name] || index.servedNameEnv[name] ||
		index.otherHubEnv[name] || index.hubEndpointEnv[name]
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
	switch {
	case ok && v.known():
		return v
	case ok:
		return variable{missing: lacking(name, v.missing), evidence: v.evidence}
	case e.from != "":
		return variable{missing: lacking(name, "perhaps in "+e.from)}
	default:
		return variable{missing: lacking(name, "")}
	}
}

// lacking says that a variable's value is not known, and why. The reason may be that of a
// variable before it, so it is cut before it grows.
func lacking(name, why string) string {
	name = clip(name, maxNameBytes)
	if why == "" {
		return name
	}
	return name + " (" + clip(why, maxMissingBytes) + ")"
}

// word is one word of a command line: its text, where it was read, and which variables in it
// could not be resolved.
type word struct {
	text     string
	evidence []evidence.Evidence
	missing  []string
	// conditional is true in a command of a script that may not run.
	conditional bool
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
	open := true // whether a parenthesis may still close
	// A few short references can multiply a long value without end.
	for out.Len() <= maxScriptBytes {
		dollar := strings.IndexByte(text, '$')
		if dollar < 0 || dollar == len(text)-1 {
			break
		}
		out.WriteString(text[:dollar])
		text = text[dollar:]
		closing := -1
		if text[1] == '(' && open {
			closing = strings.IndexByte(text, ')')
			open = closing >= 0
		}
		switch {
		case text[1] == '$':
			out.WriteByte('$')
			text = text[2:]
		case closing > len("$("):
			v := e.lookup(text[len("$("):closing])
			w.evidence = appendEvidence(w.evidence, v.evidence...)
			switch {
			case v.known():
				out.WriteString(v.value)
			case variableName.MatchString(text[len("$("):closing]):
				w.missing = addMissing(w.missing, v.missing)
				fallthrough
			default: // a command substitution, for a shell to find
				out.WriteString(text[:closing+1])
			}
			text = text[closing+1:]
		default:
			out.WriteByte('$')
			text = text[1:]
		}
	}
	out.WriteString(text)
	w.text = clip(out.String(), maxScriptBytes)
	return w
}

// variableName is the name of a variable as people choose them.
var variableName = regexp.MustCompile(`^[-._A-Za-z0-9]{1,256}$`)

// addMissing adds what is not there yet, up to a bound.
func addMissing(to []string, missing ...string) []string {
	for _, m := range missing {
		if len(to) < maxMissing && !slices.Contains(to, m) {
			to = append(to[:len(to):len(to)], m)
		}
	}
	return to
}

func joinMissing(missing []string) string { return clip(strings.Join(missing, ", "), maxNameBytes) }

// appendEvidence adds what is not there yet, up to a bound.
func appendEvidence(to []evidence.Evidence, more ...evidence.Evidence) []evidence.Evidence {
	to = to[:len(to):len(to)]
	for _, m := range more {
		if len(to) < maxEvidence && !slices.Contains(to, m) {
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
