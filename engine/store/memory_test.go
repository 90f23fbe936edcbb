package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

func TestTheFirstOutcomeStays(t *testing.T) {
	var m store.Memory
	if _, ok := m.Answer("a"); ok || m.IDs() != nil {
		t.Error("an empty journal answers")
	}
	for i, id := range []string{"b", "a", "b"} {
		if err := m.Commit(t.Context(), id, nil, engine.Outcome{Attempt: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	if out, ok := m.Answer("b"); !ok || out.Attempt != 1 {
		t.Errorf("b is answered with %+v", out)
	}
	if got := m.IDs(); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("recorded %v", got)
	}
}

func TestConcurrentCommits(t *testing.T) {
	var m store.Memory
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 200 {
				id := fmt.Sprint((i + j) % 300)
				if err := m.Commit(context.Background(), id, nil, engine.Outcome{Attempt: i + 1}); err != nil {
					t.Error(err)
				}
				first, ok := m.Answer(id)
				if again, _ := m.Answer(id); !ok || again.Attempt != first.Attempt {
					t.Errorf("%s changed from %d to %d", id, first.Attempt, again.Attempt)
				}
				m.IDs()
			}
		})
	}
	all.Wait()
	if ids := m.IDs(); len(ids) != 215 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 215 {
		t.Errorf("%d ids", len(ids))
	}
}

// disk is a journal that keeps failures as their JSON, like a store on disk.
type disk struct {
	store.Memory
	mu     sync.Mutex
	errors map[string]string
}

func (d *disk) Commit(ctx context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	if out.Err != nil {
		text, err := json.Marshal(out.Err)
		if err != nil {
			return err
		}
		d.mu.Lock()
		if d.errors == nil {
			d.errors = map[string]string{}
		}
		d.errors[id] = string(text)
		d.mu.Unlock()
		out.Err = nil
	}
	return d.Memory.Commit(ctx, id, e, out)
}

func (d *disk) Answer(id string) (engine.Outcome, bool) {
	out, ok := d.Memory.Answer(id)
	d.mu.Lock()
	text, failed := d.errors[id]
	d.mu.Unlock()
	if ok && failed {
		out.Err = &engine.Error{}
		if err := json.Unmarshal([]byte(text), out.Err); err != nil {
			out.Err = engine.Errorf(engine.KindStore, diag.JournalFailed, "%w", err)
		}
	}
	return out, ok
}

// agents composes a main that asks n agents one after the other and continues after failures.
func agents(t *testing.T, n int) engine.Func {
	s := flow.NewSession()
	nodes := make([]*flow.Node, n)
	for i := range nodes {
		name := fmt.Sprint("a", i)
		nodes[i] = s.Agent(flow.Site{Name: name, Span: diag.Span{Pos: diag.Pos{File: "t.star", Line: i + 1}}}, &agent.Spec{Name: name, Prompt: "Go."})
	}
	if l := s.Diagnostics(); l.HasErrors() {
		t.Fatal(l)
	}
	s.Seal()
	return engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		var last error
		for _, n := range nodes {
			if _, err := run.Call(b, n, generable.StrOf("x")); err != nil {
				last = err
			}
		}
		return generable.Value{}, last
	})
}

// A failure replays as the same failure, from memory and from its encoded form.
func TestFailuresReplay(t *testing.T) {
	cause := fmt.Errorf("reading: %w", context.DeadlineExceeded)
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		e := engine.Errorf(engine.KindRateLimit, diag.RateLimited, "slow down: %w", cause).WithHelp("wait")
		e.Model = &engine.Provider{Name: "acme", Model: "x", Status: 429}
		e.Usage = model.Usage{In: 7}
		out := engine.Failed(e)
		out.Attempt = 3
		return out
	})
	for name, j := range map[string]engine.Journal{"memory": &store.Memory{}, "disk": &disk{}} {
		_, first := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Main: agents(t, 1), Handler: h, Journal: j, Model: "m/m"})
		_, again := run.Exec(sched.NewCoopSched(1), &run.Spec{Main: agents(t, 1), Handler: refusing(t), Journal: j, Model: "m/m"})
		var a, b *engine.Error
		if !errors.As(first, &a) || !errors.As(again, &b) {
			t.Fatalf("%s: %v, then %v", name, first, again)
		}
		if a.Kind != b.Kind || a.Code != b.Code || a.Message != b.Message || a.Help != b.Help || a.Path != b.Path || a.Pos != b.Pos || *a.Model != *b.Model || a.Usage != b.Usage {
			t.Errorf("%s: %#v\nis replayed as %#v", name, a, b)
		}
		if a.Path != "main/agent:a0#0" || a.Pos.Line != 1 {
			t.Errorf("%s: at %s, %v", name, a.Path, a.Pos)
		}
		for _, target := range []error{engine.ErrRateLimit, context.DeadlineExceeded} {
			if !errors.Is(first, target) || !errors.Is(again, target) {
				t.Errorf("%s: errors.Is(%v) is %v, then %v", name, target, errors.Is(first, target), errors.Is(again, target))
			}
		}
	}
}

func refusing(t *testing.T) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		t.Errorf("%s reached the handler", e.ID())
		return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "not recorded"))
	})
}

// Recorded usage is charged again, so that a resumed run has the same budget left.
func TestRecordedUsageIsCharged(t *testing.T) {
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Attempt: 1, Usage: model.Usage{In: 60, Out: 40}, Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}}
	})
	for _, limits := range []engine.Limits{{ModelCalls: engine.AtMost(3)}, {Tokens: engine.AtMost(300)}} {
		j := &store.Memory{}
		spec := run.Spec{Main: agents(t, 2), Handler: h, Journal: j, Model: "m/m", Limits: limits}
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); err != nil {
			t.Fatal(err)
		}
		spec.Main = agents(t, 5)
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); !errors.Is(err, engine.ErrBudget) {
			t.Errorf("%+v: %v", limits, err)
		}
		made := 0
		for _, id := range j.IDs() {
			if out, _ := j.Answer(id); out.Err == nil {
				made++
			}
		}
		if made != 3 {
			t.Errorf("%+v: %d calls were made in both runs, want 3", limits, made)
		}
	}
}

// A cancelled call has no result, and is made again.
func TestCancelledCallsAreNotRecorded(t *testing.T) {
	j := &store.Memory{}
	ctx, cancel := context.WithCancel(t.Context())
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		if e.Agent == "a1" {
			cancel()
			return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
		}
		return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}, Attempt: 1}
	})
	if _, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Main: agents(t, 3), Handler: h, Journal: j, Model: "m/m"}); !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("got %v", err)
	}
	if ids := j.IDs(); len(ids) != 1 {
		t.Errorf("recorded %v", ids)
	}
	// An answer that arrived while the run was being cancelled was paid for.
	j = &store.Memory{}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	h = engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		cancel()
		return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}, Attempt: 1}
	})
	if _, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Main: agents(t, 2), Handler: h, Journal: j, Model: "m/m"}); !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("got %v", err)
	}
	if ids := j.IDs(); len(ids) != 1 {
		t.Errorf("recorded %v", ids)
	}
}
