// Package cassette records the results of effects and answers effects from a record, so that a run can be replayed
// without a model, a tool or a grant. A [Recorder] wraps the handlers of a run and writes the run to a file, see
// package runfile; a [Replayer] replaces the handlers. A [Cache] keeps only the answers of models, in a directory,
// and asks for those that it does not have.
package cassette

import (
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// row is a step of a record: a request and its outcome.
type row struct {
	engine.Step
	outcome engine.Outcome
	line    int // its number in the record
	used    bool
}

// newRow decodes the outcome of a step. The record does not know the schemas that the script has now: typed values
// are decoded as maps and converted where they are used. Pictures and sounds keep their types.
func newRow(s engine.Step, line int) (*row, error) {
	out, err := engine.DecodeOutcome(s.Outcome, engine.TypesOf(model.ImageType, model.AudioType).OrMaps())
	if err != nil {
		return nil, err
	}
	if s.Key == "" {
		return nil, fmt.Errorf("it lacks the key of the request")
	}
	if s.Kind == engine.EffectModel && (out.Response == nil) == (out.Err == nil) {
		return nil, fmt.Errorf("the call of a model has not one of answer and error")
	}
	if s.Kind != engine.EffectModel && out.Response != nil {
		return nil, fmt.Errorf("%s %q has the answer of a model", s.Kind, s.Name)
	}
	if s.Kind == engine.EffectModel {
		out.Value = generable.Value{} // the replayed run decodes the text as its own type
	}
	return &row{Step: s, outcome: out, line: line}, nil
}

// replay returns a recorded outcome. If the effect streams, replay first sends the words of the answer to the sink.
func replay(e *engine.Effect, sink engine.Sink, out engine.Outcome) engine.Outcome {
	if e.Stream && sink != nil && out.Response != nil {
		for seq, word := range text.Words(out.Response.Text()) {
			sink(engine.Token{Attempt: max(out.Attempt, 1), Seq: seq, Text: word})
		}
	}
	return out
}
