// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"slices"
	"strings"
)

// pythonCall is a call in Python code with those of its arguments that are known.
type pythonCall struct {
	// receiver is what stands before the last dot, and name what stands behind it.
	receiver, name string
	positional     []word
	keywords       map[string]word
}

// argument is the first of the keywords that is given, or the positional argument.
func (c pythonCall) argument(position int, keywords ...string) (word, bool) {
	for _, k := range keywords {
		if w, ok := c.keywords[k]; ok {
			return w, w.text != ""
		}
	}
	if position >= 0 && position < len(c.positional) {
		return c.positional[position], c.positional[position].text != ""
	}
	return word{}, false
}

// pythonProgram is what is read of a piece of Python code.
type pythonProgram struct {
	imports []string
	calls   []pythonCall
}

// readPythonCode lists the imports and the calls in code, with literal arguments, variables
// that are assigned a literal, and variables of the container's environment filled in.
func readPythonCode(code word, env *environment) pythonProgram {
	r := pythonReader{code: code, env: env, tokens: pythonTokens(code.text), variables: map[string]word{}}
	for i := range r.tokens {
		r.read(i)
	}
	return r.pythonProgram
}

type pythonReader struct {
	pythonProgram
	code      word
	env       *environment
	tokens    []pythonToken
	variables map[string]word
}

func (r *pythonReader) is(i int, kind pythonKind, text string) bool {
	return i >= 0 && i < len(r.tokens) && r.tokens[i].kind == kind && (text == "" || r.tokens[i].text == text)
}

func (r *pythonReader) mark(i int, text string) bool { return r.is(i, pythonMark, text) }

// read looks at what begins at a token.
func (r *pythonReader) read(i int) {
	if r.tokens[i].kind != pythonName {
		return
	}
	starts := i == 0 || r.tokens[i-1].kind == pythonNewline || r.mark(i-1, ";") || r.mark(i-1, ":")
	switch name := r.tokens[i].text; {
	case starts && (name == "import" || name == "from"):
		r.readImport(i)
	case starts && r.mark(i+1, "=") && !r.mark(i+2, "="):
		r.variables[name] = r.value(i+2, r.lineEnd(i+2))
	case r.mark(i+1, "(") && !r.is(i-1, pythonName, "def") && !r.is(i-1, pythonName, "class"):
		r.readCall(i)
	}
}

// lineEnd is the position behind the statement.
func (r *pythonReader) lineEnd(i int) int {
	for i < len(r.tokens) && r.tokens[i].kind != pythonNewline && !r.mark(i, ";") {
		i = max(i, r.tokens[i].match) + 1
	}
	return min(i, len(r.tokens))
}

// readImport reads import a.b as c, d and from a.b import c.
func (r *pythonReader) readImport(i int) {
	end := r.lineEnd(i)
	expected := true // a module's name comes next
	for j := i + 1; j < end; j++ {
		switch {
		case r.is(j, pythonName, "import"):
			return
		case r.tokens[j].kind == pythonName && expected:
			if len(r.imports) < maxModels && !slices.Contains(r.imports, r.tokens[j].text) {
				r.imports = append(r.imports, r.tokens[j].text)
			}
			expected = false
		case r.mark(j, ","):
			expected = true
		}
	}
}

// readCall reads the call whose name stands at a token.
func (r *pythonReader) readCall(i int) {
	closing := r.tokens[i+1].match
	if closing == 0 || len(r.calls) == maxModels {
		return
	}
	c := pythonCall{name: r.tokens[i].text, keywords: map[string]word{}}
	if r.mark(i-1, ".") && r.is(i-2, pythonName, "") {
		c.receiver = r.tokens[i-2].text
	}
	for from := i + 2; from < closing; {
		to := from
		for to < closing && !r.mark(to, ",") {
			to = max(to, r.tokens[to].match) + 1
		}
		to = min(to, closing)
		if r.is(from, pythonName, "") && r.mark(from+1, "=") && !r.mark(from+2, "=") {
			c.keywords[r.tokens[from].text] = r.value(from+2, to)
		} else {
			c.positional = append(c.positional, r.value(from, to))
		}
		from = to + 1
	}
	r.calls = append(r.calls, c)
}

// value is what the tokens from one to another say, and empty where that is not known.
func (r *pythonReader) value(from, to int) word {
	if from >= to || to > len(r.tokens) {
		return word{}
	}
	w := r.code
	w.missing = nil
	var text strings.Builder
	for i := from; i < to; i++ {
		if r.tokens[i].kind != pythonString {
			return r.variable(from, to)
		}
		text.WriteString(r.tokens[i].text) // literals that stand side by side are one
	}
	w.text = text.String()
	if isReference(w.text) { // $(NAME), which Kubernetes could not fill in
		w.missing = addMissing(nil, r.code.missing...)
	}
	return w
}

// variable is the value of a variable of the code, or of the environment as in os.environ["A"],
// os.environ.get("A", "b") and os.getenv("A", "b").
func (r *pythonReader) variable(from, to int) word {
	if to == from+1 && r.tokens[from].kind == pythonName {
		return r.variables[r.tokens[from].text]
	}
	if r.is(from, pythonName, "os") && r.mark(from+1, ".") {
		from += 2
	}
	switch {
	case r.is(from, pythonName, "environ") && r.mark(from+1, "["):
		from += 2
	case r.is(from, pythonName, "environ") && r.mark(from+1, ".") && r.is(from+2, pythonName, "get") && r.mark(from+3, "("):
		from += 4
	case r.is(from, pythonName, "getenv") && r.mark(from+1, "("):
		from += 2
	default:
		return word{}
	}
	if !r.is(from, pythonString, "") || from >= to {
		return word{}
	}
	name := r.tokens[from].text
	v := r.env.lookup(name)
	w := word{text: v.value, evidence: appendEvidence(r.code.evidence, v.evidence...), conditional: r.code.conditional}
	if v.known() {
		return w
	}
	if r.mark(from+1, ",") && r.is(from+2, pythonString, "") && v.missing == name {
		w.text = r.tokens[from+2].text
		return w
	}
	w.text, w.missing = "$("+name+")", []string{v.missing}
	return w
}
