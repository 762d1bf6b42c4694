// SPDX-License-Identifier: Apache-2.0

package bom

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxValue is the most bytes that a value has in a document, its marker included.
	maxValue = 1 << 10
	// cutMarker ends a value that was cut.
	cutMarker = "…[truncated]"
	// window is how much of a value is looked at, so that a huge one costs no more than this.
	window = 8 << 10
	// margin is what is thrown away at the end of a window that was cut: a credential that
	// the cut halved may be too short to be recognised, and none that is recognised by its
	// shape needs as much as this.
	margin = 1 << 10
	// maxPasses bounds the search for a value that cleaning leaves alone.
	maxPasses = 8
)

// cleaned is a value that may stand in a document.
type cleaned struct {
	text string
	// kinds of credentials that were removed.
	kinds []string
	// truncated says that the value was cut.
	truncated bool
}

// clean redacts, sanitises and cuts a value. Its result is a fixed point: cleaning the text
// again leaves it as it is. A replacement or a cut could in theory make a new credential out
// of what is left, hence the repetition; a value that never settles is not worth keeping.
func clean(s string) cleaned {
	result := cleaned{text: s}
	for range maxPasses {
		next := cleanOnce(result.text)
		result.kinds = append(result.kinds, next.kinds...)
		result.truncated = result.truncated || next.truncated
		if next.text == result.text {
			return result
		}
		result.text = next.text
	}
	result.text = redacted
	return result
}

func cleanOnce(s string) cleaned {
	overlong := len(s) > window
	if overlong {
		s = cutAt(s, window)
	}
	s, kinds := redact(s, overlong)
	s = sanitise(s)
	if overlong {
		s = cutAt(s, max(0, len(s)-margin))
	}
	if len(s) <= maxValue && !overlong {
		return cleaned{text: s, kinds: kinds}
	}
	return cleaned{text: cutAt(s, maxValue-len(cutMarker)) + cutMarker, kinds: kinds, truncated: true}
}

// sanitise replaces what is not text by U+FFFD: invalid UTF-8, control characters, line and
// paragraph separators, and the characters that turn the direction of writing and so can make
// a name look like another.
func sanitise(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// cutAt returns the longest prefix of at most n bytes that ends between two runes.
func cutAt(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
