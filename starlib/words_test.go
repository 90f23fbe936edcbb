package starlib_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// A word that a text tells its reader to write must exist. These tests read what people see, explanations, remedies and
// the documentation, and look up every call.

// placeholders are the names that texts use for the reader's own things.
var placeholders = set("f", "g", "a", "node", "done", "T", "A")

// foreign are names of other languages that a text mentions in order to replace them.
var foreign = set("asyncio.gather")

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// vocabulary returns everything that can be called: by name, and after a dot.
func vocabulary() (names, methods map[string]bool) {
	names, methods = map[string]bool{}, map[string]bool{}
	for _, b := range starlib.Universe().Rows() {
		if b.Of == "" {
			names[b.Name] = true
		} else {
			methods[b.Name] = true
		}
	}
	for name := range starlark.Universe {
		names[name] = true
	}
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.NewList(nil), starlark.NewDict(0), starlark.NewSet(0)} {
		for _, name := range v.AttrNames() {
			methods[name] = true
		}
	}
	return names, methods
}

var (
	literal = regexp.MustCompile(`(?s)""".*?"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`)
	called  = regexp.MustCompile(`(\.?)\b([A-Za-z_]\w*)\(`)
	keyword = set("and", "or", "not", "in", "if", "else", "return", "def", "lambda", "for", "while", "load")
	bound   = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*=[^=]|\bdef\s+(\w+)|\b(?:for|lambda|as|class|import)\s+(\w+)`)
	params  = regexp.MustCompile(`(?:\bdef\s+\w+\(|\blambda\s)([^)\n]*?)(?:\)|:)`)
	word    = regexp.MustCompile(`[A-Za-z_]\w*`)
)

// definedIn returns the names that a snippet binds itself.
func definedIn(code string) map[string]bool {
	own := map[string]bool{}
	for _, m := range bound.FindAllStringSubmatch(code, -1) {
		for _, name := range m[1:] {
			own[name] = true
		}
	}
	for _, m := range params.FindAllStringSubmatch(code, -1) {
		for _, name := range word.FindAllString(m[1], -1) {
			own[name] = true
		}
	}
	for line := range strings.Lines(code) {
		if strings.HasPrefix(line, "load(") {
			for _, m := range literal.FindAllString(line, -1) {
				own[strings.Trim(m, `"'`)] = true
			}
		}
	}
	return own
}

// unknownCalls lists the calls in a snippet of unknown names.
func unknownCalls(code string, own ...map[string]bool) []string {
	names, methods := vocabulary()
	for _, o := range append(own, definedIn(code), placeholders, keyword) {
		maps.Copy(names, o)
		maps.Copy(methods, o)
	}
	var unknown []string
	for _, m := range called.FindAllStringSubmatch(literal.ReplaceAllString(code, `""`), -1) {
		among := names
		if m[1] == "." {
			among = methods
		}
		if !among[m[2]] && !slices.Contains(unknown, m[2]) {
			unknown = append(unknown, m[2])
		}
	}
	return unknown
}

func TestUnknownCalls(t *testing.T) {
	for code, want := range map[string]string{
		`attempt(f, x)`:             "",
		`switch(a, b)`:              "switch",
		`x = anew(node, 3).then(a)`: "anew",
		`node.race(a)`:              "race",
		"def go(h):\n    h(1)\n    go(2)\n    \"no(x)\"": "",
		`load("x.star", "mine")` + "\nmine()":            "",
	} {
		if got := strings.Join(unknownCalls(code), " "); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

var span = regexp.MustCompile("`([^`\n]+)`")

func TestExplanationsNameWhatExists(t *testing.T) {
	for _, e := range diag.Entries() {
		for _, m := range span.FindAllStringSubmatch(e.Explain, -1) {
			if u := unknownCalls(m[1]); u != nil {
				t.Errorf("%s: `%s` calls %s, which does not exist", e.Code, m[1], u)
			}
		}
		for _, code := range []string{e.Wrong, e.Right} {
			if u := unknownCalls(code); u != nil && e.Code != diag.UndefinedName {
				t.Errorf("%s: the example calls %s, which does not exist:\n%s", e.Code, u, code)
			}
		}
	}
}

// helps returns the remedies of a golden file: the lines of "= help:" and their continuation lines.
func helps(text string) []string {
	var out []string
	inside := false
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch help, ok := strings.CutPrefix(trimmed, "= help: "); {
		case ok:
			out, inside = append(out, help), true
		case trimmed == "" || strings.HasPrefix(trimmed, "= ") || !strings.HasPrefix(line, "      "):
			inside = false
		case inside:
			out[len(out)-1] += "\n" + trimmed
		}
	}
	return out
}

// TestRemediesNameWhatExists reads the remedies in the golden files. What a script calls itself, its remedy may call
// too.
func TestRemediesNameWhatExists(t *testing.T) {
	seen := 0
	check := func(file, script, rendered string) {
		own := map[string]bool{}
		for _, name := range word.FindAllString(script, -1) {
			own[name] = true
		}
		for _, h := range helps(rendered) {
			seen++
			if u := unknownCalls(h, own, foreign); u != nil {
				t.Errorf("%s: the help calls %s, which does not exist:\n%s", file, u, h)
			}
		}
	}
	habits, _ := filepath.Glob("internal/pythonisms/testdata/*.txt")
	for _, file := range habits {
		script, rendered, ok := strings.Cut(read(t, file), "-- rendered --\n")
		if !ok {
			t.Fatalf("%s has no rendered part", file)
		}
		check(file, script, rendered)
	}
	for _, pattern := range []string{"internal/source/testdata/lint/*.golden", "testdata/errors/*.golden"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			check(file, read(t, strings.TrimSuffix(file, ".golden")+".star"), read(t, file))
		}
	}
	if seen < 250 {
		t.Errorf("only %d remedies found", seen)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var pythonBlock = regexp.MustCompile("(?ms)^```python[^\n]*\n(.*?)^```")

// TestDocumentationNamesWhatExists reads the scripts in the pages, and the spans of code in the pages about the
// language.
func TestDocumentationNamesWhatExists(t *testing.T) {
	pages, _ := filepath.Glob("../docs/*.md")
	_, methods := vocabulary() // the pages list them without what precedes the dot
	seen := 0
	for _, page := range append(pages, "../README.md") {
		text := read(t, page)
		for _, m := range pythonBlock.FindAllStringSubmatch(text, -1) {
			seen++
			u := slices.DeleteFunc(unknownCalls(m[1], methods), func(name string) bool {
				byHost := strings.Contains(text, `Builtin{`+"\n\t\tName: \""+name+`"`) // the page's Go program adds it
				return byHost || filepath.Base(page) == "language.md" && strings.Contains(exampleNames, "\n"+name+" = ")
			})
			if len(u) > 0 && !strings.Contains(m[1], "agnet") {
				t.Errorf("%s calls %s, which does not exist:\n%s", page, u, m[1])
			}
		}
		switch filepath.Base(page) {
		case "guide.md", "algebra.md", "language.md":
			for _, m := range span.FindAllStringSubmatch(pythonBlock.ReplaceAllString(text, ""), -1) {
				seen++
				if u := unknownCalls(m[1], methods); u != nil {
					t.Errorf("%s: `%s` calls %s, which does not exist", page, m[1], u)
				}
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d snippets found", seen)
	}
}
