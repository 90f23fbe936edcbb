package llm_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/tmc/langchaingo/llms"
)

// A token limit counts what a call may use while it is in flight and what it used once it ended, even if it failed.
func TestTokensPerMinute(t *testing.T) {
	limited := func(most int) *model.Request {
		r := prompt("x")
		r.Params.MaxTokens = &most
		return r
	}
	in := model.EstimateUsage(limited(20), nil).In
	wait := func(tokens int) time.Duration { return time.Duration(tokens) * 100 * time.Millisecond } // at 10 per second
	for name, row := range map[string]struct {
		first, second llmtest.Reply
		limits        llm.Limits
		waits         []time.Duration
	}{
		"all is used":            {llmtest.Reply{Text: "a", In: 40, Out: 20}, llmtest.Reply{Text: "b"}, llm.Limits{TokensPerMinute: 600}, []time.Duration{wait(in + 20)}},
		"some is left":           {llmtest.Reply{Text: "a", In: 30, Out: 20}, llmtest.Reply{Text: "b"}, llm.Limits{TokensPerMinute: 600}, []time.Duration{wait(in + 10)}},
		"just enough is left":    {llmtest.Reply{Text: "a", In: 40 - in, Out: 0}, llmtest.Reply{Text: "b"}, llm.Limits{TokensPerMinute: 600}, nil},
		"one too few is left":    {llmtest.Reply{Text: "a", In: 41 - in, Out: 0}, llmtest.Reply{Text: "b"}, llm.Limits{TokensPerMinute: 600}, []time.Duration{wait(1)}},
		"more was used than is":  {llmtest.Reply{Text: "a", In: 90, Out: 10}, llmtest.Reply{Text: "b"}, llm.Limits{TokensPerMinute: 600}, []time.Duration{wait(in + 20 + 40)}},
		"by a call that failed":  {llmtest.Reply{In: 60}, llmtest.Reply{Text: "b"}, llm.Limits{TokensPerMinute: 600}, []time.Duration{wait(in + 20)}},
		"of another provider":    {llmtest.Reply{Text: "a", In: 40, Out: 20}, llmtest.Reply{Text: "b"}, llm.Limits{}, nil},
		"requests are limited":   {llmtest.Reply{Text: "a", In: 40, Out: 20}, llmtest.Reply{Text: "b"}, llm.Limits{RequestsPerMinute: 10}, []time.Duration{6 * time.Second}},
		"requests that are left": {llmtest.Reply{Text: "a", In: 40, Out: 20}, llmtest.Reply{Text: "b"}, llm.Limits{RequestsPerMinute: 20}, nil},
	} {
		s := server(t, row.first, row.second)
		r, clock := patient(t, s, once, llm.WithLimits("openai", row.limits), llm.WithLimits("mistral", llm.Limits{TokensPerMinute: 600}))
		ask(r, "openai/gpt-5", limited(20))
		if out := ask(r, "openai/gpt-5", limited(20)); out.Err != nil || fmt.Sprint(clock.Waits()) != fmt.Sprint(row.waits) {
			t.Errorf("%s: waits %v, want %v; %v", name, clock.Waits(), row.waits, out.Err)
		}
	}
}

// The host's setting, else the provider's default, limits the calls in flight.
func TestCallsInFlight(t *testing.T) {
	for name, row := range map[string]struct {
		model    string
		parallel string
		limits   map[string]int
		want     int
	}{
		"a hosted provider":          {model: "openai/a", want: 8},
		"a server of the user's":     {model: "ollama/a", want: 1},
		"as it says":                 {model: "ollama/a", parallel: "3", want: 3},
		"as it says wrongly":         {model: "ollama/a", parallel: "many", want: 1},
		"none at all":                {model: "ollama/a", parallel: "0", want: 1},
		"for the provider":           {model: "openai/a", limits: map[string]int{"openai": 2, "": 5}, want: 2},
		"for all":                    {model: "openai/a", limits: map[string]int{"ollama": 2, "": 5}, want: 5},
		"any number":                 {model: "openai/a", limits: map[string]int{"openai": -1}, want: 0},
		"any number of a local one":  {model: "ollama/a", limits: map[string]int{"ollama": -1}, want: 0},
		"of a host's model":          {model: "acme/a", want: 0},
		"of a host's model, limited": {model: "acme/a", limits: map[string]int{"acme": 4}, want: 4},
	} {
		s := server(t, llmtest.Reply{Text: "ok"})
		opts := []llm.Option{env("OPENAI_API_KEY", "k-of-a-test", "OLLAMA_NUM_PARALLEL", row.parallel), llm.WithModel("acme/a", &foreign{answer: choices(&llms.ContentChoice{Content: "ok"})}, llm.Caps{})}
		for provider, n := range row.limits {
			opts = append(opts, llm.WithLimits(provider, llm.Limits{InFlight: n}))
		}
		r := port(t, s, opts...)
		need(t, ask(r, row.model, prompt("x")))
		if load := r.Limiter().Load(); len(load) != 1 || load[0].Allowed != row.want || load[0].InFlight != 0 {
			t.Errorf("%s: %+v, want %d", name, load, row.want)
		}
	}
}

// late is a host's model that keeps its streaming function.
type late struct {
	mu   sync.Mutex
	show func(context.Context, []byte) error
}

func (l *late) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func (l *late) GenerateContent(ctx context.Context, _ []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, opt := range opts {
		opt(&o)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.show = o.StreamingFunc
	if err := l.show(ctx, []byte("in time")); err != nil {
		return nil, err
	}
	return choices(&llms.ContentChoice{Content: "in time"}), nil
}

// What a host's model streams after the end of its call reaches nobody.
func TestHostModelStreamsTooLate(t *testing.T) {
	m := &late{}
	r := llm.New(env(), llm.WithModel("acme/late", m, llm.Caps{Stream: true}))
	out, tokens := heard(r, "acme/late", prompt("x"), true)
	need(t, out)
	shown := 0
	e := effect("acme/late", prompt("x"))
	e.Stream = true
	need(t, r.Do(t.Context(), e, func(engine.Token) { shown++ }))
	if err := m.show(context.Background(), []byte(" and too late")); err != nil {
		t.Error(err)
	}
	if len(tokens) != 1 || tokens[0].Text != "in time" || shown != 1 {
		t.Errorf("%+v, and then %d tokens", tokens, shown)
	}
}

// A host's model that panics releases its permit.
func TestPanicFreesItsPlace(t *testing.T) {
	m := &foreign{answer: choices(&llms.ContentChoice{Content: "ok"}), panics: true}
	r := llm.New(env(), llm.WithModel("acme/p", m, llm.Caps{}), llm.WithLimits("acme", llm.Limits{InFlight: 1}))
	if err := needErr(t, ask(r, "acme/p", prompt("x"))); err.Kind != engine.KindPanic {
		t.Fatal(err)
	}
	if load := r.Limiter().Load(); len(load) != 1 || load[0].InFlight != 0 {
		t.Errorf("%+v", load)
	}
}

// counting counts the open bodies of answers.
type counting struct {
	base http.RoundTripper
	open atomic.Int64
	all  atomic.Int64
}

type countedBody struct {
	io.ReadCloser
	of   *counting
	once sync.Once
}

func (b *countedBody) Close() error {
	b.once.Do(func() { b.of.open.Add(-1) })
	return b.ReadCloser.Close()
}

func (c *counting) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.base.RoundTrip(req)
	if err == nil {
		c.open.Add(1)
		c.all.Add(1)
		res.Body = &countedBody{ReadCloser: res.Body, of: c}
	}
	return res, err
}

// Whatever a call's result, the body of its answer is closed.
func TestBodiesAreClosed(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"answered": {Text: "one two"}, "refused": busy(), "cut": {Text: "one two three", Fault: llmtest.Cut}, "garbage": {Fault: llmtest.Garbage},
		"empty": {}, "not found": openAIError(404, "", "no"),
	} {
		for _, model := range []string{"openai/a", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-flash", "ollama/a"} {
			for _, stream := range []bool{false, true} {
				s := server(t, always(reply))
				c := &counting{base: http.DefaultTransport}
				heard(port(t, s, llm.WithTransport(c)), model, prompt("x"), stream)
				if c.all.Load() == 0 || c.open.Load() != 0 {
					t.Errorf("%s, %s: %d of %d bodies are open", name, model, c.open.Load(), c.all.Load())
				}
			}
		}
	}
}
