package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/codec"
	"github.com/agentscript/agentscript/internal/text"
)

// Encode returns the effect as JSON, the same bytes each time. It returns an error for an effect that cannot be encoded
// completely: a kind that the package does not document, a text that is not UTF-8, a type that is nested too deep.
func Encode(e *engine.Effect) ([]byte, error) {
	w := writer{types: codec.NewEncoder()}
	out := effect{Version: Version, Kind: e.Kind, Name: e.Name, Agent: e.Agent, Run: e.Run, At: e.At.Path(), Class: e.Class,
		Stream: e.Stream, Short: e.Short, OnUnknown: e.OnUnknown.String(), Returns: w.typ(e.Returns), MaxOut: e.MaxOut, Timeout: e.Timeout}
	switch r := e.Req.(type) {
	case *model.Request:
		out.Model = w.model(r)
	case *engine.ToolRequest:
		out.Tool = w.tool(r)
	case *remote.ListRequest:
		out.List = w.server(r.Server)
	case *capability.Request:
		if r.Args == nil {
			return nil, fmt.Errorf("the effect %s %q has no arguments", e.Kind, e.Name)
		}
		out.Capability = &operation{Op: r.Op, Args: w.value(r.Args.Value())}
	case *session.Request:
		out.Session = r
	}
	if w.err == nil && !out.fits() {
		w.err = errors.New("the run carries it out itself")
	}
	if w.err == nil && !text.AllValid(out) {
		w.err = errors.New("it holds a text that is not UTF-8")
	}
	if w.err == nil {
		out.Types, w.err = w.types.Table()
	}
	if w.err != nil {
		return nil, fmt.Errorf("the effect %s %q cannot be sent to another process: %w", e.Kind, e.Name, w.err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // escaping would make code in prompts much longer
	if err := enc.Encode(out); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// fits reports whether the request belongs to the effect's kind.
func (e *effect) fits() bool {
	switch e.Kind {
	case engine.EffectModel:
		return e.Model != nil
	case engine.EffectTool:
		return e.Tool != nil
	case engine.EffectMCP:
		return e.List != nil
	case engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv:
		return e.Capability != nil
	case engine.EffectMemory:
		return e.Session != nil
	}
	return false
}

// writer keeps the first error.
type writer struct {
	types *codec.Encoder
	err   error
}

func (w *writer) typ(t *generable.Type) *int {
	if t == nil || w.err != nil {
		return nil
	}
	var i int
	i, w.err = w.types.Type(t)
	return &i
}

func (w *writer) value(v generable.Value) (data json.RawMessage) {
	if w.err == nil {
		data, w.err = w.types.Value(v)
	}
	return data
}

func (w *writer) model(r *model.Request) *modelRequest {
	out := &modelRequest{Model: r.Model, System: r.System, Messages: r.Messages, Fallbacks: r.Fallbacks}
	for i := range r.Messages {
		if whole := r.Messages[i].Stands(); whole != nil {
			if out.Stands == nil {
				out.Stands = make(map[int]string)
			}
			out.Stands[i] = *whole
		}
		for j := range r.Messages[i].Parts {
			if result := r.Messages[i].Parts[j].Result; result != nil && len(result.Pictures) > 0 {
				w.err = errors.New("the pictures of a tool's result are not in a message yet")
			}
		}
	}
	for _, t := range r.Tools {
		out.Tools = append(out.Tools, toolDef{t.Name, t.Description, w.typ(t.Params), t.Schema, t.After})
	}
	if r.Choice != (model.ToolChoice{}) {
		out.Choice = &r.Choice
	}
	if o := r.Output; o != nil {
		out.Output = &output{Type: w.typ(o.Type), Structured: o.Structured, Enough: w.condition(o.Enough)}
	}
	p := r.Params
	if p.Extra != nil {
		extra := string(p.Extra)
		out.Extra, p.Extra = &extra, nil
	}
	out.Params = &p
	return out
}

func (w *writer) condition(p *predicate.Predicate) *condition {
	if p == nil {
		return nil
	}
	out := &condition{Op: p.Op().String(), Field: p.Field(), Fold: p.IsFolded(), Exact: p.IsExact()}
	if v, given := p.Value(); given {
		out.Value = w.value(v)
	}
	for _, of := range p.Operands() {
		out.Of = append(out.Of, w.condition(of))
	}
	return out
}

func (w *writer) tool(r *engine.ToolRequest) *toolRequest {
	out := &toolRequest{Args: w.value(r.Args), Version: r.Version, Tool: r.Tool}
	switch s := r.Server.(type) {
	case nil:
	case *remote.Server:
		out.Server = w.server(s)
	default:
		w.err = fmt.Errorf("the server %s is a %T", s.Label(), s)
	}
	return out
}

func (w *writer) server(s *remote.Server) *server {
	if s == nil {
		w.err = errors.New("it names no server")
		return nil
	}
	out := &server{Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
		OAuth: s.OAuth, Timeout: s.Timeout, Call: s.Call, Tools: s.Tools, Class: s.Class, OnUnknown: s.OnUnknown.String(), Untrusted: s.Untrusted}
	if s.Span != (diag.Span{}) {
		out.Span = &s.Span
	}
	return out
}
