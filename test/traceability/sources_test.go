// SPDX-License-Identifier: Apache-2.0

package traceability

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	. "github.com/onsi/gomega"
)

// Ginkgo's nodes: containers hold others, and specs are what runs.
var (
	containers = []string{"Describe", "Context", "When", "DescribeTable"}
	specNodes  = []string{"It", "PIt", "Specify", "Entry"} // PIt is pending, and is there all the same
	testName   = regexp.MustCompile(`^(Test|Fuzz|Benchmark)`)
)

// spec is a Ginkgo spec by its own text, with the labels of all that it lies in.
type spec struct {
	text   string
	labels []string
}

// sources are the tests and specs of one folder.
type sources struct {
	tests  []string
	specs  []spec
	consts map[string]string
}

func readSources(t *testing.T, folder string) *sources {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty(), "%s holds tests", folder)
	var parsed []*ast.File
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		g.Expect(err).NotTo(HaveOccurred())
		parsed = append(parsed, f)
	}
	return collect(parsed)
}

func collect(files []*ast.File) *sources {
	s := &sources{consts: map[string]string{}}
	for _, f := range files {
		s.readConstants(f)
	}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && testName.MatchString(fn.Name.Name) {
				s.tests = append(s.tests, fn.Name.Name)
			}
		}
		s.readNodes(f, nil)
	}
	return s
}

// names are all tests and the texts of all specs.
func (s *sources) names() []string {
	names := slices.Clone(s.tests)
	for _, each := range s.specs {
		names = append(names, each.text)
	}
	return names
}

// readConstants keeps the string constants of a file's top level: labels may be such.
func (s *sources) readConstants(f *ast.File) {
	for _, d := range f.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, each := range decl.Specs {
			value := each.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					if text, ok := s.text(value.Values[i]); ok {
						s.consts[name.Name] = text
					}
				}
			}
		}
	}
}

// readNodes reads the Ginkgo nodes below a node of the syntax.
func (s *sources) readNodes(below ast.Node, labels []string) {
	ast.Inspect(below, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, ok := call.Fun.(*ast.Ident)
		if !ok || len(call.Args) == 0 {
			return true
		}
		isSpec := slices.Contains(specNodes, name.Name)
		if !isSpec && !slices.Contains(containers, name.Name) {
			return true
		}
		inside := append(slices.Clone(labels), s.labelsOf(call)...)
		if text, ok := s.text(call.Args[0]); ok && isSpec {
			s.specs = append(s.specs, spec{text, inside})
		}
		for _, arg := range call.Args[1:] {
			s.readNodes(arg, inside)
		}
		return false
	})
}

// labelsOf are the arguments of the node's own Label decorators.
func (s *sources) labelsOf(node *ast.CallExpr) []string {
	var labels []string
	for _, arg := range node.Args {
		decorator, ok := arg.(*ast.CallExpr)
		if !ok {
			continue
		}
		if name, ok := decorator.Fun.(*ast.Ident); !ok || name.Name != "Label" {
			continue
		}
		for _, label := range decorator.Args {
			if text, ok := s.text(label); ok {
				labels = append(labels, text)
			}
		}
	}
	return labels
}

// text is the value of a string literal or of a constant of the top level.
func (s *sources) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := s.consts[e.Name]
		return text, ok
	}
	return "", false
}

func TestCollect(t *testing.T) {
	g := NewWithT(t)
	f, err := parser.ParseFile(token.NewFileSet(), "x_test.go", `package x
const label = "design-000"
func TestOne(t *testing.T) {}
func helper() {}
var _ = Describe("outer", Label(label), func() {
	for range 2 {
		Context("inner"+name, Label("more"), func() { It("works", func() { It2("not one") }) })
	}
	DescribeTable("table", func() {}, Entry("row", 1))
})
var _ = Describe("bare", func() { It("has no label", func() {}) })
`, 0)
	g.Expect(err).NotTo(HaveOccurred())
	s := collect([]*ast.File{f})
	g.Expect(s.names()).To(Equal([]string{"TestOne", "works", "row", "has no label"}))
	g.Expect(s.specs).To(Equal([]spec{
		{"works", []string{"design-000", "more"}}, {"row", []string{"design-000"}}, {"has no label", nil},
	}))
}
