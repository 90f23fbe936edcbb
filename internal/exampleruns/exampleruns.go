// Package exampleruns lists runs of the flows of examples/ with their results, for tests.
package exampleruns

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
)

// Run is a flow of examples/ with an input and its result. Flows that need a model get their answers from the file next
// to them.
type Run struct {
	File string
	In   string   // the argument, or
	Path string   // the input file, or
	Args []string // the flags of def main
	Want string

	Grants []string // the flags that grant what it uses
}

// All lists all flows of examples/.
var All = []Run{
	{File: "shapes.star", In: "circle", Want: "circle r=6.0"},
	{File: "shapes.star", In: "rect", Want: "rect 2.0x3.0"},
	{File: "shapes.star", In: "triangle", Want: "tri b=4.0"},
	{File: "area.star", In: "circle", Want: "area=113.1"},
	{File: "area.star", In: "rect", Want: "area=6.0"},
	{File: "review.star", In: "def f(): pass", Want: "Deployed with confidence 0.95"},
	{File: "reviewers.star", In: "x = eval(input())", Want: `{"verdict":"fix","findings":["eval on user input"]}`},
	{File: "count.star", In: "0", Want: "10"},
	{File: "count.star", In: "41", Want: "42"},
	{File: "forum.star", In: "Should we cache?", Want: "Cache reads for one minute, measure, then decide."},
	{File: "plan.star", Args: []string{"title", "cache", "steps", "2"}, Want: `{"title":"cache","steps":["count hits for a day","key by query"]}`},
	{File: "orchestrate.star", Args: []string{"topics", `["tides","x"]`}, Want: `[{"title":"Tides","text":"About tides. Good."},{"title":"X","text":"Short: x"}]`},
	{File: "support.star", In: "Order A1 never came.", Want: "We are sorry, and look for your order A1 right away."},
	{File: "amount.star", In: "12.50", Want: "1250 cents"},
	{File: "amount.star", In: "a dozen", Want: "invalid float literal: a dozen"},
	{File: "build.star", In: "a parser of dates", Want: "shipped after 2 repairs: def parse(s): return s.split('-')"},
	{File: "careful.star", Args: []string{"city", "Quito"}, Want: "shown: Mild in Quito: 15 degrees"},
	{File: "greet.star", In: "EN", Want: "Hello!"},
	{File: "poem.star", In: "a function that returns 1", Want: "One, and it comes back."},
	{File: "critic.star", In: "Our tea is good.", Want: "Our tea is grown in the shade."},
	{File: "debate.star", In: "Rewrite it?", Want: "Rewrite it? Against gave in."},
	{File: "digest.star", In: "GET /a 200, GET /b 500, nonsense, GET /c 503", Want: "failed: /b, /c; not read: line 3"},
	{File: "grade.star", In: "draft 95", Want: "mend: still a draft"},
	{File: "grade.star", In: "done 80", Want: "ship"},
	{File: "grade.star", In: "draft 79", Want: "mend: 79 of 100"},
	{File: "grade.star", In: "done 49", Want: "begin again"},
	{File: "haiku.star", In: "rain", Want: "Rain on the tin roof\nnobody counts the drops but\nthe cat, and she sleeps"},
	{File: "orders.star", In: `{"id": "TEST-1", "country": "JP", "total": 2300}`, Want: "left out: TEST-1"},
	{File: "orders.star", In: `{"id": "A-17", "country": "JP", "total": 2300}`, Want: "to customs: A-17"},
	{File: "orders.star", In: `{"id": "A-18", "country": "JP", "total": 50}`, Want: "as a letter: A-18"},
	{File: "orders.star", In: `{"id": "A-19", "country": "NL", "total": 2300}`, Want: "as a parcel: A-19"},
	{File: "patient.star", Args: []string{"parcel", "A1", "pause", "0.01"}, Want: "A1 lies at counter 3."},
	{File: "poll.star", In: "Is 91 prime?", Want: "no"},
	{File: "quick.star", In: "Quito", Want: "It is in Ecuador."},
	{File: "slogan.star", In: "a bakery", Want: "We knead you."},
	{File: "spam.star", In: "You won! Click http://x.example", Want: "spam"},
	{File: "spam.star", In: "You won http://x.example!!", Want: "spam"},
	{File: "spam.star", In: "See http://example.com, tomorrow", Want: "fine"},
	{File: "ticket.star", In: "I was charged twice.", Want: "We have returned the second charge."},
	{File: "tutor.star", In: "Why is the sky blue?", Want: "Air scatters blue light more than red."},
	{File: "recovery.star", In: "When does the train to Ulm leave on 2 May?", Want: "From Ulm at 08:12 and 10:12."},
	{File: "delegate.star", In: "How far is the moon in days of walking?", Want: "About 12800 days."},
	{File: "budgeted.star", In: `["tea", "cocoa", "mate"]`, Want: "Tea is a leaf, cocoa a bean, mate a holly."},
	{File: "triage.star", In: `["When is my money back?", "Where is A1?", "Will it rain?"]`, Want: `["Your money is back within 14 days.","Your order is at the customs in Lyon.","Please ask the weather service."]`},
	{File: "approval.star", In: "Order A1 came broken.", Want: "You have 40 euros back, Ann."},
	{File: "tools.star", In: "What is 17 * 3?", Want: "51"},
	{File: "react.star", In: "From Ulm to Verona", Want: "Ulm 10:12 and Munich 13:34, arrives 18:58"},
	{File: "answer.star", In: "Sure: {severity: High, 'text': 'eval on input'", Want: "[high] eval on input (repaired: prose, unquoted, quotes, truncated, enum-fold)"},
	{File: "answer.star", In: "{severity: medium, text: eval}", Want: "Please answer again:\n- severity: want one of low, high, got \"medium\" at line 1, column 12"},
	{File: "live.star", In: "{'goal': 'tea', 'steps': [{'title': 'boil'}, {'title': 'pour'}, {'title': 'wait'}]}", Want: "tea: boil and pour come first"},
	{File: "live.star", In: `{"goal": "tea", "steps": [{"title": "boil"}, {"title": "po`, Want: "1 steps, and the rest is missing"},
	{File: "workspace.star", Args: []string{"dir", "examples/notes"}, Want: "11 tea.md, 6 bread.md", Grants: Grants},
	{File: "notes.star", Args: []string{"questions", `["Where is the key?","Who took it?"]`}, Want: `{"answers":["It was on the hook at nine.","The gardener, who came an hour after it was last seen."],"notes":"The key was on the hook at nine.\nThe gardener came at ten."}`},
	{File: "chat.star", In: "I am Ada.", Want: "Hello Ada!"},
	{File: "source_review.star", Path: "engine/position.go", Want: "Small and clear (1 findings)\n40 [low] Say what the index means when it is -1."},
}

// Grants are the flags that grant what examples use.
var Grants = []string{"--allow-fs", "examples/notes", "--allow-exec", "sort"}

func (e *Run) Name() string {
	return strings.TrimSuffix(e.File, ".star") + "/" + strings.Join(append([]string{e.In + e.Path}, e.Args...), " ")
}

// Options returns the example's input for a run in this process.
func (e *Run) Options(t *testing.T, root string) []agentscript.RunOption {
	t.Helper()
	switch {
	case e.Path != "":
		text, err := os.ReadFile(filepath.Join(root, e.Path))
		if err != nil {
			t.Fatal(err)
		}
		return []agentscript.RunOption{agentscript.InputText(string(text))}
	case e.Args != nil:
		args := map[string]any{}
		for i := 0; i < len(e.Args); i += 2 {
			args[e.Args[i]] = e.Args[i+1]
			if json.Valid([]byte(e.Args[i+1])) {
				args[e.Args[i]] = json.RawMessage(e.Args[i+1])
			}
		}
		return []agentscript.RunOption{agentscript.Args(args)}
	}
	return []agentscript.RunOption{agentscript.InputText(e.In)}
}

// Line returns the example's command line.
func (e *Run) Line(root string) []string {
	line := append(append([]string{"run"}, e.Grants...), "examples/"+e.File)
	switch {
	case e.Path != "":
		line = append(line, "--input-file", e.Path)
	case e.Args != nil:
		for i := 0; i < len(e.Args); i += 2 {
			line = append(line, "--"+e.Args[i], e.Args[i+1])
		}
	default:
		line = append(line, e.In)
	}
	answers := strings.TrimSuffix(e.File, ".star") + ".jsonl"
	if _, err := os.Stat(filepath.Join(root, "examples", answers)); err == nil {
		line = append(line, "--scripted", "examples/"+answers)
	}
	return line
}
