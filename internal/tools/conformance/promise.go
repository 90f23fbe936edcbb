package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/internal/arch"
)

// areas are the parts of the product, by number less one; promises are numbered within them. word is the one in
// "Promise 5.2 (runs): …".
var areas = [...]struct{ word, title string }{
	{"repository", "The repository"},
	{"language", "The language"},
	{"typed graph", "The typed graph"},
	{"diagnostics", "Diagnostics"},
	{"runs", "Runs"},
	{"models", "Models"},
	{"decoder", "The decoder"},
	{"command line", "The command line"},
	{"embedding", "Embedding"},
	{"examples", "Examples"},
	{"bad input", "Bad input"},
	{"performance", "Performance"},
	{"types and decoding", "Types and decoding"},
	{"every provider", "One type, every provider"},
	{"algebra", "The whole algebra"},
	{"check", "The whole-graph check"},
	{"real models", "Real models"},
	{"tools", "Tools and their mending"},
	{"skills", "Skills"},
	{"budgets", "Budgets"},
	{"policy", "Policy, approval and hooks"},
	{"memory", "Memory and history"},
	{"capabilities", "What a script may touch"},
	{"MCP", "MCP"},
	{"packages", "Packages and what stays between versions"},
	{"sound", "Sound before it runs, safe when attacked, pleasant in the first hour"},
	{"desk", "The desk: prompt, tests, live tree, templates"},
	{"reading", "Reading what models and providers send"},
	{"flows", "Flows as JSON"},
	{"durable", "Durable runs"},
	{"temporal", "Beyond one machine: Temporal"},
}

// promise is one checkable sentence about the product and the test that holds it.
type promise struct {
	area, item int
	text       string
	pkg        string // directory of the test's package, relative to the root
	test       string
	where      string // file:line of the test

	state  string // the result of its test, "" if it was not run
	reason string // for one that is not built or was skipped
}

func (p *promise) number() string { return fmt.Sprintf("%d.%d", p.area, p.item) }

// standing returns the state with its reason.
func (p *promise) standing() string {
	if p.reason == "" {
		return p.state
	}
	return p.state + ": " + p.reason
}

var (
	testName = regexp.MustCompile(`^TestPromise_([1-9][0-9]*)_([1-9][0-9]*)_[A-Z][A-Za-z0-9]*$`)
	docForm  = regexp.MustCompile(`^Promise ([1-9][0-9]*)\.([1-9][0-9]*) \(([A-Za-z ]+)\): (\S.*)$`)
)

// collect finds the promises of a repository in its syntax trees, sorted by number. The problems are about tests that
// do not declare properly what they promise.
func collect(sources []*arch.Source) (promises []*promise, problems []string) {
	byNumber := map[string]*promise{}
	for _, s := range sources {
		if !s.Test() {
			continue
		}
		for _, decl := range s.File.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "TestPromise") {
				continue
			}
			where := fmt.Sprintf("%s:%d", s.Rel, s.Fset.Position(fn.Pos()).Line)
			p, err := parse(fn.Name.Name, fn.Doc.Text())
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s: %s: %v", where, fn.Name.Name, err))
				continue
			}
			p.pkg, p.where = path.Clean(s.Dir()), where
			if other := byNumber[p.number()]; other != nil {
				problems = append(problems, fmt.Sprintf("%s: promise %s is made at %s already", where, p.number(), other.where))
				continue
			}
			byNumber[p.number()] = p
			promises = append(promises, p)
		}
	}
	slices.SortFunc(promises, func(a, b *promise) int {
		return cmp.Or(cmp.Compare(a.area, b.area), cmp.Compare(a.item, b.item))
	})
	slices.Sort(problems)
	return promises, problems
}

// parse reads a promise from the name of its test and the first paragraph of its comment.
func parse(name, doc string) (*promise, error) {
	n := testName.FindStringSubmatch(name)
	if n == nil {
		return nil, errors.New("the name is not TestPromise_AREA_ITEM_Words")
	}
	first, _, _ := strings.Cut(doc, "\n\n")
	d := docForm.FindStringSubmatch(strings.Join(strings.Fields(first), " "))
	if d == nil {
		return nil, fmt.Errorf("the comment does not begin with \"Promise %s.%s (area): text\"", n[1], n[2])
	}
	if d[1] != n[1] || d[2] != n[2] {
		return nil, fmt.Errorf("the comment is of promise %s.%s", d[1], d[2])
	}
	p := &promise{text: d[4], test: name}
	if _, err := fmt.Sscanf(name, "TestPromise_%d_%d_", &p.area, &p.item); err != nil {
		return nil, err
	}
	if p.area > len(areas) {
		return nil, fmt.Errorf("there is no area %d", p.area)
	}
	if word := areas[p.area-1].word; word != d[3] {
		return nil, fmt.Errorf("area %d is %q, not %q", p.area, word, d[3])
	}
	return p, nil
}
