package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	wantComment = regexp.MustCompile(`// want ("[^"]*"(?: "[^"]*")*)`)
	wantString  = regexp.MustCompile(`"[^"]*"`)
)

// wanted returns the findings that a fake declares in comments: want "…" on the line of each.
func wanted(rel string, text []byte) []string {
	var want []string
	for i, line := range strings.Split(string(text), "\n") {
		if m := wantComment.FindStringSubmatch(line); m != nil {
			for _, s := range wantString.FindAllString(m[1], -1) {
				want = append(want, rel+":"+strconv.Itoa(i+1)+": "+strings.Trim(s, `"`))
			}
		}
	}
	slices.Sort(want)
	return want
}

func rendered(found []Finding) []string {
	var out []string
	for _, f := range found {
		out = append(out, f.String())
	}
	slices.Sort(out)
	return out
}

func fakes(t *testing.T, dir string) []*Source {
	t.Helper()
	var all []*Source
	err := Files(filepath.Join("testdata", dir), func(rel string) error {
		text, err := os.ReadFile(filepath.Join("testdata", dir, filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		s, err := Parse(rel, text)
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestChance(t *testing.T) {
	for _, s := range fakes(t, "chance") {
		got, want := rendered(Chance(s, nil)), wanted(s.Rel, s.Text)
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got:\n\t%s\nwant:\n\t%s", s.Rel, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
		if s.Rel != "uses.go" {
			continue
		}
		if got := Chance(s, []string{"*"}); got != nil {
			t.Errorf("%s excused wholly: %v", s.Rel, got)
		}
		for _, f := range Chance(s, []string{"context.Background"}) {
			if strings.Contains(f.What, "context.Background") {
				t.Errorf("%s: %v although excused", s.Rel, f)
			}
		}
		if n := len(Chance(s, []string{"context.Background"})); n != len(want)-1 {
			t.Errorf("%s with one excuse: %d findings, want %d", s.Rel, n, len(want)-1)
		}
	}
}

func TestIsHermetic(t *testing.T) {
	for rel, want := range map[string]bool{
		"engine/run.go":                 true,
		"engine/internal/abi/abi.go":    true,
		"starlib/internal/x/y.go":       true,
		"engine/run_test.go":            false,
		"engine/llm/call.go":            false,
		"engine/llm/internal/wire/a.go": false,
		"engine/store/memory.go":        false,
		"engine/llmish/x.go":            true,
		"enginer/x.go":                  false,
		"doc.go":                        false,
	} {
		if got := IsHermetic(&Source{Rel: rel}); got != want {
			t.Errorf("IsHermetic(%s) = %v", rel, got)
		}
	}
}

const app = "example.test/app"

func fakeGraph(t *testing.T) Graph {
	t.Helper()
	g, err := List(filepath.Join("testdata", "graph"), "./...")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestCheckLinks(t *testing.T) {
	g := fakeGraph(t)
	for name, tt := range map[string]struct {
		pkg, never string
		want       []string
	}{
		"kept": {app + "/middle", app + "/driver/...", nil},
		"far import of the standard library": {app + "/top", "encoding/json/...",
			[]string{app + "/top: links encoding/json (" + app + "/top → " + app + "/driver → encoding/json): why"}},
		"a pattern is a path, not a prefix": {app + "/top", app + "/drive/...", nil},
		"each package of a tree":            {app + "/...", app + "/driver/...", []string{app + "/top: links"}},
		"a package that does not exist yet": {app + "/later/...", "fmt", nil},
	} {
		got := rendered(g.CheckLinks([]LinkRule{{Packages: []string{tt.pkg}, Never: []string{tt.never}, Why: "why"}}))
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestCheckLibraries(t *testing.T) {
	g := fakeGraph(t)
	if got := g.CheckLibraries(app, nil); got != nil {
		t.Errorf("without code of others: %v", got)
	}
	// From the point of view of its own tree, everything else is third-party code.
	for by, want := range map[string][]string{
		app + "/driver": {app + "/top: imports " + app + "/driver, for which no library names it"},
		app + "/top":    nil,
	} {
		libraries := []Library{{Path: app + "/driver", By: []string{by}}, {Path: app + "/...", By: []string{app + "/middle"}}, {Path: app + "/middle", By: []string{app + "/top"}}}
		if got := rendered(g.CheckLibraries(app+"/top", libraries)); !slices.Equal(got, want) {
			t.Errorf("by %s: got %q, want %q", by, got, want)
		}
	}
}

// What is imported on one system alone is found on each.
func TestListSeesEverySystem(t *testing.T) {
	for _, system := range Systems {
		if imp := "example.test/app/" + system; !slices.Contains(fakeGraph(t)[app+"/driver"].Imports, imp) {
			t.Errorf("the graph lacks %s", imp)
		}
	}
}

func TestListReportsBrokenPackages(t *testing.T) {
	if _, err := List(filepath.Join("testdata", "graph"), "./missing"); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("err = %v", err)
	}
}

// Every row of the tables must match something: a misspelt path would match nothing.
func TestImportTablesAreUsable(t *testing.T) {
	g := repository(t)
	exists := func(pattern string) {
		t.Helper()
		if g.matching(pattern) == nil {
			t.Errorf("there is no package %s", pattern)
		}
	}
	for _, r := range LinkRules {
		if r.Why == "" || len(r.Never) == 0 {
			t.Errorf("%s: a rule without reason or content", r.Packages)
		}
		for _, p := range r.Packages {
			exists(p)
		}
	}
	for _, l := range Libraries {
		if l.Why == "" {
			t.Errorf("%s: a library without reason", l.Path)
		}
		exists(l.Path)
		for _, by := range l.By {
			if !slices.ContainsFunc(g.matching(by), func(path string) bool {
				return slices.ContainsFunc(g[path].Imports, func(imp string) bool { return match(l.Path, imp) })
			}) {
				t.Errorf("%s does not import %s", by, l.Path)
			}
		}
	}
}

func TestLengths(t *testing.T) {
	file := func(rel, head string, lines int) *Source {
		s, err := Parse(rel, []byte(head+"package p\n"+strings.Repeat("\n", lines-1-strings.Count(head, "\n"))))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	got := rendered(Lengths([]*Source{
		file("at.go", "", 10), file("over.go", "", 11), file("over_test.go", "", 11),
		file("made.go", "// Code generated by x. DO NOT EDIT.\n\n", 11),
	}, 10))
	if want := []string{"over.go: 11 lines, more than 10: it holds more than one idea"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestUndocumented(t *testing.T) {
	got := rendered(Undocumented(fakes(t, "files")))
	want := []string{
		"plain: package plain has no package comment",
		"two: package comments in two/a.go and two/b.go",
		`wrong/wrong.go: the package comment does not begin with "Package wrong "`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"see issue " + "#3":             "a.go:1",
		"one\ntwo /work" + "/main":      "a.go:2",
		"made by a helper" + " agent":   "a.go:1",
		"Sub" + "agents":                "a.go:1",
		"the Ko" + "og format":          "a.go:1",
		"a tissue #3, workshop/, kooge": "",
		"\x00 issue " + "#3":            "",
	} {
		got := Words("a.go", []byte(text), WordRules)
		switch {
		case want == "" && got != nil, want != "" && len(got) != 1:
			t.Errorf("%q: %v", text, got)
		case want != "" && got[0].Where != want:
			t.Errorf("%q: found at %s, want %s", text, got[0].Where, want)
		}
	}
	if got := Words("docs/flowjson.md", []byte("the Ko"+"og format"), WordRules); got != nil {
		t.Errorf("in a page that cites the format: %v", got)
	}
}

func TestFilesLeavesOutWhatToolsMake(t *testing.T) {
	root := t.TempDir()
	for _, rel := range []string{"a.go", ".ci/run", "bin/agentscript", ".git/config", "p/p.test", "p/testdata/x.txt"} {
		path := filepath.Join(root, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	if err := Files(root, func(rel string) error { got = append(got, rel); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{".ci/run", "a.go", "p/testdata/x.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBlock(t *testing.T) {
	page := "# x\n```\nearlier\n```\n<!-- a -->\n\ntext\n```sh\none\n\ntwo\n```\n```\nlater\n```\n<!-- b -->\n```\nopen\n"
	if got, err := Block(page, "<!-- a -->"); err != nil || got != "one\n\ntwo" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, line := range []string{"<!-- b -->", "<!-- c -->"} {
		if got, err := Block(page, line); err == nil {
			t.Errorf("%s: got %q", line, got)
		}
	}
}

func TestAtStart(t *testing.T) {
	const text = "package p\n\nvar (\n\ta = regexp.MustCompile(`a`)\n\tb = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`b`) })\n)\n\nfunc f() { _ = regexp.MustCompile(`c`) }\n"
	s, err := Parse("p/p.go", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := rendered(AtStart(s)); len(got) != 1 || !strings.HasPrefix(got[0], "p/p.go:4: ") {
		t.Errorf("%q, want one of line 4", got)
	}
	for _, s := range sources(t) {
		if !s.Test() && !strings.HasPrefix(s.Rel, "internal/tools/") && !strings.HasPrefix(s.Rel, "bench/") {
			fail(t, AtStart(s))
		}
	}
}
