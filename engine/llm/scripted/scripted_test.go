package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func read(t *testing.T, lines string) *scripted.Model {
	t.Helper()
	s, err := scripted.Read(strings.NewReader(lines), "answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func as(agent, user string) *engine.Effect {
	return &engine.Effect{Kind: engine.EffectModel, Agent: agent, Name: "openai/gpt-5", Req: &model.Request{Messages: []model.Message{model.TextMessage(model.RoleUser, user)}}}
}

// said makes a call and returns the answer's text, or the error's.
func said(s *scripted.Model, agent, user string) string {
	out := s.Do(context.Background(), as(agent, user), nil)
	if out.Err != nil {
		return "error: " + out.Err.Message
	}
	return out.Response.Text()
}

func TestScriptedOrder(t *testing.T) {
	s := read(t, `
# rows of two agents and of any
{"agent": "a", "text": "a1"}
{"agent": "*", "text": "any"}
{"agent": "b", "json": {"type": "Approved", "confidence": 0.95}}

// the last ones
{"agent": "a", "text": "a2"}
{"agent": "b", "text": "b2", "repeat": true}
`)
	for i, step := range [][2]string{{"b", "any"}, {"a", "a1"}, {"b", `{"type": "Approved", "confidence": 0.95}`}, {"b", "b2"}, {"b", "b2"}, {"a", "a2"}, {"b", "b2"}} {
		if got := said(s, step[0], "x"); got != step[1] {
			t.Errorf("step %d: %q, want %q", i, got, step[1])
		}
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	if seen := s.Requests(); len(seen) != 7 || seen[1].Agent != "a" || seen[1].Request.Messages[0].Parts[0].Text != "x" {
		t.Errorf("%+v", seen)
	}
}

func TestScriptedMatch(t *testing.T) {
	s := read(t, `{"agent": "a", "match": "item 1", "text": "one"}
{"agent": "a", "match": "item 10", "text": "ten"}
{"agent": "a", "match": "item 1", "text": "one again"}
{"agent": "a", "text": "any"}
`)
	for i, step := range [][2]string{{"see item 10", "ten"}, {"see item 1", "one"}, {"see item 1", "one again"}, {"else", "any"}} {
		if got := said(s, "a", step[0]); got != step[1] {
			t.Errorf("step %d: %q, want %q", i, got, step[1])
		}
	}
	// The match only considers the last user message.
	s = read(t, `{"agent": "a", "match": "old", "text": "wrong"}
{"agent": "a", "match": "new", "text": "right"}
`)
	e := as("a", "the old one")
	req := e.Req.(*model.Request)
	req.Messages = append(req.Messages, model.TextMessage(model.RoleAssistant, "old"), model.TextMessage(model.RoleUser, "the new one"),
		model.Message{Role: model.RoleTool, Parts: []model.Part{resultPart("c", "old", "old")}})
	if got := need(t, s.Do(t.Context(), e, nil)).Text(); got != "right" {
		t.Errorf("%q", got)
	}
}

// A match ignores requests for thoughts, so that rows for several inputs can contain thoughts.
func TestScriptedMatchOfThoughts(t *testing.T) {
	s := read(t, `{"agent": "a", "match": "item 2", "text": "thoughts about 2"}
{"agent": "a", "match": "item 1", "text": "thoughts about 1"}
{"agent": "a", "match": "item 1", "text": "one"}
`)
	e := as("a", "see item 1")
	req := e.Req.(*model.Request)
	for i, step := range [][2]string{{model.ThoughtsPrompt, "thoughts about 1"}, {model.ActPrompt, "one"}} {
		req.Messages = append(req.Messages, model.TextMessage(model.RoleUser, step[0]))
		if got := need(t, s.Do(t.Context(), e, nil)).Text(); got != step[1] {
			t.Errorf("step %d: %q, want %q", i, got, step[1])
		}
		req.Messages = append(req.Messages, model.TextMessage(model.RoleAssistant, step[1]))
	}
}

// TestScriptedIsFreeOfOrder runs branches with one match each in any order.
func TestScriptedIsFreeOfOrder(t *testing.T) {
	const n = 200
	for range 3 {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "{\"agent\": \"a\", \"match\": \"item %d\", \"text\": \"answer %d\"}\n", i, i)
		}
		s := read(t, b.String())
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				if got, want := said(s, "a", fmt.Sprintf("do item %d", i)), fmt.Sprintf("answer %d", i); got != want {
					t.Errorf("%q, want %q", got, want)
				}
			})
		}
		wg.Wait()
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	}
}

func TestScriptedCalls(t *testing.T) {
	s := read(t, `{"agent": "a", "text": "Looking.", "calls": [{"name": "now"}, {"name": "compile", "args": {"path": "a.go"}, "id": "mine"}], "repeat": true, "usage": {"in": 3, "out": 4}}`)
	e := as("a", "x")
	r := need(t, s.Do(t.Context(), e, nil))
	calls := r.Calls()
	if r.Text() != "Looking." || r.Finish != model.FinishCalls || len(calls) != 2 || calls[0].Args != "{}" || calls[1].ID != "mine" || calls[1].Args != `{"path": "a.go"}` {
		t.Errorf("%+v %+v", r, calls)
	}
	if r.Usage != (model.Usage{In: 3, Out: 4}) {
		t.Errorf("%+v", r.Usage)
	}
	next := e.Req.(*model.Request).Extend(model.Message{Role: model.RoleAssistant, Parts: r.Parts})
	again := need(t, s.Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Agent: "a", Req: next}, nil))
	if again.Calls()[0].ID == calls[0].ID {
		t.Errorf("the id %s comes twice in one conversation", calls[0].ID)
	}
}

func TestScriptedErrorsAndDelays(t *testing.T) { synctest.Test(t, errorsAndDelays) }

func errorsAndDelays(t *testing.T) {
	s := read(t, `{"agent": "a", "error": {"kind": "rate_limit", "message": "slow down", "status": 429, "retry_after": 2}}
{"agent": "a", "error": {"kind": "auth"}}
{"agent": "a", "error": {"kind": "cancelled"}}
{"agent": "a", "text": "late", "delay": "30ms"}
{"agent": "a", "text": "never", "delay": 60}
`)
	err := needErr(t, s.Do(t.Context(), as("a", "x"), nil))
	if !errors.Is(err, engine.ErrRateLimit) || err.Code != diag.RateLimited || err.Model.Status != 429 || err.Model.RetryAfter != 2*time.Second || !err.Model.Retryable || !strings.Contains(err.Message, "slow down") {
		t.Errorf("%v %+v", err, err.Model)
	}
	if err := needErr(t, s.Do(t.Context(), as("a", "x"), nil)); !errors.Is(err, engine.ErrAuth) || err.Model.Retryable || err.Model.Name != "openai" {
		t.Errorf("%v", err)
	}
	if err := needErr(t, s.Do(t.Context(), as("a", "x"), nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	begin := time.Now()
	if need(t, s.Do(t.Context(), as("a", "x"), nil)); time.Since(begin) != 30*time.Millisecond {
		t.Errorf("late by %s", time.Since(begin))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := needErr(t, s.Do(ctx, as("a", "x"), nil)); err.Kind != engine.KindTimeout {
		t.Errorf("%v", err)
	}
}

func TestScriptedStreams(t *testing.T) {
	e := as("reviewer", "x")
	e.Stream = true
	seq, text := 0, ""
	out := scripted.Answers(map[string][]string{"reviewer": {"one two\nthree"}}).Do(t.Context(), e, func(tok engine.Token) {
		if tok.Attempt != 1 || tok.Seq != seq {
			t.Errorf("token %+v, want attempt 1 and number %d", tok, seq)
		}
		seq++
		text += tok.Text
	})
	if r := need(t, out); text != r.Text() || text != "one two\nthree" || !r.Usage.Estimated || r.Usage.Out != 4 {
		t.Errorf("%q %+v", text, r.Usage)
	}
}

func TestScriptedRunsOut(t *testing.T) {
	s := scripted.Answers(map[string][]string{"reviewer": {"only"}, "coder": {"c"}})
	said(s, "reviewer", "x")
	for _, row := range []struct {
		agent string
		says  []string
	}{
		{"reviewer", []string{`agent "reviewer"`, "its only row is used up", "please rev", " … "}},
		{"reviewr", []string{"it has no rows", `did a row for "reviewer" mean it?`}},
	} {
		out := s.Do(t.Context(), as(row.agent, "please review "+strings.Repeat("long ", 1000)), nil)
		err := needErr(t, out)
		if err.Kind != engine.KindReplay || err.Code != diag.ScriptedModel || len(err.Message) > 500 {
			t.Errorf("%s %s: %d bytes", err.Kind, err.Code, len(err.Message))
		}
		hasAll(t, "message", err.Message, row.says...)
		hasAll(t, "help", err.Help, `{"agent": "`+row.agent+`"`)
	}
	called := as("reviewer", "weather?")
	called.Req = called.Req.(*model.Request).Extend(model.Message{Role: model.RoleTool, Parts: []model.Part{
		{Kind: model.PartResult, Result: &model.ToolResult{Name: "wether", Text: "error: there is no tool wether", IsError: true}}}})
	hasAll(t, "message", needErr(t, s.Do(t.Context(), called, nil)).Message, `it was asked "weather?"`, `and last received from wether "error: there is no tool wether"`)
	s = read(t, `{"agent": "a", "match": "apples", "text": "1"}`)
	hasAll(t, "message", said(s, "a", "pears"), `answers.jsonl:1 has "match": "apples", which the question does not contain`, `"pears"`)
	path := read(t, `{"agent": "a", "path": "main/then", "text": "1"}`+"\n"+`{"agent": "a", "match": "apples", "text": "1"}`)
	refused := needErr(t, path.Do(t.Context(), as("a", "pears"), nil))
	hasAll(t, "message", refused.Message, "none of its 2 rows matches")
	hasAll(t, "notes", strings.Join(refused.Notes, "\n"), `answers.jsonl:1 has "path": "main/then", and the call is not below it`, `answers.jsonl:2 has "match": "apples"`)

	err := s.Err()
	if err == nil {
		t.Fatal("an unused row is no error")
	}
	hasAll(t, "message", err.Error(), "1 scripted row of answers.jsonl", "line 1", `matching "apples"`)
	var e *engine.Error
	if unused := s.Unused(); !errors.As(err, &e) || e.Code != diag.ScriptedModel || len(unused) != 1 || unused[0].Match != "apples" {
		t.Errorf("%v %v", err, unused)
	}
}

func TestReadScriptedErrors(t *testing.T) {
	for line, want := range map[string]string{
		`{"agent": "a"`:                          "column",
		`[1]`:                                    "a row is a JSON object",
		`1`:                                      "a row is a JSON object",
		`{"agent": "a", "txt": "x"}`:             `did you mean "text"?`,
		`{"agent": "a", "zzzz": "x"}`:            "it has agent, match",
		`{"text": "x"}`:                          "agent is missing",
		`{"agent": "", "text": "x"}`:             "agent is empty",
		"{\"agent\": \"a\", \"text\": \"\xff\"}": "column 25: the row is no UTF-8 text: byte 0xff",
		`{"agent": "a", "text": "x", "text": "y"}`:                             "text appears twice",
		`{"agent": "a", "error": {"kind": "auth", "kind": "server"}}`:          "error.kind appears twice",
		`{"agent": "a", "calls": [{"name": "f"}, {"name": "f", "name": "g"}]}`: "calls.name appears twice",
		`{"agent": "a"}`:                                                        "has none",
		`{"agent": "a", "text": "x", "json": 1}`:                                "has several",
		`{"agent": "a", "json": 1, "calls": [{"name": "f"}]}`:                   "has several",
		`{"agent": "a", "text": 5}`:                                             "text does not take a number",
		`{"agent": "a", "text": null}`:                                          "text does not take null",
		`{"agent": "a", "error": null}`:                                         "error does not take null",
		`{"agent": "a", "error": "rate_limit"}`:                                 `error does not take a string: write {"error": {"kind": "rate_limit", "message": "…"}}`,
		`{"agent": "a", "error": "the server is down"}`:                         `write {"error": {"kind": "server", "message": "the server is down"}}`,
		`{"agent": "a", "calls": {"name": "f"}}`:                                `calls does not take an object: write {"calls": [{"name": "lookup", "args": {"id": 1}}]}`,
		`{"agent": "a", "text": "x", "usage": 3}`:                               `usage does not take a number: write {"usage": {"in": 100, "out": 20}}`,
		`{"agent": "a", "calls": []}`:                                           "calls is empty",
		`{"agent": "a", "calls": [{"args": {}}]}`:                               "calls[0] has no name",
		`{"agent": "a", "calls": [{"name": "f", "args": []}]}`:                  "no object",
		`{"agent": "a", "calls": [{"name": "f", "arguments": {}}]}`:             `calls[0] has no "arguments": did you mean "args"?`,
		`{"agent": "a", "error": {"kind": "oops"}}`:                             `no error kind "oops"`,
		`{"agent": "a", "error": {"kind": "auth", "retry_after": "soon"}}`:      `"soon" is no duration`,
		`{"agent": "a", "text": "x", "delay": -1}`:                              "delay is negative",
		`{"agent": "a", "text": "x", "finish": "done"}`:                         `no finish "done"`,
		`{"agent": "a", "text": "x"} trailing`:                                  "column",
		`{"agent": "a", "text": "x", "usage": {"in": "many"}}`:                  "usage.in does not take a string",
		`{"agent": "a", "text": "x", "usage": {"in": 1, "out": 2, "total": 3}}`: `usage has no "total": it has in, out`,
	} {
		_, err := scripted.Read(strings.NewReader("{\"agent\": \"a\", \"text\": \"fine\"}\n\n"+line+"\n"), "x.jsonl")
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindConfig || e.Code != diag.ScriptedModel {
			t.Errorf("%s: %v", line, err)
			continue
		}
		hasAll(t, line, e.Message, "x.jsonl:3: ", want)
	}
	_, err := scripted.Read(strings.NewReader("{}\n{\"agent\": \"a\"}\n"), "x.jsonl")
	hasAll(t, "message", err.Error(), "x.jsonl:1: ", "x.jsonl:2: ")
	// A model's output may contain a key twice.
	if _, err := scripted.Read(strings.NewReader(`{"agent": "a", "json": {"x": 1, "x": 2}}`+"\n"+`{"agent": "a", "calls": [{"name": "f", "args": {"x": 1, "x": 2}}]}`), "x"); err != nil {
		t.Error(err)
	}
	if s, err := scripted.Read(strings.NewReader("\xEF\xBB\xBF{\"agent\":\"a\",\"json\":null}\r\n"), "x"); err != nil || said(s, "a", "x") != "null" {
		t.Errorf("%v", err)
	}
}

func FuzzReadScripted(f *testing.F) {
	f.Add(`{"agent": "a", "text": "x", "delay": "1ms"}`)
	f.Add("# c\n{\"agent\": \"*\", \"calls\": [{\"name\": \"f\", \"args\": {\"a\": 1}}], \"repeat\": true}\n{\"agent\":\"b\",\"error\":{\"kind\":\"auth\"}}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scripted.Read(strings.NewReader(text), "f")
		if (s == nil) == (err == nil) {
			t.Fatal("neither a model nor an error, or both")
		}
		if err != nil {
			return
		}
		for _, row := range s.Unused() {
			if row.Line == 0 {
				t.Errorf("a row without a line: %+v", row)
			}
			if row.JSON != nil && !json.Valid(row.JSON) {
				t.Errorf("invalid JSON kept: %s", row.JSON)
			}
		}
	})
}

// BenchmarkScripted measures the cost of one answered call without the engine.
func BenchmarkScripted(b *testing.B) {
	text := strings.Repeat("x", 400)
	s := scripted.New([]scripted.Row{{Agent: "other", Text: &text}, {Agent: "a", Text: &text, Repeat: true}})
	e := as("a", strings.Repeat("y", 1500))
	b.ReportAllocs()
	for b.Loop() {
		if out := s.Do(context.Background(), e, nil); out.Err != nil {
			b.Fatal(out.Err)
		}
	}
}

// TestScriptedByPosition assigns separate rows by position to the branches of a parallel that all run one agent.
func TestScriptedByPosition(t *testing.T) {
	for range 5 {
		session := flow.NewSession()
		var nodes []*flow.Node
		for range 3 {
			nodes = append(nodes, session.Agent(flow.Site{What: "agent", Name: "critic"}, &agent.Spec{Name: "critic", Prompt: "Judge."}))
		}
		node := session.Par(flow.Site{What: "par"}, flow.ParOptions{}, nodes...)
		if l := session.Diagnostics(); l.HasErrors() {
			t.Fatal(l.Error())
		}
		session.Seal()
		s := read(t, `{"agent": "critic", "path": "main/par0[2]", "text": "third"}
{"agent": "critic", "path": "main/par0[0]", "text": "first"}
{"agent": "critic", "path": "main/par0[1]", "text": "second"}
`)
		out, err := runNode(node, s)
		if err != nil || out != `["first","second","third"]` {
			t.Fatalf("%s %v; calls at %v", out, err, s.Requests())
		}
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	}
}

func runNode(node *flow.Node, h engine.Handler) (string, error) {
	out, err := run.Exec(sched.NewGoSched(context.Background()), &run.Spec{Node: node, Input: generable.StrOf("fix a.go"), Handler: h})
	return generable.JSON(out, nil), err
}

func hasAll(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

func resultPart(id, name, text string) model.Part {
	return model.Part{Kind: model.PartResult, Result: &model.ToolResult{CallID: id, Name: name, Text: text}}
}

func need(t *testing.T, out engine.Outcome) *model.Response {
	t.Helper()
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	if out.Usage != out.Response.Usage || out.Attempt != 1 {
		t.Errorf("outcome has usage %+v and attempt %d", out.Usage, out.Attempt)
	}
	return out.Response
}

func needErr(t *testing.T, out engine.Outcome) *engine.Error {
	t.Helper()
	if out.Err == nil {
		t.Fatalf("an error is wanted, got %+v", out.Response)
	}
	return out.Err
}
