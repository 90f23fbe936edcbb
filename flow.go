package agentscript

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Flow is a node or function of a script with its arguments by name: the form in which a host offers it to others, as
// a tool or an endpoint.
type Flow struct {
	Name string // the global name
	// Doc says what it does, for people and models: a function's docstring, the doc of an agent's only skill, or else
	// what the node is made of.
	Doc string
	// Params is a schema: the parameters of a function, the fields of the schema that a node takes or, for a node
	// that takes anything else, one field named input.
	Params *generable.Type
	Out    *generable.Type // its output type; any for a function

	module *Module
	entry  *starlib.Entry
	boxed  bool // the input is the field named input
}

// Flow returns the node or function that a global name of the script holds. If there is nothing that can be run, the
// error is a [LoadError] that names the nearest.
func (m *Module) Flow(name string) (*Flow, error) {
	entry, missing := m.lib.Entry(name)
	if missing != nil {
		return nil, &LoadError{List: diag.List{missing}, Sources: m.Sources()}
	}
	f := &Flow{Name: name, Doc: entry.Doc, Out: generable.AnyT, module: m, entry: entry}
	if n := entry.Node; n != nil && len(entry.Params) == 0 {
		t := flow.AsTool(n, name, "")
		f.Params, f.Out, f.boxed = t.Params, n.Out(), t.Params != n.In().Deref()
		if a := n.Agent(); a != nil && len(a.Skills) == 1 {
			f.Doc = a.Skills[0].Doc
		}
		if f.Doc == "" {
			f.Doc = fmt.Sprintf("%s: %s to %s", n.Label(), n.In(), n.Out())
		}
		return f, nil
	}
	f.Params = &generable.Type{Kind: generable.RecordType, Name: name}
	if n := entry.Node; n != nil {
		f.Out = n.Out()
	}
	for _, p := range entry.Params {
		f.Params.Fields = append(f.Params.Fields, generable.Field{Name: p.Name, Type: p.Type, Guide: p.Guide, Optional: p.Optional, Default: p.Default})
	}
	return f, nil
}

// Start begins a run with a record of Params. If the run cannot start, [Run.Wait] returns the reason.
func (f *Flow) Start(ctx context.Context, args generable.Value, opts ...RunOption) *Run {
	given := args
	r, ok := args.AsRecord()
	switch {
	case f.entry.Node == nil || len(f.entry.Params) > 0:
		byName := map[string]any{}
		if ok {
			for i := range r.Type().Fields {
				byName[r.Type().Fields[i].Name] = r.At(i)
			}
		}
		return f.module.start(ctx, f.entry, nil, append(opts[:len(opts):len(opts)], Args(byName)))
	case ok && f.boxed:
		given, _ = r.Get("input")
	}
	return f.module.start(ctx, f.entry, nil, append(opts[:len(opts):len(opts)], Input(given)))
}
