package conformance

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Promise 9.9 (embedding): every example of the embedding page compiles and runs.
func TestPromise_9_9_Page(t *testing.T) {
	page, err := os.ReadFile(repository("docs/embedding.md"))
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(repository("example*_test.go"))
	if err != nil || len(names) == 0 {
		t.Fatal("there are no examples", err)
	}
	var files []*ast.File
	held := ""
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files, held = append(files, file), held+unindented(string(text))
	}
	for _, ex := range doc.Examples(files...) {
		if ex.Output == "" && !ex.EmptyOutput {
			t.Errorf("Example%s is compiled and not run: it has no output", ex.Name)
		}
	}
	for _, topic := range []string{"Scripts inside the binary", "Typed input and output", "Cancelling", "Limits per tenant", "Events to log/slog", "A function of the language written in Go", "A tool written in Go", "A model of your own"} {
		_, section, found := strings.Cut(string(page), "\n## "+topic+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		snippets := strings.Split(section, "```go\n")[1:]
		if !found || len(snippets) == 0 {
			t.Errorf("the page has no example of %q", topic)
		}
		for _, snippet := range snippets {
			snippet, _, _ = strings.Cut(snippet, "```")
			if !strings.Contains(held, unindented(snippet)) {
				t.Errorf("%s: no example holds this:\n%s", topic, snippet)
			}
		}
	}
	// What the page names exists.
	exported := map[string]map[string]bool{"agentscript": exports(t, ""), "engine": exports(t, "engine"), "llm": exports(t, "engine/llm"), "store": exports(t, "engine/store")}
	exported["mod"], exported["run"], exported["eng"] = exported["agentscript"], exported["agentscript"], exported["agentscript"]
	for _, m := range regexp.MustCompile(`\b(agentscript|engine|llm|journal|mod|run|eng)\.([A-Z]\w*)`).FindAllStringSubmatch(string(page), -1) {
		if !exported[m[1]][m[2]] {
			t.Errorf("the page names %s, which does not exist", m[0])
		}
	}
	if testing.Short() {
		return // the package runs its examples itself
	}
	cmd := exec.Command("go", "test", "-run", "^Example", ".")
	cmd.Dir = repository("")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the examples fail: %v\n%s", err, out)
	}
}

// unindented returns a text's words, each after one blank.
func unindented(s string) string { return strings.Join(strings.Fields(s), " ") }

// exports returns the exported names of a package, including methods and fields.
func exports(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(repository(dir + "/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no package in", dir, err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names[id.Name] = true
				}
			}
			return true
		})
	}
	return names
}
