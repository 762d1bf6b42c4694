// SPDX-License-Identifier: Apache-2.0

package cdxschema

import (
	"errors"
	"fmt"
	"sort"
)

// checkReferences returns an error that names every bom-ref that occurs twice and every
// dependency that leads nowhere.
func checkReferences(bom map[string]any) error {
	counts := map[string]int{}
	countRefs(bom, counts)

	var problems []error
	for ref, n := range counts {
		if n > 1 {
			problems = append(problems, fmt.Errorf("bom-ref %q occurs %d times", ref, n))
		}
	}
	dependencies, _ := bom["dependencies"].([]any)
	for _, d := range dependencies {
		dependency, _ := d.(map[string]any)
		targets, _ := dependency["dependsOn"].([]any)
		for _, target := range append([]any{dependency["ref"]}, targets...) {
			ref, _ := target.(string)
			if counts[ref] == 0 {
				problems = append(problems, fmt.Errorf("dependency refers to unknown bom-ref %q", ref))
			}
		}
	}
	sort.Slice(problems, func(i, j int) bool { return problems[i].Error() < problems[j].Error() })
	return errors.Join(problems...)
}

func countRefs(value any, counts map[string]int) {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["bom-ref"].(string); ok {
			counts[ref]++
		}
		for _, child := range v {
			countRefs(child, counts)
		}
	case []any:
		for _, child := range v {
			countRefs(child, counts)
		}
	}
}
