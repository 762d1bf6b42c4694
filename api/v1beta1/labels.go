// SPDX-License-Identifier: Apache-2.0

package v1beta1

const (
	// OptInLabel on a namespace, with the value OptInValue, opts the namespace into the
	// inventory unless the configuration names another selector.
	OptInLabel = Group + "/enabled"
	// OptInValue is the value of OptInLabel that opts in.
	OptInValue = "true"

	// KindLabel on an AIBOM names the kind of its workload, for example Deployment.
	KindLabel = Group + "/workload-kind"
	// CategoryLabel on an AIBOM names the category of its workload, for example inference.
	CategoryLabel = Group + "/category"
)
