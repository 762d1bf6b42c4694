// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"strings"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

// modelByName says whether a variable that is not known by name holds a model all the same:
// its name ends as such names do and its value looks like a model's.
func modelByName(name, value string) (evidence.Role, bool) {
	if !endsLikeModel(name) {
		return "", false
	}
	switch family := strings.ToLower(value); {
	case len(value) > maxNameBytes:
		return "", false
	case beginsWith(patterns.HostedFamilies, family):
		return evidence.RoleCalled, true
	case beginsWith(patterns.ModelFamilies, family), onHub(value):
		return evidence.RoleServed, true
	case speaksOf(index.thingNames, name), strings.HasSuffix(asVariable(name), deploymentName):
		return "", false
	case hubName.MatchString(value) && !isRelativePath(value) && !isFileName(value):
		return evidence.RoleServed, true
	default:
		return "", false
	}
}

// deploymentName ends the names of variables for a model that Azure deploys, and for what Kubernetes does.
const deploymentName = "DEPLOYMENT_NAME"

func endsLikeModel(name string) bool {
	_, ok := tail(name, func(rest string) bool { return index.modelEnvEndings[rest] })
	return ok
}

func beginsWith(prefixes []string, text string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// isFileName says whether the last part has the ending of a file that is no repository's name.
func isFileName(text string) bool {
	for _, ending := range []string{".yaml", ".yml", ".json", ".py", ".sh", ".txt", ".conf", ".toml", ".pb", ".h5", ".pkl", ".joblib"} {
		if strings.HasSuffix(text, ending) {
			return true
		}
	}
	return false
}
