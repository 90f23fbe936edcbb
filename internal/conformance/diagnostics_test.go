package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// Promise 4.1 (diagnostics): one pass reports every error that builtins and operators find, in the
// order of positions.
func TestPromise_4_1_SeveralPerPass(t *testing.T) {
	const src = `load("lib/parts.star", "part")
Draft = schema("A draft", code = srt, score = field(int, ge = 9, le = 1))
coder = agent(output = Draft, prompt = "Code.", temprature = 1)
Good = schema("Good", code = str)
judge = agent(input = Good, output = bool, prompt = "Judge.", temperature = 3)
def s():
    return agent(run = lambda s: s)
def n():
    return agent(input = int, output = str, run = lambda n: "")
a = part >> n()
b = s() / n()
c = agent(output = bool, prompt = "C.").branch({True: s()})
d = s() >> n()
again = s()
e = again >> again
f = fmt(1.5, ".1z")
g = again("x")
h = s().loop(lambda: None, max = 0)
def main(x):
    return sho(x)
`
	found, shown := checked(src, "lib/parts.star", "part = agent(promt = \"P.\")\n")
	// An undefined name ends the pass over its file, with all such names reported at once.
	if got := codes(found); got != "AS201 AS201" {
		t.Errorf("found %q\n%s", got, shown)
	}
	found, shown = checked(strings.NewReplacer("srt", "str", "sho(x)", "x").Replace(src), "lib/parts.star", "part = agent(promt = \"P.\")\n")
	if got, want := codes(found), "AS502 AS202 AS204 AS301 AS302 AS305 AS301 AS301 AS401 AS108 AS210 AS216 AS307 AS202"; got != want {
		t.Errorf("found %q, want %q\n%s", got, want, shown)
	}
	for i := 1; i < len(found); i++ {
		a, b := found[i-1].Span.Pos, found[i].Span.Pos
		if a.File == b.File && (a.Line > b.Line || a.Line == b.Line && a.Col > b.Col) {
			t.Errorf("%s comes before %s", a, b)
		}
	}
	if !strings.HasSuffix(shown, fmt.Sprintf("\n%d errors\n", len(found))) {
		t.Errorf("the errors are not counted:\n%s", shown)
	}
	// A raised error ends the pass over its file, and keeps earlier findings.
	found, shown = checked("a = agent(promt = \"P.\")\nb = agent(prompt = \"P.\", input = \"str\")\nfail(\"enough\")\nc = agent(promt = \"P.\")\n")
	if got := codes(found); got != "AS202 AS204 AS213" {
		t.Errorf("found %q\n%s", got, shown)
	}
}

// failing are scripts that compose soundly and fail in a run, by code.
var failing = map[diag.Code]bool{diag.NoMain: true, diag.NoModel: true, diag.UnknownProvider: true, diag.StepLimit: true, diag.NotChosen: true}

// Promise 4.2 (diagnostics): every diagnostic has a stable code, a position and a remedy, and every code can be
// explained; of a code's examples, the wrong one is refused with that code and the right one is accepted.
func TestPromise_4_2_Codes(t *testing.T) {
	beside := []string{"lib/reviewers.star", "def reviewer():\n    return agent(prompt = \"Review.\")\n", "docs/style.md", "Be brief.\n"}
	strict := agentscript.New(agentscript.WithStrict(), agentscript.WithModels(llm.New()), agentscript.WithUngranted())
	for _, e := range diag.Entries() {
		if e.Wrong == "" {
			continue
		}
		t.Run(string(e.Code), func(t *testing.T) {
			if found, shown := checkedBy(strict, e.Right, beside...); len(found) > 0 {
				t.Errorf("what should be accepted is refused:\n%s\n%s", e.Right, shown)
			}
			found, shown := checkedBy(strict, e.Wrong, beside...)
			for _, d := range found {
				if d.Code != e.Code {
					t.Errorf("what should be %s is\n%s", e.Code, shown)
				}
			}
			if (len(found) == 0) != failing[e.Code] {
				t.Errorf("check finds\n%s\n%s", e.Wrong, shown)
			}
			if !failing[e.Code] {
				return
			}
			limits := agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(100_000)})
			_, err := loaded(t, strict, e.Wrong, beside...).Start(t.Context(), agentscript.InputText("x"), agentscript.Args(map[string]any{}), limits).Wait()
			if got, ok := err.(*engine.Error); !ok || got.Code != e.Code || got.Help == "" {
				t.Errorf("running it gives %v", err)
			}
		})
	}

	// Every script of these tests that is rejected is rejected with a position and a remedy.
	for _, src := range refused(t) {
		found, shown := checked(src, beside...)
		for _, d := range found {
			if _, ok := diag.Lookup(string(d.Code)); !ok {
				t.Errorf("%s is not explained:\n%s", d.Code, shown)
			}
			if !d.Span.IsValid() || d.Span.File != "flow.star" {
				t.Errorf("%s has no place:\n%s", d.Code, shown)
			}
			if len(d.Help) == 0 && len(d.Fixes) == 0 && !strings.Contains(d.Message+d.Label, "want") && !strings.Contains(d.Label, "expected") && d.Code != diag.ScriptError {
				t.Errorf("%s has no remedy:\n%s", d.Code, shown)
			}
		}
	}
}

// refused returns the scripts of the explained errors and of the tables of golden diagnostics.
func refused(t *testing.T) []string {
	var out []string
	for _, e := range diag.Entries() {
		out = append(out, e.Wrong)
	}
	for _, m := range mistakes {
		out = append(out, m.src)
	}
	for _, h := range habits {
		out = append(out, h.src)
	}
	if len(out) < 60 {
		t.Fatalf("only %d scripts", len(out))
	}
	return out
}

// Promise 4.3 (diagnostics): the caret is under the operator or argument at fault, and a note gives the other position
// if there are two.
func TestPromise_4_3_Carets(t *testing.T) {
	const parts = `n = agent(input = int, output = int, run = lambda n: n)
s = agent(run = lambda s: s)
T = schema("T", a = int)
ask = agent(output = bool, prompt = "Ask.")
used = fn(lambda s: s, input = str, output = str)
before = used.loop(lambda s: None)
`
	for _, c := range []struct{ line, at, note string }{
		{"x = (s >>§ n)", ">>", "s is defined at flow.star:2:5"},
		{"x = s >> s2 >>§ n", ">>", "n is defined at flow.star:1:5"},
		{"x = then(s, §n)", "n", "s is defined"},
		{"x = s / §n2", "n2", "s is defined at flow.star:2:5"},
		{"x = s / s2 / §n2", "n2", "n2 is defined"},
		{"x = s §/ t", "/", "t is defined"},
		{"x = par(s, §t)", "t", "t is defined"},
		{"x = s * s2 * §n * s3", "n", "n is defined at flow.star:1:5"},
		{"x = forum(s, §n, s2)", "n", "s is defined"},
		{"x = s >> §used", "used", "used was placed in loop before at flow.star:6:10"},
		{"x = s >> §s", "s", "s was placed in this pipeline at flow.star:10:5"},
		{"x = par(s, s2, §used)", "used", "used is defined at flow.star:5:8"},
		{"x = §ask.branch({True: s4})", "ask.branch", "ask is defined at flow.star:4:7"},
		{"x = ask.branch({True: s4, §\"no\": s5})", `"no"`, ""},
		{"x = ask.branch({True: s4, False: §s})", "s", "s is defined"},
		{"x = ask.branch({True: s4, False: §\"text\"})", `"text"`, ""},
		{"x = ask.branch({True: s4, False: §t4})", "t4", "t4 is defined"},
		{"x = s.loop(§n)", "n", "n is defined"},
		{"x = s.loop(lambda s: None, max = §0)", "0", ""},
		{"x = s.loop(§lambda: None)", "lambda: None", ""},
		{"x = agent(§promt = \"P.\")", "promt", ""},
		{"x = agent(prompt = §3)", "3", ""},
		{"x = agent(\n    prompt = \"P.\",\n    temperature = §9,\n)", "9", ""},
		{"x = §skill(\"s\")", "skill", ""},
		{"x = T(a = §\"1\")", `"1"`, ""},
		{"x = T(§b = 1, a = 1)", "b", ""},
		{"x = schema(\"X\", a = §\"str\")", `"str"`, ""},
		{"x = §agnet(prompt = \"P.\")", "agnet", ""},
		{"x = s.§lop(lambda s: None)", "lop", ""},
		{"x = s §| s2", "|", ""},
		{"x = fmt(1.5, §\".1z\")", `".1z"`, ""},
		{"load(§\"no.star\", \"y\")", `"no.star"`, ""},
		{"x = file(§\"../up.txt\")", `"../up.txt"`, ""},
		{"x = \"é\" + file(§\"../up.txt\")", `"../up.txt"`, ""},
	} {
		more := "s2, s3 = [agent(name = \"s2\", run = lambda s: s) for _ in range(2)]\nn2 = agent(input = int, output = str, run = lambda n: \"\")\nt, t4 = agent(name = \"t\", output = T, run = lambda s: T(a = 1)), agent(name = \"t4\", input = bool, output = T, run = lambda s: T(a = 1)); s4, s5 = [fn(lambda b: \"\", input = bool, output = str) for _ in range(2)]\n"
		src := parts + more + c.line + "\n"
		// The mark is before what the caret is under, or right after an operator.
		before, after, _ := strings.Cut(src, "§")
		if !strings.HasPrefix(after, c.at) {
			before = strings.TrimSuffix(before, c.at)
		}
		line, col := strings.Count(before, "\n")+1, len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))+1
		found, shown := checked(strings.Replace(src, "§", "", 1))
		if len(found) != 1 {
			t.Errorf("%s: %d findings, want one:\n%s", c.line, len(found), shown)
			continue
		}
		d := found[0]
		if d.Span.Line != line || d.Span.Col != col || max(d.Span.Len, 1) != len([]rune(c.at)) {
			t.Errorf("%s: want the caret under %s at %d:%d, got\n%s", c.line, c.at, line, col, shown)
		}
		if c.note != "" && !strings.Contains(shown, c.note) {
			t.Errorf("%s: this does not say %q:\n%s", c.line, c.note, shown)
		}
	}
}

// Promise 4.4 (diagnostics): an error about an unknown name, argument, field, variant, model or provider suggests the
// nearest known one.
func TestPromise_4_4_DidYouMean(t *testing.T) {
	const parts = "Point = schema(\"A point\", width = int, height = int)\nLevel = enum(\"low\", \"middle\", \"high\")\nreviewer = agent(output = Level, prompt = \"R.\")\n"
	for _, c := range []struct{ src, code, near string }{
		{"x = agnet(prompt = \"P.\")", "AS201", `"agent"`}, {"x = reveiwer >> fn(str)", "AS201", `"reviewer"`}, {"x = Piont(width = 1, height = 2)", "AS201", `"Point"`},
		{"x = agent(promt = \"P.\")", "AS202", `"prompt"`}, {"x = par(reviewer, limt = 2)", "AS202", `"limit"`}, {"x = schema(\"X\", _nmae = \"X\")", "AS202", `"_name"`},
		{"x = Point(widht = 1, height = 2)", "AS503", `"width"`}, {"x = Point(width = 1, height = 2).heigth", "AS209", `"height"`}, {"x = Level.hihg", "AS209", `"high"`}, {"x = Level[\"lwo\"]", "AS204", `"low"`},
		{"x = reviewer.brnch({})", "AS209", `"branch"`}, {"x = json.encod(1)", "AS209", `"encode"`}, {"x = \"a\".uper()", "AS209", `"upper"`},
		{"x = reviewer.branch({\"low\": fn(str), \"midle\": fn(str), \"high\": fn(str)})", "AS306", `"middle"`},
		{"x = fn(lambda s: Point(width = 1, height = 2), output = Point) >> pick(\"widht\")", "AS311", `"width"`},
		{"x = agent(input = Point, prompt = template(\"{{widht}}\"))", "AS314", `"width"`},
		{"x = schema(\"A tree\", kids = list[ref(\"Ponit\")])", "AS506", `"Point"`},
		{"x = reviewer.loop(lambda s: None, on_limit = \"lst\")", "AS204", `"last"`}, {"x = agent(prompt = \"P.\", structured = \"guded\")", "AS204", `"guided"`},
		{"x = field(str, format = \"emial\")", "AS204", `"email"`}, {"x = file(\"styel.md\")", "AS602", `"style.md"`},
		{"load(\"prats.star\", \"y\")", "AS211", `"parts.star"`}, {"load(\"parts.star\", \"maek\")", "AS211", `"make"`},
	} {
		found, shown := checked(parts+c.src+"\n", "style.md", "x", "parts.star", "make = 1\n")
		if codes(found) != c.code || !strings.Contains(shown, "did you mean "+c.near+"?") {
			t.Errorf("%s is %q, want %s with %s:\n%s", c.src, codes(found), c.code, c.near, shown)
		}
	}
	eng := agentscript.New(agentscript.WithModels(llm.New(llm.WithModel("acme/parrot", nil, llm.Caps{}))))
	for _, c := range []struct{ model, near string }{{"olama/qwen", "ollama/qwen"}, {"opneai/gpt", "openai/gpt"}, {"acme/parot", "acme/parrot"}} {
		mod, err := eng.Load(t.Context(), script("main = agent(model = \""+c.model+"\", prompt = \"P.\")\n"), "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		_, err = mod.Start(context.Background(), input("x")).Wait()
		if e, ok := err.(*engine.Error); !ok || !strings.Contains(e.Error()+e.Help, "did you mean") || !strings.Contains(e.Error()+e.Help, c.near) {
			t.Errorf("%s is answered by %v (%s)", c.model, err, e.Help)
		}
	}
}

// Promise 4.9 (diagnostics): `check --format json` prints the same diagnostics as the human-readable form, in a
// documented format.
func TestPromise_4_9_JSON(t *testing.T) {
	const src = "a = agent(promt = \"P.\")\nb = agent(prompt = \"P.\")\nmain = b >> agent(input = int, prompt = \"Q.\")\n"
	file := filepath.Join(t.TempDir(), "flow.star")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(src)
	got := offline(t, "check", "--format", "json", file)
	if got.code != 3 || got.stderr != "" {
		t.Errorf("check exits with %d, want 3: %s", got.code, got.stderr)
	}
	type place struct {
		File      string
		Line, Col int
	}
	var doc struct {
		Diagnostics []struct {
			place
			Code, Severity, Message, Label string
			Len                            int
			Help                           []string
			Notes                          []struct {
				place
				Message string
			}
			Fixes []struct {
				place
				Message, Replacement string
				Len                  int
			}
		}
		Errors, Warnings int
	}
	d := json.NewDecoder(strings.NewReader(got.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v\n%s", err, got.stdout)
	}
	found, shown := agentscript.New().CheckFile(t.Context(), file)
	if len(doc.Diagnostics) != len(found) || len(found) != 2 || doc.Errors != 2 || doc.Warnings != 0 {
		t.Fatalf("json has %d diagnostics, the library %d:\n%s", len(doc.Diagnostics), len(found), got.stdout)
	}
	for i, d := range found {
		j := doc.Diagnostics[i]
		if j.Code != string(d.Code) || j.Severity != "error" || j.Message != d.Message || j.Label != d.Label || diag.Pos(j.place) != d.Span.Pos || j.Len != max(d.Span.Len, 1) ||
			strings.Join(j.Help, "\n") != strings.Join(d.Help, "\n") || len(j.Notes) != len(d.Notes) || len(j.Fixes) != len(d.Fixes) {
			t.Errorf("json says %+v, the library %+v", j, d)
		}
		for k, n := range d.Notes {
			if j.Notes[k].Message != n.Message || diag.Pos(j.Notes[k].place) != n.Pos {
				t.Errorf("json notes %+v, the library %+v", j.Notes[k], n)
			}
		}
		for k, f := range d.Fixes {
			if got := j.Fixes[k]; diag.Pos(got.place) != f.Span.Pos || got.Len != f.Span.Len || got.Replacement != f.Replacement {
				t.Errorf("json fixes %+v, the library %+v", got, f)
			}
		}
	}
	var human strings.Builder
	if err := diag.Render(&human, found, shown, diag.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := offline(t, "check", file); got.code != 3 || got.stdout != "" || got.stderr != human.String() {
		t.Errorf("the human form is (%d)\n%s\nwant\n%s", got.code, got.stderr, human.String())
	}
	write("main = agent(prompt = \"P.\")\n")
	if got := offline(t, "check", "--format", "json", file); got.code != 0 || got.stdout != `{"diagnostics":[],"errors":0,"warnings":0}`+"\n" {
		t.Errorf("a sound script exits with %d and says %q %q", got.code, got.stdout, got.stderr)
	}
}
