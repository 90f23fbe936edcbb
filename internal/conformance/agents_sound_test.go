package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/internal/text"
)

// spoken returns what a request sends in addition to its system text, one line for each message.
func spoken(list []model.Message) string {
	return strings.Join(text.Each(list, func(m model.Message) string { return string(m.Role) + ": " + m.Parts[0].Text }), "\n")
}

// Promise 26.40 (sound): an agent's name may be its first positional argument; giving it in both forms is an error.
func TestPromise_26_40_NameByPosition(t *testing.T) {
	computes(t, `["<agent coder: str -> str>","<agent b: str -> int>","<agent other: str -> str>","<agent x: str -> str>"]`, `
a = agent("coder", prompt = "Code.")
b = agent(output = int, run = lambda s: len(s))
c = agent(name = "other", prompt = "Code.")
x = agent(prompt = "Code.")
def got():
    return [str(n) for n in [a, b, c, x]]
`)
	refuse(t, []refusal{
		{"both forms", `a = agent("coder", name = "b", prompt = "x")`, "AS204", []string{"name is passed twice"}},
		{"the same name twice", `a = agent("coder", name = "coder", prompt = "x")`, "AS204", []string{"name is passed twice"}},
		{"a prompt by position", `a = agent("coder", "Code.")`, "AS205", []string{"agent takes one argument by position", "the others are passed by name: input, output, prompt"}},
		{"a prompt in the place of the name", `a = agent("You write code.")`, "AS312", []string{"has nothing to do", "the first argument is its name", "prompt = "}},
		{"no name", `a = agent("", prompt = "x")`, "AS204", []string{"the name is empty"}},
		{"a type", `a = agent(str, prompt = "x")`, "AS204", []string{"want str, got the type str"}},
		{"a name that no position holds", `a = agent("a/b", prompt = "x")`, "AS204", []string{"a name cannot hold '/'"}},
	})
}

// Promise 26.41 (sound): `task` of an agent and of a verify, a str or a template, is a user message after the input.
func TestPromise_26_41_Task(t *testing.T) {
	const job = "Job = schema(\"A job\", title = str, lines = int)\n"
	const input = `{"title": "Moon", "lines": 3}`
	const asJSON = `user: {"title":"Moon","lines":3}`
	for _, c := range []struct{ name, src, in, system, want string }{
		{"a str", `main = agent(prompt = "Be short.", task = """
    Sum it up.
      - in one line: {"ok": true}
""")`, "The text.", "Be short.", "user: The text.\nuser: Sum it up.\n  - in one line: {\"ok\": true}"},
		{"alone", `main = agent(task = "Sum it up.")`, "The text.", "", "user: The text.\nuser: Sum it up."},
		{"a template", job + `main = agent(input = Job, prompt = "Be short.", task = template("Write {{lines}} lines on {{title}}."))`, input, "Be short.", asJSON + "\nuser: Write 3 lines on Moon."},
		{"both templates", job + `main = agent(input = Job, prompt = template("On {{title}}."), task = template("Of {{input}}: {{lines}} lines."))`, input, "On Moon.",
			asJSON + "\nuser: Of {\"title\":\"Moon\",\"lines\":3}: 3 lines."},
		{"verify with a str", `main = verify(name = "main", task = "Answer kindly.") >> pick("feedback")`, "Go away.", "Answer kindly.", "user: Go away."},
		{"verify with a template", job + `main = verify(name = "main", input = Job, task = template("It must have {{lines}} lines.")) >> pick("feedback")`, input, "Verify the work", asJSON + "\nuser: It must have 3 lines."},
		{"verify with a prompt and a template", job + `main = verify(name = "main", input = Job, prompt = template("On {{title}}."), task = template("{{lines}} lines.")) >> pick("feedback")`, input, "On Moon.", asJSON + "\nuser: 3 lines."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, calls := asked(t, c.src, c.in, map[string][]string{"main": {`{"success": true, "feedback": "fine"}`}})
			if got := spoken(calls[0].Request.Messages); got != c.want || !strings.Contains(calls[0].Request.System, c.system) {
				t.Errorf("the system text is %q, and sent is\n%s\nwant\n%s", calls[0].Request.System, got, c.want)
			}
		})
	}
	// A task stays with its input, after a handover and when a conversation is shortened.
	_, calls := asked(t, `
a = agent("a", prompt = "A.")
b = agent("b", prompt = "B.", task = "Translate it.")
c = agent("c", prompt = "C.", task = "Count the words.", history = compress(after = 4, keep = 1))
main = conversation(a >> b >> c)
`, "x", map[string][]string{"a": {"A long answer."}, "b": {"Eine lange Antwort."}, "c": {"3"}})
	if got, want := spoken(calls[1].Request.Messages), "user: x\nassistant: A long answer.\nuser: "+model.HandedOver+"\nuser: Translate it."; got != want {
		t.Errorf("b is sent\n%s\nwant\n%s", got, want)
	}
	if got := spoken(calls[2].Request.Messages); !strings.HasSuffix(got, "left out)\nuser: Eine lange Antwort.\nuser: Count the words.") {
		t.Errorf("c is sent\n%s", got)
	}
	refuse(t, []refusal{
		{"an unknown field", job + `main = agent(input = Job, task = template("{{titel}}"))`, "AS314", []string{"{{titel}}", `did you mean "title"?`}},
		{"a function", `main = agent(run = lambda s: s, task = "x")`, "AS313", []string{"task would do nothing"}},
		{"a number", `main = agent(task = 3)`, "AS204", []string{"task: want str or template(...), got int"}},
		{"neither a text nor a template", `main = agent(task = agent(prompt = "x"))`, "AS204", []string{"task: want str or template(...)"}},
		{"braces in a str", job + `main = agent(input = Job, task = "On {{title}}.")`, "AS319", []string{"a task is literal: {{title}} is not filled in", `write task = template("...")`}},
		{"nothing to judge by", `main = verify()`, "AS203", []string{"verify needs to know what to judge by"}},
	})
}

// Promise 26.42 (sound): a skill's `llm_description()` returns the description that a model sees.
func TestPromise_26_42_SkillDescription(t *testing.T) {
	const src = `
Page = schema("A page", text = str)
look = skill("look", "Looks things up.", knowledge = {"tone": knowledge("How to write", "No exclamation marks.")})
told = look.llm_description()
own = skill("own", "Does it.", input = int, output = Page)
verbatim = skill("verbatim", "Does it.", llm_description = "As it is.")
main = agent(input = Page, skills = [look], prompt = "Be short.")
`
	computes(t, `[true,true,"## Skill: look\n\n**Input:** Page — A page\n  - text (str)\n**Output:** str\n\nLooks things up.\n\n**Knowledge:**\n- tone — How to write","## Skill: own\n\n**Input:** int\n**Output:** Page — A page\n  - text (str)\n\nDoes it.","As it is."]`,
		strings.Replace(src, "main = ", "worker = ", 1)+`
both = [told, look.llm_description()]
def got():
    return [both[0] != both[1], "str" in both[0], look.llm_description(), own.llm_description(), verbatim.llm_description()]
`)
	// It is what is sent to the model.
	_, calls := asked(t, src, `{"text": "x"}`, map[string][]string{"main": {"done"}})
	if want := "**Input:** Page — A page\n  - text (str)\n**Output:** str\n\nLooks things up."; !strings.Contains(calls[0].Request.System, want) {
		t.Errorf("the system text is %q, want %q in it", calls[0].Request.System, want)
	}
	refuse(t, []refusal{{"another attribute", `x = skill("a", "b").doc`, "AS209", []string{"has no .doc", "it has llm_description"}}})
}

// Promise 26.44 (sound): an answer that one agent of a conversation hands to the next is sent once; ids do not change.
func TestPromise_26_44_HandoverOnce(t *testing.T) {
	const draft, critique = `{"text":"All cats sleep."}`, "It is too short."
	_, calls := asked(t, `
Draft = schema("A draft", text = str)
writer = agent("writer", output = Draft, prompt = "Write.")
critic = agent("critic", input = Draft, prompt = "Judge.")
editor = agent("editor", prompt = "Edit.")
main = conversation(writer >> critic >> editor)
`, "About cats.", map[string][]string{"writer": {"```json\n{\"text\": \"All cats sleep.\",}\n```"}, "critic": {critique}, "editor": {"Done."}})
	if got := spoken(calls[2].Request.Messages); strings.Count(got, "All cats sleep.") != 1 || strings.Count(got, critique) != 1 || strings.Count(got, "user: "+model.HandedOver) != 2 || !strings.HasSuffix(got, model.HandedOver) {
		t.Errorf("the editor is sent\n%s", got)
	}
	for _, c := range calls {
		whole := *c.Request
		whole.Replace(text.Each(c.Request.Messages, model.Message.Whole))
		if whole.Digest() != c.Request.Digest() || strings.Contains(spoken(whole.Messages), "above") {
			t.Errorf("the digest of the request to %s is not that of its messages", c.Agent)
		}
	}
	if whole := spoken(text.Each(calls[2].Request.Messages, model.Message.Whole)); !strings.Contains(whole, "user: "+draft) {
		t.Errorf("the whole messages are\n%s", whole)
	}

	// What the previous agent did not answer is sent.
	_, calls = asked(t, `
a = agent("a", prompt = "A.", on_bad_output = lambda raw: 3, output = int, repairs = 0)
b = agent("b", input = int, prompt = "B.")
c = agent("c", prompt = "C.")
main = conversation(a >> b >> fn(lambda s: s + "!", output = str) >> c)
`, "x", map[string][]string{"a": {"no number at all"}, "b": {"A long answer."}, "c": {"Done."}})
	if got := spoken(calls[2].Request.Messages); strings.Contains(got, "above") || !strings.Contains(got, "user: 3\n") || !strings.HasSuffix(got, "user: A long answer.!") {
		t.Errorf("c is sent\n%s", got)
	}

	// The input repeats what was left out of a conversation.
	_, calls = asked(t, `
a, b = agent("a", prompt = "A."), agent("b", prompt = "B.", history = compress(after = 2, keep = 1))
main = conversation(a >> b)
`, "x", map[string][]string{"a": {"A long answer."}, "b": {"Done."}})
	if got := spoken(calls[1].Request.Messages); !strings.HasSuffix(got, "user: A long answer.") {
		t.Errorf("b is sent\n%s", got)
	}
}

// Promise 26.49 (sound): a session stores each message in full, as earlier versions did, and its next run also sends a
// handover only once.
func TestPromise_26_49_Sessions(t *testing.T) {
	var sessions session.Memory
	var last *model.Request
	mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/model")), `
a, b = agent("a", prompt = "A."), agent("b", prompt = "B.")
main = conversation(a >> b)
`)
	for range 2 {
		_, err := mod.Start(t.Context(), agentscript.InputText("go"), agentscript.Session(&sessions, "s"), agentscript.HandlerForAll(answering(func(_ context.Context, agent string, r *model.Request) engine.Outcome {
			last = r
			return said("an answer of " + agent)
		}))).Wait()
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := spoken(last.Messages); strings.Count(got, "an answer of a") != 2 || strings.Count(got, "above") != 2 {
		t.Errorf("the second run sends\n%s", got)
	}
	open, err := sessions.OpenSession(t.Context(), "s", "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := open.Load(t.Context(), "transcript"); err != nil || strings.Contains(kept.Text, "above") || strings.Count(kept.Text, "an answer of a") != 4 {
		t.Errorf("the session keeps %s, %v", kept.Text, err)
	}
}

// Promise 26.45 (sound): a router's answer without a rationale is accepted without a second question.
func TestPromise_26_45_RouterWithoutRationale(t *testing.T) {
	for _, answer := range []string{`{"skill": "shipping", "confidence": 0.9}`, `{"skill": "shipping", "confidence": 0.9, "rationale": null}`, "```json\n{\"skill\": \"shipping\", \"confidence\": 1}\n```"} {
		r := toolLoop(t, deskOf("select = router(),"), answersOf{"desk.router": {said(answer)}, "desk": {said("looked")}})
		if r.err != nil || len(r.requests["desk.router"]) != 1 {
			t.Errorf("%s: %v, the router is asked %d times", answer, r.err, len(r.requests["desk.router"]))
		}
		if typ := r.requests["desk.router"][0].Output.Type; len(typ.Fields) != 3 || typ.Fields[2].Name != "rationale" || typ.Fields[2].Optional {
			t.Errorf("the router is not asked for a rationale: %v", typ.Fields)
		}
	}
	// Without a skill there is nothing to choose by.
	r := toolLoop(t, deskOf("select = router(),"), answersOf{"desk.router": {said(`{"confidence": 0.9}`), said(`{"skill": "shipping", "confidence": 0.9}`)}, "desk": {said("looked")}})
	if r.err != nil || len(r.requests["desk.router"]) != 2 {
		t.Errorf("%v, the router is asked %d times", r.err, len(r.requests["desk.router"]))
	}
}

// Promise 26.130 (sound): `extra` cannot replace members of the request that the script sets elsewhere.
func TestPromise_26_130_ExtraKeepsTheRequest(t *testing.T) {
	src := func(extra string) string {
		return "Report = schema(\"A report\", a = int)\ndef look(path = str):\n    \"Looks.\"\n    return path\nmain = agent(prompt = \"Be short.\", output = Report, tools = [look], tool_choice = \"required\", extra = " + extra + ")\n"
	}
	for _, name := range []string{"openai/gpt-5-mini", "ollama/qwen3", "mistral/mistral-small-latest"} {
		own := src(`{"tools": [{"type": "web_search"}], "user": "u1"}`)
		if name == "ollama/qwen3" {
			own = strings.Replace(own, `tool_choice = "required", `, "", 1) // it cannot be made to call one
		}
		_, bodies, _, err := overTheWire(t, name, own, input("x"), llmtest.Reply{Text: `{"a": 1}`})
		tools, _ := bodies[0]["tools"].([]any)
		if err != nil || len(tools) != 2 || tools[1].(map[string]any)["type"] != "web_search" || bodies[0]["user"] != "u1" {
			t.Errorf("%s: %v, the tools are %v", name, err, tools)
		}
	}
	for extra, words := range map[string][]string{
		`{"tool_choice": "none"}`:                     {`"tool_choice"`, "extra would replace it", "tool_choice = "},
		`{"response_format": {"type": "text"}}`:       {`"response_format`},
		`{"tools": [{"function": {"name": "look"}}]}`: {`a tool "look" already`},
	} {
		_, bodies, _, err := overTheWire(t, "openai/gpt-5-mini", src(extra), input("x"), llmtest.Reply{Text: `{"a": 1}`})
		if err == nil || len(bodies) > 0 {
			t.Errorf("%s: %v after %d requests: %v", extra, err, len(bodies), bodies)
			continue
		}
		e := engine.AsError(err)
		for _, w := range words {
			if !strings.Contains(e.Error()+e.Help, w) {
				t.Errorf("%s: %v after %d requests, want %q", extra, err, len(bodies), w)
			}
		}
	}
	refuse(t, []refusal{
		{"messages", `main = agent(prompt = "x", extra = {"messages": []})`, "AS204", []string{`every request sets "messages" itself`}},
		{"a model", `main = agent(prompt = "x", extra = {"model": "gpt"})`, "AS204", []string{`every request sets "model" itself`, "model = ..."}},
		{"of a model", `main = agent(prompt = "x", model = model("openai/x", extra = {"stream": False}))`, "AS204", []string{`every request sets "stream" itself`}},
		{"tools that are no list", `main = agent(prompt = "x", extra = {"tools": {"type": "web_search"}})`, "AS204", []string{`"tools" must be a list`}},
	})
}
