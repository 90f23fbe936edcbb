// Package docs executes what the documentation shows: scripts are loaded, console sessions are run and compared, Go
// snippets must occur verbatim in a compiled example.
package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// block is one fenced block of a page.
type block struct {
	page  string
	line  int
	lang  string
	title string
	flags string // flags that the script needs
	text  string
}

var fence = regexp.MustCompile("^```([a-z]*)(?: title=(\\S+)(?: flags=\"([^\"]*)\")?)?\\s*$")

// blocks reads the fenced blocks of a Markdown page.
func blocks(page, text string) []block {
	var out []block
	var cur *block
	for i, line := range strings.Split(text, "\n") {
		if cur == nil {
			if m := fence.FindStringSubmatch(line); m != nil {
				cur = &block{page: page, line: i + 1, lang: m[1], title: m[2], flags: m[3]}
			}
			continue
		}
		if strings.TrimRight(line, " ") == "```" {
			out = append(out, *cur)
			cur = nil
			continue
		}
		cur.text += line + "\n"
	}
	return out
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func pages(t *testing.T) map[string][]block {
	t.Helper()
	top := root(t)
	files, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(top, "README.md"))
	out := map[string][]block{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(top, f)
		out[name] = blocks(name, string(text))
	}
	return out
}

// built is the command, built once for all tests of the process.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	_ = os.Setenv("AGENTSCRIPT_STORE", "off") // no test stores runs in the user's home
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// command returns the path of the command, built with the flags of `make test`, so that its packages are in the build
// cache.
func command(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "agentscript"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", built.dir, "./cmd/agentscript")
		build.Dir = root(t)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("building the command: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "agentscript")
}

func TestConsoleSessions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the sessions are written for a Unix shell")
	}
	bin := command(t)
	seen := 0
	for page, all := range pages(t) {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "examples"), os.DirFS(filepath.Join(root(t), "examples"))); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "engine"), os.DirFS(filepath.Join(root(t), "engine"))); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "notes"), os.DirFS(filepath.Join(root(t), "examples", "notes"))); err != nil {
			t.Fatal(err)
		}
		for _, b := range all {
			switch {
			case b.title != "":
				path := filepath.Join(dir, b.title)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(b.text), 0o644); err != nil {
					t.Fatal(err)
				}
				if b.lang == "python" && !strings.HasPrefix(filepath.Base(b.title), "wrong") {
					if out, err := shell(dir, bin, "agentscript check "+b.flags+" "+b.title); err != nil {
						t.Errorf("%s:%d: %s is not sound:\n%s", page, b.line, b.title, out)
					}
				}
			case b.lang == "console":
				seen += session(t, dir, bin, b)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d commands found in the documentation: the reader of blocks is broken", seen)
	}
}

// session runs the commands of a console block and compares the output of each.
func session(t *testing.T, dir, bin string, b block) int {
	t.Helper()
	n := 0
	for _, part := range strings.Split("\n"+b.text, "\n$ ")[1:] {
		cmd, want, _ := strings.Cut(part, "\n")
		n++
		out, _ := shell(dir, bin, cmd)
		if strings.TrimSpace(out) != strings.TrimSpace(want) {
			t.Errorf("%s:%d: $ %s\nprints\n%s\nthe page says\n%s", b.page, b.line, cmd, out, want)
		}
	}
	return n
}

// shell runs one command line. It returns the diagnostics of a failing run, and the result of a successful one.
func shell(dir, bin, line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "AGENTSCRIPT_STORE=off", "XDG_STATE_HOME="+filepath.Join(filepath.Dir(bin), "state"), "OPENAI_API_KEY=", "OPENAI_BASE_URL=")
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}

// A Go snippet in the documentation is part of a compiled example, or of a declaration of the engine.
func TestGoSnippetsCompile(t *testing.T) {
	var compiled strings.Builder
	examples, err := filepath.Glob(filepath.Join(root(t), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := filepath.Glob(filepath.Join(root(t), "temporal", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared, err := filepath.Glob(filepath.Join(root(t), "engine", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range slices.Concat(examples, elsewhere, declared) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		compiled.WriteString(squeeze(string(text)))
	}
	seen := 0
	for page, all := range pages(t) {
		for _, b := range all {
			if b.lang != "go" {
				continue
			}
			seen++
			if strings.HasPrefix(b.text, "package main\n") {
				continue // a whole program, which TestPrograms runs
			}
			if !strings.Contains(compiled.String(), squeeze(b.text)) {
				t.Errorf("%s:%d: neither an example nor a declaration of the engine holds this snippet:\n%s", page, b.line, b.text)
			}
		}
	}
	if seen == 0 {
		t.Error("no Go snippet found")
	}
}

// squeeze drops indentation, blank lines and the alignment of comments, which differ between
// a page and a function.
func squeeze(s string) string {
	var b strings.Builder
	for _, line := range strings.Split(s, "\n") {
		if words := strings.Fields(line); len(words) > 0 {
			b.WriteString(strings.Join(words, " ") + "\n")
		}
	}
	return b.String()
}

var (
	flagWord = regexp.MustCompile("`(--[a-z][a-z-]*)")
	verbWord = regexp.MustCompile("`agentscript ([a-z]+)")
)

// The command accepts what explanations and pages say to type.
func TestFlagsAndVerbsExist(t *testing.T) {
	dir := t.TempDir()
	bin := command(t)
	var help strings.Builder
	for _, verb := range []string{"", "run", "check", "test", "graph", "convert", "export", "schema", "fmt", "explain", "doc", "decode", "models", "serve mcp", "runs", "runs ls", "runs show", "runs resume", "runs fork", "runs answer", "runs cancel", "runs cost", "runs rm", "runs gc", "runs export", "runs import", "sessions", "mcp", "mcp login", "mcp tools", "new", "config", "version"} {
		out, err := shell(dir, bin, "agentscript "+verb+" --help")
		if err != nil {
			t.Fatal(out)
		}
		help.WriteString(out)
	}
	texts := map[string]string{}
	for _, e := range diag.Entries() {
		texts[string(e.Code)] = e.Explain
	}
	for page := range pages(t) {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		texts[page] = string(text)
	}
	seen := 0
	for where, text := range texts {
		if where == filepath.Join("docs", "conformance.md") {
			continue // a list of promises, each of which says whether it is kept
		}
		if where == filepath.Join("docs", "temporal.md") {
			continue // of another command: TestFlagsOfTemporalExist
		}
		for _, m := range flagWord.FindAllStringSubmatch(text, -1) {
			seen++
			if !strings.Contains(help.String(), m[1]+" ") && !strings.Contains(help.String(), m[1]+"\n") {
				t.Errorf("%s: the command has no flag %s", where, m[1])
			}
		}
		for _, m := range verbWord.FindAllStringSubmatch(text, -1) {
			seen++
			if !strings.Contains(help.String(), "\n  "+m[1]+" ") {
				t.Errorf("%s: the command has no verb %s", where, m[1])
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d flags and verbs found", seen)
	}
}
