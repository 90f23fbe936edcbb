package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
)

// worker returns an agent with one tool, which is declared before it.
func worker(tool string, more ...string) string {
	return strings.Join(more, "\n") + "\nmain = agent(name = \"a\", prompt = \"Work.\", tools = [" + tool + "])\n"
}

// one returns an agent that calls work once and then answers.
func one(args string) answersOf {
	return answersOf{"a": {calling("work", args), said("end")}}
}

// tells requires what the model of agent a receives about its only call.
func (r *toolRun) tells(t *testing.T, words ...string) {
	t.Helper()
	told := r.told("a")
	if r.err != nil || len(told) != 1 {
		t.Fatalf("the model is told %q, and the run ends with %v", told, r.err)
	}
	for _, w := range words {
		if !strings.Contains(told[0], w) {
			t.Errorf("the model is told %q, want %q", told[0], w)
		}
	}
}

// Promise 18.1 (tools): a failed call is recovered before the model sees the failure: it is executed again, or an
// agent or a function that sees the error and the arguments supplies arguments or a result. A replayed run recovers it
// in the same way without a call.
func TestPromise_18_1_Mending(t *testing.T) {
	t.Run("fails once, again(3)", func(t *testing.T) { // TR 1
		tool, runs := brokenTool(t, "work", 1)
		r := toolLoop(t, worker("tool(work, on_error = again(3))"), one(`{"n": 1}`), tool)
		r.tells(t, "done at 2")
		if runs() != 2 || r.res.Text() != "end" {
			t.Errorf("%d executions, %v", runs(), r.res)
		}
	})
	t.Run("always fails, again(2)", func(t *testing.T) { // TR 3
		tool, runs := brokenTool(t, "work", 99)
		r := toolLoop(t, worker("tool(work, on_error = again(2))"), one(`{"n": 1}`), tool)
		r.tells(t, "error: boom 3")
		ends := r.of(engine.EventTool)
		if runs() != 3 || len(ends) != 1 || ends[0].Err() == nil || ends[0].Err().Tool == nil || *ends[0].Err().Tool != (engine.FailedCall{Agent: "a", Skill: "a", Name: "work", Attempt: 3}) {
			t.Errorf("%d executions; %+v", runs(), ends)
		}
		ended := toolLoop(t, worker(`tool(work, on_error = [again(2), give_up()])`), one(`{"n": 1}`), tool)
		if e := ended.failure(); e == nil || e.Code != diag.ToolGaveUp || e.Kind != engine.KindTool || !strings.Contains(e.Message, `"work"`) || e.Tool.Attempt != 3 {
			t.Errorf("the error is %#v", ended.err)
		}
	})
	t.Run("one event with what mended it", func(t *testing.T) { // TR 4
		tool, _ := brokenTool(t, "work", 1)
		r := toolLoop(t, worker("tool(work, on_error = again())"), one(`{"n": 1}`), tool)
		ends, repairs := r.of(engine.EventTool), r.of(engine.EventRepair)
		if len(ends) != 1 || ends[0].Err() != nil || ends[0].Text() != "done at 2" {
			t.Errorf("tool events %+v", ends)
		}
		if len(repairs) != 1 || repairs[0].Name() != "work" || !strings.Contains(repairs[0].Text(), "boom 1") {
			t.Errorf("repair events %+v", repairs)
		}
	})
	t.Run("an agent mends arguments", func(t *testing.T) { // TR 5
		tool, runs := brokenTool(t, "work", 0)
		answers := one(`{"n": "one"}`)
		answers["mender"] = []engine.Outcome{said("```json\n{\"n\": 1,}\n```")}
		for _, in := range []string{"ToolFailure", "str"} {
			r := toolLoop(t, worker("tool(work, on_error = fix(mender))", `mender = agent(input = `+in+`, prompt = "Mend.")`), answers, tool)
			r.tells(t, "done at")
			asked := r.requests["mender"][0].Messages[0].Parts[0].Text
			for _, w := range []string{"work", "n: want int", "one", "properties"} {
				if !strings.Contains(asked, w) {
					t.Errorf("the mender is told\n%s\nwithout %q", asked, w)
				}
			}
		}
		if runs() != 2 {
			t.Errorf("%d executions", runs())
		}
	})
	t.Run("a trailing comma needs no mending", func(t *testing.T) { // TR 5, read leniently
		tool, _ := brokenTool(t, "work", 0)
		r := toolLoop(t, worker(`tool(work, on_error = give_up("no"))`), one(`{"n": 1,}`), tool)
		r.tells(t, "done at 1")
	})
	t.Run("a fixer that fails is asked again", func(t *testing.T) { // TR 6
		src := worker("tool(work, on_error = fix(mend, retries = %d))", "def mend(f):\n    tries = f.attempt\n    fail(\"cannot\")")
		for _, retries := range []int{1, 2} {
			tool, _ := brokenTool(t, "work", 9)
			r := toolLoop(t, fmt.Sprintf(src, retries), one(`{"n": 1}`), tool)
			r.tells(t, "error: boom 1")
			if got := r.of(engine.EventRepair); len(got) != retries || !strings.Contains(got[0].Text(), "cannot") {
				t.Errorf("retries = %d: %+v", retries, got)
			}
			if notes := r.of(engine.EventTool)[0].Err().Notes; len(notes) != retries {
				t.Errorf("the error does not tell of its fixers: %q", notes)
			}
		}
		tool, _ := brokenTool(t, "work", 9)
		answers := one(`{"n": 1}`)
		down := engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "down"))
		answers["mender"] = []engine.Outcome{down, down, said("mended")}
		r := toolLoop(t, worker("tool(work, on_error = fix(mender, retries = 3))", `mender = agent(input = ToolFailure, prompt = "Mend.")`), answers, tool)
		r.tells(t, "mended")
		if n := len(r.requests["mender"]); n != 3 {
			t.Errorf("%d attempts", n)
		}
	})
	t.Run("a function sanitises", func(t *testing.T) { // TR 7
		r := toolLoop(t, `
def read(path = field(str, pattern = "^[^\\\\]*$")):
    return "read " + path
main = agent(name = "a", prompt = "Work.", tools = [tool(read, on_error = fix(lambda f: f.args.replace("\\\\", "/")))])
`, answersOf{"a": {calling("read", `{"path": "a\\b\\c"}`), said("end")}})
		r.tells(t, "read a/b/c")
	})
	t.Run("a function that gives None", func(t *testing.T) { // TR 8
		tool, runs := brokenTool(t, "work", 9)
		r := toolLoop(t, worker("tool(work, on_error = lambda f: None)"), one(`{"n": 1}`), tool)
		r.tells(t, "error: boom 1")
		if runs() != 1 {
			t.Errorf("%d executions", runs())
		}
	})
	t.Run("a result in the place of a failure", func(t *testing.T) { // TR 13
		tool, _ := brokenTool(t, "work", 9)
		answers := one(`{"n": 1}`)
		answers["mender"] = []engine.Outcome{said("repaired-value")}
		src := `mender = agent(input = ToolFailure, prompt = "Mend.")`
		toolLoop(t, worker("tool(work, on_error = fix(mender))", src), answers, tool).tells(t, "repaired-value")
		toolLoop(t, worker(`tool(work, on_error = fixed("repaired-value"))`), answers, tool).tells(t, "repaired-value")
		toolLoop(t, worker(`tool(work, on_error = lambda f: fixed("{} {}".format(f.value.n, f.error)))`), answers, tool).tells(t, "1 boom")
		toolLoop(t, worker(`tool(work, on_error = lambda f: fix(mender))`, src), answers, tool).tells(t, "repaired-value")
	})
	t.Run("arguments that still do not fit", func(t *testing.T) { // TR 15
		tool, runs := brokenTool(t, "work", 0)
		r := toolLoop(t, worker(`tool(work, on_error = lambda f: fixed({"n": "x" * f.attempt}))`), one(`{"n": "one"}`), tool)
		r.tells(t, "not mended in 8 steps", "n: want int")
		if e := r.of(engine.EventTool)[0].Err(); runs() != 0 || e.Code != diag.ToolNotMended || e.Tool.Attempt != 0 {
			t.Errorf("%d executions, %+v", runs(), e)
		}
		late := toolLoop(t, worker(`tool(work, on_error = fix(lambda f: {"n": "x" if f.attempt < 8 else 1}, retries = 8))`), one(`{"n": "one"}`), tool)
		late.tells(t, "done at 1") // the eighth step fixes it
	})
	t.Run("a mender that does not help is asked as often as retries says", func(t *testing.T) {
		for _, c := range []struct {
			fix   string
			asked int
		}{
			{"fix(mender)", 1},
			{"fix(mender, retries = 3)", 3},
			{`recover(bad_args = fix(mender, retries = 2), failure = fix(other, then = "call"))`, 2},
		} {
			tool, runs := brokenTool(t, "work", 0)
			answers := one(`{"n": "one"}`)
			answers["mender"] = []engine.Outcome{said(`{"n": "two"}`)}
			r := toolLoop(t, worker("tool(work, on_error = "+c.fix+")", `
mender = agent(input = ToolFailure, prompt = "Mend.")
other = agent(input = ToolFailure, prompt = "Mend.")`), answers, tool)
			r.tells(t, "error: bad arguments", "n: want int")
			if n := len(r.requests["mender"]); n != c.asked || runs() != 0 {
				t.Errorf("%s: the mender is asked %d times, want %d; %d executions", c.fix, n, c.asked, runs())
			}
		}
		tool, _ := brokenTool(t, "work", 0)
		r := toolLoop(t, worker(`tool(work, on_error = [fix(lambda f: {"n": "x"}), fix(lambda f: {"n": 1})])`), one(`{"n": "one"}`), tool)
		r.tells(t, "done at 1") // by the next of the list
	})
	t.Run("a function decides by what failed", func(t *testing.T) {
		tool, runs := brokenTool(t, "work", 2)
		r := toolLoop(t, worker("tool(work, on_error = decide)", `
def decide(f):
    if f.kind == "bad_args":
        return fixed({"n": 7})
    return again() if f.attempt < 9 else None
`), one(`{"n": "seven"}`), tool)
		r.tells(t, "done at 3")
		if runs() != 3 {
			t.Errorf("%d executions", runs())
		}
	})
	t.Run("mended arguments fail in another way", func(t *testing.T) {
		tool, _ := brokenTool(t, "work", 1)
		r := toolLoop(t, worker(`tool(work, on_error = recover(bad_args = fix(lambda f: {"n": 1}), failure = again()))`), one(`{"n": "one"}`), tool)
		r.tells(t, "done at 2")
	})
	t.Run("the next of a list", func(t *testing.T) {
		tool, runs := brokenTool(t, "work", 9)
		r := toolLoop(t, worker(`tool(work, on_error = [again(2), fix(broken), fixed("at last")])`, "def broken(f):\n    fail(\"no\")"), one(`{"n": 1}`), tool)
		r.tells(t, "at last")
		if runs() != 3 {
			t.Errorf("%d executions", runs())
		}
	})
}

// hostJudge is a judge of the host that fails.
type hostJudge struct{}

func (hostJudge) Judge(_ engine.Branch, f *agent.ToolFailure) (agent.Remedy, error) {
	return agent.Remedy{Do: agent.RemedyFixed, Value: f.Data()}, fmt.Errorf("host of %s", f.Tool)
}

func (hostJudge) Info() engine.FuncInfo { return engine.FuncInfo{Name: "host", Params: 1, Needs: 1} }

// Promise 18.2 (tools): a tool's own remedies take precedence over its agent's, and those over the host's, by class of
// failure; without any remedy, the failure is reported to the model and the run continues.
func TestPromise_18_2_Priority(t *testing.T) {
	tool, _ := brokenTool(t, "work", 99)
	main := func(own, agents string) string {
		return "main = agent(name = \"a\", prompt = \"Work.\", tools = [tool(work" + own + ")]" + agents + ")\n"
	}
	of := agent.Recovery{Failure: []agent.Remedy{{Do: agent.RemedyAsk, Judge: hostJudge{}}, {Do: agent.RemedyEscalate, Reason: "of the host"}}}
	for _, tt := range []struct {
		name, src string
		opts      []agentscript.Option
		args      string
		want      string
	}{
		{"bare", main("", ""), nil, `{"n": 1}`, "error: boom"}, // TR 2
		{"tool before agent", main(`, on_error = fixed("tool")`, `, on_tool_error = fixed("agent")`), nil, `{"n": 1}`, "tool"},
		{"agent before host", main("", `, on_tool_error = fixed("agent")`), []agentscript.Option{agentscript.WithToolErrors(of)}, `{"n": 1}`, "agent"},
		{"host", main("", ""), []agentscript.Option{agentscript.WithToolErrors(of)}, `{"n": 1}`, "escalated with severity HIGH: of the host"},
		{"by class", main(`, on_error = recover(bad_args = escalate("args"))`, `, on_tool_error = fixed("agent")`), nil, `{"n": 1}`, "agent"},
		{"again leaves arguments to the agent", main(", on_error = again(2)", `, on_tool_error = escalate("agent")`), nil, `{"n": "x"}`, "agent"},
		{"arguments of the tool", main(`, on_error = recover(bad_args = escalate("args"))`, `, on_tool_error = fixed("agent")`), nil, `{"n": "x"}`, "args"},
	} {
		t.Run(tt.name, func(t *testing.T) { // TR 12
			own := tool
			eng := agentscript.New(append(tt.opts, agentscript.WithDefaultModel("test/model"), agentscript.WithTool(own))...)
			toolLoopBy(t, eng, tt.src, one(tt.args), agent.HostTools{"work": &own}).tells(t, tt.want)
		})
	}
}

// Promise 18.3 (tools): a model whose tools list them may call escalate, which notifies people by an event with a
// severity and lets the run continue, and give_up, which ends its agent. In a fixer both end the recovery, and an
// escalation goes back to the first model.
func TestPromise_18_3_EscalateAndGiveUp(t *testing.T) {
	src := worker("escalate, give_up")
	for _, tt := range []struct {
		args     string
		severity engine.Severity
		reason   string
		repairs  int
	}{ // TR 10
		{`{"reason": "no key", "severity": "low"}`, "LOW", "no key", 0},
		{`{"reason": "no key", "severity": " Critical "}`, "CRITICAL", "no key", 0},
		{`{"reason": "no key"}`, "HIGH", "no key", 0},
		{`{}`, "HIGH", "the model gave no reason", 0},
		{`{"reason": "no key", "severity": "urgent"}`, "HIGH", "no key", 1},
	} {
		r := toolLoop(t, src, answersOf{"a": {calling("escalate", tt.args), said("end")}})
		r.tells(t, string(tt.severity), tt.reason)
		got := r.of(engine.EventEscalation)
		if len(got) != 1 || got[0].Data.(*event.Escalation).Severity != tt.severity || got[0].Text() != tt.reason || len(r.of(engine.EventRepair)) != tt.repairs {
			t.Errorf("%s: %+v, %+v", tt.args, got, r.of(engine.EventRepair))
		}
	}
	r := toolLoop(t, src, answersOf{"a": {calling("give_up", `{"reason": "no such city"}`)}})
	if e := r.failure(); e == nil || e.Code != diag.ToolGaveUp || !strings.Contains(e.Message, "no such city") || !strings.Contains(e.Path, "agent:a") {
		t.Errorf("give_up gives %v", r.err)
	}
	tool, runs := brokenTool(t, "work", 99)
	mending := worker("tool(work, on_error = fix(mender, retries = 5))", `mender = agent(input = ToolFailure, prompt = "Mend.", tools = [escalate, give_up])`)
	t.Run("a fixer escalates", func(t *testing.T) { // TR 9
		answers := one(`{"n": 1}`)
		answers["mender"] = []engine.Outcome{calling("escalate", `{"reason": "disk is full", "severity": "critical"}`)}
		r := toolLoop(t, mending, answers, tool)
		r.tells(t, "CRITICAL", "disk is full", "work")
		if got := r.of(engine.EventEscalation); len(got) != 1 || got[0].Name() != "work" || r.res.Text() != "end" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a fixer gives up", func(t *testing.T) { // TR 11
		before := runs()
		answers := one(`{"n": 1}`)
		answers["mender"] = []engine.Outcome{calling("give_up", `{"reason": "the file is gone"}`)}
		r := toolLoop(t, mending, answers, tool)
		if e := r.failure(); e == nil || e.Code != diag.ToolGaveUp || !strings.Contains(e.Message, "the file is gone") || len(r.requests["mender"]) != 1 || runs() != before+1 {
			t.Errorf("got %v after %d requests", r.err, len(r.requests["mender"]))
		}
		for _, end := range r.of(engine.EventTool) {
			if end.Err() == nil {
				t.Errorf("a call succeeded: %+v", end)
			}
		}
	})
	t.Run("only what is listed is offered", func(t *testing.T) { // TR 14
		r := toolLoop(t, worker("work"), one(`{"n": 1}`), tool)
		if defs := r.requests["a"][0].Tools; len(defs) != 1 || defs[0].Name != "work" {
			t.Errorf("offered %+v", defs)
		}
		r = toolLoop(t, worker("work, escalate"), one(`{"n": 1}`), tool)
		if defs := r.requests["a"][0].Tools; len(defs) != 2 || defs[1].Name != "escalate" || defs[1].Params == nil {
			t.Errorf("offered %+v", defs)
		}
	})
	t.Run("it ends one agent", func(t *testing.T) {
		for _, use := range []string{"as_tool(inner, doc = \"Works.\", name = \"work\")", "work"} {
			r := toolLoop(t, "inner = agent(name = \"inner\", prompt = \"I.\", tools = [give_up])\ndef work(n = 0, input = \"\"):\n    return inner(input)\n"+worker(use),
				answersOf{"a": {calling("work", `{"input": "x"}`), said("end")}, "inner": {calling("give_up", `{"reason": "too hard"}`)}})
			r.tells(t, "error: ", "too hard")
		}
	})
	t.Run("a failure in the flow around may be handled", func(t *testing.T) {
		src := strings.Replace(worker(`tool(work, on_error = give_up("enough"))`), "main = agent(", "first = agent(", 1) +
			"main = fallback(first, fn(lambda s: \"another way\", input = str, output = str))\n"
		if r := toolLoop(t, src, one(`{"n": 1}`), tool); r.err != nil || r.res.Text() != "another way" {
			t.Errorf("%v, %v", r.res, r.err)
		}
	})
}

// Promise 18.4 (tools): a call of a tool that a skill does not have, whatever other skills have, results in a message
// that names what this skill offers.
func TestPromise_18_4_OnlyTheSkillsTools(t *testing.T) { // TR 16
	r := toolLoop(t, `
def ask(q = str):
    return q
def secret(q = str):
    return q
main = agent(name = "a", input = str | int, output = str, skills = [
    skill("texts", "Reads texts.", input = str, tools = [ask]),
    skill("numbers", "Reads numbers.", input = int, tools = [secret]),
])
`, answersOf{"a": {calling("secret", `{"q": "x"}`), said("end")}})
	r.tells(t, `there is no tool "secret"; the tools are: ask`)
	e := r.of(engine.EventTool)[0].Err()
	if e.Code != diag.UnknownTool || *e.Tool != (engine.FailedCall{Agent: "a", Skill: "texts", Name: "secret"}) || strings.Contains(strings.ReplaceAll(e.Message, `"secret"`, ""), "secret") || e.Help == "" {
		t.Errorf("the error is %+v", e)
	}
}
