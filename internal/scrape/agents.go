// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// retrieves says whether the container fills or asks a vector database for a language model:
// it has the database's address, and its own name or its program's says what it does with it.
func (c *container) retrieves(invocations []invocation) (evidence.Evidence, bool) {
	if !slices.ContainsFunc(c.env.order, isStoreName) {
		return evidence.Evidence{}, false
	}
	names := append(c.programNames(invocations), c.name)
	retrieves := speaksOf(index.retrievalNames, names...)
	searches := speaksOf(index.plainRetrievalNames, names...) || c.embedsDocuments(invocations) ||
		(speaksOf(index.indexReaders, names...) && slices.ContainsFunc(c.env.order, namesIndex))
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if (retrieves && isVectorStore(name, v)) || (searches && beginsWith(patterns.SearchStores, name)) {
			return v.evidence[0], true
		}
	}
	return evidence.Evidence{}, false
}

// isVectorStore says whether the variable is about a database that is there for vectors.
func isVectorStore(name string, v variable) bool {
	if beginsWith(patterns.VectorStores, name) {
		return true
	}
	return beginsWith(patterns.CommonVectorStores, name) &&
		(index.storeEndings[name[strings.LastIndexByte(name, '_')+1:]] || index.storeNames[strings.ToLower(v.value)])
}

// namesIndex says whether the variable holds the name of a database's index.
func namesIndex(name string) bool {
	return name == "INDEX_NAME" || strings.HasSuffix(name, "_INDEX") || strings.HasSuffix(name, "_INDEX_NAME")
}

// embedsDocuments says whether the container or its program is named for making embeddings of
// documents, and has what it keeps them in or lets run for that: anything may be embedded elsewhere.
func (c *container) embedsDocuments(invocations []invocation) bool {
	names := append(c.programNames(invocations), c.name)
	embeds := slices.ContainsFunc(names, func(name string) bool {
		return speaksOf(index.embeddingNames, name) && speaksOf(index.documentNames, name)
	})
	return embeds && !speaksOf(index.otherEmbeddings, names...) && slices.ContainsFunc(c.env.order, func(name string) bool {
		return matchesGlob(patterns.KeeperEnv, name) || isVectorStore(name, c.env.variables[name]) || beginsWith(patterns.SearchStores, name)
	})
}

// addStore reports the vector database whose address the variable holds.
func (c *container) addStore(at evidence.Evidence) {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if v.evidence[0] != at {
			continue
		}
		f := evidence.Finding{
			Type: evidence.TypeData, Name: target(v.value), Role: evidence.RoleVectorStore, Container: c.name,
			Confidence: evidence.Declared, Evidence: v.evidence,
		}
		if !v.known() || v.value == "" || isPlaceholder(v.value) {
			first, _, _ := strings.Cut(name, "_")
			f.Name, f.Confidence = strings.ToLower(first), evidence.Inferred
		}
		c.stores = append(c.stores, f)
		return
	}
}

// isStoreName says whether the variable's name begins as those do that are about such a database.
func isStoreName(name string) bool {
	return beginsWith(patterns.VectorStores, name) || beginsWith(patterns.CommonVectorStores, name) || beginsWith(patterns.SearchStores, name)
}

// readStores reports the vector databases whose address an agent's container has.
func (c *container) readStores() {
	if len(c.stores) > 0 || c.category() != evidence.CategoryAgent {
		return
	}
	for _, name := range c.env.order {
		v := c.env.variables[name]
		if isStoreName(name) && v.known() && strings.HasPrefix(v.value, "http") && len(c.stores) < maxServedNames {
			c.addStore(v.evidence[0])
		}
	}
}

// isFrontEnd says whether the container shows a chat to people.
func (c *container) isFrontEnd(invocations []invocation) bool {
	return speaksOf(index.frontEnds, append(c.programNames(invocations), c.name)...) ||
		slices.ContainsFunc(c.env.order, func(name string) bool { return beginsWith(patterns.FrontEndEnv, name) })
}

// forwards says whether the container is named like one that only hands requests on to a model
// server, or watches one.
func (c *container) forwards(invocations []invocation) bool {
	return speaksOf(index.forwarders, append(c.programNames(invocations), c.name)...)
}

// sentenceTransformer is in the names of variables for the models of a library for embeddings.
const sentenceTransformer = "SENTENCE_TRANSFORMER"

// embeds says whether a variable names the model that the container makes embeddings with.
func (c *container) embeds() bool {
	for _, name := range c.env.order {
		v := c.env.variables[name]
		speaks := speaksOf(index.embeddingNames, name) || strings.Contains(asVariable(name), sentenceTransformer)
		if v.known() && endsLikeModel(name) && speaks && isRepositoryOrKnown(v.value) && !isFileName(v.value) {
			return true
		}
	}
	return false
}

// servesEmbeddings says whether the names speak of a server of embeddings.
func (c *container) servesEmbeddings(invocations []invocation) bool {
	return slices.ContainsFunc(append(c.programNames(invocations), c.name, c.pod.in.Workload.Name), func(name string) bool {
		return speaksOf(index.embeddingNames, name) && speaksOf(index.serverNames, name)
	})
}

// isNamedLikeAssistant says whether the container or workload is named like a program that talks
// to a language model. Of a name that is one word, such as shoppingassistantservice, only what is
// in no other word counts; an agent or assistant may be a person, unless it has a store to look things up in.
func (c *container) isNamedLikeAssistant(invocations []invocation) bool {
	looksUp := slices.ContainsFunc(c.env.order, func(name string) bool { return beginsWith(patterns.AssistantStores, name) })
	names := append(c.programNames(invocations), c.name, c.pod.in.Workload.Name)
	return slices.ContainsFunc(names, func(name string) bool {
		name = strings.ToLower(clip(name, maxNameBytes))
		contains := func(part string) bool { return strings.Contains(name, part) }
		return !slices.ContainsFunc(patterns.OtherAssistants, contains) && (speaksOf(index.assistantNames, name) ||
			slices.ContainsFunc(patterns.AssistantParts, contains) || (looksUp && slices.ContainsFunc(patterns.CommonAssistantParts, contains)))
	})
}
