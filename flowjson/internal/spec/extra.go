package spec

import (
	"slices"

	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// Extra is what a file says about one of its objects only for people.
type Extra struct {
	Text  string      // a description or a comment, or
	Key   string      // the path of a member that is not read
	Value *tree.Value // and its value
}

// Extras returns what the file says about the flow as a whole, except its description.
func (s *Spec) Extras() []Extra {
	return append(comments(s.Root), unread(s.Root, "", append([]field{{name: "description"}}, flowFields...))...)
}

// About returns what the file says about one of its lists as a whole: agents, tools or transitions.
func (s *Spec) About(list string) []Extra {
	if v := s.Root.Get(list); v != nil {
		return comments(v)
	}
	return nil
}

// Extras returns what the file says about an agent.
func (a *Agent) Extras() []Extra {
	out := said(a.At, "", agentFields)
	out = append(out, said(a.At.Get("config"), "config.", configFields)...)
	out = append(out, said(a.At.Get("prompt"), "prompt.", promptFields)...)
	out = append(out, said(a.At.Get("params"), "params.", paramFields[a.Type])...)
	if schema := a.Output; schema != nil { // the transitions say what an agent returns
		out = append(out, Extra{Key: "output.schema", Value: schema})
	}
	return append(out, said(a.At.Get("output"), "output.", outputFields)...)
}

// Extras returns what the file says about a tool.
func (t *Tool) Extras() []Extra {
	fields := transportFields[t.Transport]
	if t.Type == "local" {
		fields = localFields
	}
	return append(said(t.At, "", toolFields), said(t.At.Get("parameters"), "parameters.", fields)...)
}

// Extras returns what the file says about a transition, or nothing for one that is not in the file.
func (t *Transition) Extras() []Extra {
	if t.At == nil {
		return nil
	}
	out := append(said(t.At, "", edgeFields), said(t.At.Get("condition"), "condition.", conditionFields)...)
	return append(out, said(t.At.Get("transformation"), "transformation.", valueFields)...)
}

// said returns the comments of an object and of its members, its description, and its members that are not read.
func said(v *tree.Value, path string, fields []field) []Extra {
	if v == nil {
		return nil
	}
	return append(comments(v), unread(v, path, fields)...)
}

func comments(v *tree.Value) []Extra {
	var out []Extra
	for _, text := range v.Comments {
		out = append(out, Extra{Text: text})
	}
	return out
}

// apart are the members whose contents are reported elsewhere.
var apart = []string{"agents", "tools", "transitions", "config", "prompt", "params", "output", "parameters", "condition", "transformation"}

func unread(v *tree.Value, path string, fields []field) []Extra {
	var out []Extra
	for _, m := range v.Members {
		known := slices.ContainsFunc(fields, func(f field) bool { return f.name == m.Key })
		if !known || path != "" || m.Value.Kind < tree.Array || !slices.Contains(apart, m.Key) {
			out = append(out, within(m.Value)...)
		}
		switch {
		case known, m.Key == "$schema":
		case (m.Key == "description" || m.Key == "comment") && m.Value.Kind == tree.String:
			out = append(out, Extra{Text: m.Value.Text})
		default:
			out = append(out, Extra{Key: path + m.Key, Value: m.Value})
		}
	}
	return out
}

// within returns the comments of a value and of everything in it.
func within(v *tree.Value) []Extra {
	out := comments(v)
	for _, m := range v.Members {
		out = append(out, within(m.Value)...)
	}
	for _, item := range v.Items {
		out = append(out, within(item)...)
	}
	return out
}
