package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unreachable returns the error of a server that could not be connected to.
func (x *session) unreachable(err error) *engine.Error {
	if own, ok := errors.AsType[*engine.Error](err); ok { // this side refused something
		return own
	}
	name := x.server.spec.Name
	if after := slow(err); after > 0 {
		e := engine.Errorf(engine.KindTool, diag.ServerTimeout, "MCP server %q did not say hello within %s%s", name, after, x.lastWords())
		return e.WithHelp("check that it speaks MCP and not something else, or allow more time: mcp(..., timeout = \"2m\")")
	}
	if why := x.misbehaved(err); why != "" {
		return engine.Errorf(engine.KindTool, diag.ServerProtocol, "MCP server %q does not speak MCP: %s%s", name, why, x.lastWords()).
			WithHelp("see that the command starts a server that speaks MCP over its standard input and output, and nothing else")
	}
	if how := x.proc.Ended(transport.Settle); how != "" {
		return engine.Errorf(engine.KindTool, diag.ServerUnreachable, "MCP server %q ended before it said hello (%s)%s", name, how, x.lastWords()).
			WithHelp("start %q by hand to see what it wants", x.server.spec.Command)
	}
	return engine.Errorf(engine.KindTool, diag.ServerUnreachable, "MCP server %q cannot be reached: %s%s", name, x.said(err), x.lastWords()).
		WithHelp("see that it runs and that the script names it rightly")
}

// misbehaved says how the server broke the session, "" if the cause is something else.
func (x *session) misbehaved(err error) string {
	for _, e := range []error{x.intake.Reason(), err} {
		if e == nil {
			continue
		}
		if breach, ok := errors.AsType[transport.Breach](e); ok {
			return string(breach)
		}
		if broken, ok := errors.AsType[*transport.BrokenMessage](e); ok {
			return x.said(broken)
		}
		_, syntax := errors.AsType[*json.SyntaxError](e)
		_, kind := errors.AsType[*json.UnmarshalTypeError](e)
		switch {
		case syntax, kind:
			return "one of its messages is no JSON-RPC (" + x.said(e) + ")"
		case strings.Contains(e.Error(), "invalid message"), strings.Contains(e.Error(), "invalid character"), strings.Contains(e.Error(), "unmarshal"):
			return "one of its messages cannot be read (" + x.said(e) + ")"
		}
	}
	return ""
}

// failed returns the error of a request that was not answered.
func (x *session) failed(ctx context.Context, what string, err error, class engine.Class) *engine.Error {
	spec := x.server.spec
	own, refused := errors.AsType[*engine.Error](err)
	wire, answered := errors.AsType[*jsonrpc.Error](err)
	switch {
	case refused:
		return own
	case slow(context.Cause(ctx)) > 0:
		e := engine.Errorf(engine.KindTool, diag.ServerTimeout, "MCP server %q did not answer %s within %s%s", spec.Name, what, slow(context.Cause(ctx)), unknown(class))
		return e.WithHelp("allow it more time: mcp(..., call_timeout = \"10m\")")
	case ctx.Err() != nil && x.whole.Err() == nil:
		return interrupted(ctx, spec)
	case answered && x.whole.Err() == nil && !undelivered(err, wire):
		return engine.Errorf(engine.KindTool, diag.ServerProtocol, "MCP server %q refused %s: %s (%d)", spec.Name, what, x.hidden.Brief(wire.Message), wire.Code).
			WithHelp("see what it says; its own log may say more")
	}
	if why := x.misbehaved(err); why != "" {
		return engine.Errorf(engine.KindTool, diag.ServerProtocol, "MCP server %q does not keep to MCP: %s%s%s", spec.Name, why, unknown(class), x.lastWords()).
			WithHelp("report this to the server's author")
	}
	how := x.proc.Ended(transport.Settle)
	if how == "" {
		how = x.said(err)
	}
	return engine.Errorf(engine.KindTool, diag.ServerLost, "MCP server %q was lost during %s (%s)%s%s", spec.Name, what, how, unknown(class), x.lastWords()).
		WithHelp("the next call reconnects; see in the server's log why it ended")
}

// undelivered reports whether an error in the form of a server's answer comes from the SDK: the request did not reach
// the server, or the answer was only an HTTP status.
func undelivered(err error, wire *jsonrpc.Error) bool {
	_, failed := errors.AsType[*url.Error](err)
	return failed || wire.Code == -32005 && wire.Message == "rejected by transport"
}

// unknown says what is unknown about a lost call.
func unknown(class engine.Class) string {
	switch class {
	case engine.ClassRead:
		return ""
	case engine.ClassIdempotent:
		return "; it may be called again"
	}
	return "; whether it was carried out is not known: look before doing it again"
}

// lastWords returns the server's last lines, with an introduction.
func (x *session) lastWords() string {
	x.proc.Ended(50 * time.Millisecond) // its last output may still be on its way
	if words := x.words.Last(x.hidden); words != "" {
		return fmt.Sprintf("; its last words: %s", words)
	}
	return ""
}

func (x *session) said(err error) string { return x.hidden.Brief(err.Error()) }

// timeouts returns how long the server may take to connect and list its tools, and to answer a call. Specs that differ
// only in these share a session.
func timeouts(spec *remote.Server) (hello, call time.Duration) {
	hello, call = spec.Timeout, spec.Call
	if hello <= 0 {
		hello = remote.DefaultTimeout
	}
	if call <= 0 {
		call = remote.DefaultCallTimeout
	}
	return hello, call
}

// tooSlow is the cause of a context whose time is up.
type tooSlow struct{ after time.Duration }

func (e tooSlow) Error() string { return "no answer within " + e.after.String() }

// slow returns the time that was up, 0 if that is not the cause.
func slow(err error) time.Duration {
	e, _ := errors.AsType[tooSlow](err)
	return e.after
}
