// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/k8s-aibom/k8s-aibom/api/v1beta1"
)

// selection says which AIBOMs are listed and how they are printed.
type selection struct {
	allNamespaces bool
	selector      string
	format        string
	noHeaders     bool
}

// listCommand is a command that lists AIBOMs; the rest of it is the caller's.
func (t *tool) listCommand(run func(context.Context, *selection, []string) error) *cobra.Command {
	var s selection
	cmd := &cobra.Command{ValidArgsFunction: cobra.NoFileCompletions}
	cmd.Flags().BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "Look into every namespace, whatever --namespace says.")
	cmd.Flags().StringVarP(&s.selector, "selector", "l", "", "Look only at AIBOMs with these labels, for example aibom.k8saibom.dev/category=inference.")
	cmd.Flags().StringVarP(&s.format, "output", "o", formatTable, "How to print: "+formatList+".")
	cmd.Flags().BoolVar(&s.noHeaders, "no-headers", false, "Print rows only, without headers and totals.")
	// It fails for a flag that does not exist only.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := validateFormat(s.format); err != nil {
			return err
		}
		if _, err := labels.Parse(s.selector); err != nil {
			return fmt.Errorf("--selector %q is no label selector (key=value, key!=value, key in (a,b)): %w", s.selector, err)
		}
		return run(cmd.Context(), &s, args)
	}
	return cmd
}

func (t *tool) summaryCommand() *cobra.Command {
	cmd := t.listCommand(t.summary)
	cmd.Use = "summary"
	cmd.Short = "List the AI workloads, one row each"
	cmd.Long = "Lists the workloads that have an AIBOM, with what they run, and how many there are. A line on\n" +
		"standard error says when the configuration limits the inventory to some kinds, or is not in\n" +
		"force as it should be, so that a workload that is missing is not misread."
	cmd.Example = `  # The namespace of the current context
  kubectl aibom summary

  # Every inference workload of the cluster, with versions and all models
  kubectl aibom summary -A -l aibom.k8saibom.dev/category=inference -o wide

  # For a program
  kubectl aibom summary -A -o json | jq .totals`
	cmd.Args = cobra.NoArgs
	return cmd
}

func (t *tool) summary(ctx context.Context, s *selection, _ []string) error {
	workloads := []workload{}
	where, err := t.visit(ctx, s, func(aibom *v1beta1.AIBOM) { workloads = append(workloads, workloadOf(aibom)) })
	if err != nil {
		return err
	}
	if len(workloads) == 0 {
		t.warn("No workload in %s has an AIBOM.", where)
	}
	return result{Workloads: workloads, Totals: totalsOf(workloads)}.print(t.streams.Out, s, t.clock)
}

func (t *tool) findCommand() *cobra.Command {
	cmd := t.listCommand(t.find)
	cmd.Use = "find SUBSTRING"
	cmd.Short = "List the workloads that use a model, a runtime or an image"
	cmd.Long = "Lists the workloads whose summary or document names something that contains the text, in upper\n" +
		"or lower case: a model or the name that it is served under, a runtime, an image with or without\n" +
		"tag or digest, a package URL, a hosted service. Documents that lie in an external sink or\n" +
		"nowhere cannot be searched; standard error says how many those are."
	cmd.Example = `  # Who runs this model?
  kubectl aibom find meta-llama/Llama-3.1-8B-Instruct -A

  # Who runs this image? By repository and tag, or by digest
  kubectl aibom find vllm/vllm-openai:v0.11.0 -A
  kubectl aibom find sha256:3f1c -A -o name`
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return errors.New("name one text to find, for example: kubectl aibom find llama -A")
		}
		return nil
	}
	return cmd
}

func (t *tool) find(ctx context.Context, s *selection, args []string) error {
	found, missed := []workload{}, &notSearched{}
	where, err := t.visit(ctx, s, func(aibom *v1beta1.AIBOM) {
		w := workloadOf(aibom)
		w.Matches = matching(append(summaryNames(w.AIBOMSummary), missed.documentNames(aibom.Status.BOMDocument)...), args[0])
		if len(w.Matches) > 0 {
			found = append(found, w)
		}
	})
	if err != nil {
		return err
	}
	if *missed != (notSearched{}) {
		t.warn("warning: %s", missed)
	}
	if len(found) == 0 {
		t.warn("No AIBOM in %s names %q.", where, args[0])
	}
	return result{Workloads: found, NotSearched: missed}.print(t.streams.Out, s, t.clock)
}

// visit shows every selected AIBOM, then says what in the configuration limits the inventory.
// It returns in words where it looked.
func (t *tool) visit(ctx context.Context, s *selection, each func(*v1beta1.AIBOM)) (string, error) {
	inventory, namespace, err := t.connect(s.allNamespaces)
	if err != nil {
		return "", err
	}
	if err := inventory.each(ctx, namespace, s.selector, each); err != nil {
		return "", err
	}
	t.tellOfConfiguration(ctx, inventory)
	where := place(namespace)
	if s.selector != "" {
		where += " with the labels " + s.selector
	}
	return where, nil
}

// place says in words where was looked.
func place(namespace string) string {
	if namespace == "" {
		return "any namespace"
	}
	return fmt.Sprintf("namespace %q", namespace)
}
