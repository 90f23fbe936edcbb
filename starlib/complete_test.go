package starlib_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// at splits a script at its cursor, which is written as |.
func at(t *testing.T, script string) (string, int) {
	t.Helper()
	before, behind, ok := strings.Cut(script, "|")
	if !ok {
		t.Fatal("no cursor in " + script)
	}
	return before + behind, len(before)
}

func offered(c starlib.Completion) string {
	return strings.Join(text.Each(c.Items, func(i starlib.Candidate) string { return i.Name }), " ")
}

const desk = `Draft = schema("a draft", title = field(str, "what it is called"), tone = enum("calm", "loud"))
Good = schema("it will do", score = int)
Bad = schema("it will not do", reason = str)
Verdict = union("will it do?", Good, Bad)
Kind = enum("bug", "idea")
writer = agent(output = Draft, prompt = "Write.")
judge = agent(output = Verdict, prompt = "Judge.")
praise = agent(input = Good, prompt = "Praise.")
def helper(topic, *, times = 3):
    """Helps.

    Args:
      topic: what about
      times: how often
    """
    return topic
`

// The candidates of each case are among those that are offered at its place, with the replaced text.
func TestComplete(t *testing.T) {
	for _, c := range []struct{ line, want, never string }{
		{"main = writer.th|", "then", "loop"},
		{"main = writer.|", "then loop branch", "writer"},
		{"main = (writer >> judge).b|", "branch", ""},
		{"main = wri|", "writer", "judge"},
		{"x = json.|", "encode decode", "Draft"},
		{"x = ge(\"m\", fo|", "fold", "exact"},
		{"x = eq(\"m\", ex|", "exact", "fold"},
		{"x = praise.branch([when(alw|", "always", "never"},
		{"x = Kind.|", "bug idea", ""},
		{"x = Kind.b|\ny = 1\n", "bug", "idea"},
		{"x = Draft(title = \"a\", |", "tone", "title"},
		{"x = Draft(ti|)", "title", "tone"},
		{"x = Draft(title = \"a\", tone = \"l|\")", "loud", "calm"},
		{"x = Draft(title = \"a\", tone = |)", "\"calm\" \"loud\"", ""},
		{"x = agent(prompt = \"a\", out|", "output", "prompt"},
		{"x = agent(prompt = \"a\", effort = \"m|", "minimal medium max", "low"},
		{"x = agent(model = \"gpt|\")", "gpt-x", ""},
		{"x = helper(\"a\", |)", "times", "topic"},
		{"x = sorted([1], k|)", "key", "reverse"},
		{"def f(x):\n    y = writer(x)\n    return y.|", "title tone", "score"},
		{"def f(x):\n    y = writer(x)\n    if y.t|\n    return y\nz = 1\n", "title tone", "score"},
		{"def main(d = Draft):\n    for word in d.title.|\n", "split upper", ""},
		{"def f(value):\n    local = 1\n    return [item for item in val|]", "value", "local"},
		{"main = writer.loop(until = lambda d: d.|)", "title tone", ""},
		{"main = judge.branch({Good: praise, |})", "Bad", ""},
		{"main = judge.branch({|", "Good Bad", ""},
		{"def f(v):\n    return match(judge(v), {Good: lambda g: g.|})", "score", ""},
		{"def f(v):\n    return v.tone == \"|\"", "", "title"},
		{"def f():\n    return writer(\"a\").tone == \"|\"", "calm loud", ""},
		{"load(\"l|\", \"x\")", "lib/", "note.txt"},
		{"load(\"lib/|", "lib/words.star", ""},
		{"x = file(\"no|\")", "note.txt", "lib/"},
		{"ask = template(\"About {{ti|}}.\", input = Draft)", "title", "tone"},
		{"main = writer >> template(\"About {{|", "title tone input", ""},
		{"main = agent(prompt = \"\"\"Write\nabout wri|", "", "writer"},
		{"# a comment about wri|", "", "writer"},
		{"x = 12|", "", "writer"},
		{"x = [wri|, (", "writer", ""},
		{"x = {\"a\": wri|", "writer", ""},
		{"broken = (((\n\nx = judge.|\n\ndef f(:\n", "branch", ""},
		{"fail_here = 1 + \"a\"\nlate = agent(output = Draft, prompt = \"x\")\nx = late.th|", "then", ""},
		{"def f(x):\n    (\n\nmain = wri|", "writer", ""},
		{"x = http.|", "get post", ""},
		{"def f():\n    r = http.get(\"https://a.example\")\n    return r.|", "status", ""},
		{"x = budget.|", "remaining", ""},
		{"x = \"a\".|", "upper format", ""},
		{"x = replace(Draft(title = \"a\", tone = \"calm\"), to|)", "tone", "title"},
		{"x = T|", "True", ""},
		{"re|", "retry ref replace", "writer"},

		// inside incomplete functions, whatever precedes
		{"def f(topic, *, times = 3):\n    local = 1\n    return lo|", "local loop", "topic"},
		{"def f(first):\n    def g(second):\n        return |", "first second g", ""},
		{"def f(value):\n    if value:\n        |", "value writer return", ""},
		{"def f(value):\n    y =\n    z = val|", "value", "z"},
		{"def f(value):\n    y = (1 +\n    z = val|", "value", ""},
		{"def f(value):\n    y = (1 +\n    draft = writer(value)\n    draft.|", "title tone", "score"},
		{"def f(value):\n    y = (1 +\n    return |", "value y", ""},
		{"def f(value):\n    note = \"\"\"Unfinished\n    return val|", "", "value"},
		{"def f(value):\n    y = [1, 2\n    if True:\n        draft = 1\n    return dra|", "draft", ""},
		{"def f(x, y = wri|", "writer", ""},
		{"for item in [1]:\n    it|", "item", ""},
		{"first = 1\nsecond = fir|", "first", ""},

		// strings that name something, or are one of a few words
		{"x = par(writer, on_error = \"|", "raise keep drop", ""},
		{"x = par(writer, on_error = |", "\"raise\" \"keep\" \"drop\"", ""},
		{"x = schema(\"s\", t = field(str, \"t\", stream = [\"|", "atomic first state", ""},
		{"x = field(str, format = \"e|\")", "email", "uri"},
		{"x = agent(prompt = \"a\", model = [\"gpt-x\", \"o|", "opus-y", "gpt-x"},
		{"x = agent(prompt = \"a\", tools = [tool(helper)], tool_choice = \"|", "auto none helper", ""},
		{"notes = memory(\"n\")\ndef f():\n    return notes.read(slot = \"|", "writer judge praise", ""},
		{"x = writer >> pick(\"|", "title tone", "score"},
		{"x = writer.loop(until = eq(\"t|", "title tone", ""},
		{"x = vote(writer, 3, key = \"|", "title tone", "score"},
		{"x = ref(\"Dr|", "Draft", "Good"},
		{"x = writer.branch({\"|", "", "writer"},
		{"x = image(\"|", "note.txt lib/", ""},
		{"x = file(\"../|", "", "note.txt"},
		{"load(\"lib/words.star\", \"|\")", "alpha beta", "_own"},
		{"load(\"lib/words.star\", \"alpha\", \"b|", "beta", "alpha"},
	} {
		text, offset := at(t, desk+c.line)
		fsys := fstest.MapFS{"lib/words.star": {Data: []byte("# Words.\nalpha = 1\n_own = 2\n\ndef beta():\n    return (\n")}, "note.txt": {}, "main.star": {}}
		o := starlib.Options{FS: fsys, Entry: "main.star", Models: []string{"gpt-x", "opus-y"}}
		got := starlib.Analyse(context.Background(), o, []byte(text)).Complete(context.Background(), offset)
		w := starlib.NewWorkspace(o)
		if found := w.Add(context.Background(), "a", []byte(desk)); found.HasErrors() {
			t.Fatal(found)
		}
		line, offset := at(t, c.line)
		all := map[string]starlib.Completion{"a file": got, "a prompt": w.Complete(context.Background(), line, offset)}
		for where, got := range all {
			names := " " + offered(got) + " "
			for want := range strings.FieldsSeq(c.want) {
				if !strings.Contains(names, " "+want+" ") {
					t.Errorf("%s in %s offers %s and not %s", c.line, where, clip(names), want)
				}
			}
			for _, item := range got.Items {
				if item.Doc == "" || strings.Contains(item.Doc, "\n") || strings.Contains(item.Doc, "<unnamed>") {
					t.Errorf("%s in %s offers %s with the line %q", c.line, where, item.Name, item.Doc)
				}
			}
			if c.never != "" && strings.Contains(names, " "+c.never+" ") {
				t.Errorf("%s in %s offers %s", c.line, where, c.never)
			}
		}
	}
}

func clip(s string) string { return s[:min(len(s), 200)] }

// In the examples, at each x. and each keyword argument, completion offers what is written next in at least 90 of 100
// places.
func TestCompleteOffersWhatIsWrittenNext(t *testing.T) {
	files, err := filepath.Glob("../examples/*.star")
	if err != nil {
		t.Fatal(err)
	}
	places, hits := 0, 0
	missed := map[string]int{}
	for n, file := range files {
		if testing.Short() && n%4 != 0 {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := (&syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}).Parse(file, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(src), "\n")
		o := starlib.Options{FS: os.DirFS("../examples"), Entry: filepath.Base(file), Ungranted: true}
		ask := func(id *syntax.Ident) {
			offset := len(strings.Join(lines[:id.NamePos.Line-1], "")) + len(string([]rune(lines[id.NamePos.Line-1])[:id.NamePos.Col-1]))
			typed := string(src[:offset]) // the rest of the line is not written yet
			rest := string(src[offset:])
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				rest = rest[i:]
			}
			got := starlib.Analyse(context.Background(), o, []byte(typed+rest)).Complete(context.Background(), offset)
			places++
			if strings.Contains(" "+offered(got)+" ", " "+id.Name+" ") {
				hits++
			} else {
				missed[fmt.Sprintf("%s:%s %s", file, id.NamePos, id.Name)]++
			}
		}
		syntax.Walk(tree, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.DotExpr:
				ask(n.Name)
			case *syntax.CallExpr:
				if id, ok := n.Fn.(*syntax.Ident); ok && id.Name == "schema" {
					return true // its fields get their names there
				}
				for _, arg := range n.Args {
					if b, ok := arg.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
						ask(b.X.(*syntax.Ident))
					}
				}
			}
			return true
		})
	}
	if hits*100 < places*90 {
		t.Errorf("%d of %d places; missed: %v", hits, places, missed)
	}
}

// Completion terminates for any text and any cursor, and replaces a part of the text.
func FuzzComplete(f *testing.F) {
	for _, line := range []string{"x = wri", "main = writer.branch({Good: ", "def f(a, b = [x for x in y]:\n\tz = \"\"\"{{", "load(\"", "x = (lambda y: y.)(1).", "for a in b[", "Draft(**{", "if x.y:\n else.", "'\\", "\xff.\x00.",
		"def f(a):\n b = (\n c = a.", "def f():\n\tx =\n\n  y", "load(\"a.star\", \"", "pick([\"", "t.on(\"../../", "file(\"/", "{\"a\": {\""} {
		f.Add(line, len(line))
	}
	w := starlib.NewWorkspace(starlib.Options{FS: fstest.MapFS{"a.star": {}}, Entry: "main.star"})
	if found := w.Add(context.Background(), "a", []byte(desk)); found.HasErrors() {
		f.Fatal(found)
	}
	f.Fuzz(func(t *testing.T, line string, offset int) {
		c := w.Complete(context.Background(), line, offset)
		if c.From < 0 || c.From > c.To || c.To > len(line) {
			t.Errorf("it replaces %d to %d of %d bytes", c.From, c.To, len(line))
		}
	})
}

// In a test file t is known: its methods, their arguments, and the agents that they name.
func TestCompleteInTests(t *testing.T) {
	for line, want := range map[string]string{
		"def test_it(t):\n    t.re|":                         "reply",
		"def test_it(t):\n    t.reply(\"wri|":                "writer",
		"def test_it(t):\n    t.reply(\"|\", \"Hello\")\n":   "writer judge",
		"def test_it(t):\n    t.fail(\"writer\", \"rate|\")": "rate_limit",
		"def test_it(t):\n    t.reply(\"writer\", de|)":      "delay",
		"def test_it(t):\n    t.on(\"|":                      "writer judge",
		"def test_it(t):\n    t.calls(\"|":                   "writer http.get",
		"def test_it(t):\n    t.order(\"writer\", \"ju|":     "judge",
		"def test_it(t):\n    t.tool(\"sh|":                  "sh.run",
		"def test_it(t):\n    t.replay(\"|":                  "runs/",
		"def test_it(t):\n    x = (\n    t.never(\"pr|":      "praise",
	} {
		text, offset := at(t, "load(\"flow.star\", \"writer\", \"judge\")\n\n"+line)
		o := starlib.Options{FS: fstest.MapFS{"flow.star": {Data: []byte(desk)}, "runs/a.jsonl": {}}, Entry: "flow_test.star"}
		got := starlib.Analyse(context.Background(), o, []byte(text)).Complete(context.Background(), offset)
		for want := range strings.FieldsSeq(want) {
			if !strings.Contains(" "+offered(got)+" ", " "+want+" ") {
				t.Errorf("%s offers %s and not %s", line, clip(offered(got)), want)
			}
		}
	}
}

// Each query gets an answer for any part of an example and any cursor.
func TestAnalysisAnswersAnywhere(t *testing.T) {
	files, err := filepath.Glob("../examples/*.star")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(13, 27))
	questions := 500
	if testing.Short() {
		questions = 100
	}
	for range questions {
		file := files[r.IntN(len(files))]
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		from, to := r.IntN(len(src)), r.IntN(len(src))
		switch r.IntN(3) {
		case 0: // a prefix
			src = src[:from]
		case 1: // a suffix
			src = src[from:]
		default: // without a part
			src = slices.Delete(src, min(from, to), max(from, to))
		}
		ctx, offset := context.Background(), r.IntN(len(src)+1)
		a := starlib.Analyse(ctx, starlib.Options{FS: os.DirFS("../examples"), Entry: filepath.Base(file)}, src)
		c := a.Complete(ctx, offset)
		if c.From < 0 || c.To > len(src) || c.From > offset || c.To < offset {
			t.Errorf("%s: at %d of %d bytes it replaces %d to %d", file, offset, len(src), c.From, c.To)
		}
		a.Signatures(ctx, offset)
		if s, ok := a.Symbol(ctx, offset); ok && (s.From > offset || s.To < offset) {
			t.Errorf("%s: the symbol at %d lies from %d to %d", file, offset, s.From, s.To)
		}
		for _, b := range a.Blanked {
			if b.From < 0 || b.From >= b.To || b.To > len(src) {
				t.Errorf("%s: %v of %d bytes was left out", file, b, len(src))
			}
		}
	}
}

// Completion at a prompt reads the directory that a path names and the beginnings of scripts in it. It follows no link,
// loads no file, and executes nothing.
func TestCompleteStaysInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{dir + "/in.star": "# Inside.\nfail(\"it ran\")\n", outside + "/secret.star": "# Outside.\ntold = 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"away": outside, "secret.star": outside + "/secret.star"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	w := starlib.NewWorkspace(starlib.Options{FS: os.DirFS(dir), Entry: "main.star"})
	if found := w.Add(context.Background(), "a", []byte("xs = [1]\n")); found.HasErrors() {
		t.Fatal(found)
	}
	for line, want := range map[string]string{
		"load(\"|":                                        "in.star|Inside. secret.star|a link",
		"x = file(\"away/|":                               "",
		"x = file(\"../|":                                 "",
		"x = file(\"/|":                                   "",
		"load(\"secret.star\", \"|":                       "",
		"load(\"away/secret.star\", \"|":                  "",
		"load(\"in.star\", \"|":                           "",
		"xs.append(2)\nfail(\"it ran\")\nxs.ap|":          "append|-> value",
		"def f(a = fail(\"it ran\")):\n    return xs.ap|": "append|-> value",
	} {
		text, offset := at(t, line)
		got := w.Complete(context.Background(), text, offset)
		var lines []string
		for _, c := range got.Items {
			lines = append(lines, c.Name+"|"+c.Doc)
		}
		if strings.Join(lines, " ") != want {
			t.Errorf("%s offers %q", line, lines)
		}
	}
	if v, _ := w.Module().Value("xs"); len(generable.JSON(v, nil)) != len("[1]") {
		t.Error("completion executed a statement")
	}
}

// BenchmarkComplete completes at a prompt after 200 entries of 1,000 lines, and in an entry of 1,000 lines. One answer
// must take less than 30 ms.
func BenchmarkComplete(b *testing.B) {
	var long strings.Builder
	w := starlib.NewWorkspace(starlib.Options{FS: fstest.MapFS{"a.star": {}}, Entry: "main.star"})
	for i := range 200 {
		entry := fmt.Sprintf("Draft%d = schema(\"a draft\", title = str, score = int)\nwriter%d = agent(\n    output = Draft%d,\n    prompt = \"Write.\",\n)\n", i, i, i)
		if i%4 == 0 {
			entry = fmt.Sprintf("def helper%d(topic, times = 3):\n    parts = [topic for _ in range(times)]\n    if not parts:\n        return \"\"\n    return \", \".join(parts)\n", i)
		}
		if found := w.Add(context.Background(), fmt.Sprint("entry ", i), []byte(entry)); found.HasErrors() {
			b.Fatal(found)
		}
		long.WriteString(strings.NewReplacer("Draft", "Own", "writer", "own", "helper", "do").Replace(entry))
	}
	for name, text := range map[string]string{
		"all":    "",
		"name":   "x = wri",
		"field":  "writer7(\"a\").",
		"string": "x = writer9 >> pick(\"",
		"broken": "def f(topic):\n    x = (1 +\n    draft = writer2(topic)\n    y =\n    return draft.",
		"long":   long.String() + "def last(topic):\n    x = (1 +\n    draft = own2(topic)\n    return draft.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if len(w.Complete(context.Background(), text, len(text)).Items) == 0 {
					b.Fatal("nothing is offered")
				}
			}
		})
	}
}
