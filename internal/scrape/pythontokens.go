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
	var all []pythonToken
	var open []int
	for len(code) > 0 && len(all) < maxPythonTokens {
		r, size := utf8.DecodeRuneInString(code)
		switch {
		case r == '\n':
			if len(open) == 0 {
				all = append(all, pythonToken{kind: pythonNewline})
			}
			code = code[size:]
		case r == ' ' || r == '\t' || r == '\r':
			code = code[size:]
		case r == '\\':
			code = code[min(len(code), 2):] // a line that goes on, or nothing that matters
		case r == '#':
			end := strings.IndexByte(code, '\n')
			if end < 0 {
				return all
			}
			code = code[end:]
		case r == '"' || r == '\'':
			var t pythonToken
			t, code = pythonLiteral(code, "")
			all = append(all, t)
		case isNameRune(r):
			end := strings.IndexFunc(code, func(r rune) bool { return !isNameRune(r) })
			if end < 0 {
				end = len(code)
			}
			name := code[:end]
			code = code[end:]
			if len(code) > 0 && (code[0] == '"' || code[0] == '\'') && isStringPrefix(name) {
				var t pythonToken
				t, code = pythonLiteral(code, strings.ToLower(name))
				all = append(all, t)
				continue
			}
			all = append(all, pythonToken{kind: pythonName, text: name})
		default:
			switch r {
			case '(', '[', '{':
				open = append(open, len(all))
			case ')', ']', '}':
				if len(open) > 0 {
					all[open[len(open)-1]].match = len(all)
					open = open[:len(open)-1]
				}
			}
			all = append(all, pythonToken{kind: pythonMark, text: code[:size]})
			code = code[size:]
		}
	}
	return all
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
