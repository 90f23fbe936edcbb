package llm_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// Promise 25.8 (packages): runs in virtual time wait for nothing real, neither in the script nor in its handlers: the
// delay of a scripted answer, the wait that a provider asks for, a limit of calls per minute and a limit of concurrent
// calls let the other branches continue, and then advance the run's clock.
func TestPromise_25_8_VirtualTime(t *testing.T) {
	text := "ok"
	slow := scripted.Row{Agent: "*", Text: &text, Delay: time.Hour, Repeat: true}
	quick := scripted.Row{Agent: "*", Text: &text, Repeat: true}
	limited := scripted.Row{Agent: "a", Error: &scripted.Error{Kind: engine.KindRateLimit, Status: 429, RetryAfter: 45 * time.Second}}
	refused := scripted.Row{Agent: "b", Error: &scripted.Error{Kind: engine.KindRefused}}
	for _, tt := range []struct {
		name   string
		rows   []scripted.Row
		opts   []llm.Option
		limits engine.Limits
		ends   []time.Duration // of the calls, in order
		fails  error
	}{
		{"two answers come late", []scripted.Row{slow}, nil, engine.Limits{}, []time.Duration{time.Hour, time.Hour}, nil},
		{"one answer comes late", []scripted.Row{{Agent: "a", Text: &text, Delay: time.Hour}, quick}, nil, engine.Limits{}, []time.Duration{0, time.Hour}, nil},
		{"a provider asks to wait", []scripted.Row{limited, quick}, nil, engine.Limits{}, []time.Duration{0, 45 * time.Second}, nil},
		{"one call a minute", []scripted.Row{quick}, []llm.Option{llm.WithLimits("x", llm.Limits{RequestsPerMinute: 1})}, engine.Limits{}, []time.Duration{0, time.Minute}, nil},
		{"one call at once", []scripted.Row{slow}, []llm.Option{llm.WithLimits("x", llm.Limits{InFlight: 1})}, engine.Limits{}, []time.Duration{time.Hour, 2 * time.Hour}, nil},
		{"the run's time ends first", []scripted.Row{slow}, nil, engine.Limits{Wall: time.Minute}, []time.Duration{time.Minute, time.Minute}, engine.ErrTimeout},
		{"a sibling fails first", []scripted.Row{refused, slow}, nil, engine.Limits{}, []time.Duration{0, 0}, engine.ErrRefused},
		{"a wait is longer than the call may last", []scripted.Row{limited, slow}, []llm.Option{llm.WithTimeouts(llm.Timeouts{Total: 30 * time.Second})}, engine.Limits{}, []time.Duration{0, 0}, engine.ErrRateLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(20) {
				c := flow.NewSession()
				agent := func(name string) *flow.Node {
					return c.Agent(site("agent", name), &agent.Spec{Name: name, Prompt: "A.", Model: "x/" + name})
				}
				main := c.Par(site("par", ""), flow.ParOptions{}, agent("a"), agent("b"))
				c.Seal()
				var ends []time.Duration
				listener := engine.Listener{Kinds: engine.EventEffect, Emit: func(e engine.Event) {
					if e.Phase() == engine.PhaseEnd {
						ends = append(ends, e.At.Sub(time.Unix(0, 0)))
					}
				}}
				models := llm.New(append(tt.opts, llm.WithDriver(scripted.New(tt.rows)))...)
				_, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: models, Limits: tt.limits, Listener: listener})
				if tt.fails == nil && err != nil || !errors.Is(err, tt.fails) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				slices.Sort(ends)
				want := tt.ends
				if tt.fails != nil && len(ends) == 1 { // the other call did not begin
					want = want[1:]
				}
				if !slices.Equal(ends, want) {
					t.Errorf("seed %d: the calls ended after %v, want %v", seed, ends, tt.ends)
				}
			}
		})
	}
}
