package chaos_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/chaos"
)

const types = `
Approved = schema("ships", score = field(int, ge = 0, le = 100), note = str)
Rejected = schema("stays", reason = str)
Decision = union("either", Approved, Rejected)

def handlers():
    return {Approved: fn(lambda a: "ship", input = Approved, output = str), Rejected: fn(lambda r: "stay", input = Rejected, output = str)}

def double(x):
    "Doubles."
    return 2 * x
`

// tried changes the answers of a script.
func tried(t *testing.T, seed uint64, src, answers string) []chaos.Case {
	t.Helper()
	cases, err := try(t, seed, src, answers)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func try(t *testing.T, seed uint64, src, answers string) ([]chaos.Case, error) {
	t.Helper()
	mod, err := agentscript.New(agentscript.WithDefaultModel("scripted/one")).Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(types + src)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	input := agentscript.InputText("x")
	if strings.Contains(src, "def main(") {
		input = agentscript.Args(map[string]any{"text": "x"})
	}
	return chaos.Try(t.Context(), seed, func(ctx context.Context, p *chaos.Probe) (generable.Value, error) {
		models, err := scripted.Read(strings.NewReader(answers), "answers")
		if err != nil {
			t.Fatal(err)
		}
		res, err := mod.Start(ctx, input, agentscript.VirtualTime(), agentscript.OnEvent(chaos.Events, p.Event),
			agentscript.HandlerForAll(p.Models(models))).Wait()
		return res.Value, err
	})
}

// verdicts returns the verdicts by mutation, "mixed" for a mutation whose cases have different ones.
func verdicts(cases []chaos.Case) map[chaos.Mutation]chaos.Verdict {
	all := map[chaos.Mutation]chaos.Verdict{}
	for _, c := range cases {
		if v, ok := all[c.Mutation]; ok && v != c.Verdict {
			all[c.Mutation] = "mixed"
		} else {
			all[c.Mutation] = c.Verdict
		}
	}
	return all
}

var decoding = []chaos.Mutation{chaos.MissingField, chaos.WrongType, chaos.UnknownVariant, chaos.Truncated}

const approved = `{"agent": "judge", "json": {"type": "Approved", "score": 90, "note": "fine"}}` + "\n"

// An agent with on_bad_output survives every answer that does not fit; an agent without it fails with an error that
// says so. Prose and fences change nothing.
func TestDecoding(t *testing.T) {
	for seed := range uint64(20) {
		for src, want := range map[string]chaos.Verdict{
			`main = branch(agent("judge", output = Decision, prompt = "judge"), handlers())`:                                                               chaos.TypedError,
			`main = branch(agent("judge", output = Decision, prompt = "judge", on_bad_output = lambda raw: Rejected(reason = raw)), handlers())`:           chaos.Survived,
			`main = fallback(branch(agent("judge", output = Decision, prompt = "judge"), handlers()), fn(lambda s: "unknown", input = str, output = str))`: chaos.Survived,
			`main = retry(branch(agent("judge", output = Decision, prompt = "judge", repairs = 0), handlers()), 2)`:                                        chaos.Survived,
			`judge = agent("judge", output = Decision, prompt = "judge")
def main(text = str):
    r = attempt(judge, text)
    return r.value.note if r.ok else "unknown"`: chaos.Survived,
		} {
			got := verdicts(tried(t, seed, src, approved))
			for _, m := range decoding {
				if got[m] != want {
					t.Errorf("seed %d, %s: %q, want %q\n%s", seed, m, got[m], want, src)
				}
			}
			for _, m := range []chaos.Mutation{chaos.Prose, chaos.Fence} {
				if got[m] != chaos.Survived {
					t.Errorf("seed %d, %s: %q\n%s", seed, m, got[m], src)
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// Failures of the provider are errors of their kinds. A changed answer that nobody looks at is not a wrong success.
func TestProviders(t *testing.T) {
	got := verdicts(tried(t, 1, `main = branch(agent("judge", output = Decision, prompt = "judge"), handlers())`, approved))
	for _, m := range []chaos.Mutation{chaos.Empty, chaos.Refusal, chaos.Timeout, chaos.RateLimit} {
		if got[m] != chaos.TypedError {
			t.Errorf("%s: %q", m, got[m])
		}
	}
	if got[chaos.Injection] != chaos.Survived {
		t.Errorf("%s: %q", chaos.Injection, got[chaos.Injection])
	}
	for _, m := range []chaos.Mutation{chaos.UnknownTool, chaos.DuplicateCall, chaos.BadArguments} {
		if _, ok := got[m]; ok {
			t.Errorf("%s applies to an agent without tools", m)
		}
	}
}

// A flow that takes anything for a success is found: this one reads a text with a function that guesses.
func TestPlantedWrongSuccess(t *testing.T) {
	cases := tried(t, 1, `
judge = agent("judge", output = str, prompt = "answer yes or no")
main = judge >> fn(lambda s: "ship" if s.strip() == "yes" else "stay", input = str, output = str)
`, `{"agent": "judge", "text": "yes"}`)
	if i := slices.IndexFunc(cases, func(c chaos.Case) bool { return c.Verdict == chaos.WrongSuccess }); i < 0 || cases[i].Mutation != chaos.Injection || cases[i].Detail != "stay" {
		t.Errorf("%+v", cases)
	}
	if got, of := chaos.Percent(cases); got != 80 || of != 5 { // of empty, refusal, timeout, rate limit and injection
		t.Errorf("%v: %+v", got, cases)
	}
}

// An instruction that is only part of the resulting text was not followed.
func TestInstructionIsText(t *testing.T) {
	cases := tried(t, 1, `main = agent("writer", prompt = "write")`, `{"agent": "writer", "text": "Dear all"}`)
	last := cases[len(cases)-1]
	if last.Mutation != chaos.Injection || last.Verdict != chaos.Survived || !strings.Contains(last.Detail, "Dear all IGNORE") {
		t.Errorf("%+v", last)
	}
}

// Tool calls: a model that errs is notified and continues; a call that is made twice changes nothing.
func TestTools(t *testing.T) {
	got := verdicts(tried(t, 1, `main = agent("asker", output = Approved, prompt = "ask", tools = [tool(double, {"x": int})])`, `
{"agent": "asker", "calls": [{"name": "double", "args": {"x": 4}}]}
{"agent": "asker", "json": {"score": 8, "note": "n"}}
`))
	for _, m := range []chaos.Mutation{chaos.DuplicateCall, chaos.UnknownTool, chaos.BadArguments} {
		if got[m] != chaos.Survived {
			t.Errorf("%s: %q", m, got[m])
		}
	}
}

// A request that the flow makes only because of a changed answer, and for which no answer was prepared, counts
// neither way. A callback that cannot continue is not an error that says what was wrong.
func TestOtherVerdicts(t *testing.T) {
	got := verdicts(tried(t, 1, `main = fallback(agent("judge", output = Decision, prompt = "judge"), agent("second", output = Decision, prompt = "judge"))`, approved))
	if got[chaos.MissingField] != chaos.Unanswered {
		t.Errorf("%v", got)
	}
	got = verdicts(tried(t, 1, `main = agent("judge", output = str, prompt = "number") >> fn(lambda s: int(s), input = str, output = int)`, `{"agent": "judge", "text": "12"}`))
	if got[chaos.Injection] != chaos.OtherError {
		t.Errorf("%v", got)
	}
	if _, err := try(t, 1, `main = agent("judge", output = Decision, prompt = "judge")`, ``); err == nil {
		t.Error("a flow that fails by itself is tried")
	}
}

// The same seed changes the same places.
func TestSeeds(t *testing.T) {
	src := `main = agent("judge", output = Decision, prompt = "judge")`
	details := func(seed uint64) string {
		var all []string
		for _, c := range tried(t, seed, src, approved) {
			all = append(all, c.Detail)
		}
		return strings.Join(all, "\n")
	}
	differs := false
	for seed := range uint64(8) {
		if first, again := details(seed), details(seed); first != again {
			t.Errorf("seed %d differs from itself", seed)
		}
		differs = differs || details(seed) != details(0)
	}
	if !differs {
		t.Error("all seeds are alike")
	}
}

// The table counts by agent and mutation; agents with the same name are distinguished by where they are created.
// Below it is one line for each thing that went wrong.
func TestWrite(t *testing.T) {
	cases := []chaos.Case{
		{Agent: "ju\x1bdge", Path: "main/agent:other#0/llm0", Mutation: chaos.Fence, Verdict: chaos.WrongSuccess, Detail: "two\nlines\x1b[31m"},
		{Agent: "judge", At: "b.star:1", Path: "main/agent:judge#0/llm0", Mutation: chaos.Empty, Verdict: chaos.TypedError, Detail: "bad_response: empty"},
		{Agent: "judge", At: "a.star:1", Path: "main/agent:judge#0/llm0", Mutation: chaos.Empty, Verdict: chaos.TypedError, Detail: "bad_response: empty"},
		{Agent: "judge", At: "a.star:1", Path: "main/agent:judge#0/llm0", Mutation: chaos.WrongType, Verdict: chaos.TypedError, Detail: "schema: text"},
		{Agent: "judge", At: "a.star:1", Path: "main/agent:judge#0/llm1", Mutation: chaos.Empty, Verdict: chaos.Survived},
	}
	written := func(cases []chaos.Case, more string) string {
		var b strings.Builder
		if err := chaos.Write(&b, cases, more); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got, want := written(cases, "-v lists them"), strings.TrimLeft(`
agent           mutation    survived  typed error  wrong success  other error  no answer
ju\u001bdge     code fence  0         0            1              0            0
judge a.star:1  wrong type  0         1            0              0            0
judge a.star:1  empty       1         1            0              0            0
judge b.star:1  empty       0         1            0              0            0
wrong success: code fence in main/agent:other#0/llm0: two lines\u001b[31m
`, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for i := range 30 {
		for n, v := range chaos.Verdicts() {
			cases = append(cases, chaos.Case{Agent: fmt.Sprintf("agent%d", i), Path: "main", Mutation: [...]chaos.Mutation{chaos.Empty, chaos.Empty, chaos.Fence, chaos.Fence, chaos.Refusal}[n], Verdict: v})
		}
	}
	cases = append(cases, chaos.Case{Agent: "agent7", Path: "main", Mutation: chaos.Timeout, Verdict: chaos.TypedError})
	short, long := written(cases, "-v lists them"), written(cases, "")
	if !strings.Contains(short, "\nagent7          2 others    1         2            0              0            0\n") || !strings.Contains(short, "\nagent8          empty ") ||
		!strings.Contains(short, "others are those after which all went well: -v lists them\n") || !strings.Contains(short, "and 71 more: -v lists them\n") || strings.Contains(short, "agent7          empty") {
		t.Error(short)
	}
	if strings.Contains(long, "more") || !strings.Contains(long, "agent7          empty") || strings.Count(long, "\n") != 1+4+30*3+1+5+30*5+1 {
		t.Error(long)
	}
	if first, then := strings.Index(long, "survived: empty in main"), strings.Index(long, "typed error: empty in main"); first < 0 || then < first {
		t.Error(long)
	}
}
