// Package mock answers model calls with values generated from the output types, for trying a flow without a provider or
// scripted answers. It lets the run call tools that only read, and no others.
package mock

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/sample"
	"github.com/agentscript/agentscript/internal/text"
)

// Options configure a mocked model. The zero Options are those of `run --mock`.
type Options struct {
	Seed uint64 // varies the values
	Acts bool   // also call tools that do more than read
}

// Model answers each call with a value of the output type that respects its limits; for a str, with a text
// that names the agent. Variants of a union, values of an enum, and true and false alternate. An agent with
// tools calls each of them once, with arguments made the same way, and then answers. Use it with
// [agentscript.WithModels] and in virtual time, where its answers are deterministic.
//
// A run with a Model calls only tools with the effect "read" and makes only read operations that are granted.
// Other calls are not made: a value of their result type replaces the result, and [Model.Stood] lists them.
type Model struct {
	opts Options

	mu    sync.Mutex
	maker *sample.Maker
	stood map[string]bool
}

var _ engine.Handler = (*Model)(nil)

// New returns a mocked model for one run.
func New(o Options) *Model {
	return &Model{opts: o, maker: sample.New(o.Seed), stood: map[string]bool{}}
}

// Do implements [engine.Handler] for effects of kind model.
func (m *Model) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	req, ok := e.Req.(*model.Request)
	if !ok || req == nil {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.MockFailed, "a model effect of %q carries %T, not a model request", e.Agent, e.Req))
	}
	clock.Turn(ctx)
	if ctx.Err() != nil {
		return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "mocked: %w", context.Cause(ctx)))
	}
	r := &model.Response{Finish: model.FinishStop, Model: cmp.Or(e.Name, req.Model, "mock")}
	if tools := uncalled(req); len(tools) > 0 {
		r.Finish = model.FinishCalls
		for i, t := range tools {
			args, err := m.value(t.Params, "tool "+t.Name)
			if err != nil {
				return engine.Failed(unmet("the arguments of tool "+strconv.Quote(t.Name), err))
			}
			r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{
				ID: "call_" + strconv.Itoa(len(req.Messages)) + "_" + strconv.Itoa(i), Name: t.Name, Args: generable.JSON(generable.Answer(args, t.Params), nil)}})
		}
	} else {
		said, err := m.answer(e, req)
		if err != nil {
			return engine.Failed(unmet("agent "+strconv.Quote(e.Agent), err))
		}
		r.Parts = []model.Part{{Kind: model.PartText, Text: said}}
		if e.Stream && sink != nil {
			for seq, word := range text.Words(said) {
				sink(engine.Token{Attempt: 1, Seq: seq, Text: word})
			}
		}
	}
	r.Usage = model.EstimateUsage(req, r)
	if e.MaxOut > 0 { // a made-up answer must fit the limit
		r.Usage.Out = min(r.Usage.Out, int(e.MaxOut))
	}
	return engine.Outcome{Response: r, Usage: r.Usage, Attempt: 1}
}

// answer returns an agent's answer.
func (m *Model) answer(e *engine.Effect, req *model.Request) (string, error) {
	t := generable.StrT
	if req.Output != nil && req.Output.Type != nil {
		t = req.Output.Type
	}
	v, err := m.value(t, e.Agent)
	if s, ok := v.AsStr(); ok || err != nil {
		return s, err
	}
	return generable.JSON(generable.Answer(v, t), nil), nil
}

// Skip generates a value and drops it, for an answer that was given before. Agents are identified by name, the
// arguments of a tool by "tool " and its name.
func (m *Model) Skip(t *generable.Type, of string) {
	_, _ = m.value(t, of) // one that cannot be generated was not generated before
}

func (m *Model) value(t *generable.Type, of string) (generable.Value, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.maker.Value(cmp.Or(t, generable.AnyT), of)
}

// unmet returns the error for a value that cannot be made.
func unmet(whose string, err error) *engine.Error {
	return engine.Errorf(engine.KindConfig, diag.MockFailed, "%s cannot be mocked: %w", whose, err).
		WithHelp("add fitting examples to the field, as in field(str, examples = [...]), or answer from a file with --scripted FILE")
}

// uncalled returns the tools that the conversation may call and has not called since the last user message. A tool with
// only_after is among them once those tools have succeeded.
func uncalled(req *model.Request) []model.ToolDef {
	if req.Choice.Mode == model.ChoiceNone || len(req.Tools) == 0 {
		return nil
	}
	called, succeeded := map[string]bool{}, map[string]bool{}
	for _, message := range slices.Backward(req.Messages) {
		if message.Role == model.RoleUser && !message.AsksToThink() && !slices.ContainsFunc(message.Parts, func(p model.Part) bool { return p.Kind == model.PartImage }) {
			break
		}
		for _, p := range message.Parts {
			switch {
			case p.Call != nil:
				called[p.Call.Name] = true
			case p.Result != nil && !p.Result.IsError:
				succeeded[p.Result.Name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(req.Tools), func(t model.ToolDef) bool {
		return called[t.Name] || req.Choice.Mode == model.ChoiceTool && t.Name != req.Choice.Tool ||
			slices.ContainsFunc(t.After, func(name string) bool { return !succeeded[name] })
	})
}

// Stood returns the sorted names of the tools and operations that were not called.
func (m *Model) Stood() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.stood))
}
