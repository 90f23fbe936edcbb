package starlib_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

const described = `
Level = enum("low", "high")
Spec = schema("A spec", title = str)

def main(title, spec = Spec, n = field(int, "how many", default = 3, ge = 1), level = Level | None, *, tags = ["x"], ratio = 0.5, deep = None):
    """Plans a feature.

    More about it.

    Args:
      title: short name of the feature,
        in a few words
      tags (list): labels
    """
    return [title, spec.title, n, level, tags, ratio, deep]

node = agent(prompt = "x")
text = "no node"
def rest(*args):
    pass
def odd(f = len):
    pass
`

func TestEntryDescribesParameters(t *testing.T) {
	m := sound(t, described)
	e, d := m.Main()
	if d != nil {
		t.Fatal(d)
	}
	if e.Doc != "Plans a feature.\n\nMore about it." {
		t.Errorf("doc %q", e.Doc)
	}
	var got []string
	for _, p := range e.Params {
		got = append(got, fmt.Sprintf("%s %s %v %s %q", p.Name, p.Type, !p.Optional, generable.JSON(p.Default, nil), p.Guide))
	}
	want := []string{
		`title any true null "short name of the feature, in a few words"`,
		`spec Spec true null ""`,
		`n int false 3 "how many"`,
		`level Level | None false null ""`,
		`tags list[any] false ["x"] "labels"`,
		`ratio float false 0.5 ""`,
		`deep any false null ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEntryBinds(t *testing.T) {
	m := sound(t, described)
	e, _ := m.Main()
	args := func(text string) map[string]generable.Value {
		given := map[string]generable.Value{}
		fields, _ := value(t, text).AsMap()
		for i := range fields.Len() {
			k, v := fields.At(i)
			given[k] = v
		}
		return given
	}
	vals, err := e.Bind(args(`{"title": "T", "spec": {"title": "S"}, "ratio": 1, "tags": []}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.Exec(sched.NewGoSched(context.Background()), &run.Spec{Main: e.Func, Args: vals})
	if err != nil {
		t.Fatal(err)
	}
	if got := generable.JSON(out, nil); got != `["T","S",3,null,[],1.0,null]` {
		t.Errorf("got %s", got)
	}
	for text, want := range map[string]string{
		`{"spec": {"title": "S"}}`:                              "main needs title",
		`{"title": "T", "spec": {"titel": "S"}}`:                "spec: title: want str, got nothing",
		`{"title": "T", "spec": {"title": "S"}, "n": "3"}`:      "n: want int, got str",
		`{"title": "T", "spec": {"title": "S"}, "n": 0}`:        "n: want at least 1, got 0",
		`{"title": "T", "spec": {"title": "S"}, "nn": 0}`:       "main has no parameter nn",
		`{"title": "T", "spec": {"title": "S"}, "level": "lo"}`: "level: want",
	} {
		_, err := e.Bind(args(text))
		var in *engine.Error
		if !errors.As(err, &in) || in.Code != diag.BadInput || !strings.HasPrefix(in.Message, want) || in.Help == "" {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestEntries(t *testing.T) {
	m := sound(t, described)
	if e, d := m.Entry("node"); d != nil || e.Node == nil || e.Func != nil {
		t.Errorf("node: %+v, %v", e, d)
	}
	for name, want := range map[string]string{
		"nodee": `did you mean "node"?`, "text": "text is str", "rest": "*args", "odd": "the default of f", "what": "it has main, node",
	} {
		_, d := m.Entry(name)
		if d == nil || !strings.Contains(d.Message+strings.Join(d.Help, " "), want) {
			t.Errorf("%s: got %v", name, d)
		}
	}
	if m.Node("main") != nil || m.Node("node").Name() != "node" || len(m.Nodes()) != 1 {
		t.Error("nodes")
	}
	if m.Type("Spec").Name != "Spec" || m.Type("text") != nil {
		t.Error("types")
	}
	if v, ok := m.Value("text"); !ok || generable.JSON(v, nil) != `"no node"` {
		t.Error("values")
	}
	if got := strings.Join(m.Names(), " "); got != "Level Spec main node odd rest text" {
		t.Errorf("names %s", got)
	}
}

func TestModuleOfSeveralFiles(t *testing.T) {
	fsys := fstest.MapFS{
		"flows/main.star":   {Data: []byte("load(\"lib/a.star\", \"a\")\nload(\"lib/b.star\", \"b\")\ntext = file(\"lib/x.md\")\nmain = a >> b\n")},
		"flows/lib/a.star":  {Data: []byte("load(\"b.star\", \"b\")\na = agent(prompt = file(\"x.md\"))\nc = b\n")},
		"flows/lib/b.star":  {Data: []byte("b = agent(prompt = \"B\")\n")},
		"flows/lib/x.md":    {Data: []byte("be brief")},
		"flows/unused.star": {Data: []byte("fail()")},
	}
	o := starlib.Options{FS: fsys, Entry: "flows/main.star"}
	m, found := starlib.Load(context.Background(), o)
	if found != nil {
		t.Fatal(render(m, found))
	}
	if len(m.Nodes()) != 3 {
		t.Errorf("%d nodes: a file is loaded more than once", len(m.Nodes()))
	}
	if got := strings.Join(m.Files(), " "); got != "flows/lib/a.star flows/lib/b.star flows/lib/x.md flows/main.star" {
		t.Errorf("files %s", got)
	}
	hash := m.Hash()
	for _, file := range []string{"flows/lib/x.md", "flows/lib/b.star", "flows/main.star"} {
		was := fsys[file].Data
		fsys[file] = &fstest.MapFile{Data: append(slices.Clone(was), '\n')}
		changed, _ := starlib.Load(context.Background(), o)
		if changed.Hash() == hash {
			t.Errorf("a change of %s does not change the hash", file)
		}
		fsys[file] = &fstest.MapFile{Data: was}
	}
	if again, _ := starlib.Load(context.Background(), o); again.Hash() != hash {
		t.Error("the hash is not stable")
	}
	o.Dir = "shown"
	fsys["flows/lib/b.star"] = &fstest.MapFile{Data: []byte("b = agnet()\n")}
	m, found = starlib.Load(context.Background(), o)
	if got := render(m, found); !strings.Contains(got, "--> shown/flows/lib/b.star:1:5") || !strings.Contains(got, "b = agnet()") {
		t.Errorf("got %s", got)
	}
}

// TestLinks checks that a link that leads out of the directory is rejected, and one inside is followed.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("secret.txt", "secret")
	write("flow/docs/a.md", "inside")
	write("flow/main.star", `
inside = file("link.md")
again = file("dir/a.md")
out = file("out.md")
abs = file("abs.md")
up = file("up/secret.txt")
`)
	for link, target := range map[string]string{"link.md": "docs/a.md", "dir": "docs", "out.md": "../secret.txt", "abs.md": "/etc/passwd", "up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, "flow", link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	m, found := starlib.Load(context.Background(), starlib.Options{FS: os.DirFS(dir), Entry: "flow/main.star"})
	if codes(found) != "AS601 AS601 AS601" {
		t.Errorf("got %s", render(m, found))
	}
	if v, _ := m.Value("again"); generable.JSON(v, nil) != `"inside"` {
		t.Errorf("a link inside is not followed")
	}
}

func TestLoadingIsBounded(t *testing.T) {
	for src, code := range map[string]string{
		"def f():\n    while True:\n        pass\nf()\n":                               "AS717",
		"def f(n):\n    return f(n + 1)\nx = f(0)\n":                                   "AS213",
		"def f():\n    x = []\n    for i in range(100000000):\n        x = [x]\nf()\n": "AS717",
	} {
		var o starlib.Options
		if testing.Short() {
			o.Steps = 200_000
		}
		m, found := loadWith(o, src)
		if codes(found) != code {
			t.Errorf("%q: got %s", src, render(m, found))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m, found := starlib.Load(ctx, starlib.Options{FS: fstest.MapFS{}, Entry: "x.star", Source: []byte("while True:\n    pass\n")})
	if codes(found) != "AS712" {
		t.Errorf("got %s", render(m, found))
	}
	m, found = starlib.Load(context.Background(), starlib.Options{FS: fstest.MapFS{}, Entry: "x.star"})
	if codes(found) != "AS602" || m == nil {
		t.Errorf("got %s", render(m, found))
	}
}

// FuzzLoad looks for scripts that panic while loading. The seeds are type expressions and
// compositions.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.star")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(string(data))
		}
	}
	for _, s := range []string{"list[str] | None", "dict[str, list[int]] | str", "None | None", "A | A", "list[A][B]", "ref(\"A\") | ref(\"A\")"} {
		f.Add("A = schema(\"a\", x = int)\nB = enum(\"x\")\nt = " + s + "\nn = agent(input = t, output = list[t], prompt = \"x\")\nv = t({\"x\": 1})\n")
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, found := loadWith(starlib.Options{Steps: 100_000}, src, "lib.star", "def other():\n    pass\n", "lib/reviewers.star", "def reviewer(x):\n    return agent(name = x, prompt = x)\n")
		if strings.Contains(codes(found), "AS715") {
			t.Errorf("panicked:\n%s", render(m, found))
		}
		if !found.HasErrors() {
			m.Main()
			m.Hash()
		}
	})
}
