// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// maxVariableName is longer than the name of any variable that means something to a person.
const maxVariableName = 128

var toVariable = strings.NewReplacer("-", "_", ".", "_", "__", "_")

// asVariable is the name in the spelling of shells, so that spring.ai.openai.base-url and
// --llm-base-url read like SPRING_AI_OPENAI_BASE_URL and LLM_BASE_URL.
func asVariable(name string) string {
	return strings.ToUpper(toVariable.Replace(strings.TrimLeft(name, "-")))
}

// tail is the longest end of a variable's name at its underscores that is one of those asked for.
func tail(name string, is func(string) bool) (string, bool) {
	if len(name) > maxVariableName {
		return "", false
	}
	for rest, more := asVariable(name), true; more; _, rest, more = strings.Cut(rest, "_") {
		if is(rest) {
			return rest, true
		}
	}
	return "", false
}

// namesModelServer says whether a variable of this name holds the address of a model server:
// it is known, or ends in a word for such a server and one for an address.
func namesModelServer(name string) bool {
	_, ok := tail(name, func(rest string) bool { return index.endpoints[rest] || index.commonEndpoints[rest] })
	return ok && !speaksOf(index.dashboards, name)
}

// mayNameOther says whether servers of other kinds have such names too.
func mayNameOther(name string) bool {
	_, ok := tail(name, func(rest string) bool { return index.endpoints[rest] })
	return !ok
}

// mayNameModelServer says whether a variable of this name may hold the address of a model server.
func mayNameModelServer(name string) bool {
	return index.generalEndpoints[name] || index.protocolEndpoints[name] || namesModelServer(name)
}

// endsLikeAddress says whether names of addresses end like this one, and none of its words says
// that it is the address of something else than a server to call.
func endsLikeAddress(name string) bool {
	rest, ok := tail(name, func(rest string) bool { return index.addressEndings[rest] })
	return ok && len(rest) < len(name) && !speaksOf(index.otherAddresses, name)
}

// isServerAddress says whether the variable holds an address to connect to, and not one to
// listen at, a file to fetch or a server's kind.
func isServerAddress(name string, v variable) bool {
	host := hostOf(v.value)
	switch {
	case ipOf(host).IsUnspecified() || isArtefact(v.value) || isPage(v.value) || speaksOf(index.dashboards, host):
		return false
	case strings.HasPrefix(v.value, "http"):
		return true
	case !v.known() || host == "" || isPlaceholder(v.value):
		return false
	case strings.Contains(v.value, "://"):
		return strings.HasPrefix(v.value, "grpc")
	}
	u, err := url.Parse("//" + v.value)
	return err == nil && (u.Port() != "" || isHostOfModel(host) || ((strings.HasSuffix(name, "_HOST") || strings.HasSuffix(name, "_HOST_IP")) && !listens(host)))
}

// isModelAddress says whether a variable holds an address of which no other sign has to say that it is
// a model server's: it has the path of such a server's API, its host is named after a model, or after a model
// server whose protocol it speaks, or the variable is named after a family of models, or after an endpoint
// for embeddings.
func isModelAddress(name string, v variable) bool {
	if host := hostOf(v.value); namesModelServer(name) && (isHostOfModel(host) || (isHostOfModels(v.value) && isOwn(host) && speaksProtocol(v.value))) {
		return isServerAddress(name, v) && !speaksOf(index.otherAddresses, name)
	}
	if !strings.HasPrefix(v.value, "http") || (!asksModel(v.value) && !isFamilyAddress(name)) ||
		speaksOf(index.otherAddresses, name) || !isServerAddress(name, v) {
		return false
	}
	host := hostOf(v.value)
	if host == "" || host == "localhost" || ipOf(host).IsLoopback() { // perhaps the program itself
		return false
	}
	return asksModel(v.value) || (isFamilyAddress(name) && !isForeign(v.value))
}

// isFamilyAddress says whether the variable is named after the endpoint of a family of models, or after one
// for embeddings.
func isFamilyAddress(name string) bool {
	name = asVariable(name)
	if len(name) > maxVariableName {
		return false
	}
	if rest, ok := strings.CutPrefix(strings.Replace(name, "EMBEDDINGS_", "EMBEDDING_", 1), "EMBEDDING_ENDPOINT"); ok {
		return rest == "" || rest[0] == '_'
	}
	family, _, _ := strings.Cut(strings.ToLower(name), "_")
	return isFamily(patterns.FamilyNames, family) && strings.HasSuffix(strings.TrimSuffix(name, "_URL"), "_ENDPOINT")
}

// callsModelServer says whether the container has the address of a model server.
func (c *container) callsModelServer(invocations []invocation) bool {
	// What the container says of a model server is the same for every address.
	beside := sync.OnceValue(func() bool { return c.speaksOfModelServer(invocations) })
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if v.value != "" && c.isModelServer(name, v.value, beside) && isServerAddress(name, v) {
			return true
		}
		if c.statesModelAddress(name) {
			return true
		}
		// Where the answer lies elsewhere, the name must say what it is the answer to.
		if strings.HasPrefix(v.missing, "key ") && namesModelServer(name) && c.isModelServer(name, "", beside) {
			return true
		}
	}
	for _, inv := range invocations {
		for _, f := range inv.flags(false, nil) {
			name, address := asVariable(f.name), f.value().text
			if namesModelServer(name) && c.isModelServer(name, address, beside) && isServerAddress(name, variable{value: address}) {
				return true
			}
		}
	}
	return false
}

// statesModelAddress says whether the variable is evidently the address of a model server for a program
// that stays; a Job may only measure that server.
func (c *container) statesModelAddress(name string) bool {
	return !c.isJob() && isModelAddress(name, c.env.variables[name])
}

// isModelServer says whether the address that a variable holds is a model server's. Where the
// variable could hold any server's, something must say that this one is a language model's.
func (c *container) isModelServer(name, address string, beside func() bool) bool {
	switch {
	case namesModelServer(name):
		return !mayNameOther(name) || isServerOfModels(address) || beside()
	case index.generalEndpoints[name]:
		if c.hasLanguageModelVariable() || (strings.HasPrefix(name, "CHAT_") && isHostOfModels(address)) {
			return true
		}
		return (speaksProtocol(address) || isOwn(hostOf(address))) && c.namesAnyModel(isPlainModelName)
	case index.protocolEndpoints[name]:
		return speaksProtocol(address) && c.namesAnyModel(isKnownModelName)
	default:
		return false
	}
}

// speaksOfModelServer says whether something beside an address shows that a model server may be there.
func (c *container) speaksOfModelServer(invocations []invocation) bool {
	return c.hasLanguageModelVariable() || c.lacksModel() || c.namesAnyModel(isRepositoryOrKnown) || c.isFrontEnd(invocations)
}

func (c *container) hasLanguageModelVariable() bool {
	return slices.ContainsFunc(c.env.order, func(name string) bool { return beginsWith(patterns.EndpointPrefixes, name) })
}

func (c *container) namesAnyModel(like func(string) bool) bool {
	return slices.ContainsFunc(c.models, func(m model) bool { return !m.dataset && like(m.value.text) })
}

// isKnownModelName says whether the name begins as those of known models do, be it behind its owner.
func isKnownModelName(name string) bool {
	name = strings.ToLower(name)
	return beginsWith(patterns.HostedFamilies, name) || beginsWith(patterns.ModelFamilies, name) || beginsWith(patterns.ModelFamilies, path.Base(name))
}

// isPlainModelName says whether owner/name is one of a known model, a known maker's, or one that says how
// the model was made: the cars of a shop have such names too.
func isPlainModelName(name string) bool {
	if isKnownModelName(name) {
		return true
	}
	if !isRepositoryOrKnown(name) {
		return false
	}
	owner, model, _ := strings.Cut(strings.ToLower(name), "/")
	return index.modelMakers[owner] || sizedName.MatchString(model) || speaksOf(index.modelWords, model)
}

func isRepositoryOrKnown(name string) bool {
	return isKnownModelName(name) || (hubName.MatchString(name) && !isRelativePath(name))
}

// readAskedModels reads the models that the addresses of model servers name.
func (c *container) readAskedModels() {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if asked := askedModel(v.value); asked != "" && c.statesModelAddress(name) {
			c.addModel(model{value: word{text: asked, evidence: v.evidence}, role: evidence.RoleCalled, inferred: true})
		}
	}
}

// addEndpoint reports the model server that the container asks, where it names no model.
func (c *container) addEndpoint() {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if c.statesModelAddress(name) || (mayNameModelServer(name) && isServerAddress(name, v) && hostOf(v.value) != "") {
			f := evidence.Finding{
				Type: evidence.TypeData, Name: target(v.value), Role: evidence.RoleEndpoint, Container: c.name,
				Confidence: evidence.Declared, Evidence: v.evidence,
			}
			if !v.known() {
				f.Confidence = evidence.Unresolved
				f.Properties = []evidence.Property{{Name: evidence.PropIdentityUnresolved, Value: v.missing}}
			}
			c.stores = append(c.stores, f)
			return
		}
	}
}
