package conversation

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
)

// reasoning is the state of reasoning turns, in which the model writes its thoughts instead of an answer.
type reasoning struct {
	every  int            // rounds of tool results
	rounds int            // since the last reasoning turn
	from   *model.Request // the request that the thoughts are about, during a reasoning turn
}

// reasons returns the reasoning state of a conversation, nil for an agent without reasoning turns. The first one is due
// before anything else.
func (t *conversation) reasons() *reasoning {
	k := t.Agent.ReasoningEvery
	if k < 1 {
		return nil
	}
	return &reasoning{every: k, rounds: k}
}

// worked counts a round of tool results.
func (r *reasoning) worked() {
	if r != nil {
		r.rounds++
	}
}

// thoughtful returns the request of a turn: the one for thoughts if a reasoning turn is due, else req. The last turn of
// the budget is left for the answer.
//
//go:noinline
func (t *conversation) thoughtful(req *model.Request) *model.Request {
	r := t.reasoning
	if r == nil || t.Closing || r.rounds < r.every || int64(t.Turn)+1 >= t.end.maxTurns {
		return req
	}
	r.from, t.Thinking = req, true
	next := req.Extend(model.TextMessage(model.RoleUser, model.ThoughtsPrompt))
	next.Output = nil
	callsNone(next)
	next.Reheaded()
	return next
}

// callsNone makes a request forbid tool calls. The tools stay in it, since some providers refuse earlier calls of tools
// that a request does not declare.
func callsNone(req *model.Request) {
	if req.Choice = (model.ToolChoice{}); len(req.Tools) > 0 {
		req.Choice.Mode = model.ChoiceNone
	}
}

// stopThinking ends a reasoning turn, and returns the request that it was about.
func (t *conversation) stopThinking() *model.Request {
	req := t.reasoning.from
	t.reasoning.from, t.Thinking = nil, false
	return req
}

// thought returns the request that follows a reasoning turn and contains the thoughts. Calls among them are not made:
// the model can request them again in the next turn. If there are no thoughts, it returns the original request.
//
//go:noinline
func (t *conversation) thought(resp *model.Response) *model.Request {
	req := t.stopThinking()
	t.reasoning.rounds = 0
	parts := resp.Parts
	if calls := resp.Calls(); len(calls) > 0 {
		t.b.Tell(engine.EventLog, &event.Log{Name: t.Agent.Name, Text: "called " + calls[0].Name + " when it was asked for its thoughts: the call is not made"})
		parts = wordsOnly(parts)
	}
	if strings.TrimSpace(model.TextIn(parts)) == "" {
		t.Seen = 0 // the counted tokens are not sent again
		return req
	}
	return req.Extend(model.TextMessage(model.RoleUser, model.ThoughtsPrompt), model.Message{Role: model.RoleAssistant, Parts: parts},
		model.TextMessage(model.RoleUser, model.ActPrompt))
}

// wordsOnly returns the text parts of a message, without the state that a provider attached for its calls.
func wordsOnly(parts []model.Part) []model.Part {
	words := slices.DeleteFunc(slices.Clone(parts), func(p model.Part) bool { return p.Kind != model.PartText })
	for i := range words {
		words[i].Opaque = nil
	}
	return words
}

// refusedToThink reports whether a model refused a reasoning turn. Thoughts that are cut off or empty are not a
// failure: they are not an answer.
func refusedToThink(r *model.Response) bool {
	return r.Finish == model.FinishRefusal || r.Finish == model.FinishFilter
}
