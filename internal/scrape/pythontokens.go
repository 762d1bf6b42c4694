// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"
	"unicode/utf8"
)

// pythonToken is a name, a string, a number, a line's end or one character of Python code.
type pythonToken struct {
	kind pythonKind
	// text is a name, the content of a string, or the character.
	text string
	// match is the position of the closing bracket of an opening one, and 0 otherwise.
	match int
}

type pythonKind uint8

const (
	pythonName pythonKind = iota
	pythonString
	// pythonFormat is an f-string with something to fill in.
	pythonFormat
	pythonMark
	pythonNewline
)

// maxPythonTokens bounds what is read of one piece of code.
const maxPythonTokens = 32 << 10

// pythonTokens splits code as far as is needed to find calls with literal arguments. It
// accepts anything: what is no Python gives tokens that mean nothing.
func pythonTokens(code string) []pythonToken {
	l := pythonLexer{code: code}
	for len(l.code) > 0 && len(l.tokens) < maxPythonTokens {
		l.next()
	}
	return l.tokens
}

type pythonLexer struct {
	code   string
	tokens []pythonToken
	// open are the positions of the brackets that are not closed yet.
	open []int
}

// next reads one token, or what stands between tokens.
func (l *pythonLexer) next() {
	r, size := utf8.DecodeRuneInString(l.code)
	switch {
	case r == ' ' || r == '\t' || r == '\r':
		l.code = l.code[size:]
	case r == '\\':
		l.code = l.code[min(len(l.code), 2):] // a line that goes on, or nothing that matters
	case r == '\n':
		if len(l.open) == 0 {
			l.tokens = append(l.tokens, pythonToken{kind: pythonNewline})
		}
		l.code = l.code[size:]
	case r == '#':
		end := strings.IndexByte(l.code, '\n')
		if end < 0 {
			end = len(l.code)
		}
		l.code = l.code[end:]
	case r == '"' || r == '\'':
		l.literal("")
	case isNameRune(r):
		l.name()
	default:
		l.mark(r, size)
	}
}

// name reads a name or number, or a string with such a prefix as f or r.
func (l *pythonLexer) name() {
	end := strings.IndexFunc(l.code, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(l.code)
	}
	name := l.code[:end]
	l.code = l.code[end:]
	if len(l.code) > 0 && (l.code[0] == '"' || l.code[0] == '\'') && isStringPrefix(name) {
		l.literal(strings.ToLower(name))
		return
	}
	l.tokens = append(l.tokens, pythonToken{kind: pythonName, text: name})
}

// mark reads any other character, and matches brackets.
func (l *pythonLexer) mark(r rune, size int) {
	switch r {
	case '(', '[', '{':
		l.open = append(l.open, len(l.tokens))
	case ')', ']', '}':
		if last := len(l.open) - 1; last >= 0 {
			l.tokens[l.open[last]].match = len(l.tokens)
			l.open = l.open[:last]
		}
	}
	l.tokens = append(l.tokens, pythonToken{kind: pythonMark, text: l.code[:size]})
	l.code = l.code[size:]
}

// literal reads a string.
func (l *pythonLexer) literal(prefix string) {
	var t pythonToken
	t, l.code = pythonLiteral(l.code, prefix)
	l.tokens = append(l.tokens, t)
}

func isNameRune(r rune) bool {
	return r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || (r >= utf8.RuneSelf && r != utf8.RuneError)
}

func isStringPrefix(name string) bool {
	return len(name) <= 2 && strings.Trim(strings.ToLower(name), "rbuf") == ""
}

// pythonLiteral reads the string that the code begins with, and returns the rest of the code.
func pythonLiteral(code, prefix string) (pythonToken, string) {
	quote := code[:1]
	if strings.HasPrefix(code, strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	var text strings.Builder
	rest := code[len(quote):]
	for len(rest) > 0 && !strings.HasPrefix(rest, quote) {
		if len(quote) == 1 && rest[0] == '\n' {
			break // the string is not ended
		}
		if rest[0] == '\\' && len(rest) > 1 && !strings.Contains(prefix, "r") {
			rest = rest[1:]
			if rest[0] == '\n' {
				rest = rest[1:]
				continue
			}
		}
		text.WriteByte(rest[0])
		rest = rest[1:]
	}
	t := pythonToken{kind: pythonString, text: text.String()}
	if strings.Contains(prefix, "f") && strings.Contains(t.text, "{") {
		t.kind = pythonFormat
	}
	return t, rest[min(len(quote), len(rest)):]
}
