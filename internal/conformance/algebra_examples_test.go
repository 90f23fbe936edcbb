package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/starlib"
)

// operators maps operators to the names of their compositions.
var operators = map[syntax.Token]string{syntax.GTGT: "then", syntax.SLASH: "par", syntax.STAR: "forum"}

// used lists the names that a script calls or mentions; operators count under the names that they stand for.
func used(t *testing.T, file string) map[string]bool {
	t.Helper()
	tree, err := (&syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}).Parse(repository("examples/"+file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	syntax.Walk(tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Ident:
			names[n.Name] = true
		case *syntax.BinaryExpr:
			if name, ok := operators[n.Op]; ok {
				names[name] = true
			}
		}
		return true
	})
	return names
}

// Promise 15.26 (algebra): every composition in the table of builtins, and the functions for plain code, appear in an
// example that runs; the index of the examples says in which.
func TestPromise_15_26_Examples(t *testing.T) {
	text, err := os.ReadFile(repository("examples/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (.+?) \| (.+?) \|$`)
	quoted := regexp.MustCompile("`([^`]+)`")
	linked := regexp.MustCompile(`\]\(([^)]+\.star)\)`)
	named := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		uses := map[string]bool{}
		for _, link := range linked.FindAllStringSubmatch(m[2], -1) {
			for name := range used(t, link[1]) {
				uses[name] = true
			}
		}
		for _, q := range quoted.FindAllStringSubmatch(m[1], -1) {
			name := q[1]
			if name == ">>" || name == "/" || name == "*" || name == "def main" || name == "load" {
				continue
			}
			named[name] = true
			if !uses[name] {
				t.Errorf("the index says that %s shows %s: it does not", m[2], name)
			}
		}
	}
	want := []string{"parallel", "stream", "phase", "attempt", "verify"}
	for _, b := range starlib.Universe().Rows() {
		if b.Group == starlib.GroupCompose && b.Of == "" && b.Name != "approval" { // covered by the pages about policy
			want = append(want, b.Name)
		}
	}
	if len(want) < 30 {
		t.Fatalf("only %v", want)
	}
	for _, name := range want {
		if !named[name] {
			t.Errorf("the index of the examples has no row of %s", name)
		}
	}
	files, err := filepath.Glob(repository("examples/*.star"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); !testrun.IsTest(name) && !strings.Contains(string(text), "("+name+")") {
			t.Errorf("%s is not in the index, examples/README.md", strings.TrimSuffix(name, ".star"))
		}
	}
}
