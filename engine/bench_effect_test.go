package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/generable"
)

// BenchmarkEffects is a hundred model calls one after the other, each a node of its own with a
// prompt of 1 KB, per call: forgotten, remembered by a journal in memory, and answered from it.
func BenchmarkEffects(b *testing.B) {
	const calls = 100
	c := compose()
	agents := make([]*engine.Node, calls)
	for i := range agents {
		agents[i] = c.Agent(c.site("agent", ""), &engine.AgentSpec{Name: fmt.Sprint("a", i), In: strT, Out: strT, Prompt: strings.Repeat("Be brief. ", 100)})
	}
	main := c.Then(c.site("then", "main"), agents...)
	answer := &engine.Response{Finish: engine.FinishStop, Parts: []engine.Part{{Kind: engine.PartText, Text: "ok"}}}
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: answer, Attempt: 1}
	})
	recorded := &journal.Memory{}
	for _, way := range []struct {
		name string
		j    func() engine.Journal
	}{
		{"forgotten", func() engine.Journal { return nil }},
		{"remembered", func() engine.Journal { return &journal.Memory{} }},
		{"answered", func() engine.Journal { return recorded }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				spec := &engine.RunSpec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: way.j()}
				if _, err := engine.Exec(engine.NewGoSched(context.Background()), spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/effect")
		})
	}
}
