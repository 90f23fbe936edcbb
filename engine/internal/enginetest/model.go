package enginetest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Echo answers every model call with the agent's name and the last message.
var Echo = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	last := req.Messages[len(req.Messages)-1].Parts[0].Text
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop,
		Parts: []model.Part{{Kind: model.PartText, Text: e.Agent + "(" + last + ")"}}}}
})

// Refuse is a handler for replays: nothing may reach it.
var Refuse = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s was not recorded", e.ID()))
})

// Answers replies with one response after the other and keeps the requests.
type Answers struct {
	mu   sync.Mutex
	Next []model.Response
	Seen []*model.Request
}

// Do is the next response, or an error if there is none left.
func (a *Answers) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Seen = append(a.Seen, e.Req.(*model.Request))
	if len(a.Next) == 0 {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ScriptedModel, "no answer left"))
	}
	r := a.Next[0]
	a.Next = a.Next[1:]
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
}

// Says is an answer in text.
func Says(text string) model.Response {
	return model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}, Usage: model.Usage{In: 10, Out: 5}}
}

// Calls is an answer that calls tools: name, arguments, name, arguments, …
func Calls(parts ...string) model.Response {
	r := model.Response{Finish: model.FinishCalls}
	for i := 0; i < len(parts); i += 2 {
		r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: parts[i] + string(rune('0'+i)), Name: parts[i], Args: parts[i+1]}})
	}
	return r
}

// Answer is the outcome of a call that is answered in text.
func Answer(text string) engine.Outcome {
	return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: text}}, Finish: model.FinishStop}}
}

// CallCounter counts the calls that reach the handler.
type CallCounter struct {
	engine.Handler
	Calls atomic.Int64
}

// Do counts the call and passes it on.
func (c *CallCounter) Do(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	c.Calls.Add(1)
	return c.Handler.Do(ctx, e, k)
}
