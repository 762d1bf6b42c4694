// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/k8s-aibom/k8s-aibom/test/harness"
)

// standbyAccount has the rights of the manager's account under another name, so that the
// audit log tells two replicas apart.
const standbyAccount = "e2e-standby"

var standbyUser = harness.ServiceAccountUser(harness.SystemNamespace, standbyAccount)

var _ = Describe("One of several replicas leads", Label("foundation-3"), Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		for _, object := range standbyRights() {
			Expect(client.IgnoreAlreadyExists(admin.Create(ctx, object))).To(Succeed())
		}
	})

	It("keeps the standby still, lets it take over when the leader stops, and loses nothing", func(ctx context.Context) {
		ns := optedIn(ctx)
		kept, moving := deploy(ctx, ns, "kept", llama), deploy(ctx, ns, "moving", llama)
		version := awaitAIBOM(ctx, ns, "deployment-"+kept.Name).ResourceVersion
		awaitAIBOM(ctx, ns, "deployment-moving")

		first := leader(ctx)
		begin := mark()
		standby := startManagerAs(ctx, standbyAccount, harness.ManagerOptions{})
		DeferCleanup(standby.Kill)
		Expect(leader(ctx)).To(Equal(first), "a standby does not take over from a leader that is well")
		deploy(ctx, ns, "new", qwen)
		awaitAIBOM(ctx, ns, "deployment-new")
		Consistently(standbyRequests(begin)).Should(BeEmpty(),
			"a standby writes nothing, and asks about AIBOMs nothing but what fills its cache")

		failover := mark()
		stopManager()
		DeferCleanup(func(ctx context.Context) {
			Expect(standby.Stop()).To(Succeed())
			startManager(ctx)
		})
		serve(ctx, moving, qwen)
		deploy(ctx, ns, "meanwhile", qwen)
		awaitAIBOM(ctx, ns, "deployment-moving", haveModels(qwen))
		awaitAIBOM(ctx, ns, "deployment-meanwhile", haveModels(qwen))
		Expect(leader(ctx)).NotTo(Equal(first), "the standby leads")
		Consistently(standbyRequests(failover)).Should(ConsistOf("patch aiboms/status deployment-moving",
			"create aiboms deployment-meanwhile", "patch aiboms/status deployment-meanwhile"),
			"it writes what happened since, and nothing that was right")
		Expect(awaitAIBOM(ctx, ns, "deployment-kept").ResourceVersion).To(Equal(version))
		Expect(listAIBOMs(ctx, ns)()).To(HaveLen(4), "the inventory is complete")
	})

	It("takes over from a leader that dies without a word", func(ctx context.Context) {
		// Short leases, so that the spec need not wait a quarter of a minute.
		const lease = "--leader-elect-lease-duration=6s"
		stopManager()
		startManager(ctx, lease)
		ns := optedIn(ctx)
		deployment := deploy(ctx, ns, "llm", llama)
		awaitAIBOM(ctx, ns, "deployment-llm")
		first := leader(ctx)
		standby := startManagerAs(ctx, standbyAccount, harness.ManagerOptions{Args: []string{lease}})
		DeferCleanup(standby.Kill)

		Expect(manager.Kill()).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(standby.Stop()).To(Succeed())
			startManager(ctx)
		})
		serve(ctx, deployment, qwen)
		awaitAIBOM(ctx, ns, "deployment-llm", haveModels(qwen))
		Expect(leader(ctx)).NotTo(Equal(first), "the standby leads")
	})
})

// leader is who holds the lease.
func leader(ctx context.Context) string {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Expect(admin.Get(ctx, client.ObjectKey{Namespace: harness.SystemNamespace, Name: "k8s-aibom.k8saibom.dev"}, lease)).To(Succeed())
	Expect(lease.Spec.HolderIdentity).NotTo(BeNil())
	return *lease.Spec.HolderIdentity
}

// standbyRequests are the standby's requests about AIBOMs, and its writes of anything. Not
// counted are those by which an informer fills itself, those for the Lease, and the event
// that tells of a new leader.
func standbyRequests(since harness.Mark) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := plane.Requests(since, harness.Filter{User: standbyUser})
		var lines []string
		for _, e := range all {
			switch {
			case e.ObjectRef.Resource == "leases", e.ObjectRef.Resource == "events":
			case e.ObjectRef.Namespace == "" && (e.Verb == "list" || e.Verb == "watch"):
			case e.IsWrite(), e.ObjectRef.Resource == "aiboms":
				lines = append(lines, e.Short())
			}
		}
		return lines, err
	}
}

// standbyRights bind the roles that ship to the standby's account.
func standbyRights() []client.Object {
	meta := metav1.ObjectMeta{Name: standbyAccount, Namespace: harness.SystemNamespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: harness.SystemNamespace, Name: standbyAccount}}
	bind := func(role string) client.Object {
		return &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: standbyAccount + "-" + role}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}
	}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta},
		bind("k8s-aibom-manager-role"), bind("k8s-aibom-metrics-auth-role"),
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "k8s-aibom-leader-election-role"}},
	}
}
