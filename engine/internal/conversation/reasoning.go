package conversation

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
)

// reasoning is how a conversation asks the model for its thoughts, in turns that are no answers.
type reasoning struct {
	every  int            // rounds of tool results
	rounds int            // since the last thoughts
	from   *model.Request // what the thoughts are about, while the model is asked for them
}

// reasons returns what the conversation keeps of its thoughts, nil for an agent that is not asked for any. The first
// are due before anything else.
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

// thoughtful returns the request that a turn makes: the one for thoughts where they are due, else req. The last turn
// of the budget is left for the answer.
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

// callsNone has a request allow no call of a tool. The tools stay, since some providers refuse earlier calls of tools
// that a request does not declare.
func callsNone(req *model.Request) {
	if req.Choice = (model.ToolChoice{}); len(req.Tools) > 0 {
		req.Choice.Mode = model.ChoiceNone
	}
}

// stopThinking ends the turn for thoughts, and returns the request that they were to be about.
func (t *conversation) stopThinking() *model.Request {
	req := t.reasoning.from
	t.reasoning.from, t.Thinking = nil, false
	return req
}

// thought returns the request that follows thoughts, in which they stand. Calls are not made: the model will ask for
// them again when it may. Without thoughts it is asked as if nothing had been.
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
		t.Seen = 0 // what it counted is not sent again
		return req
	}
	return req.Extend(model.TextMessage(model.RoleUser, model.ThoughtsPrompt), model.Message{Role: model.RoleAssistant, Parts: parts},
		model.TextMessage(model.RoleUser, model.ActPrompt))
}

// wordsOnly returns the texts among the parts of a message, without what a provider keeps with them for its calls.
func wordsOnly(parts []model.Part) []model.Part {
	words := slices.DeleteFunc(slices.Clone(parts), func(p model.Part) bool { return p.Kind != model.PartText })
	for i := range words {
		words[i].Opaque = nil
	}
	return words
}

// refusedToThink reports whether a model refused its thoughts. Thoughts that are cut off or empty are no failure: they
// are no answer.
func refusedToThink(r *model.Response) bool {
	return r.Finish == model.FinishRefusal || r.Finish == model.FinishFilter
}
