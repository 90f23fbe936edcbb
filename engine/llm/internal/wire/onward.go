package wire

import (
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// paused is Anthropic's finish reason for an answer that took long because of the provider's own tools. The answer
// continues when it is sent back unchanged.
const paused = "pause_turn"

// mostPauses bounds how often one call continues its answer.
const mostPauses = 8

// onward makes the requests of a call: one, and another one each time the answer was paused. The results are joined
// into one answer, and the costs are added, even if the last request fails.
func (x *Exchange) onward(once func() (*model.Response, *engine.Error)) (*model.Response, *engine.Error) {
	asked := x.Request
	defer func() { x.Request = asked }()
	var said *model.Response
	var before model.Usage
	whole := x.MaxOut
	defer func() { x.MaxOut = whole }()
	for pauses := 0; ; pauses++ {
		r, fail := once()
		if said != nil && fail != nil {
			fail.Usage = said.Usage.Add(fail.Usage)
			fail.Raw = said.Text() + fail.Raw
		}
		if fail != nil {
			return nil, fail
		}
		if said != nil {
			r.Parts = slices.Concat(said.Parts, r.Parts)
			r.Usage = said.Usage.Add(r.Usage)
			r.Citations = slices.Concat(said.Citations, r.Citations)
		}
		if r.RawFinish != paused || pauses == mostPauses || len(r.Parts) == 0 {
			return r, nil
		}
		if x.MaxOut > 0 { // an input token costs no more than an output token
			if x.MaxOut -= r.Usage.In + r.Usage.Out - before.In - before.Out; x.MaxOut <= 0 {
				f := x.cutOff(&failure{kind: engine.KindTruncated, what: "the token limit was used up before the answer ended", help: "raise max_tokens", code: paused})
				f.raw, f.usage = r.Text(), r.Usage
				return nil, x.error(f)
			}
		}
		before, said = r.Usage, r
		x.Request = asked.Extend(model.Message{Role: model.RoleAssistant, Parts: r.Parts})
	}
}
