package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// BenchmarkEffects is a hundred model calls one after the other, each a node of its own with a
// prompt of 1 KB, per call: forgotten, remembered by a journal in memory, and answered from it.
func BenchmarkEffects(b *testing.B) {
	const calls = 100
	c := compose()
	agents := make([]*flow.Node, calls)
	for i := range agents {
		agents[i] = c.Agent(c.site("agent", ""), &agent.AgentSpec{Name: fmt.Sprint("a", i), In: strT, Out: strT, Prompt: strings.Repeat("Be brief. ", 100)})
	}
	main := c.Then(c.site("then", "main"), agents...)
	answer := &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: answer, Attempt: 1}
	})
	recorded := &store.Memory{}
	for _, way := range []struct {
		name string
		j    func() engine.Journal
	}{
		{"forgotten", func() engine.Journal { return nil }},
		{"remembered", func() engine.Journal { return &store.Memory{} }},
		{"answered", func() engine.Journal { return recorded }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: way.j()}
				if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/effect")
		})
	}
}
