// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
	"github.com/k8s-aibom/k8s-aibom/internal/kinds"
)

// maxName is the longest name of an object; an AIBOM that would need a longer one ends in a hash.
const maxName = 253

func (t *tool) documentCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "document (KIND/NAME | AIBOM)",
		Short: "Print the CycloneDX document of a workload",
		Long: "Prints the document byte for byte as the AIBOM holds it, so that its SHA-256 is that of\n" +
			"status.bomDocument.sha256. A document that lies in an external sink is not fetched: the error\n" +
			"says where it is.",
		Example: `  # By the workload
  kubectl aibom document deployment/my-llm -n my-models

  # By the AIBOM, as summary -o name and find -o name print it
  kubectl aibom document deployment-my-llm -n my-models > my-llm.cdx.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one workload or AIBOM, for example: kubectl aibom document deployment/my-llm")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return t.document(cmd.Context(), args[0]) },
	}
}

func (t *tool) document(ctx context.Context, reference string) error {
	wanted, err := parseReference(reference)
	if err != nil {
		return err
	}
	inventory, namespace, err := t.connect(false)
	if err != nil {
		return err
	}
	aibom, err := inventory.lookUp(ctx, namespace, wanted)
	if err != nil {
		return err
	}
	data, err := inlineData(aibom)
	if err != nil {
		return err
	}
	if ready := meta.FindStatusCondition(aibom.Status.Conditions, v1beta1.ConditionReady); ready != nil && ready.Status == metav1.ConditionFalse {
		t.warn("warning: this is the last good document of AIBOM %s/%s; the newest attempt failed (%s): %s",
			aibom.Namespace, aibom.Name, ready.Reason, ready.Message)
	}
	_, err = io.WriteString(t.streams.Out, data)
	return err
}

// reference names an AIBOM, or a workload where kind is set.
type reference struct{ kind, name string }

// parseReference reads KIND/NAME, where a kind may be written in upper or lower case, in the
// plural and with its group, or the name of an AIBOM with or without its own kind.
func parseReference(text string) (reference, error) {
	kind, name, slash := strings.Cut(text, "/")
	if !slash {
		kind, name = "aibom", text
	}
	if name == "" || strings.Contains(name, "/") {
		return reference{}, fmt.Errorf("%q is neither KIND/NAME of a workload nor the name of an AIBOM", text)
	}
	names := func(singular, plural, group string) bool {
		bare, within, qualified := strings.Cut(strings.ToLower(kind), ".")
		return (bare == strings.ToLower(singular) || bare == plural) && (!qualified || within == group)
	}
	if names("AIBOM", aiboms, v1beta1.Group) || names("bom", "bom", v1beta1.Group) {
		return reference{name: name}, nil
	}
	var known []string
	for _, k := range kinds.Catalogue {
		if names(k.Name(), k.Resource, k.GVK.Group) {
			return reference{kind: k.Name(), name: name}, nil
		}
		known = append(known, k.Name())
	}
	return reference{}, fmt.Errorf("%q is not a known kind of workload; it must be one of %s", kind, strings.Join(known, ", "))
}

// lookUp reads the AIBOM that is named, or that of the workload by the name that it must have.
func (i *inventory) lookUp(ctx context.Context, namespace string, r reference) (*v1beta1.AIBOM, error) {
	name, hint := r.name, "kubectl aibom summary -o wide lists those that there are"
	if r.kind != "" {
		name = strings.ToLower(r.kind) + "-" + r.name
		hint = fmt.Sprintf("%s %s may not exist, run no AI that is recognised, lie in a namespace that has not opted in, "+
			"be of a kind that workloadKinds leaves out, or be reported by the workload that owns it", r.kind, r.name)
	}
	if len(name) > maxName {
		return nil, fmt.Errorf("the name of %s %s is too long for its AIBOM to bear; name the AIBOM, which kubectl aibom summary -o wide shows", r.kind, r.name)
	}
	aibom, err := i.get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no AIBOM %s/%s: %s", namespace, name, hint)
	}
	return aibom, err
}

// inlineData is the document that the AIBOM holds, or an error that says where it is.
func inlineData(aibom *v1beta1.AIBOM) (string, error) {
	name, d := aibom.Namespace+"/"+aibom.Name, aibom.Status.BOMDocument
	switch {
	case d == nil:
		return "", fmt.Errorf("AIBOM %s has no document yet; kubectl describe aibom -n %s %s shows its conditions", name, aibom.Namespace, aibom.Name)
	case d.Inline != nil:
		if sum := sha256.Sum256([]byte(d.Inline.Data)); hex.EncodeToString(sum[:]) != d.SHA256 {
			return "", fmt.Errorf("the document of AIBOM %s does not have the SHA-256 that its status states, so somebody else changed it; the controller restores it, try again", name)
		}
		return d.Inline.Data, nil
	case d.External != nil:
		fix := "fetch it there"
		if d.External.WriteOnly {
			fix = "the sink does not hand documents out, ask whoever runs it"
		}
		return "", fmt.Errorf("the document of AIBOM %s (%d bytes, sha256 %s) lies in the sink %q at %s; %s",
			name, d.Size, d.SHA256, d.External.Sink, cmp.Or(d.External.URL, "an address that it did not tell"), fix)
	}
	return "", fmt.Errorf("the document of AIBOM %s is truncated: it has %d bytes, more than is held inline, and lies nowhere else, because %s; "+
		"raise spec.bomGeneration.inlineThresholdBytes of the AIBOMControllerConfig or configure a sink", name, d.Size, cmp.Or(d.TruncationReason, "of a reason that its status does not state"))
}
