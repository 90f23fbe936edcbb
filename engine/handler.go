package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
)

// Handlers maps each kind of effect to its handler.
type Handlers map[EffectKind]Handler

// Do implements [Handler].
func (h Handlers) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	if to := h[e.ByServer()]; to != nil {
		return to.Do(ctx, e, sink)
	}
	return Unhandled(e)
}

// Unhandled returns the outcome of an effect that nothing carries out. Its error says what would carry it out.
func Unhandled(e *Effect) Outcome {
	if r, ok := e.Req.(interface{ Unhandled(e *Effect) *Error }); ok {
		return Failed(r.Unhandled(e))
	}
	if e.Kind == EffectModel {
		return Failed(Errorf(KindConfig, diag.NoModel, "agent %q needs a model, and the run has none", e.Agent).
			WithHelp("name one with model = \"openai/...\" or --model; answer from a file with --scripted FILE"))
	}
	if e.ByServer() == EffectMCP {
		return Failed(Errorf(KindConfig, diag.NoServers, "agent %q has tools of an MCP server, and nothing here reaches one (%s)", e.Agent, e.Name).
			WithHelp("a host passes what reaches servers: agentscript.WithMCP(mcp.New(...))"))
	}
	return Failed(Errorf(KindConfig, diag.UnknownTool, "nothing here runs %s %q", e.Kind, e.Name))
}

// MemoryJournal is a [Journal] that lists the memory effects it holds. A run resumed with one continues from the
// notes as they were when the run ended; with any other journal, from the notes that its replay has met so far.
type MemoryJournal interface {
	Journal
	// Memories returns the recorded outcomes of all effects of [EffectMemory].
	Memories() []Outcome
}

// Journal stores the outcomes of the effects of one run; other runs have the same ids. Many branches use it at once.
type Journal interface {
	// Answer returns the recorded outcome of an effect, and whether there is one. It is called on
	// the composition side and must not block for long.
	Answer(id string) (Outcome, bool)

	// Commit records an outcome and returns when that is as durable as the store makes it. It is called on the effect
	// side. An outcome must be recorded even if ctx is cancelled: an answer was paid for. The first outcome of an id
	// stays. An error ends the run, which continues only with what is recorded.
	Commit(ctx context.Context, id string, e *Effect, out Outcome) error
}
