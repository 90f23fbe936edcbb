package mock

import (
	"cmp"
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
)

// StandIn returns the value that replaces a call of a tool that does more than read, and reports whether there
// is one. The run calls it for each tool call.
func (m *Model) StandIn(t *agent.Tool) (v generable.Value, stands bool, err error) {
	if m.opts.Acts || t.Node != nil || t.Acts() == engine.ClassRead {
		return v, false, nil
	}
	v, err = m.result(t.Returns, t.Name)
	return v, true, err
}

// Around is a middleware for operations of the script: one that does more than read, or that is not granted,
// is answered with a value. An MCP server that is not granted has no tools. The run wraps its handlers in it.
func (m *Model) Around(next engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if l, lists := e.Req.(*remote.ListRequest); lists {
			return m.listed(l.Server, next.Do(ctx, e, sink))
		}
		r, touches := e.Req.(*capability.Request)
		if !touches {
			return next.Do(ctx, e, sink)
		}
		if m.opts.Acts || e.Class == engine.ClassRead {
			out := next.Do(ctx, e, sink)
			if out.Err == nil || out.Err.Code != diag.UngrantedUse || m.opts.Acts {
				return out
			}
		}
		name := string(e.Kind) + "." + r.Op
		if e.Kind == engine.EffectExec {
			name = "sh." + r.Op
		}
		op, known := capability.Lookup(name)
		if !known {
			return next.Do(ctx, e, sink)
		}
		v, err := m.result(op.Returns, name)
		if err != nil {
			return engine.Failed(engine.AsError(err))
		}
		return engine.Outcome{Value: well(v), Attempt: 1}
	})
}

// listed returns the outcome of listing a server's tools. Without a grant the server has none.
func (m *Model) listed(s *remote.Server, out engine.Outcome) engine.Outcome {
	if out.Err == nil || out.Err.Code != diag.ServerNotGranted || m.opts.Acts {
		return out
	}
	m.stands("MCP server " + s.Name + ", which was not granted")
	return engine.Outcome{Attempt: 1}
}

// well makes the result of a command or a request a success.
func well(v generable.Value) generable.Value {
	r, ok := v.AsRecord()
	if !ok {
		return v
	}
	vals := make([]generable.Value, len(r.Type().Fields))
	for i, f := range r.Type().Fields {
		switch vals[i] = r.At(i); {
		case f.Name == "code":
			vals[i] = generable.IntOf(0)
		case f.Name == "status":
			vals[i] = generable.IntOf(200)
		case f.Name == "truncated":
			vals[i] = generable.BoolOf(false)
		}
	}
	return generable.NewRecord(r.Type(), vals).Value()
}

// result makes the result of a call.
func (m *Model) result(t *generable.Type, name string) (generable.Value, error) {
	v, err := m.value(cmp.Or(t, generable.StrT), "the result of "+name)
	if err != nil {
		return v, unmet("the result of "+name, err)
	}
	m.stands(name)
	return v, nil
}

func (m *Model) stands(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stood[name] = true
}
