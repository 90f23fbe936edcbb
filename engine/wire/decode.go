package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/codec"
)

// Decode returns the effect that [Encode] wrote. It ignores keys that this version does not know. A greater form
// version is an error, and so is anything that is not an encoded effect.
func Decode(data []byte) (*engine.Effect, error) {
	e, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("an effect of another process: %w", err)
	}
	return e, nil
}

func decode(data []byte) (*engine.Effect, error) {
	var in effect
	if err := json.Unmarshal(data, &in); err != nil {
		var v struct {
			Version int `json:"v"`
		}
		if json.Unmarshal(data, &v) == nil && v.Version > Version {
			in.Version = v.Version
		} else {
			return nil, err
		}
	}
	switch {
	case in.Version > Version:
		return nil, fmt.Errorf("it is written in form %d, and this program reads form %d: update it", in.Version, Version)
	case in.Version != Version:
		return nil, fmt.Errorf("it has no form of version %d", Version)
	case !in.fits():
		return nil, fmt.Errorf("its kind is %.40q, without a request of that kind", in.Kind)
	case in.Types == nil:
		return nil, errors.New("it has no table of types")
	}
	// Programs identify these types by their pointers.
	types, err := codec.NewDecoder(in.Types, model.ImageType, model.AudioType, capability.SecretType)
	if err != nil {
		return nil, err
	}
	r := reader{types: types}
	e := &engine.Effect{Kind: in.Kind, Name: in.Name, Agent: in.Agent, Run: in.Run, At: engine.PathFrame(in.At), Class: r.class(in.Class),
		Stream: in.Stream, Short: in.Short, OnUnknown: r.onUnknown(in.OnUnknown), Returns: r.typ(in.Returns), MaxOut: in.MaxOut, Timeout: in.Timeout}
	switch e.Kind {
	case engine.EffectModel:
		e.Req = r.model(in.Model)
	case engine.EffectTool:
		e.Req = r.tool(in.Tool)
	case engine.EffectMCP:
		e.Req = &remote.ListRequest{Server: r.server(in.List)}
	case engine.EffectMemory:
		if op := in.Session.Op; op != session.OpTake && op != session.OpSave {
			r.fail("a session has no operation %.40q", op)
		}
		e.Req = in.Session
	default:
		args, ok := r.value(in.Capability.Args).AsMap()
		if !ok {
			r.fail("the arguments of %s are no map", in.Capability.Op)
		}
		e.Req = &capability.Request{Op: in.Capability.Op, Args: args}
	}
	return e, r.err
}

// reader keeps the first error.
type reader struct {
	types *codec.Decoder
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) typ(i *int) *generable.Type {
	if i == nil {
		return nil
	}
	t, err := r.types.Type(*i)
	if err != nil {
		r.fail("%w", err)
	}
	return t
}

func (r *reader) value(data json.RawMessage) generable.Value {
	v, err := r.types.Value(data)
	if err != nil {
		r.fail("%w", err)
	}
	return v
}

func (r *reader) class(c engine.Class) engine.Class {
	if c != "" && c.Rank() == 0 {
		r.fail("%.40q is no class", c)
	}
	return c
}

func (r *reader) onUnknown(word string) engine.OnUnknown {
	u, ok := engine.ParseOnUnknown(word)
	if word == "" {
		return engine.UnknownUnset
	}
	if !ok {
		r.fail("%.40q does not say what is done when an outcome is unknown", word)
	}
	return u
}

func (r *reader) model(in *modelRequest) *model.Request {
	out := &model.Request{Model: in.Model, System: in.System, Messages: in.Messages, Fallbacks: in.Fallbacks}
	for i := range out.Messages {
		if !whole(out.Messages[i].Parts) {
			r.fail("a part of message %d does not hold what its kind says", i)
		}
	}
	for i, text := range in.Stands {
		if i < 0 || i >= len(out.Messages) || len(out.Messages[i].Parts) == 0 {
			r.fail("there is no message %d", i)
			break
		}
		out.Messages[i] = out.Messages[i].StandsFor(&text)
	}
	for _, t := range in.Tools {
		out.Tools = append(out.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Params: r.typ(t.Params), Schema: t.Schema, After: t.After})
	}
	if in.Choice != nil {
		out.Choice = *in.Choice
	}
	if o := in.Output; o != nil {
		out.Output = &model.Output{Type: r.typ(o.Type), Structured: o.Structured, Enough: r.condition(o.Enough)}
		if out.Output.Type == nil {
			r.fail("the output has no type")
		}
	}
	if in.Params != nil {
		out.Params = *in.Params
	}
	if in.Extra != nil {
		if out.Params.Extra = json.RawMessage(*in.Extra); !json.Valid(out.Params.Extra) {
			r.fail("the extra parameters are not JSON")
		}
	}
	return out
}

// whole reports whether each part contains what its kind says, which handlers rely on.
func whole(parts []model.Part) bool {
	for i := range parts {
		p := &parts[i]
		held := true
		switch p.Kind {
		case model.PartImage:
			held = p.Image != nil
		case model.PartAudio:
			held = p.Audio != nil
		case model.PartCall:
			held = p.Call != nil
		case model.PartResult:
			held = p.Result != nil
		}
		if !held {
			return false
		}
	}
	return true
}

// operations maps words to the operations of predicates.
var operations = func() map[string]predicate.Op {
	words := make(map[string]predicate.Op)
	for op := predicate.Eq; op <= predicate.False; op++ {
		words[op.String()] = op
	}
	return words
}()

func (r *reader) condition(in *condition) *predicate.Predicate {
	if in == nil || r.err != nil {
		return nil
	}
	op, known := operations[in.Op]
	var of []*predicate.Predicate
	for _, c := range in.Of {
		p := r.condition(c)
		if p == nil {
			r.fail("a condition has an empty part")
			return nil
		}
		of = append(of, p)
	}
	switch combines := op == predicate.And || op == predicate.Or; {
	case !known:
		r.fail("%.40q is no condition", in.Op)
	case combines && len(of) == 2 && op == predicate.And:
		return of[0].And(of[1])
	case combines && len(of) == 2:
		return of[0].Or(of[1])
	case op == predicate.Not && len(of) == 1:
		return of[0].Not()
	case combines || op == predicate.Not || len(of) > 0:
		r.fail("the condition %s has %d parts", in.Op, len(of))
	default:
		return r.test(op, in)
	}
	return nil
}

func (r *reader) test(op predicate.Op, in *condition) *predicate.Predicate {
	var value *generable.Value
	if in.Value != nil {
		v := r.value(in.Value)
		value = &v
	}
	if value == nil && op < predicate.Has {
		r.fail("the condition %s compares with nothing", in.Op)
		return nil
	}
	p, err := predicate.New(op, in.Field, value)
	if err != nil {
		r.fail("%w", err)
		return nil
	}
	if in.Fold {
		p = p.Folded()
	}
	if in.Exact {
		p = p.Exact()
	}
	return p
}

func (r *reader) tool(in *toolRequest) *engine.ToolRequest {
	out := &engine.ToolRequest{Args: r.value(in.Args), Version: in.Version, Tool: in.Tool}
	if in.Server != nil {
		out.Server = r.server(in.Server)
	}
	return out
}

func (r *reader) server(s *server) *remote.Server {
	out := &remote.Server{Name: s.Name, Transport: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, URL: s.URL, Headers: s.Headers,
		OAuth: s.OAuth, Timeout: s.Timeout, Call: s.Call, Tools: s.Tools, Class: r.class(s.Class), OnUnknown: r.onUnknown(s.OnUnknown), Untrusted: s.Untrusted}
	if s.Span != nil {
		out.Span = *s.Span
	}
	return out
}
