package mcp

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// call is the outcome of one call of a server's tool. What a server says of a failure is an
// error that the model gets to see, as is a server that was lost: the next call connects anew.
func (s *server) call(ctx context.Context, e *engine.Effect, req *engine.ToolRequest, sink engine.Sink) engine.Outcome {
	return s.signedIn(ctx, func() engine.Outcome { return s.callOnce(ctx, e, req, sink) })
}

func (s *server) callOnce(ctx context.Context, e *engine.Effect, req *engine.ToolRequest, sink engine.Sink) engine.Outcome {
	hello, most := timeouts(req.Server)
	reach, stop := context.WithTimeoutCause(ctx, hello, tooSlow{hello})
	x, err := s.session(reach)
	stop()
	if err != nil {
		return engine.Failed(err)
	}
	defer s.release(x)
	ctx, cancel := context.WithTimeoutCause(ctx, most, tooSlow{most})
	defer cancel()
	f := x.flights.begin(e, sink)
	defer x.flights.end(f)
	x.tellChanges(e.Run, f)

	params := &sdk.CallToolParams{Name: req.Tool, Arguments: json.RawMessage(arguments(req.Args))}
	params.SetProgressToken(f.token)
	var res *sdk.CallToolResult
	failed := x.do(ctx, func(ctx context.Context) (err error) {
		res, err = x.cs.CallTool(ctx, params)
		return err
	})
	var out engine.Outcome
	switch {
	case failed != nil:
		out = engine.Failed(x.lost(x.failed(ctx, "the call of "+req.Tool, failed, e.Class)))
	case res.IsError:
		s.well()
		out = engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "%s", x.hidden.text(errorText(res))))
	default:
		s.well()
		v, err := result(res)
		if err != nil {
			out = engine.Failed(engine.Errorf(engine.KindTool, diag.ServerResult, "the answer of MCP server %q to %s cannot be read: %s", s.spec.Name, req.Tool, x.said(err)))
			break
		}
		out = engine.Outcome{Value: x.hidden.value(v), Attempt: 1}
	}
	out.Usage = f.used()
	return out
}

func afterGrace() <-chan time.Time { return time.After(time.Second) }

// arguments are a call's arguments as JSON, in declared order. What was not given is left out:
// servers take a null for a value.
func arguments(v generable.Value) []byte {
	if b := appendArguments(nil, v); len(b) > 0 && b[0] == '{' {
		return b
	}
	return []byte("{}")
}

func appendArguments(b []byte, v generable.Value) []byte {
	if r, ok := v.AsRecord(); ok {
		b = append(b, '{')
		first := true
		fields := r.Type().Fields
		for i := range fields {
			if item := r.At(i); !item.IsNull() || !fields[i].Optional {
				b = appendMember(b, &first, fields[i].Name, item)
			}
		}
		return append(b, '}')
	}
	if m, ok := v.AsMap(); ok {
		b = append(b, '{')
		first := true
		for i := range m.Len() {
			key, item := m.At(i)
			b = appendMember(b, &first, key, item)
		}
		return append(b, '}')
	}
	if l, ok := v.AsList(); ok {
		b = append(b, '[')
		for i := range l.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendArguments(b, l.At(i))
		}
		return append(b, ']')
	}
	if f, ok := v.AsFloat(); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(b, int64(f), 10) // servers take 2.0 for no whole number
	}
	return generable.AppendJSON(b, v, nil)
}

func appendMember(b []byte, first *bool, key string, v generable.Value) []byte {
	if !*first {
		b = append(b, ',')
	}
	*first = false
	b = append(generable.AppendJSON(b, generable.StrOf(key), nil), ':')
	return appendArguments(b, v)
}
