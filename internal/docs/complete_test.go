package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeListsPages checks that the README links every page.
func TestReadmeListsPages(t *testing.T) {
	readme := page(t, "README.md")
	files, err := filepath.Glob(filepath.Join(root(t), "docs", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("no pages", err)
	}
	for _, f := range files {
		if filepath.Ext(f) == ".go" {
			continue // it contains pages for the command
		}
		if name := "docs/" + filepath.Base(f); !strings.Contains(readme, "| ["+name+"]("+name+") |") {
			t.Errorf("the table of the README has no row of %s", name)
		}
	}
}

// TestCommandPageIsComplete checks that the page of the command line names each verb, each flag of run, each exit code
// and each kind of event.
func TestCommandPageIsComplete(t *testing.T) {
	bin, text := command(t), page(t, "docs/cli.md")
	help := func(args string) string {
		out, err := shell(t.TempDir(), bin, "agentscript "+args)
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		return out
	}
	_, verbs, _ := strings.Cut(help("--help"), "Available Commands:\n")
	verbs, _, _ = strings.Cut(verbs, "\n\n")
	names := regexp.MustCompile(`(?m)^  (\w+) `).FindAllStringSubmatch(verbs, -1)
	flags := regexp.MustCompile(`(?m)^  (?:-\w,|   ) (--[\w-]+)`).FindAllStringSubmatch(help("run --help"), -1)
	if len(names) < 5 || len(flags) < 20 {
		t.Fatalf("only %d verbs and %d flags: the reader of helps is broken", len(names), len(flags))
	}
	for _, m := range names {
		if m[1] != "help" && !strings.Contains(text, "\n| `"+m[1]) {
			t.Errorf("no row of the verb %s", m[1])
		}
	}
	for _, m := range flags {
		if !regexp.MustCompile(m[1] + `\b[^-]`).MatchString(text) {
			t.Errorf("nothing of the flag %s", m[1])
		}
	}
	run := help("run --help")
	for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(text, -1) {
		if !regexp.MustCompile(`[\s,]` + m[1] + ` [a-z]`).MatchString(run) {
			t.Errorf("the help of run says nothing of exit code %s", m[1])
		}
	}
	for kind := engine.EventKind(1); kind <= engine.EventAll; kind <<= 1 {
		if kind&engine.EventAll != 0 && !strings.Contains(text, "`"+kind.String()+"`") {
			t.Errorf("nothing of events of kind %s", kind)
		}
	}
}

var (
	quotedName = regexp.MustCompile("`([^`\n]+)`")
	goFile     = regexp.MustCompile(`^[a-z0-9_/]+\.go$`)
	directory  = regexp.MustCompile(`^(cmd|diag|engine|generable|internal|starlib)(/[a-z]+)*$`)
)

// TestArchitecturePageNamesWhatExists checks that each file and directory that the page of the architecture names
// exists, and that the page stays short.
func TestArchitecturePageNamesWhatExists(t *testing.T) {
	text := page(t, "docs/architecture.md")
	if n := strings.Count(text, "\n"); n > 200 {
		t.Errorf("%d lines, more than 200", n)
	}
	have := map[string]bool{}
	err := filepath.WalkDir(root(t), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			have[d.Name()] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
		name := m[1]
		isPath := strings.Contains(name, "/") && (goFile.MatchString(name) || directory.MatchString(name))
		if !isPath && !goFile.MatchString(name) {
			continue
		}
		named++
		found := have[name]
		for _, dir := range []string{"", "generable/lenient", "engine/internal/conversation", "temporal"} {
			if _, err := os.Stat(filepath.Join(root(t), dir, name)); err == nil {
				found = true
			}
		}
		if !found {
			t.Errorf("the page names %s, which does not exist", name)
		}
	}
	if named < 40 {
		t.Errorf("the page names %d files and directories: they are not found", named)
	}
}
