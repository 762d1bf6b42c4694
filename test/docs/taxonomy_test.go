// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/k8s-aibom/k8s-aibom/internal/evidence"
)

func TestTaxonomyIsTheTable(t *testing.T) {
	g := NewWithT(t)
	var want [][]string
	for _, term := range evidence.Taxonomy {
		want = append(want, []string{"`" + term.Name + "`", term.On, term.Meaning})
	}
	g.Expect(table(t, documentPage, "Property")).To(Equal(want),
		"the taxonomy in the documentation must be that of internal/evidence, in its order")
}

func TestVocabularyIsDocumented(t *testing.T) {
	page := code(read(t, documentPage))
	for _, kind := range []string{"Confidence", "Source", "Role", "Origin", "Category"} {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			words := stringConstants(t, "internal/evidence/evidence.go", func(_, constantType string) bool {
				return constantType == kind
			})
			g.Expect(words).NotTo(BeEmpty())
			for _, word := range words {
				if word != "" {
					g.Expect(page).To(ContainElement(word), "%s of type %s", word, kind)
				}
			}
		})
	}
}

func TestConfidencesHaveTheirNumbers(t *testing.T) {
	g := NewWithT(t)
	rows := table(t, documentPage, "Word")
	g.Expect(rows).To(HaveLen(3))
	for _, row := range rows {
		score := strconv.FormatFloat(float64(evidence.Confidence(plain(row[0])).Score()), 'g', 2, 32)
		g.Expect(row[1]).To(Equal(score), row[0])
	}
}

func TestRedactionKindsAreTheTable(t *testing.T) {
	g := NewWithT(t)
	var documented []string
	for _, row := range table(t, documentPage, "Kind") {
		documented = append(documented, code(row[0])...)
	}
	known := map[string]bool{}
	for _, kind := range redactionKinds(t) {
		known[kind] = true
	}
	g.Expect(known).NotTo(BeEmpty())
	g.Expect(documented).To(HaveLen(len(known)))
	for _, kind := range documented {
		g.Expect(known).To(HaveKey(kind))
	}
}

// redactionKinds are the first elements of the rules in internal/bom/redact.go.
func redactionKinds(t *testing.T) []string {
	t.Helper()
	var kinds []string
	rules, ok := valueOf(t, "internal/bom/redact.go", "rules").(*ast.CompositeLit)
	if !ok {
		t.Fatal("the rules of redaction are not a list any more")
	}
	for _, rule := range rules.Elts {
		switch r := rule.(type) {
		case *ast.CompositeLit:
			kinds = append(kinds, text(t, r.Elts[0]))
		case *ast.CallExpr:
			kinds = append(kinds, text(t, r.Args[0]))
		}
	}
	return kinds
}

// TestBoundsAreTheTable fails when a bound changes, so that its row is changed along.
func TestBoundsAreTheTable(t *testing.T) {
	rows := map[string]string{}
	for _, row := range table(t, documentPage, "What") {
		rows[row[0]] = row[1]
	}
	for _, bound := range []struct{ row, documented, file, constant, value string }{
		{"a value in a document", "1 KiB", "internal/bom/clean.go", "maxValue", "1 << 10"},
		{"components and services of a document", "512, the most important first", "internal/bom/normalize.go", "maxFindings", "512"},
		{"places that one finding names", "16", "internal/bom/normalize.go", "maxEvidence", "16"},
		{"properties of one finding", "64", "internal/bom/normalize.go", "maxProperties", "64"},
		{"absorbed workloads that a document names", "512", "internal/bom/normalize.go", "maxOwned", "512"},
		{"containers read of a workload", "128", "internal/scrape/scrape.go", "maxContainers", "128"},
		{"models in the summary of an AIBOM", "64", "internal/controller/publish.go", "maxSummaryModels", "64"},
	} {
		t.Run(bound.row, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(rows).To(HaveKeyWithValue(bound.row, bound.documented))
			var value bytes.Buffer
			g.Expect(printer.Fprint(&value, token.NewFileSet(), valueOf(t, bound.file, bound.constant))).To(Succeed())
			g.Expect(value.String()).To(Equal(bound.value), "%s in %s changed: change the row in %s along", bound.constant, bound.file, documentPage)
		})
	}
}

// specs calls visit for every constant and variable that a file declares.
func specs(t *testing.T, path string, visit func(*ast.ValueSpec)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				visit(value)
			}
		}
	}
}

// valueOf is the expression that a file gives to a constant or variable.
func valueOf(t *testing.T, path, name string) ast.Expr {
	t.Helper()
	var found ast.Expr
	specs(t, path, func(spec *ast.ValueSpec) {
		if spec.Names[0].Name == name && len(spec.Values) > 0 {
			found = spec.Values[0]
		}
	})
	if found == nil {
		t.Fatalf("%s does not declare %s", path, name)
	}
	return found
}

// stringConstants are the values of a file's string constants that are wanted by their name
// and type.
func stringConstants(t *testing.T, path string, wanted func(name, constantType string) bool) []string {
	t.Helper()
	var values []string
	specs(t, path, func(spec *ast.ValueSpec) {
		constantType := ""
		if ident, ok := spec.Type.(*ast.Ident); ok {
			constantType = ident.Name
		}
		for i, name := range spec.Names {
			if wanted(name.Name, constantType) && i < len(spec.Values) {
				values = append(values, text(t, spec.Values[i]))
			}
		}
	})
	return values
}

// text is the value of a string literal.
func text(t *testing.T, expression ast.Expr) string {
	t.Helper()
	literal, ok := expression.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		t.Fatalf("%T is no string literal", expression)
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(value)
}
