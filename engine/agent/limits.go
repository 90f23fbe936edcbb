package agent

import (
	"time"

	"github.com/agentscript/agentscript/generable"
)

// Defaults of an agent call. No turn begins after DefaultAgentWall, which stands still while a person
// is to decide; a wall time that is given cuts off what runs.
const (
	DefaultTurns     = 8
	DefaultToolCalls = 32
	DefaultDepth     = 16
	DefaultSameCall  = 8
	DefaultAgentWall = 5 * time.Minute
)

// RemainingType is the schema of what [run.Remaining] gives. What nothing bounds is null.
var RemainingType = remainingType()

func remainingType() *generable.Type {
	t := &generable.Type{Kind: generable.RecordType, Name: "Remaining", Doc: "What the budgets leave"}
	for _, f := range []struct {
		name, guide string
		of          *generable.Type
	}{
		{"model_calls", "model calls that may still begin", generable.IntT},
		{"tool_calls", "tool calls that the run has left", generable.IntT},
		{"tokens", "tokens, in and out together", generable.IntT},
		{"steps", "steps of the script's own code", generable.IntT},
		{"wall_seconds", "seconds until the time is up", generable.FloatT},
		{"turns", "turns that a budget around several agents has left", generable.IntT},
		{"usd", "US dollars", generable.FloatT},
	} {
		t.Fields = append(t.Fields, generable.Field{Name: f.name, Type: generable.OneOf(f.of, generable.NoneT), Guide: f.guide})
	}
	return t
}
