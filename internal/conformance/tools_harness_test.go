package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// toolRun is the result of a run whose agents call tools.
type toolRun struct {
	res      agentscript.Result
	err      error
	run      *agentscript.Run
	requests map[string][]*model.Request // by agent
	events   []engine.Event              // of tools, knowledge, skills, repairs, escalations and abandoned work
}

// failure returns the run's error as the engine's.
func (r *toolRun) failure() *engine.Error {
	var e *engine.Error
	errors.As(r.err, &e)
	return e
}

// told returns what an agent's model received about its calls before its last answer, in order.
func (r *toolRun) told(agent string) []string {
	all := r.requests[agent]
	if len(all) == 0 {
		return nil
	}
	var texts []string
	for _, m := range all[len(all)-1].Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				texts = append(texts, p.Result.Text)
			}
		}
	}
	return texts
}

// of lists the events of a kind; for tools, those of their ends.
func (r *toolRun) of(kind engine.EventKind) (found []engine.Event) {
	for _, e := range r.events {
		if e.Kind == kind && e.Phase() != engine.PhaseStart {
			found = append(found, e)
		}
	}
	return found
}

// answersOf is a model that gives each agent its answers in order.
type answersOf map[string][]engine.Outcome

func (a answersOf) handler(seen map[string][]*model.Request) engine.Handler {
	var mu sync.Mutex
	next := map[string]int{}
	return answering(func(_ context.Context, agent string, r *model.Request) engine.Outcome {
		mu.Lock()
		defer mu.Unlock()
		seen[agent] = append(seen[agent], r)
		i := next[agent]
		next[agent]++
		if i >= len(a[agent]) {
			return engine.Failed(engine.Errorf(engine.KindConfig, "AS714", "agent %q has no answer %d", agent, i+1))
		}
		return a[agent][i]
	})
}

// toolLoop runs a script whose agents call tools, and replays it from its record, where nothing may be called and the
// result must be the same.
func toolLoop(t *testing.T, src string, answers answersOf, tools ...agent.HostTool) *toolRun {
	t.Helper()
	opts := []agentscript.Option{agentscript.WithDefaultModel("test/model")}
	handlers := agent.HostTools{}
	for i := range tools {
		opts = append(opts, agentscript.WithTool(tools[i]))
		handlers[tools[i].Name] = &tools[i]
	}
	return toolLoopBy(t, agentscript.New(opts...), src, answers, handlers)
}

func toolLoopBy(t *testing.T, eng *agentscript.Engine, src string, answers answersOf, tools agent.HostTools) *toolRun {
	t.Helper()
	mod := loaded(t, eng, src)
	record := &store.Memory{}
	kinds := engine.EventTool | engine.EventRepair | engine.EventEscalation | engine.EventLeft | engine.EventSkill | engine.EventKnowledge
	once := func(h engine.Handler) *toolRun {
		r := &toolRun{requests: map[string][]*model.Request{}}
		if h == nil {
			h = engine.Handlers{engine.EffectModel: answers.handler(r.requests), engine.EffectTool: tools}
		}
		r.run = mod.Start(t.Context(), agentscript.InputText("go"), agentscript.ID("run"), agentscript.RunJournal(record), agentscript.HandlerForAll(h),
			agentscript.OnEvent(kinds, func(e engine.Event) { r.events = append(r.events, e) }))
		r.res, r.err = r.run.Wait()
		return r
	}
	first := once(nil)
	again := once(engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		t.Errorf("the replay calls %s %s", e.Kind, e.ID())
		return unrecorded.Do(t.Context(), e, nil)
	}))
	if fmt.Sprint(first.err) != fmt.Sprint(again.err) || first.err == nil && first.res.Text() != again.res.Text() {
		t.Errorf("the replay gives %v, %v; the run gave %v, %v", again.res, again.err, first.res, first.err)
	}
	ends := func(r *toolRun) string {
		var b strings.Builder
		for _, e := range r.of(engine.EventTool) {
			fmt.Fprintf(&b, "%s %s %v\n", e.Path, e.Text(), e.Err())
		}
		return b.String()
	}
	if a, b := ends(first), ends(again); a != b && first.err == nil && strings.Count(a, "\n") == 1 {
		t.Errorf("the calls come to\n%s\nand replayed to\n%s", a, b)
	}
	return first
}

// hostTool returns a tool of the host that counts its calls from 1 and takes one int.
func hostTool(t *testing.T, name string, do func(ctx context.Context, n, arg int) (string, error)) (agent.HostTool, func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	tool := agent.HostTool{Tool: agent.Tool{Name: name, Doc: "Does " + name + ".", Class: engine.ClassIdempotent, Returns: generable.StrT,
		Params: schemaOf(t, name, generable.Field{Name: "n", Type: generable.IntT})},
		Do: func(ctx context.Context, _ agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
			mu.Lock()
			n++
			at := n
			mu.Unlock()
			v, _ := memberOf(args, "n")
			arg, _ := v.AsInt()
			text, err := do(ctx, at, int(arg))
			return generable.StrOf(text), err
		}}
	return tool, func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// brokenTool returns a tool that fails the given number of times.
func brokenTool(t *testing.T, name string, times int) (agent.HostTool, func() int) {
	return hostTool(t, name, func(_ context.Context, n, _ int) (string, error) {
		if n <= times {
			return "", fmt.Errorf("boom %d", n)
		}
		return fmt.Sprintf("done at %d", n), nil
	})
}
