package wire

import (
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// paused is Anthropic's word for an answer that took long because of tools that the provider runs
// itself, and goes on when it is sent back as it is.
const paused = "pause_turn"

// mostPauses bounds how often one call goes on with its answer.
const mostPauses = 8

// onward makes the requests of a call: one, and another one for each time that its answer was
// paused. What they give is one answer, and what they cost is counted together, also when the last
// one fails.
func (x *Exchange) onward(once func() (*model.Response, *engine.Error)) (*model.Response, *engine.Error) {
	asked := x.Request
	defer func() { x.Request = asked }()
	var said *model.Response
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
		}
		if r.RawFinish != paused || pauses == mostPauses || len(r.Parts) == 0 {
			return r, nil
		}
		said = r
		x.Request = asked.Extend(model.Message{Role: model.RoleAssistant, Parts: r.Parts})
	}
}
