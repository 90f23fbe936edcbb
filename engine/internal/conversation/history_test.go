package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// spoken writes the messages of a request: u:text a:text, calls and results by name.
func spoken(req *model.Request) string {
	var out []string
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				out = append(out, "call:"+p.Call.Name)
			case p.Result != nil:
				out = append(out, "result:"+p.Result.Name)
			case p.Kind == model.PartText:
				out = append(out, string(m.Role[:1])+":"+p.Text)
			}
		}
	}
	return strings.Join(out, " ")
}

// Transcript answers each call with the agent's name and records its requests, by agent.
func Transcript(heard map[string][]string) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		if req.System != "You are "+e.Agent+"." {
			return engine.Failed(engine.Errorf(engine.KindScript, diag.ScriptError, "system text %q of %s", req.System, e.Agent))
		}
		heard[e.Agent] = append(heard[e.Agent], spoken(req))
		if strings.HasPrefix(e.Agent, "bad") {
			return engine.Failed(engine.Errorf(engine.KindRefused, diag.ProviderError, "no"))
		}
		return enginetest.Answer(e.Agent)
	})
}

var sharing = &agent.History{Shared: true}

// Promise 22.4 (memory): agents with `history = "shared"` continue one conversation, each under its own system text.
// Concurrent branches fork it and do not see each other, after them the conversation is as it was before them, and a
// failure leaves nothing in it.
func TestPromise_22_4_SharedHistory(t *testing.T) {
	type build func(c *enginetest.Composer, a func(string) *flow.Node) *flow.Node
	for _, tt := range []struct {
		name  string
		build build
		want  map[string]string // the requests of each agent, in order
	}{
		{"a sequence goes on with one conversation", func(c *enginetest.Composer, a func(string) *flow.Node) *flow.Node {
			return c.Then(c.Op("then"), a("x"), a("y"), a("z"))
		}, map[string]string{"x": "u:in", "y": "u:in a:x u:x", "z": "u:in a:x u:x a:y u:y"}},
		{"branches fork it, and do not see each other", func(c *enginetest.Composer, a func(string) *flow.Node) *flow.Node {
			return c.Then(c.Op("then"), a("x"), c.Par(c.Op("par"), flow.ParOptions{}, a("y"), a("z")),
				c.Step("last", generable.ListOfType(generable.StrT), generable.StrT, func(v generable.Value) generable.Value {
					l, _ := v.AsList()
					return generable.StrOf(enginetest.Str(l.At(0)) + "+" + enginetest.Str(l.At(1)))
				}), a("w"))
		}, map[string]string{"x": "u:in", "y": "u:in a:x u:x", "z": "u:in a:x u:x", "w": "u:in a:x u:y+z"}},
		{"what fails leaves nothing", func(c *enginetest.Composer, a func(string) *flow.Node) *flow.Node {
			return c.Then(c.Op("then"), a("x"), c.Fallback(c.Site("fallback", ""), flow.FirstOptions{}, c.Then(c.Op("then"), a("y"), a("bad")), a("z")), a("w"))
		}, map[string]string{"y": "u:in a:x u:x", "bad": "u:in a:x u:x a:y u:y", "z": "u:in a:x u:x", "w": "u:in a:x u:x a:z u:z"}},
		{"an attempt that fails, too", func(c *enginetest.Composer, a func(string) *flow.Node) *flow.Node {
			return c.Then(c.Op("then"), a("x"), c.Attempt(c.Site("attempt", ""), c.Then(c.Op("then"), a("y"), a("bad"))),
				c.Step("text", generable.AnyT, generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("t") }), a("w"))
		}, map[string]string{"w": "u:in a:x u:t"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			main := tt.build(c, func(name string) *flow.Node {
				return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "You are " + name + ".", History: sharing})
			})
			c.Sound(t)
			heard := map[string][]string{}
			if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: Transcript(heard), Model: "test/model"}); err != nil {
				t.Fatal(err)
			}
			for agent, want := range tt.want {
				if got := strings.Join(heard[agent], " | "); got != want {
					t.Errorf("%s was asked %q, want %q", agent, got, want)
				}
			}
		})
	}
}

// Promise 22.5 (memory): a flow passes its history to the agents that do not set one, and the innermost flow takes
// precedence. Without any setting each call begins a new conversation.
func TestPromise_22_5_HistoryOfAFlow(t *testing.T) {
	c := enginetest.Compose()
	x, y := c.Prompted("x", nil, nil), c.Prompted("y", nil, nil)
	fresh := c.Agent(c.Site("agent", "fresh"), &agent.Spec{Name: "fresh", Prompt: "You are fresh.", History: &agent.History{}})
	inner := c.WithHistory(diag.Span{}, c.Then(c.Site("then", "inner"), c.Prompted("p", nil, nil), c.Prompted("q", nil, nil)), &agent.History{})
	last := c.Prompted("last", nil, nil)
	main := c.WithHistory(diag.Span{}, c.Then(c.Site("then", ""), x, y, fresh, inner, last), sharing)
	c.Sound(t)
	heard := map[string][]string{}
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: Transcript(heard), Model: "test/model"}); err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{"x": "u:in", "y": "u:in a:x u:x", "fresh": "u:y", "p": "u:fresh", "q": "u:p", "last": "u:in a:x u:x a:y u:q"} {
		if got := strings.Join(heard[agent], " | "); got != want {
			t.Errorf("%s was asked %q, want %q", agent, got, want)
		}
	}
}

// Tool calls are passed on to agents that have tools, and put into words for an agent without tools.
func TestSharedCalls(t *testing.T) {
	c := enginetest.Compose()
	look := &agent.Tool{Name: "look", Class: engine.ClassRead, Returns: generable.StrT, Run: engine.GoFunc("look", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.StrOf("a hook"), nil
	})}
	agent := func(name string, tools ...*agent.Tool) *flow.Node {
		return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "You are " + name + ".", History: sharing, Tools: tools})
	}
	main := c.Then(c.Op("then"), agent("x", look), agent("y", look), agent("z"))
	c.Sound(t)
	heard := map[string][]string{}
	inner := Transcript(heard)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
		out := inner.Do(ctx, e, s)
		if e.Agent == "x" && len(heard["x"]) == 1 {
			out.Response = &model.Response{Finish: model.FinishCalls, Parts: []model.Part{
				{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: "p", Data: "sig"}}, {Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "look", Args: "{}"}}}}
		}
		if e.Agent == "y" {
			if o := e.Req.(*model.Request).Messages[1].Parts[0].Opaque; o == nil || o.Data != "sig" {
				t.Errorf("the state of the provider is %v", o)
			}
		}
		return out
	})
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: h, Model: "test/model"}); err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{"y": "u:in call:look result:look a:x u:x", "z": "u:in a:(called look with {}) u:(look gave: a hook) a:x u:x a:y u:y"} {
		if got := strings.Join(heard[agent], " | "); got != want {
			t.Errorf("%s was asked %q, want %q", agent, got, want)
		}
	}
}

// The ids of a continued conversation are the same as if its messages had been sent at once: digests chain.
func TestDigestsOfSharedHistory(t *testing.T) {
	c := enginetest.Compose()
	agent := func(name string) *flow.Node {
		return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "P.", History: sharing})
	}
	main := c.Then(c.Op("then"), agent("x"), agent("y"))
	c.Sound(t)
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := *e.Req.(*model.Request)
		whole := &model.Request{Model: req.Model, System: req.System, Messages: append([]model.Message(nil), req.Messages...)}
		if req.Digest() != whole.Digest() {
			t.Errorf("%s: another digest than that of its messages", e.Agent)
		}
		return enginetest.Answer(e.Agent)
	})
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("in"), Handler: h, Model: "test/model", Journal: &store.Memory{}}); err != nil {
		t.Fatal(err)
	}
}

// Promise 22.6 (memory): a run of a session continues the conversation of the session's last run. A run that fails
// leaves the conversation as it was, a replay does not save it a second time, and another script is refused.
func TestPromise_22_6_Sessions(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "chat"), &agent.Spec{Name: "chat", Prompt: "You are chat.", History: sharing})
	bad := c.Agent(c.Site("agent", "bad"), &agent.Spec{Name: "bad", Prompt: "You are bad.", History: sharing})
	c.Sound(t)
	var s session.Memory
	heard := map[string][]string{}
	run := func(node *flow.Node, in, script string, j engine.Journal) error {
		_, err := run.Exec(sched.NewCoopSched(1), &run.Spec{ID: in, Node: node, Input: generable.StrOf(in), Handler: Transcript(heard), Model: "test/model", Journal: j,
			Session: &session.Ref{Store: &s, ID: "s", Script: script}})
		return err
	}
	j := &store.Memory{}
	for range 2 {
		if err := run(main, "one", "a.star", j); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(bad, "lost", "a.star", nil); !errors.Is(err, engine.ErrRefused) {
		t.Fatal(err)
	}
	if err := run(main, "two", "a.star", nil); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(heard["chat"], " | "); got != "u:one | u:one a:chat u:two" {
		t.Error(got)
	}
	if err := run(main, "x", "b.star", nil); !errors.Is(err, &engine.Error{Kind: engine.KindStore, Code: diag.BadSession}) || !strings.Contains(fmt.Sprint(err), "a.star") {
		t.Error(err)
	}
	if all, err := s.Sessions(t.Context()); err != nil || len(all) != 1 || all[0].ID != "s" || all[0].Script != "a.star" || all[0].Bytes == 0 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.DeleteSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := run(main, "new", "b.star", nil); err != nil || heard["chat"][2] != "u:new" {
		t.Error(err, heard["chat"])
	}
}

func TestSessionIDs(t *testing.T) {
	for _, id := range []string{"a", "A-1_b.c", strings.Repeat("x", 64), "2026-11-21"} {
		if err := session.CheckID(id); err != nil {
			t.Error(err)
		}
	}
	for _, id := range []string{"", "../../etc", "a/b", `a\b`, ".hidden", "-x", "_x", "a b", "a\x00", "ä", "a\n", strings.Repeat("x", 65), "a:b", "CON*"} {
		if err := session.CheckID(id); !errors.Is(err, &engine.Error{Kind: engine.KindInput, Code: diag.BadSession}) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
