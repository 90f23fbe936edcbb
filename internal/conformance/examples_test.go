package conformance

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/testrun"
)

// example is a flow of examples/ with an input and what it gives. Flows that need a model are
// answered from the file beside them.
type example struct {
	file string
	in   string   // the argument, or
	path string   // the file that is the input, or
	args []string // the flags of def main
	want string

	grants []string // the flags that grant what it touches
}

// examples are all flows of examples/.
var examples = []example{
	{file: "shapes.star", in: "circle", want: "circle r=6.0"},
	{file: "shapes.star", in: "rect", want: "rect 2.0x3.0"},
	{file: "shapes.star", in: "triangle", want: "tri b=4.0"},
	{file: "area.star", in: "circle", want: "area=113.1"},
	{file: "area.star", in: "rect", want: "area=6.0"},
	{file: "review.star", in: "def f(): pass", want: "Deployed with confidence 0.95"},
	{file: "reviewers.star", in: "x = eval(input())", want: `{"verdict":"fix","findings":["eval on user input"]}`},
	{file: "count.star", in: "0", want: "10"},
	{file: "count.star", in: "41", want: "42"},
	{file: "forum.star", in: "Should we cache?", want: "Cache reads for one minute, measure, then decide."},
	{file: "plan.star", args: []string{"title", "cache", "steps", "2"}, want: `{"title":"cache","steps":["count hits for a day","key by query"]}`},
	{file: "orchestrate.star", args: []string{"topics", `["tides","x"]`}, want: `[{"title":"Tides","text":"About tides. Good."},{"title":"X","text":"Short: x"}]`},
	{file: "support.star", in: "Order A1 never came.", want: "We are sorry, and look for your order A1 right away."},
	{file: "amount.star", in: "12.50", want: "1250 cents"},
	{file: "amount.star", in: "a dozen", want: "invalid float literal: a dozen"},
	{file: "build.star", in: "a parser of dates", want: "shipped after 2 repairs: def parse(s): return s.split('-')"},
	{file: "careful.star", args: []string{"city", "Quito"}, want: "shown: Mild in Quito: 15 degrees"},
	{file: "greet.star", in: "EN", want: "Hello!"},
	{file: "poem.star", in: "a function that returns 1", want: "One, and it comes back."},
	{file: "critic.star", in: "Our tea is good.", want: "Our tea is grown in the shade."},
	{file: "debate.star", in: "Rewrite it?", want: "Rewrite it? Against gave in."},
	{file: "digest.star", in: "GET /a 200, GET /b 500, nonsense, GET /c 503", want: "failed: /b, /c; not read: line 3"},
	{file: "grade.star", in: "draft 95", want: "mend: still a draft"},
	{file: "grade.star", in: "done 80", want: "ship"},
	{file: "grade.star", in: "draft 79", want: "mend: 79 of 100"},
	{file: "grade.star", in: "done 49", want: "begin again"},
	{file: "haiku.star", in: "rain", want: "Rain on the tin roof\nnobody counts the drops but\nthe cat, and she sleeps"},
	{file: "orders.star", in: `{"id": "TEST-1", "country": "JP", "total": 2300}`, want: "left out: TEST-1"},
	{file: "orders.star", in: `{"id": "A-17", "country": "JP", "total": 2300}`, want: "to customs: A-17"},
	{file: "orders.star", in: `{"id": "A-18", "country": "JP", "total": 50}`, want: "as a letter: A-18"},
	{file: "orders.star", in: `{"id": "A-19", "country": "NL", "total": 2300}`, want: "as a parcel: A-19"},
	{file: "patient.star", args: []string{"parcel", "A1", "pause", "0.01"}, want: "A1 lies at counter 3."},
	{file: "poll.star", in: "Is 91 prime?", want: "no"},
	{file: "quick.star", in: "Quito", want: "It is in Ecuador."},
	{file: "slogan.star", in: "a bakery", want: "We knead you."},
	{file: "spam.star", in: "You won! Click http://x.example", want: "spam"},
	{file: "spam.star", in: "You won http://x.example!!", want: "spam"},
	{file: "spam.star", in: "See http://example.com, tomorrow", want: "fine"},
	{file: "ticket.star", in: "I was charged twice.", want: "We have returned the second charge."},
	{file: "tutor.star", in: "Why is the sky blue?", want: "Air scatters blue light more than red."},
	{file: "recovery.star", in: "When does the train to Ulm leave on 2 May?", want: "From Ulm at 08:12 and 10:12."},
	{file: "delegate.star", in: "How far is the moon in days of walking?", want: "About 12800 days."},
	{file: "budgeted.star", in: `["tea", "cocoa", "mate"]`, want: "Tea is a leaf, cocoa a bean, mate a holly."},
	{file: "triage.star", in: `["When is my money back?", "Where is A1?", "Will it rain?"]`, want: `["Your money is back within 14 days.","Your order is at the customs in Lyon.","Please ask the weather service."]`},
	{file: "approval.star", in: "Order A1 came broken.", want: "You have 40 euros back, Ann."},
	{file: "tools.star", in: "What is 17 * 3?", want: "51"},
	{file: "react.star", in: "From Ulm to Verona", want: "Ulm 10:12 and Munich 13:34, arrives 18:58"},
	{file: "answer.star", in: "Sure: {severity: High, 'text': 'eval on input'", want: "[high] eval on input (repaired: prose, unquoted, quotes, truncated, enum-fold)"},
	{file: "answer.star", in: "{severity: medium, text: eval}", want: "Please answer again:\n- severity: want one of low, high, got \"medium\" at line 1, column 12"},
	{file: "live.star", in: "{'goal': 'tea', 'steps': [{'title': 'boil'}, {'title': 'pour'}, {'title': 'wait'}]}", want: "tea: boil and pour come first"},
	{file: "live.star", in: `{"goal": "tea", "steps": [{"title": "boil"}, {"title": "po`, want: "1 steps, and the rest is missing"},
	{file: "workspace.star", args: []string{"dir", "examples/notes"}, want: "11 tea.md, 6 bread.md", grants: exampleGrants},
	{file: "notes.star", args: []string{"questions", `["Where is the key?","Who took it?"]`}, want: `{"answers":["It was on the hook at nine.","The gardener, who came an hour after it was last seen."],"notes":"The key was on the hook at nine.\nThe gardener came at ten."}`},
	{file: "chat.star", in: "I am Ada.", want: "Hello Ada!"},
	{file: "source_review.star", path: "engine/position.go", want: "Small and clear (1 findings)\n40 [low] Say what the index means when it is -1."},
}

// exampleGrants are the flags that grant what examples touch.
var exampleGrants = []string{"--allow-fs", "examples/notes", "--allow-exec", "sort"}

func (e *example) name() string {
	return strings.TrimSuffix(e.file, ".star") + "/" + strings.Join(append([]string{e.in + e.path}, e.args...), " ")
}

// options are the example's input for a run in this process.
func (e *example) options(t *testing.T) []agentscript.RunOption {
	t.Helper()
	switch {
	case e.path != "":
		text, err := os.ReadFile(repository(e.path))
		if err != nil {
			t.Fatal(err)
		}
		return []agentscript.RunOption{agentscript.InputText(string(text))}
	case e.args != nil:
		args := map[string]any{}
		for i := 0; i < len(e.args); i += 2 {
			args[e.args[i]] = e.args[i+1]
			if json.Valid([]byte(e.args[i+1])) {
				args[e.args[i]] = json.RawMessage(e.args[i+1])
			}
		}
		return []agentscript.RunOption{agentscript.Args(args)}
	}
	return []agentscript.RunOption{agentscript.InputText(e.in)}
}

// line is the example's command line.
func (e *example) line() []string {
	line := append(append([]string{"run"}, e.grants...), "examples/"+e.file)
	switch {
	case e.path != "":
		line = append(line, "--input-file", e.path)
	case e.args != nil:
		for i := 0; i < len(e.args); i += 2 {
			line = append(line, "--"+e.args[i], e.args[i+1])
		}
	default:
		line = append(line, e.in)
	}
	answers := strings.TrimSuffix(e.file, ".star") + ".jsonl"
	if _, err := os.Stat(repository("examples/" + answers)); err == nil {
		line = append(line, "--scripted", "examples/"+answers)
	}
	return line
}

// exampleRuns runs the examples of the given files by the built command and compares what they
// print.
func exampleRuns(t *testing.T, files ...string) {
	t.Helper()
	seen := map[string]bool{}
	for i := range examples {
		ex := &examples[i]
		if !slices.Contains(files, ex.file) {
			continue
		}
		seen[ex.file] = true
		out := offline(t, ex.line()...)
		if out.code != 0 || out.stdout != ex.want+"\n" {
			t.Errorf("%s: exit code %d, got %q, want %q\n%s", strings.Join(ex.line(), " "), out.code, out.stdout, ex.want, out.stderr)
		}
	}
	for _, f := range files {
		if !seen[f] {
			t.Errorf("examples has no run of %s", f)
		}
	}
}

// drawn gives an example's graph as Mermaid.
func drawn(t *testing.T, file string, args ...string) string {
	t.Helper()
	out := offline(t, append([]string{"graph", "examples/" + file}, args...)...)
	if out.code != 0 {
		t.Fatalf("graph %s: exit code %d\n%s", file, out.code, out.stderr)
	}
	return out.stdout
}

// Promise 10.1 (examples): the shapes flow routes by type, through a handler that is a pipeline:
// `circle r=6.0`, `rect 2.0x3.0`, `area=113.1`.
func TestPromise_10_1_Shapes(t *testing.T) {
	exampleRuns(t, "shapes.star", "area.star")
	graph := drawn(t, "shapes.star")
	for _, edge := range []string{`-->|"Circle"|`, `-->|"Rectangle"|`, `-->|"Triangle"|`, "half", "label"} {
		if !strings.Contains(graph, edge) {
			t.Errorf("the graph of shapes.star lacks %s:\n%s", edge, graph)
		}
	}
}

// Promise 10.2 (examples): the review flow decides and ships: `Deployed with confidence 0.95`.
func TestPromise_10_2_Review(t *testing.T) {
	exampleRuns(t, "review.star")
	mod := loadedFile(t, agentscript.New(), "examples/review.star")
	for answer, want := range map[string]string{
		`{"type": "Approved", "confidence": 0.5}`:                   "Deployed with confidence 0.5",
		`{"type": "Rejected", "reason": "no tests"}`:                "Rejected: no tests",
		"No.\n{'type': 'Rejected', 'reason': 'eval', 'hints': [],}": "Rejected: eval",
	} {
		models := scripted.Answers(map[string][]string{"reviewer": {answer}})
		res, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(models)).Wait()
		if err != nil || res.Text() != want {
			t.Errorf("on %s: %s, %v, want %s", answer, res.Text(), err, want)
		}
	}
}

// Promise 10.3 (examples): several reviewers run at once and an aggregator joins their findings.
func TestPromise_10_3_Reviewers(t *testing.T) {
	exampleRuns(t, "reviewers.star")
	mod := loadedFile(t, agentscript.New(), "examples/reviewers.star")
	together := newMeeting(t, 3) // none of the reviewers answers before all were asked
	res, err := mod.Start(t.Context(), input("x = eval(input())"), agentscript.HandlerForAll(answering(func(ctx context.Context, agent string, r *model.Request) engine.Outcome {
		if agent != "weigh" {
			if !together.arrive(ctx) {
				return engine.Failed(engine.Errorf(engine.KindTimeout, "AS711", "%s was asked alone", agent))
			}
			return said("by " + agent)
		}
		var reviews []string
		if err := json.Unmarshal([]byte(r.Messages[0].Parts[0].Text), &reviews); err != nil {
			return engine.Failed(engine.Errorf(engine.KindInput, "AS716", "%w", err))
		}
		return said(`{"verdict": "ship", "findings": ["` + strings.Join(reviews, `", "`) + `"]}`)
	}))).Wait()
	if want := `{"verdict":"ship","findings":["by security","by speed","by style"]}`; err != nil || res.JSON() != want {
		t.Errorf("%s, %v, want %s", res.JSON(), err, want)
	}
}

// Promise 10.4 (examples): a loop counts until 10.
func TestPromise_10_4_Loop(t *testing.T) {
	exampleRuns(t, "count.star")
	mod := loadedFile(t, agentscript.New(), "examples/count.star")
	for in, want := range map[int]string{-5: "10", 0: "10", 8: "10", 9: "10", 10: "11", 99: "100"} {
		turns := 0
		res, err := mod.Start(t.Context(), input(in), agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
			if e.Phase() == engine.PhaseStart && e.Name() == "increment" {
				turns++
			}
		})).Wait()
		if err != nil || res.Text() != want || turns != max(10-in, 1) {
			t.Errorf("from %d: %s after %d turns, %v, want %s", in, res.Text(), turns, err, want)
		}
	}
}

// Promise 10.5 (examples): a forum discusses and its captain decides.
func TestPromise_10_5_Forum(t *testing.T) {
	exampleRuns(t, "forum.star")
	mod := loadedFile(t, agentscript.New(), "examples/forum.star")
	models := scripted.Answers(map[string][]string{"optimist": {"yes!"}, "sceptic": {"no!"}, "captain": {"perhaps"}})
	res, err := mod.Start(t.Context(), input("Should we?"), agentscript.HandlerForAll(models)).Wait()
	if err != nil || res.Text() != "perhaps" {
		t.Fatalf("%s, %v", res.Text(), err)
	}
	for _, call := range models.Requests() {
		asked := call.Request.Messages[0].Parts[0].Text
		heard := strings.Contains(asked, "yes!") && strings.Contains(asked, "no!")
		if !strings.Contains(asked, "Should we?") || heard != (call.Agent == "captain") {
			t.Errorf("%s is asked %q", call.Agent, asked)
		}
	}
}

// Promise 10.6 (examples): factories make the agents that are needed more than once.
func TestPromise_10_6_Factories(t *testing.T) {
	mod := loadedFile(t, agentscript.New(), "examples/reviewers.star")
	made := map[string]bool{} // three agents of one place in the source
	for _, n := range mod.Nodes() {
		if n.Agent() != nil && strings.HasSuffix(n.Pos().File, "lib/reviewer.star") {
			made[n.Name()] = true
		}
	}
	if len(made) != 3 || !made["security"] || !made["speed"] || !made["style"] {
		t.Errorf("the factory made %v", made)
	}
	// The same agent at two places is refused, and the remedy is such a factory.
	found, shown := checked("a = agent(prompt = \"A.\")\nmain = a >> a\n")
	if codes(found) != "AS401" || !strings.Contains(shown, "make it in a factory, def new_a()") {
		t.Errorf("check says\n%s", shown)
	}
}

// Promise 10.7 (examples): a real source file given with `--input-file` is reviewed.
func TestPromise_10_7_SourceFile(t *testing.T) {
	exampleRuns(t, "source_review.star")
	mod := loadedFile(t, agentscript.New(), "examples/source_review.star")
	for _, path := range []string{"engine/position.go", "module.go", "examples/review.star"} {
		text, err := os.ReadFile(repository(path))
		if err != nil {
			t.Fatal(err)
		}
		models := scripted.Answers(map[string][]string{"reviewer": {`{"summary": "fine"}`}})
		res, err := mod.Start(t.Context(), agentscript.InputText(string(text)), agentscript.HandlerForAll(models)).Wait()
		if err != nil || res.Text() != "fine (0 findings)" {
			t.Errorf("%s: %s, %v", path, res.Text(), err)
		}
		if asked := models.Requests()[0].Request.Messages[0].Parts[0].Text; asked != string(text) {
			t.Errorf("%s: the model is asked about %d bytes of %d", path, len(asked), len(text))
		}
	}
}

// exampleOfServer needs a server that others wrote: it is checked here, and run with that by make e2e.
const exampleOfServer = "examples/mcp_files.star"

// Promise 10.8 (examples): every example checks without a finding, is formatted, and runs offline but the one
// that needs a server.
func TestPromise_10_8_AllOffline(t *testing.T) {
	var files []string
	for _, pattern := range []string{"examples/*.star", "examples/*/*.star"} {
		found, err := filepath.Glob(repository(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, filepath.ToSlash(strings.TrimPrefix(f, repository("")+string(filepath.Separator))))
		}
	}
	if len(files) < len(examples)/2 {
		t.Fatalf("only %v found", files)
	}
	alone := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f == exampleOfServer || testrun.IsTest(f) })
	// The server's command need not be on this machine, which a grant would want.
	for _, line := range [][]string{slices.Concat([]string{"check", "--strict"}, exampleGrants, alone), slices.Concat([]string{"check", "--strict"}, files)} {
		if out := offline(t, line...); out.code != 0 || strings.Contains(out.stderr, "AS") {
			t.Errorf("check --strict: exit code %d\n%s", out.code, out.stderr)
		}
	}
	stops(t, offline(t, "check", exampleOfServer), 0, "--allow-exec npx")
	if out := offline(t, append([]string{"fmt", "--check"}, files...)...); out.code != 0 {
		t.Errorf("fmt --check: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	shown := regexp.MustCompile(`(?m)^    agentscript (run .+?)(?:\s+# (.+))?$`)
	for _, f := range alone { // those that need no server, and no tests
		if strings.HasPrefix(f, "examples/lib/") || strings.HasPrefix(f, "examples/flowjson/") { // which are run beside their JSON
			continue
		}
		runs := slices.ContainsFunc(examples, func(e example) bool { return "examples/"+e.file == f })
		if !runs {
			t.Errorf("%s is run by no test", f)
		}
		// The command lines that a file shows in its doc work as they stand.
		text, err := os.ReadFile(repository(f))
		if err != nil {
			t.Fatal(err)
		}
		lines := shown.FindAllStringSubmatch(string(text), -1)
		if len(lines) == 0 {
			t.Errorf("%s does not say how it is run", f)
		}
		for _, m := range lines {
			out := offline(t, words(m[1])...)
			if out.code != 0 || m[2] != "" && out.stdout != m[2]+"\n" {
				t.Errorf("%s shows %q: exit code %d, got %q, want %q\n%s", f, m[1], out.code, out.stdout, m[2], out.stderr)
			}
		}
	}
}

// words splits a command line at blanks outside of quotes.
func words(line string) []string {
	var out []string
	word, quote := "", rune(0)
	begun := false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, begun = r, true
		case quote == 0 && r == ' ':
			if begun {
				out = append(out, word)
			}
			word, begun = "", false
		default:
			word, begun = word+string(r), true
		}
	}
	return out
}
