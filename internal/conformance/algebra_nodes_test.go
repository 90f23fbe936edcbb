package conformance

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
)

// Promise 15.4 (algebra): a loop continues with what next, a function or a node, makes of its output, until that is
// None; or it checks, ends when until holds, and otherwise repairs.
func TestPromise_15_4_Loops(t *testing.T) {
	flows(t, numbered, []flowRow{
		{"a function", "main = loop(double(), lambda n: None if n > 50 else n + 1)", "int -> int", 1, "62"},
		{"a method", "main = double().loop(lambda n: None if n > 50 else n + 1)", "int -> int", 1, "62"},
		{"a node", "main = loop(double(), fn(lambda n: None if n > 50 else n + 1, input = int, output = int | None))", "int -> int", 1, "62"},
		{"a function of other types", "main = loop(word(\"n\"), lambda s: None if len(s) > 2 else 10)", "int -> str", 1, "n10"},
		{"check, until, repair", "main = loop(same(), until = lambda n: n % 7 == 0, repair = inc())", "int -> int", 15, "21"},
		{"until as data", "main = loop(same(), until = ge(20), repair = double())", "int -> int", 3, "24"},
		{"it holds at once", "main = loop(same(), until = ge(20), repair = broken())", "int -> int", 30, "30"},
		{"nothing is repaired after the last check", `main = loop(same(), until = ge(20), repair = broken(), max = 1, on_limit = "last")`, "int -> int", 3, "3"},
		{"the last output", `main = loop(inc(), lambda n: n, max = 4, on_limit = "last")`, "int -> int", 0, "4"},
	})
	refuse(t, []refusal{
		{"both forms", numbered + "main = loop(inc(), lambda n: n, until = ge(3), repair = inc())\n", "AS204", []string{"exclude each other"}},
		{"until without repair", numbered + "main = loop(inc(), until = ge(3))\n", "AS203", nil},
	})
}

// Promise 15.5 (algebra): each runs a node on every item of a list, at most as many at once as its limit allows, and
// gives the outputs in the order of the items.
func TestPromise_15_5_Each(t *testing.T) {
	flows(t, numbered, []flowRow{
		{"none", "main = each(inc())", "list[int] -> list[int]", []int{}, "[]"},
		{"many", "main = inc().each()", "list[int] -> list[int]", []int{5, 3, 9, 1}, "[6,4,10,2]"},
		{"of lists", "main = each(each(inc()))", "list[list[int]] -> list[list[int]]", [][]int{{1}, {}, {2, 3}}, "[[2],[],[3,4]]"},
	})
	const src = `
ask = agent(prompt = "Answer.")
main = each(ask, limit = 3)
`
	var mu sync.Mutex
	running, most := 0, 0
	mod := loaded(t, agentscript.New(agentscript.WithModels(scripted.Answers(map[string][]string{"ask": slices.Repeat([]string{"yes"}, 40)})), agentscript.WithDefaultModel("scripted/one")), src)
	items := make([]string, 40)
	for i := range items {
		items[i] = strings.Repeat("x", i)
	}
	res, err := mod.Start(t.Context(), input(items), agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
		if !strings.Contains(e.Path, "agent:ask") {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if e.Phase() == engine.PhaseStart {
			running++
		} else {
			running--
		}
		most = max(most, running)
	})).Wait()
	if err != nil || strings.Count(res.Text(), "yes") != 40 || most > 3 {
		t.Errorf("%v: %s, %d at once", err, res.Text(), most)
	}
}

// Promise 15.6 (algebra): fallback gives the first success in order; race runs all at once, gives the first success
// and cancels the others. If all fail, the error has notes about each.
func TestPromise_15_6_First(t *testing.T) {
	flows(t, numbered, []flowRow{
		{"fallback", "main = fallback(broken(), odd_fails(), double(), inc())", "int -> int", 3, "6"},
		{"fallback, the second", "main = fallback(broken(), odd_fails(), double())", "int -> int", 4, "4"},
		{"race", "main = race(broken(), double(), broken())", "int -> int", 4, "8"},
		{"a fallback of a chain", "main = fallback(inc() >> odd_fails(), same())", "int -> int", 2, "2"},
		{"a race of fallbacks", "main = race(fallback(broken(), inc()), broken())", "int -> int", 2, "3"},
	})
	for name, want := range map[string]string{"fallback": "third", "race": "first"} {
		_, err := loaded(t, agentscript.New(), numbered+"main = "+name+`(broken("first"), broken("second"), broken("third"))`+"\n").Start(t.Context(), input(1)).Wait()
		e, ok := err.(*engine.Error)
		if !ok || !strings.Contains(e.Message, want) || len(e.Notes) != 2 || !strings.Contains(strings.Join(e.Notes, " "), "second") {
			t.Errorf("%s: %#v", name, err)
		}
	}
	// The slow one waits forever; the end of the race shows that it was cancelled.
	mod := loaded(t, agentscript.New(agentscript.WithModels(answering(func(ctx context.Context, agent string, _ *model.Request) engine.Outcome {
		if agent == "slow" {
			<-ctx.Done()
			return engine.Failed(&engine.Error{Kind: engine.KindCancelled, Cause: ctx.Err()})
		}
		return said(agent)
	})), agentscript.WithDefaultModel("test/m")), `
slow = agent(prompt = "Wait.")
quick = agent(prompt = "Answer.")
main = race(slow, quick)
`)
	res, err := mod.Start(t.Context(), input("x")).Wait()
	if err != nil || res.Text() != "quick" {
		t.Errorf("%v: %s", err, res.Text())
	}
}

// Promise 15.7 (algebra): retry runs a node again on the same input if it fails or while its output is not acceptable;
// with feedback, a model continues its conversation on its own copy.
func TestPromise_15_7_Retry(t *testing.T) {
	res, calls := asked(t, `
writer = agent(prompt = "Write.")
main = retry(writer, 4, until = lambda s: len(s) < 5, feedback = lambda s: "%d is too long" % len(s)) / agent(name = "other", prompt = "Other.")
`, "go", map[string][]string{"writer": {"too long", "longer still", "done"}, "other": {"fine"}})
	if res.Text() != `["done","fine"]` {
		t.Errorf("it gives %s", res.Text())
	}
	var said [][]string
	for _, c := range calls {
		if c.Agent != "writer" {
			if len(c.Request.Messages) != 1 {
				t.Errorf("the other one is sent %d messages", len(c.Request.Messages))
			}
			continue
		}
		var texts []string
		for _, m := range c.Request.Messages {
			texts = append(texts, string(m.Role)+":"+m.Parts[0].Text)
		}
		said = append(said, texts)
	}
	if got := strings.Join(slices.Concat(said...), "|"); got != "user:go|user:go|assistant:too long|user:8 is too long|user:go|assistant:too long|user:8 is too long|assistant:longer still|user:12 is too long" {
		t.Errorf("the conversation is %s", got)
	}
	_, calls = asked(t, `
writer = agent(prompt = "Write.")
main = retry(writer, until = ne("no"))
`, "go", map[string][]string{"writer": {"no", "no", "yes"}})
	for _, c := range calls {
		if len(c.Request.Messages) != 1 {
			t.Errorf("without feedback an attempt is sent %d messages", len(c.Request.Messages))
		}
	}
	fails(t, "AS703", numbered+"main = retry(same(), until = gt(5))", []agentscript.RunOption{input(1)}, "within 3 attempts", `on_limit = "last"`)
	fails(t, "AS701", numbered+`main = retry(broken("why"), 2)`, []agentscript.RunOption{input(1)}, "why")
	flows(t, numbered, []flowRow{{"the last output", `main = retry(same(), 2, until = gt(5), on_limit = "last")`, "int -> int", 1, "1"}})
}

// Promise 15.8 (algebra): a vote gives the result of the most voters, by key and by weight, the result with the
// greatest key, or what a judge makes of all results; the first wins a tie, and with a quorum some voters may fail.
func TestPromise_15_8_Votes(t *testing.T) {
	flows(t, numbered, []flowRow{
		{"majority", "main = vote(inc(), double(), inc())", "int -> int", 5, "6"},
		{"a tie", "main = vote(double(), inc())", "int -> int", 5, "10"},
		{"weights", "main = vote(inc(), inc(), double(), weights = [1, 1, 2.5])", "int -> int", 5, "10"},
		{"a key", "main = vote(inc(), double(), same(), key = lambda n: n % 2)", "int -> int", 4, "8"},
		{"max", "main = vote(inc(), double(), same(), by = \"max\")", "int -> int", 4, "8"},
		{"max by key", "main = vote(inc(), double(), same(), by = \"max\", key = lambda n: -n)", "int -> int", 4, "4"},
		{"a judge", "main = vote(inc(), double(), judge = fn(lambda ns: ns[0] * 100 + ns[1], input = list[int], output = int))", "int -> int", 4, "508"},
		{"quorum", "main = vote(broken(), inc(), inc(), quorum = 2)", "int -> int", 4, "5"},
		{"of a list", "main = vote(each(inc()))", "list[int] -> int", []int{1, 2, 2, 3}, "3"},
		{"of a parallel", "main = vote(par(inc(), inc(), double()))", "int -> int", 7, "8"},
	})
	fails(t, "AS724", numbered+"main = vote(broken(), broken(), inc(), quorum = 2)", []agentscript.RunOption{input(1)}, "one ballot", "needs 2")
	fails(t, "AS701", numbered+"main = vote(broken(), inc())", []agentscript.RunOption{input(1)}, "no")
	refuse(t, []refusal{
		{"one voter that gives no list", numbered + "main = vote(inc())\n", "AS324", []string{"several voters"}},
		{"weights of others", numbered + "main = vote(inc(), inc(), weights = [1])\n", "AS324", []string{"a weight for each voter"}},
		{"a quorum beyond all", numbered + "main = vote(inc(), inc(), quorum = 3)\n", "AS324", []string{"never reached"}},
		{"max of texts", numbered + "main = vote(word(\"a\"), word(\"b\"), by = \"max\")\n", "AS324", []string{"compares numbers"}},
	})
}

// Promise 15.9 (algebra): in wrap, the teacher writes the system text of the student for this call only.
func TestPromise_15_9_Wrap(t *testing.T) {
	res, calls := asked(t, `
teacher = agent(run = lambda s: "Answer as a " + s)
student = agent(prompt = "Answer.")
main = wrap(teacher, student)
`, "poet", map[string][]string{"student": {"In verse."}})
	if res.Text() != "In verse." || len(calls) != 1 || calls[0].Request.System != "Answer as a poet" || calls[0].Request.Messages[0].Parts[0].Text != "poet" {
		t.Errorf("it gives %s; asked: %+v", res.Text(), calls)
	}
	refuse(t, []refusal{
		{"a teacher of numbers", "main = wrap(agent(output = int, run = lambda s: 1), agent(prompt = \"A.\"))\n", "AS301", []string{"want str"}},
		{"different inputs", "main = wrap(agent(input = int, run = lambda n: \"\"), agent(prompt = \"A.\"))\n", "AS302", nil},
		{"a student that is a function", "main = wrap(agent(run = lambda s: s), agent(run = lambda s: s))\n", "AS325", []string{"a model carries out"}},
	})
}

// Promise 15.10 (algebra): a handoff routes like a branch and reports its source, its target and what is handed over;
// its targets get their input and no transcript.
func TestPromise_15_10_Handoff(t *testing.T) {
	const src = `
Question = schema("A question", text = str)
Complaint = schema("A complaint", text = str)
sort = agent(output = Question | Complaint, run = lambda s: Complaint(text = s) if "!" in s else Question(text = s))
answer = agent(name = "answer", input = Question, prompt = "Answer.")
sorry = agent(name = "sorry", input = Complaint, run = lambda c: "sorry for " + c.text)
reply = handoff(sort, {Question: answer, Complaint: sorry})
first = agent(name = "first", run = lambda s: "a secret")
main = forum(first, reply)
`
	models := scripted.Answers(map[string][]string{"answer": {"42"}})
	mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("scripted/one")), src)
	var told []string
	res, err := mod.Start(t.Context(), input("what?"), agentscript.OnEvent(engine.EventHandoff, func(e engine.Event) {
		d := e.Data.(*event.Handoff)
		told = append(told, d.From+">"+d.To+" "+d.Type)
	})).Wait()
	if err != nil || res.Text() != "42" || strings.Join(told, ",") != "sort>answer Question" {
		t.Errorf("%s, %v; told %s", res.Text(), err, told)
	}
	for _, m := range models.Requests()[0].Request.Messages {
		if strings.Contains(m.Parts[0].Text, "secret") {
			t.Errorf("the target hears %s", m.Parts[0].Text)
		}
	}
	refuse(t, []refusal{{"a case that nobody handles", strings.Replace(src, ", Complaint: sorry", "", 1), "AS305", []string{"Complaint"}}})
}

// Promise 15.11 (algebra): attempt turns the outcome of a node into a value, and merge combines a parallel's list of
// outputs.
func TestPromise_15_11_AttemptAndMerge(t *testing.T) {
	flows(t, numbered, []flowRow{
		{"a success", "main = attempt(inc())", "int -> Attempt[int]", 1, `{"ok":true,"value":2,"error":null,"status":"ok"}`},
		{"a failure", "main = attempt(broken(\"why\")) >> fn(lambda a: [a.ok, a.value, a.status, a.error.kind, a.error.message, a.error.path], input = Attempt[int], output = list[any])", "int -> list[any]", 1, `[false,null,"failed","script","why","main/then:main#0/attempt0/fn0"]`},
		{"merge by a function", "main = par(inc(), double(), merge = lambda ns: ns[0] * ns[1])", "", 3, "24"},
		{"merge by a node", "main = par(inc(), double(), merge = fn(lambda ns: str(ns), input = list[int], output = str))", "int -> str", 3, "[4, 6]"},
		{"merge of outcomes", `main = par(inc(), broken(), on_error = "keep", merge = fn(lambda xs: [x.status for x in xs], input = list[Attempt[int]], output = list[str]))`, "int -> list[str]", 3, `["ok","failed"]`},
	})
	refuse(t, []refusal{{"a merge of another list", numbered + "main = par(inc(), double(), merge = word(\"\"))\n", "AS301", []string{"merge takes the list", "list[int]"}}})
}

// Promise 15.12 (algebra): a forum has rounds, and gives the result of its captain, which is the last member or named,
// or what enough participants agree on.
func TestPromise_15_12_Forums(t *testing.T) {
	const parts = `
def says(w):
    return agent(name = w, run = lambda s: w)
def decide(s, said):
    return s + ": " + " ".join([t["name"] + "=" + t["output"] for t in said])
def captain():
    return agent(name = "captain", run = decide)
`
	flows(t, parts, []flowRow{
		{"the last decides", `main = forum(says("a"), says("b"), captain())`, "str -> str", "q", "q: a=a b=b"},
		{"a named captain", `main = forum(says("a"), says("b"), captain = captain())`, "str -> str", "q", "q: a=a b=b"},
		{"rounds", `main = forum(says("a"), says("b"), captain(), rounds = 2)`, "str -> str", "q", "q: a=a b=b a=a b=b"},
		{"consensus", `main = forum(says("a"), says("b"), says("a"), consensus = 2)`, "str -> str", "q", "a"},
		{"no consensus", `main = forum(says("a"), says("b"), says("c"), consensus = 2, otherwise = captain())`, "str -> str", "q", "q: a=a b=b c=c"},
		{"of the last round", `
def swaps(s, said):
    return "z" if said else s + str(len(said))
main = forum(agent(name = "x", run = swaps), agent(name = "y", run = swaps), rounds = 2, consensus = 2)`, "str -> str", "q", "z"},
	})
	fails(t, "AS724", parts+`main = forum(says("a"), says("b"), consensus = 2)`, []agentscript.RunOption{input("q")}, "1 of 2 participants agree")
	refuse(t, []refusal{
		{"captain and consensus", parts + `main = forum(says("a"), captain = captain(), consensus = 1)` + "\n", "AS204", []string{"not both"}},
		{"more than there are", parts + `main = forum(says("a"), says("b"), consensus = 3)` + "\n", "AS324", []string{"from 1 to 2"}},
		{"nobody to discuss", parts + `main = forum(captain())` + "\n", "AS316", nil},
	})
}
