package llm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// patient returns a registry with retries on a clock that does not wait. Each wait has its maximum length.
func patient(t *testing.T, s *llmtest.Server, opts ...llm.Option) (*llm.Registry, *llmtest.Clock) {
	t.Helper()
	c := llmtest.NewClock()
	longest := llm.WithRetry(llm.RetryPolicy{Jitter: func() float64 { return 1 }})
	return port(t, s, append([]llm.Option{longest, llm.WithClock(c)}, opts...)...), c
}

func busy(header ...string) llmtest.Reply {
	r := openAIError(429, "rate_limit_exceeded", "slow down")
	for i := 0; i < len(header); i += 2 {
		r.Header[header[i]] = header[i+1]
	}
	return r
}

func down() llmtest.Reply { return openAIError(503, "", "busy") }

func always(r llmtest.Reply) llmtest.Reply {
	r.Repeat = true
	return r
}

// heard makes a call and returns the tokens for a listener to retries.
func heard(h engine.Handler, model string, req *model.Request, stream bool) (engine.Outcome, []engine.Token) {
	var all []engine.Token
	e := effect(model, req)
	e.Stream = stream
	out := h.Do(context.Background(), e, func(tok engine.Token) { all = append(all, tok) })
	return out, all
}

func TestRetryWaits(t *testing.T) {
	second := time.Second
	for _, row := range []struct {
		name    string
		replies []llmtest.Reply
		policy  llm.RetryPolicy
		waits   []time.Duration
		calls   int
		kind    engine.ErrKind // "" if it is answered
	}{
		{name: "doubling", replies: []llmtest.Reply{down(), down(), down(), {Text: "ok"}}, waits: []time.Duration{second / 2, second, 2 * second}, calls: 4},
		{name: "capped", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Attempts: 6, Most: 3 * second}, waits: []time.Duration{second / 2, second, 2 * second, 3 * second, 3 * second}, calls: 6, kind: engine.KindOverloaded},
		{name: "four attempts", replies: []llmtest.Reply{always(down())}, waits: []time.Duration{second / 2, second, 2 * second}, calls: 4, kind: engine.KindOverloaded},
		{name: "one attempt", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Attempts: 1}, calls: 1, kind: engine.KindOverloaded},
		{name: "in all", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Total: 2}, waits: []time.Duration{second / 2}, calls: 2, kind: engine.KindOverloaded},
		{name: "within", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Within: 2 * second}, waits: []time.Duration{second / 2, second}, calls: 3, kind: engine.KindOverloaded},
		{name: "just within", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Within: 1500 * time.Millisecond}, waits: []time.Duration{second / 2, second}, calls: 3, kind: engine.KindOverloaded},
		{name: "just beyond", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Within: 1500*time.Millisecond - 1}, waits: []time.Duration{second / 2}, calls: 2, kind: engine.KindOverloaded},
		{name: "more than the usual", replies: []llmtest.Reply{always(down())}, policy: llm.RetryPolicy{Attempts: 13, Most: second / 2}, waits: slices.Repeat([]time.Duration{second / 2}, 12), calls: 13, kind: engine.KindOverloaded},
		{name: "a provider that asks for as long as it may", replies: []llmtest.Reply{busy("Retry-After", "9"), {Text: "ok"}}, policy: llm.RetryPolicy{LongestAsked: 9 * second}, waits: []time.Duration{9 * second}, calls: 2},
		{name: "retry-after-ms", replies: []llmtest.Reply{busy("Retry-After-Ms", "50", "Retry-After", "9"), {Text: "ok"}}, waits: []time.Duration{50 * time.Millisecond}, calls: 2},
		{name: "retry-after", replies: []llmtest.Reply{busy("Retry-After", "7"), {Text: "ok"}}, waits: []time.Duration{7 * second}, calls: 2},
		{name: "retry-after of a server", replies: []llmtest.Reply{func() llmtest.Reply { r := down(); r.Header["Retry-After"] = "3"; return r }(), {Text: "ok"}}, waits: []time.Duration{3 * second}, calls: 2},
		{name: "a minute", replies: []llmtest.Reply{busy("Retry-After", "60"), {Text: "ok"}}, waits: []time.Duration{60 * second}, calls: 2},
		{name: "over a minute", replies: []llmtest.Reply{always(busy("Retry-After", "61"))}, calls: 1, kind: engine.KindRateLimit},
		{name: "in words", replies: []llmtest.Reply{openAIError(429, "rate_limit_exceeded", "Please try again in 1.5s."), {Text: "ok"}}, waits: []time.Duration{1500 * time.Millisecond}, calls: 2},
		{name: "reset of a limit", replies: []llmtest.Reply{busy("X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6m0s", "X-Ratelimit-Remaining-Tokens", "9", "X-Ratelimit-Reset-Tokens", "6ms"), {Text: "ok"}}, calls: 1, kind: engine.KindRateLimit},
		{name: "reset of the other", replies: []llmtest.Reply{busy("X-Ratelimit-Remaining-Requests", "5", "X-Ratelimit-Reset-Requests", "6m0s", "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "6ms"), {Text: "ok"}}, waits: []time.Duration{6 * time.Millisecond}, calls: 2},
		{name: "should not", replies: []llmtest.Reply{always(func() llmtest.Reply { r := down(); r.Header["X-Should-Retry"] = "false"; return r }())}, calls: 1, kind: engine.KindOverloaded},
		{name: "broken", replies: []llmtest.Reply{{Fault: llmtest.Reset}, {Text: "one two three four", Fault: llmtest.Cut}, {}, {Text: "ok"}}, waits: []time.Duration{second / 2, second, 2 * second}, calls: 4},
		{name: "a bad request", replies: []llmtest.Reply{always(openAIError(400, "", "no"))}, calls: 1, kind: engine.KindBadRequest},
		{name: "a bad key", replies: []llmtest.Reply{always(openAIError(401, "", "no"))}, calls: 1, kind: engine.KindAuth},
		{name: "no quota", replies: []llmtest.Reply{always(openAIError(429, "insufficient_quota", "no"))}, calls: 1, kind: engine.KindQuota},
		{name: "refused", replies: []llmtest.Reply{always(llmtest.Reply{Refusal: "no"})}, calls: 1, kind: engine.KindRefused},
		{name: "garbage", replies: []llmtest.Reply{always(llmtest.Reply{Fault: llmtest.Garbage})}, calls: 1, kind: engine.KindBadResponse},
		{name: "cut off by its limit", replies: []llmtest.Reply{always(llmtest.Reply{Reasoning: "hm", Finish: "length"})}, calls: 1, kind: engine.KindTruncated},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := server(t, row.replies...)
			row.policy.Jitter = func() float64 { return 1 }
			r, clock := patient(t, s, llm.WithRetry(row.policy))
			out := ask(r, "openai/gpt-5", prompt("x"))
			if got := clock.Waits(); fmt.Sprint(got) != fmt.Sprint(row.waits) {
				t.Errorf("waits %v, want %v", got, row.waits)
			}
			if n := len(s.Requests()); n != row.calls || out.Attempt != row.calls {
				t.Errorf("%d calls, attempt %d, want %d", n, out.Attempt, row.calls)
			}
			switch {
			case row.kind == "" && (out.Err != nil || out.Response.Text() != "ok"):
				t.Errorf("%v", out.Err)
			case row.kind != "" && (out.Err == nil || out.Err.Kind != row.kind || out.Err.Attempt != row.calls):
				t.Errorf("%v, want %s in attempt %d", out.Err, row.kind, row.calls)
			}
		})
	}
}

// By default the wait is derived from run and position: the same each time, and different elsewhere.
func TestRetryWaitsAreTheSameEachTime(t *testing.T) {
	at := func(ru, a string) []time.Duration {
		s := server(t, always(down()))
		r, clock := patient(t, s, llm.WithRetry(llm.RetryPolicy{}))
		session := flow.NewSession()
		node := session.Agent(site("agent", a), &agent.Spec{Name: a, Prompt: "Judge."})
		session.Seal()
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: node, ID: ru, Input: generable.StrOf("x"), Handler: r, Model: "openai/gpt-5"})
		if len(clock.Waits()) != 3 {
			t.Fatalf("%d waits: %v", len(clock.Waits()), err)
		}
		return clock.Waits()
	}
	first := at("r1", "a")
	for i, most := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
		if first[i] < 0 || first[i] >= most {
			t.Errorf("wait %d is %s, want less than %s", i, first[i], most)
		}
	}
	if again := at("r1", "a"); !slices.Equal(first, again) {
		t.Errorf("%v and then %v", first, again)
	}
	if slices.Equal(first, at("r2", "a")) || slices.Equal(first, at("r1", "b")) {
		t.Error("another run or position waits the same")
	}
}

func TestRetryIsTold(t *testing.T) {
	s := server(t, busy("Retry-After-Ms", "20"), down(), llmtest.Reply{Text: "ok", In: 3, Out: 4})
	r, _ := patient(t, s)
	out, tokens := heard(r, "openai/gpt-5", prompt("x"), false)
	if out.Err != nil || len(tokens) != 2 {
		t.Fatalf("%v, %+v", out.Err, tokens)
	}
	for i, want := range []engine.Retry{{Wait: 20 * time.Millisecond}, {Wait: time.Second}} {
		got := tokens[i].Retry
		if tokens[i].Attempt != i+1 || got.Wait != want.Wait || got.From != "openai/gpt-5" || got.To != got.From {
			t.Errorf("%+v %+v", tokens[i], got)
		}
	}
	if tokens[0].Retry.Err.Kind != engine.KindRateLimit || tokens[1].Retry.Err.Kind != engine.KindOverloaded {
		t.Errorf("%v, %v", tokens[0].Retry.Err, tokens[1].Retry.Err)
	}
	if out.Response.Provider != "openai" || out.Usage != out.Response.Usage {
		t.Errorf("%+v", out)
	}
}

// A call whose answer has begun to be streamed is not repeated unless the listener can start over, by the numbers of
// the attempts.
func TestRetryAfterTokens(t *testing.T) {
	cut := llmtest.Reply{Text: "one two three four", Fault: llmtest.Cut}
	silent := llmtest.Reply{Text: "one", Fault: llmtest.Reset}
	for _, row := range []struct {
		name   string
		first  llmtest.Reply
		stream bool
		after  bool
		calls  int
	}{
		{"tokens were shown", cut, true, false, 1},
		{"nobody listens", cut, false, false, 2},
		{"nothing was shown", silent, true, false, 2},
		{"it may begin anew", cut, true, true, 2},
	} {
		s := server(t, row.first, llmtest.Reply{Text: "whole answer"})
		r, _ := patient(t, s, llm.WithRetry(llm.RetryPolicy{AfterTokens: row.after}))
		out, tokens := heard(r, "openai/gpt-5", prompt("x"), row.stream)
		if got := len(s.Requests()); got != row.calls {
			t.Errorf("%s: %d calls, want %d", row.name, got, row.calls)
		}
		if row.calls == 1 {
			if e := needErr(t, out); e.Kind != engine.KindTruncated || e.Usage.Out == 0 || !e.Usage.Estimated || out.Usage != e.Usage {
				t.Errorf("%s: %v %+v", row.name, e, e.Usage)
			}
			continue
		}
		text := map[int]string{}
		seq := map[int]int{}
		for _, tok := range tokens {
			if tok.Seq != seq[tok.Attempt] {
				t.Errorf("%s: token %+v, want number %d", row.name, tok, seq[tok.Attempt])
			}
			seq[tok.Attempt]++
			text[tok.Attempt] += tok.Text
		}
		if row.stream && text[2] != "whole answer" {
			t.Errorf("%s: tokens %v", row.name, text)
		}
		if out.Err != nil || out.Response.Text() != "whole answer" || out.Attempt != 2 {
			t.Errorf("%s: %+v", row.name, out)
		}
	}
}

// The usage of failed attempts counts, and the answer keeps its own usage.
func TestUsageOfFailedAttempts(t *testing.T) {
	s := server(t, llmtest.Reply{In: 10, Out: 0}, llmtest.Reply{Text: "ok", In: 3, Out: 4})
	r, _ := patient(t, s)
	out := ask(r, "openai/gpt-5", prompt("x"))
	if out.Err != nil || out.Usage.In != 13 || out.Usage.Out != 4 || out.Response.Usage.In != 3 {
		t.Errorf("%+v, answer %+v, %v", out.Usage, out.Response, out.Err)
	}
	s = server(t, always(llmtest.Reply{In: 10, Out: 0}))
	r, _ = patient(t, s)
	out = ask(r, "openai/gpt-5", prompt("x"))
	if e := needErr(t, out); e.Usage.In != 40 || out.Usage != e.Usage {
		t.Errorf("%+v %+v", out.Usage, e.Usage)
	}
}

func TestEveryAttemptIsNamed(t *testing.T) {
	s := server(t, down(), down(), llmtest.Reply{Fault: llmtest.Reset}, busy())
	r, _ := patient(t, s)
	e := needErr(t, ask(r, "openai/gpt-5", prompt("x")))
	hasAll(t, "message", e.Message, "openai/gpt-5 (attempt 4): the rate limit is reached")
	if len(e.Notes) != 2 || !strings.HasPrefix(e.Notes[0], "openai/gpt-5 (attempts 1 and 2): the provider is overloaded") || !strings.HasPrefix(e.Notes[1], "openai/gpt-5 (attempt 3): ") {
		t.Errorf("notes %q", e.Notes)
	}
}

// A wait ends with the context, and the call ends with the context's error and the earlier failures.
func TestContextEndsARetry(t *testing.T) {
	s := server(t, always(busy("Retry-After", "30")))
	r := port(t, s, llm.WithRetry(llm.RetryPolicy{}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := effect("openai/gpt-5", prompt("x"))
	out := r.Do(ctx, e, func(tok engine.Token) {
		if tok.Retry != nil {
			cancel()
		}
	})
	err := needErr(t, out)
	if err.Kind != engine.KindCancelled || len(s.Requests()) != 1 || len(err.Notes) != 0 && !strings.Contains(strings.Join(err.Notes, ""), "rate limit") {
		t.Errorf("%v, notes %q, %d calls", err, err.Notes, len(s.Requests()))
	}
}

// The call does not wait for an attempt that the context leaves no time for.
func TestDeadlineBeforeTheRetry(t *testing.T) {
	s := server(t, always(busy("Retry-After", "30")))
	r := port(t, s, llm.WithRetry(llm.RetryPolicy{}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := needErr(t, r.Do(ctx, effect("openai/gpt-5", prompt("x")), nil))
	if err.Kind != engine.KindRateLimit || ctx.Err() != nil {
		t.Errorf("%v", err)
	}
}

// If a model is too busy and does not say for how long, following calls leave it alone for as long as a call would wait
// before its retry.
func TestBusyModelRests(t *testing.T) {
	s := server(t, busy(), llmtest.Reply{Text: "ok"})
	c := llmtest.NewClock()
	r := port(t, s, llm.WithClock(c), llm.WithRetry(llm.RetryPolicy{Attempts: 1, Jitter: func() float64 { return 1 }}))
	if err := needErr(t, ask(r, "openai/gpt-5", prompt("x"))); err.Kind != engine.KindRateLimit {
		t.Fatal(err)
	}
	need(t, ask(r, "openai/gpt-5", prompt("x")))
	if got := c.Waits(); !slices.Equal(got, []time.Duration{time.Second / 2}) {
		t.Errorf("the next call waits %v", got)
	}
}
