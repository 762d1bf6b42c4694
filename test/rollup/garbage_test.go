// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// specsUser is who the specs are to the API server; they may delete workloads.
const specsUser = "rollup-specs"

// keepFromGarbageCollection has the API server refuse to delete workloads for anybody but the
// specs. Many of them are about workloads whose owner is not there, which the garbage collector
// would take away before long.
func keepFromGarbageCollection(ctx context.Context) {
	GinkgoHelper()
	const name = "keep-workloads.rollup.example.com"
	Expect(admin.Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Delete},
						Rule: admissionregistrationv1.Rule{
							APIGroups: []string{"apps", "batch"}, APIVersions: []string{"*"}, Resources: []string{"*"},
						},
					},
				}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "request.userInfo.username == '" + specsUser + "'", Message: "only specs delete workloads",
			}},
		},
	})).To(Succeed())
	Expect(admin.Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	})).To(Succeed())

	anybody, err := client.New(plane.Config(), client.Options{Scheme: harness.Scheme})
	Expect(err).NotTo(HaveOccurred())
	probe := statefulSet(metav1.NamespaceDefault, "kept", 0)
	Expect(admin.Create(ctx, probe)).To(Succeed())
	Eventually(func() error { return anybody.Delete(ctx, probe, client.DryRunAll) }).
		Should(MatchError(ContainSubstring("only specs delete workloads")), "the policy is in force")
	Expect(admin.Delete(ctx, probe)).To(Succeed())
}
