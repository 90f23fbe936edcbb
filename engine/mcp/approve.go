package mcp

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
)

// WithApprovals has the person who approves calls answer what servers ask. What is asked for is
// the data of the question, with the server's defaults: to approve is to give these, to edit them
// is to give others. What does not fit what the server asks for declines.
func WithApprovals(ask engine.Approvals) Option {
	return WithElicitation(func(ctx context.Context, q Question) Reply {
		typ, data := wanted(q.Schema)
		question := fmt.Sprintf("MCP server %q asks: %s", q.Server, q.Message)
		if q.URL != "" {
			question += " — at " + brief(q.URL)
		}
		r := engine.AskAbout(q.Agent, question, data, typ)
		r.ID = q.ID
		d, err := ask(ctx, r)
		if err != nil || !d.Approved {
			return Reply{}
		}
		if q.Schema == "" {
			return Reply{Accept: true}
		}
		if d.Data != nil {
			data = *d.Data
		}
		values, ok := given(data, typ)
		return Reply{Accept: ok, Values: values}
	})
}

// wanted is the type of what a server asks for, and the answer with its defaults.
func wanted(schema string) (*generable.Type, generable.Value) {
	if schema == "" {
		return nil, generable.Value{}
	}
	t, _, errs := jsonschema.Parse(schema, jsonschema.Options{Name: "Answer", Lenient: true})
	if errs != nil || t.Kind != generable.RecordType {
		return nil, generable.NewMap(0).Value()
	}
	m := generable.NewMap(len(t.Fields))
	for i := range t.Fields {
		m.Set(t.Fields[i].Name, t.Fields[i].Default)
	}
	return t, m.Value()
}

// given is the answer that a server gets, without what was not filled in.
func given(v generable.Value, t *generable.Type) (*generable.Map, bool) {
	out := generable.NewMap(4)
	if r, ok := v.AsRecord(); ok {
		for i, f := range r.Type().Fields {
			if item := r.At(i); !item.IsNull() {
				out.Set(f.Name, item)
			}
		}
	} else if m, ok := v.AsMap(); ok {
		for i := range m.Len() {
			if key, item := m.At(i); !item.IsNull() {
				out.Set(key, item)
			}
		}
	} else {
		return nil, false
	}
	if t != nil {
		if _, errs := t.Convert(out.Value()); errs != nil {
			return nil, false
		}
	}
	return out, true
}
