// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// field is a place in an unstructured object. It knows its own path, which grows as one
// descends, so that a finding cannot lie about where it was read.
type field struct {
	value any
	at    string
}

func rootField(object map[string]any) field { return field{value: object} }

// get descends by name. What is absent, or below something that is no object, has no value.
func (f field) get(names ...string) field {
	for _, name := range names {
		object, _ := f.value.(map[string]any)
		at := name
		if f.at != "" {
			at = f.at + "." + name
		}
		f = field{value: object[name], at: at}
	}
	return f
}

func (f field) present() bool { return f.value != nil }

// object says whether the field holds an object, as an error where it does not.
func (f field) object() error {
	if _, ok := f.value.(map[string]any); ok {
		return nil
	}
	if !f.present() {
		return fmt.Errorf("%s is missing", f.at)
	}
	return fmt.Errorf("%s is not an object", f.at)
}

// items are the entries of a list, at most maxTemplates of them; the error says what was not
// read. An absent list has no entries.
func (f field) items() ([]field, error) {
	if !f.present() {
		return nil, nil
	}
	list, ok := f.value.([]any)
	if !ok {
		return nil, fmt.Errorf("%s is not a list", f.at)
	}
	var err error
	if len(list) > maxTemplates {
		err = fmt.Errorf("%s[%d] and later entries were not read: more than %d entries", f.at, maxTemplates, maxTemplates)
		list = list[:maxTemplates]
	}
	all := make([]field, len(list))
	for i := range list {
		all[i] = field{value: list[i], at: fmt.Sprintf("%s[%d]", f.at, i)}
	}
	return all, err
}

// text is a string, cut at what a person writes, and empty where the field holds none.
func (f field) text() string {
	s, _ := f.value.(string)
	return clip(s, maxValueBytes)
}

// scalar is a string, a whole number or a truth value as text, and empty for all else.
func (f field) scalar() string {
	switch v := f.value.(type) {
	case string:
		return f.text()
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		if whole := int64(v); float64(whole) == v {
			return strconv.FormatInt(whole, 10)
		}
	}
	return ""
}

// decode reads the object at the field into a typed one. Fields that the type does not know
// are ignored: the kinds embed core types beside fields of their own. What cannot be decoded
// is left empty as a whole: how far the converter came depends on the order of a map.
func (f field) decode(into any) error {
	if err := f.object(); err != nil {
		return err
	}
	object, _ := f.value.(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, into); err != nil {
		reflect.ValueOf(into).Elem().SetZero()
		return errors.New(f.at + " cannot be decoded: " + clip(misfit(object, into), 512))
	}
	return nil
}

// misfit says what about an object does not fit a type, in the same words every time: what the
// converter says depends on the order of a map, too.
func misfit(object map[string]any, into any) string {
	sorted, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(sorted, reflect.New(reflect.TypeOf(into).Elem()).Interface())
	}
	if err == nil {
		return "a value is not of its field's type"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// containerOf decodes a field that is one of a container's, and leaves the container empty
// where it is absent.
func containerOf(f field, name string) (c corev1.Container, err error) {
	if !f.present() {
		return c, nil
	}
	err = field{value: map[string]any{name: f.value}, at: f.at}.decode(&c)
	return c, err
}

// evidence names the field as the place where a fact was read.
func (f field) evidence() evidence.Evidence {
	return evidence.Evidence{Source: evidence.SourceField, Locator: f.at}
}

// addProperty adds the field's scalar under a name of the taxonomy, unless it is empty.
func (f field) addProperty(to []evidence.Property, name string) []evidence.Property {
	if value := f.scalar(); value != "" {
		return append(to, evidence.Property{Name: name, Value: value})
	}
	return to
}
