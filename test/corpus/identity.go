// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"regexp"
	"strings"
)

// hubPrefixes say where a repository lies and are no part of its name.
var hubPrefixes = []string{"hf://", "huggingface://", "https://huggingface.co/", "https://hf.co/", "huggingface.co/", "hf.co/"}

// repository is owner/name with a revision or file behind it.
var repository = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*)[@:][^/]+$`)

// Identity is a model's or dataset's name as it is compared: without regard to case, to a
// prefix that only says Hugging Face, to the revision of a repository and to a slash at the
// end. Nothing else is alike: a path is not its last part, a bare name not the repository of
// the same name, and a model not its instruction-tuned sibling.
func Identity(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, prefix := range hubPrefixes {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			s = rest
			break
		}
	}
	s = strings.TrimRight(s, "/")
	if m := repository.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return s
}

// Name is a runtime's or API's name as it is compared: without regard to case and to what
// stands between its words.
func Name(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// identities are the names without repetition.
func distinct(names []string, as func(string) string) map[string]string {
	all := map[string]string{}
	for _, n := range names {
		if key := as(n); key != "" && all[key] == "" {
			all[key] = n
		}
	}
	return all
}
