package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// counted answers a call with its last message and the number of earlier calls.
type counted struct {
	mu    sync.Mutex
	calls int
}

func (s *counted) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	req := e.Req.(*model.Request)
	last := req.Messages[len(req.Messages)-1].Parts[0].Text
	if strings.Contains(last, "fail") {
		err := engine.Errorf(engine.KindQuota, "AS721", "no coins for %s", last)
		err.Usage = model.Usage{In: 3}
		return engine.Failed(err)
	}
	r := &model.Response{Parts: []model.Part{{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: "x", Data: `"sealed"`}},
		{Kind: model.PartText, Text: fmt.Sprintf("%s, call %d", last, s.calls)},
		{Kind: model.PartCall, Call: &model.ToolCall{ID: "c1", Name: "compile", Args: `{"path":"<a>"}`}}},
		Finish: model.FinishCalls, Provider: "openai", Model: "gpt-5-2026", RequestID: "req-1", Usage: model.Usage{In: 5, Out: 6, Reasoning: 1}}
	return engine.Outcome{Response: r, Usage: model.Usage{In: 9, Out: 6, Reasoning: 1}, Attempt: 2}
}

func recorded(t *testing.T, efs []*engine.Effect, redact func(string) string) (string, []engine.Outcome) {
	t.Helper()
	var b bytes.Buffer
	rec := cassette.Record(&b, &counted{}, redact)
	var outs []engine.Outcome
	for _, e := range efs {
		outs = append(outs, rec.Do(t.Context(), e, nil))
	}
	return b.String(), outs
}

func replayer(t *testing.T, text string) *cassette.Replayer {
	t.Helper()
	r, err := cassette.Replay(strings.NewReader(text), "calls.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func typed(text string) *model.Request {
	req := prompt(text)
	req.Model = "openai/gpt-5"
	req.Output = &model.Output{Type: verdict()}
	req.Params.Temperature = ptr(0.2)
	return req
}

// shownAll describes everything in an outcome that its caller sees.
func shownAll(o engine.Outcome) string {
	if o.Err != nil {
		return fmt.Sprintf("%s %s %s %v %d", o.Err.Kind, o.Err.Code, o.Err.Message, o.Usage, o.Attempt)
	}
	var parts []string
	for _, p := range o.Response.Parts {
		parts = append(parts, fmt.Sprintf("%s %q %v %v", p.Kind, p.Text, p.Call, p.Opaque))
	}
	r := *o.Response
	r.Parts = nil
	return fmt.Sprintf("%v %+v %v %d", parts, r, o.Usage, o.Attempt)
}

func TestReplayGivesWhatWasRecorded(t *testing.T) {
	efs := []*engine.Effect{effect("openai/gpt-5", typed("one")), effect("openai/gpt-5", typed("two")), effect("openai/gpt-5", typed("fail"))}
	text, outs := recorded(t, efs, nil)
	if n := strings.Count(text, "\n"); n != 4 {
		t.Fatalf("%d lines:\n%s", n, text)
	}
	r := replayer(t, text)
	for i := range efs { // in a different order than recorded, with new requests
		i = len(efs) - 1 - i
		e := effect("openai/gpt-5", typed([]string{"one", "two", "fail"}[i]))
		e.Stream = true
		var tokens []engine.Token
		out := r.Do(t.Context(), e, func(tok engine.Token) { tokens = append(tokens, tok) })
		if out.Err == nil && (shownAll(out) != shownAll(outs[i]) || out.Response.Calls()[0].Args != `{"path":"<a>"}`) {
			t.Errorf("call %d: %s\nrecorded %s", i, shownAll(out), shownAll(outs[i]))
		}
		if i == 2 {
			if out.Err == nil || out.Err.Kind != engine.KindQuota || out.Usage.In != 3 || !errors.Is(out.Err, &engine.Error{Kind: engine.KindQuota, Code: "AS721"}) {
				t.Errorf("%+v", out)
			}
			continue
		}
		streamed := ""
		for n, tok := range tokens {
			streamed += tok.Text
			if tok.Attempt != 2 || tok.Seq != n {
				t.Errorf("token %+v", tok)
			}
		}
		if streamed != out.Response.Text() {
			t.Errorf("streamed %q", streamed)
		}
	}
	if left := r.Unused(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// The same request in several branches is answered by position, in whatever order the branches ask, and otherwise in
// the order of the record.
func TestReplayOfParallelBranches(t *testing.T) {
	flow := func(h engine.Handler, sched engine.Sched) string {
		session := flow.NewSession()
		var nodes []*flow.Node
		for range 8 {
			nodes = append(nodes, session.Agent(flow.Site{What: "agent", Name: "critic"}, &agent.Spec{Name: "critic", Prompt: "Judge.", Model: "openai/gpt-5"}))
		}
		node := session.Par(flow.Site{What: "par"}, flow.ParOptions{}, nodes...)
		session.Seal()
		out, err := run.Exec(sched, &run.Spec{Node: node, Input: generable.StrOf("x"), Handler: h})
		if err != nil {
			t.Fatal(err)
		}
		return generable.JSON(out, nil)
	}
	var b bytes.Buffer
	want := flow(cassette.Record(&b, plainly{&counted{}}, nil), sched.NewGoSched(t.Context()))
	for seed := range uint64(20) {
		if got := flow(replayer(t, b.String()), sched.NewCoopSched(seed)); got != want {
			t.Fatalf("seed %d: %s, recorded %s", seed, got, want)
		}
		if got := flow(replayer(t, b.String()), sched.NewGoSched(t.Context())); got != want {
			t.Fatalf("%s, recorded %s", got, want)
		}
	}
}

// plainly removes tool calls from answers.
type plainly struct{ engine.Handler }

func (p plainly) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	out := p.Handler.Do(ctx, e, sink)
	own := *out.Response
	own.Parts, own.Finish = own.Parts[:2], model.FinishStop
	out.Response = &own
	return out
}

func TestReplayMisses(t *testing.T) {
	text, _ := recorded(t, []*engine.Effect{effect("openai/gpt-5", typed("a long question about ships and harbours")), effect("openai/gpt-5", typed("something else"))}, nil)
	for name, row := range map[string]struct {
		change func(*model.Request)
		says   []string
	}{
		"a message": {func(r *model.Request) { r.Messages[0].Parts[0].Text = "a long question about boats and harbours" },
			[]string{"line 2", "message 1 (user)", `recorded: "…a long question about ships`, `asked:    "…a long question about boats`}},
		"a message more": {func(r *model.Request) { r.Messages = append(r.Messages, model.TextMessage(model.RoleUser, "more")) }, []string{"line 2", "message 2 (user)", "(nothing)", `"more"`}},
		"the system":     {func(r *model.Request) { r.System = "Be long." }, []string{"line 2", "the system text", `"Be brief."`, `"Be long."`}},
		"the model":      {func(r *model.Request) { r.Model = "openai/gpt-6" }, []string{"line 2", "the model", "gpt-5", "gpt-6"}},
		"a parameter":    {func(r *model.Request) { r.Params.Temperature = ptr(0.7) }, []string{"line 2", "the parameters", "0.2", "0.7"}},
		"the schema": {func(r *model.Request) {
			changed := *verdict()
			changed.Doc = "Another"
			r.Output = &model.Output{Type: &changed}
		}, []string{"line 2", "the schema of the output"}},
		"a tool": {func(r *model.Request) { r.Tools = []model.ToolDef{{Name: "compile"}} }, []string{"line 2", "the tools", "(nothing)", "compile"}},
	} {
		req := typed("a long question about ships and harbours")
		row.change(req)
		err := needErr(t, ask(replayer(t, text), req.Model, req))
		if err.Kind != engine.KindReplay || err.Code != "AS718" {
			t.Errorf("%s: %v", name, err)
		}
		notes := strings.Join(err.Notes, "\n")
		hasAll(t, name, strings.ReplaceAll(notes, `"a long`, `"…a long`), row.says...)
	}
	r := replayer(t, text)
	asked := typed("something else")
	if out := ask(r, "openai/gpt-5", asked); out.Err != nil {
		t.Fatal(out.Err)
	}
	hasAll(t, "message", needErr(t, ask(r, "openai/gpt-5", asked)).Message, "once more")
	if left := r.Unused(); len(left) != 1 || left[0] != 2 {
		t.Errorf("left %v", left)
	}
	hasAll(t, "help", needErr(t, ask(replayer(t, ""), "openai/gpt-5", asked)).Help, "empty")
}

func TestReplayOfWhatIsNoRecord(t *testing.T) {
	for _, text := range []string{"x", "{}", `{"v":9,"key":"a","response":{}}`, `{"v":1,"key":"a"}`, `{"v":1,"key":"a","response":{},"error":{}}`, "[1]", "\n\nnull\n"} {
		if _, err := cassette.Replay(strings.NewReader(text), "calls.jsonl", nil); err == nil || !strings.Contains(err.Error(), "calls.jsonl:") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := cassette.Replay(strings.NewReader("\n \n"), "calls.jsonl", nil); err != nil {
		t.Error(err)
	}
}

// A key is never written, however it came into a request or an answer.
func TestNoKeyIsRecorded(t *testing.T) {
	const canary = `sk-canary/"1234567890"+x`
	r := llm.New(env("OPENAI_API_KEY", canary))
	for name, where := range map[string]engine.Handler{"record": nil, "cache": nil} {
		dir := t.TempDir()
		var b bytes.Buffer
		switch name {
		case "record":
			where = cassette.Record(&b, &counted{}, r.Redact)
		default:
			c, err := cassette.NewCache(dir, &counted{}, r.Redact)
			if err != nil {
				t.Fatal(err)
			}
			where = c
		}
		for _, text := range []string{"my key is " + canary, "fail with " + canary} {
			req := typed(text)
			req.System = canary
			where.Do(t.Context(), effect("openai/gpt-5", req), nil)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(data)
		}
		if b.Len() == 0 || strings.Contains(b.String(), "1234567890") || !strings.Contains(b.String(), "[redacted]") {
			t.Errorf("%s holds %s", name, b.String())
		}
		if name == "record" {
			again, err := cassette.Replay(&b, "calls.jsonl", r.Redact)
			if err != nil {
				t.Fatal(err)
			}
			req := typed("my key is " + canary)
			req.System = canary
			if out := ask(again, "openai/gpt-5", req); out.Err != nil {
				t.Error(out.Err)
			}
			req = typed("my other key is " + canary)
			if err := needErr(t, ask(again, "openai/gpt-5", req)); strings.Contains(strings.Join(err.Notes, ""), "1234567890") {
				t.Errorf("%q", err.Notes)
			}
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestRecordThatCannotBeWritten(t *testing.T) {
	rec := cassette.Record(full{}, &counted{}, nil)
	err := needErr(t, ask(rec, "openai/gpt-5", typed("x")))
	if err.Kind != engine.KindStore || err.Usage.In != 9 {
		t.Errorf("%v %+v", err, err.Usage)
	}
	// A cancelled call has no outcome.
	var b bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cassette.Record(&b, &counted{}, nil).Do(ctx, effect("openai/gpt-5", typed("fail")), nil)
	if b.Len() != 0 {
		t.Errorf("recorded %s", b.String())
	}
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "answers")
	models := &counted{}
	in := func(run string) engine.Handler {
		c, err := cassette.NewCache(dir, models, nil)
		if err != nil {
			t.Fatal(err)
		}
		return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
			e.Run = run
			return c.Do(ctx, e, sink)
		})
	}
	first := in("r1")
	a, b := ask(first, "openai/gpt-5", typed("x")), ask(first, "openai/gpt-5", typed("x"))
	if models.calls != 2 || a.Response.Text() == b.Response.Text() {
		t.Fatalf("%d calls: what is asked again is answered anew", models.calls)
	}
	again := in("r2")
	for _, want := range []engine.Outcome{a, b} {
		got := ask(again, "openai/gpt-5", typed("x"))
		if got.Err != nil || got.Response.Text() != want.Response.Text() || got.Usage != (model.Usage{}) || got.Attempt != 1 {
			t.Errorf("%+v, want the answer %q and no usage", got, want.Response.Text())
		}
	}
	if models.calls != 2 {
		t.Errorf("%d calls", models.calls)
	}
	needErr(t, ask(again, "openai/gpt-5", typed("fail")))
	needErr(t, ask(in("r3"), "openai/gpt-5", typed("fail")))
	if models.calls != 4 {
		t.Errorf("%d calls: failures are not kept", models.calls)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v %v", files, err)
	}
	for _, f := range files { // damaged
		if err := os.WriteFile(f, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := ask(in("r4"), "openai/gpt-5", typed("x")); out.Err != nil || models.calls != 5 {
		t.Errorf("%v after %d calls", out.Err, models.calls)
	}
}

// An entire registry can be recorded and replayed without it.
func TestRecordOverTheWire(t *testing.T) {
	s := llmtest.New(llmtest.Reply{Text: "one two", In: 3, Out: 4}, llmtest.Reply{Status: 401, Body: `{"error":{"message":"no","code":"invalid_api_key"}}`})
	defer s.Close()
	var b bytes.Buffer
	rec := cassette.Record(&b, port(t, s), nil)
	x, y := ask(rec, "openai/gpt-5", prompt("x")), ask(rec, "openai/gpt-5", prompt("y"))
	r := replayer(t, b.String())
	if got := ask(r, "openai/gpt-5", prompt("y")); shownAll(got) != shownAll(y) || got.Err.Model.Status != 401 {
		t.Errorf("%s, recorded %s", shownAll(got), shownAll(y))
	}
	if got := ask(r, "openai/gpt-5", prompt("x")); shownAll(got) != shownAll(x) {
		t.Errorf("%s, recorded %s", shownAll(got), shownAll(x))
	}
}
