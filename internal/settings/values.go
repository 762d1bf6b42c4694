// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

const (
	maxListItems     = 256
	maxPatternLength = 255
	maxRuntimeLength = 63
)

var (
	runtimeName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	patternSegment = regexp.MustCompile(`^[a-z0-9._*-]+$`)
	flagShape      = regexp.MustCompile(`^--?[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// stringRule says what the entries of a list of strings must be.
type stringRule struct {
	maxLength int
	// check returns the entry as it is stored, or what is wrong with it.
	check func(entry string) (stored string, problem string)
}

var envVarName = stringRule{253, func(entry string) (string, string) {
	return entry, strings.Join(validation.IsRelaxedEnvVarName(entry), "; ")
}}

var argFlag = stringRule{253, func(entry string) (string, string) {
	if !flagShape.MatchString(entry) {
		return "", "must be a flag without value, for example --checkpoint"
	}
	return entry, ""
}}

var volumePath = stringRule{1024, func(entry string) (string, string) {
	if !strings.HasPrefix(entry, "/") || path.Clean(entry) == "/" || slices.Contains(strings.Split(entry, "/"), "..") {
		return "", "must be an absolute path other than / without .., for example /srv/weights"
	}
	if strings.ContainsRune(entry, ':') || strings.ContainsFunc(entry, unicode.IsControl) {
		return "", "must not hold colons or control characters"
	}
	return path.Clean(entry), ""
}}

// apply returns the stored entries, and every entry that breaks the rule or occurs twice.
func (r stringRule) apply(entries []string, at *field.Path) ([]string, field.ErrorList) {
	if len(entries) > maxListItems {
		return nil, field.ErrorList{field.TooMany(at, len(entries), maxListItems)}
	}
	var stored []string
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, entry := range entries {
		if len(entry) > r.maxLength {
			errs = append(errs, field.TooLong(at.Index(i), entry, r.maxLength))
			continue
		}
		value, problem := r.check(entry)
		if problem != "" {
			errs = append(errs, field.Invalid(at.Index(i), entry, problem))
			continue
		}
		if seen.Has(value) {
			errs = append(errs, field.Duplicate(at.Index(i), entry))
			continue
		}
		seen.Insert(value)
		stored = append(stored, value)
	}
	return stored, errs
}

func compilePatterns(s *Snapshot, specs []v1beta1.RuntimeImagePattern, at *field.Path) field.ErrorList {
	if len(specs) > maxListItems {
		return field.ErrorList{field.TooMany(at, len(specs), maxListItems)}
	}
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, spec := range specs {
		runtimeErrs := checkRuntimeName(spec.Runtime, at.Index(i).Child("runtime"))
		patternErrs := checkPattern(spec.Pattern, at.Index(i).Child("pattern"))
		errs = append(append(errs, runtimeErrs...), patternErrs...)
		if len(patternErrs) == 0 && seen.Has(spec.Pattern) {
			errs = append(errs, field.Duplicate(at.Index(i).Child("pattern"), spec.Pattern))
		}
		seen.Insert(spec.Pattern)
		s.RuntimeImagePatterns = append(s.RuntimeImagePatterns, RuntimeImagePattern(spec))
	}
	return errs
}

func checkRuntimeName(name string, at *field.Path) field.ErrorList {
	if len(name) > maxRuntimeLength {
		return field.ErrorList{field.TooLong(at, name, maxRuntimeLength)}
	}
	if !runtimeName.MatchString(name) {
		return field.ErrorList{field.Invalid(at, name, "must consist of a-z, 0-9, . and -, and begin and end with a letter or digit")}
	}
	return nil
}

func checkPattern(pattern string, at *field.Path) field.ErrorList {
	if len(pattern) > maxPatternLength {
		return field.ErrorList{field.TooLong(at, pattern, maxPatternLength)}
	}
	if strings.ContainsAny(pattern, ":@") {
		return field.ErrorList{field.Invalid(at, pattern, "must not hold a registry's port, a tag or a digest")}
	}
	if strings.Trim(pattern, "*/") == "" {
		return field.ErrorList{field.Invalid(at, pattern, "must name at least a part of the repository path, for example ml-platform/llm-server")}
	}
	segments := strings.Split(pattern, "/")
	// A first segment of several that has a dot, or is localhost, is a registry
	// (https://pkg.go.dev/github.com/distribution/reference).
	if len(segments) > 1 && (segments[0] == "localhost" || strings.Contains(segments[0], ".")) {
		return field.ErrorList{field.Invalid(at, pattern, "must begin after the registry")}
	}
	for _, segment := range segments {
		if !patternSegment.MatchString(segment) {
			return field.ErrorList{field.Invalid(at, pattern, "must consist of segments of a-z, 0-9, ., _, - and *, joined by /")}
		}
	}
	return nil
}

// compileNumber leaves the default in place when the value is absent or out of range.
func compileNumber(into *int, value *int32, least, most int, at *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if int(*value) < least || int(*value) > most {
		return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("must be between %d and %d", least, most))}
	}
	*into = int(*value)
	return nil
}

// compileChoice leaves the default in place when the value is absent or not a choice.
func compileChoice(into *string, value string, choices []string, at *field.Path) field.ErrorList {
	if value == "" {
		return nil
	}
	if !slices.Contains(choices, value) {
		return field.ErrorList{field.NotSupported(at, value, choices)}
	}
	*into = value
	return nil
}
