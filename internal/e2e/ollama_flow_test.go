//go:build e2e

package e2e

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/generable"
)

// flow loads a script whose agents call a model of the port.
func flow(t *testing.T, models *llm.Registry, model, script string) *agentscript.Module {
	t.Helper()
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel(model))
	mod, err := eng.Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(script)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// tooled is a flow whose agent calls tools of the script and answers with a record.
const tooled = `
"""Looks words up."""

Found = schema("What was found", size = int, at = str)
Missing = schema("Nothing was found", why = str)
Outcome = union("What came of it", Found, Missing)

def lookup(word = str, deep = dict[str, any]):
    """Looks a word up."""
    return {"word": word, "size": len(word), "list": deep["list"]}

def now():
    """The time."""
    return "noon"

helper = agent(input = str, output = Outcome, prompt = "Look it up.", tools = [lookup, now], repairs = 0)
report = fn(lambda f: "%d at %s" % (f.size, f.at), input = Found, output = str)
excuse = fn(lambda m: "no: " + m.why, input = Missing, output = str)

main = helper.branch({Found: report, Missing: excuse})
`

// TestOllamaFlow runs a script whose agent calls tools, answers with a union and is followed by the branch for it.
func TestOllamaFlow(t *testing.T) {
	base := caller(t, `Here it is: {"type": "Found", `, `"size": 5, `, `"at": "noon"}`)
	for _, provider := range endpoints {
		mod := flow(t, local(t, base), provider+"/talker", tooled)
		var called []string
		res, err := mod.Start(t.Context(), agentscript.InputText("größe"), agentscript.OnEvent(engine.EventTool, func(e engine.Event) {
			called = append(called, e.Name())
		})).Wait()
		if err != nil {
			t.Fatalf("%s: %v", provider, err)
		}
		if res.Text() != "5 at noon" {
			t.Errorf("%s: %s", provider, res.Text())
		}
		if all := strings.Join(called, " "); !strings.Contains(all, "lookup") || !strings.Contains(all, "now") {
			t.Errorf("%s: tools %q", provider, all)
		}
	}
}

// wide is a flow of many concurrent agents, each held to a type.
const wide = `
"""Judges and sorts many things at once."""

Kind = enum("refund", "delivery", "other")
Approved = schema("Ready", score = field(int, ge = 0, le = 9))
Rejected = schema("Not ready", reason = field(str, max_len = 20), kinds = field(list[Kind], max_len = 3))
Decision = union("Whether it ships", Approved, Rejected)
Row = schema("What came of a number", number = int, decision = Decision, kind = Kind)

judge = agent(input = int, output = Decision, prompt = "Judge.", repairs = 0, structured = "constrained", max_tokens = 1000)
sorter = agent(input = int, output = Kind, prompt = "Sort.", repairs = 0, structured = "constrained")

def both(n):
    decision, kind = parallel([(judge, n), (sorter, n)])
    return Row(number = n, decision = decision, kind = kind)

main = each(agent(input = int, output = Row, run = both), limit = 20)
`

// TestOllamaParallel runs sixty agents concurrently on one server, twice in one process; each gets a value of its type,
// and nothing is repaired.
func TestOllamaParallel(t *testing.T) {
	base := randomModel(t)
	r := local(t, base)
	for _, provider := range endpoints {
		mod := flow(t, r, provider+"/random", wide)
		numbers := make([]int, 30)
		for i := range numbers {
			numbers[i] = i
		}
		var runs sync.WaitGroup
		for range 2 {
			runs.Go(func() {
				var mended []string
				res, err := mod.Start(t.Context(), agentscript.Input(numbers), agentscript.OnEvent(engine.EventRepair, func(e engine.Event) {
					mended = append(mended, e.Text())
				})).Wait()
				if err != nil {
					t.Errorf("%s: %v", provider, err)
					return
				}
				if rows, ok := generable.Plain(res.Value, res.Type).AsList(); !ok || rows.Len() != len(numbers) {
					t.Errorf("%s: %s", provider, res.JSON())
				}
				if len(mended) > 0 && provider == "ollama" {
					t.Errorf("%s: %d repairs: %s", provider, len(mended), mended[0])
				}
			})
		}
		runs.Wait()
	}
	for _, l := range r.Limiter().Load() {
		if l.InFlight != 0 || l.Waiting != 0 {
			t.Errorf("%+v", l)
		}
	}
}
