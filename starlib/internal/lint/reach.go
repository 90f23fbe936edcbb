package lint

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// search looks for something that a function speaks of, as far as its text tells: by a global, by what it
// captures, by a default, or in another function that it speaks of. A function that is reached from
// data can be none of these, since data hold no functions.
type search struct {
	c    *script.State
	seen map[starlark.Value]bool

	// is reports whether a value is what is looked for.
	is func(v starlark.Value) bool
	// text reports whether the text of a function is; nil code is not known. May be nil.
	text func(u *script.Unit, code syntax.Node) bool
	// within looks into other values. May be nil.
	within func(v starlark.Value) bool
}

func newSearch(c *script.State, is func(starlark.Value) bool) *search {
	return &search{c: c, seen: map[starlark.Value]bool{}, is: is}
}

// EachReached calls f with each value that the given ones lead to, themselves included.
func EachReached(c *script.State, values starlark.StringDict, f func(starlark.Value)) {
	s := newSearch(c, func(v starlark.Value) bool { f(v); return false })
	for _, v := range values {
		s.reaches(v)
	}
}

// reaches reports whether a value is what is looked for, or speaks of it.
func (s *search) reaches(v starlark.Value) bool {
	if v == nil {
		return false
	}
	if s.is(v) {
		return true
	}
	switch v := v.(type) {
	case *starlark.Function:
		return s.first(v) && s.function(v)
	case *starlark.Builtin:
		return s.reaches(v.Receiver())
	case *starlark.List, *starlark.Dict, *starlark.Set, starlark.Tuple:
		if _, tuple := v.(starlark.Tuple); !tuple && !s.first(v) {
			return false
		}
		for part := range value.Parts(v) {
			if s.reaches(part) {
				return true
			}
		}
	default:
		return s.within != nil && s.within(v)
	}
	return false
}

// first reports whether a value is come to for the first time.
func (s *search) first(v starlark.Value) bool {
	if s.seen[v] {
		return false
	}
	s.seen[v] = true
	return true
}

func (s *search) function(fn *starlark.Function) bool {
	for i := range fn.NumFreeVars() {
		if _, captured := fn.FreeVar(i); s.reaches(captured) {
			return true
		}
	}
	for i := range fn.NumParams() {
		if s.reaches(fn.ParamDefault(i)) {
			return true
		}
	}
	var node syntax.Node
	u := s.c.ByName[fn.Position().Filename()]
	if u != nil && u.File != nil {
		node = u.Function(fn.Position())
	}
	if s.text != nil && s.text(u, node) {
		return true
	}
	if node == nil {
		return false
	}
	names := map[string]bool{}
	script.Named(node, names)
	for name := range names {
		if s.reaches(u.Globals[name]) {
			return true
		}
	}
	if s.c.Earlier == nil {
		return false
	}
	found := false
	syntax.Walk(node, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && !names[id.Name] {
			found = found || s.reaches(s.c.Earlier[id.Name])
		}
		return !found
	})
	return found
}

// UsesMemory reports whether a function uses a memory: calls of such tools in one answer are made in
// the order of the answer. What an agent does with its notes is its own.
func UsesMemory(c *script.State, v starlark.Value) bool {
	return newSearch(c, func(v starlark.Value) bool { _, is := v.(*value.Memory); return is }).reaches(v)
}

// Nodes returns the nodes that a value is or speaks of, each once.
func Nodes(c *script.State, v starlark.Value) (nodes []*flow.Node) {
	EachReached(c, starlark.StringDict{"": v}, func(v starlark.Value) {
		if n, is := v.(*value.Node); is && !slices.Contains(nodes, n.Node) {
			nodes = append(nodes, n.Node)
		}
	})
	return nodes
}

// EffectClassOf is the most that a function of the script may do to the world: the strongest class of the
// operations that it speaks of. Where its text is not at hand it is the strongest that the script
// speaks of anywhere.
func EffectClassOf(c *script.State, fn starlark.Value) engine.Class {
	var all, class engine.Class
	for i := range c.Uses {
		all = all.Stronger(c.Uses[i].Class)
	}
	if all.Stronger(engine.ClassRead) == engine.ClassRead {
		return engine.ClassRead // nothing in the script does more
	}
	add := func(more engine.Class) bool {
		class = class.Stronger(more)
		return class == all
	}
	s := newSearch(c, func(v starlark.Value) bool {
		switch v := v.(type) {
		case *table.ModuleValue:
			return add(classOf(v.Name, "", ""))
		case *starlark.Builtin:
			if of, op := operationNamed(v.Name()); of != "" {
				return add(classOf(of, op, ""))
			}
		}
		return false
	})
	s.text = func(u *script.Unit, code syntax.Node) bool {
		if code == nil {
			return add(all)
		}
		from, to := code.Span()
		return slices.ContainsFunc(c.Uses, func(use script.Use) bool {
			return use.Class != "" && use.Span.File == u.Shown && inText(use.Span.Pos, from, to) && add(use.Class)
		})
	}
	s.within = func(v starlark.Value) bool {
		n, ok := v.(*value.Node)
		if !ok || !s.first(v) {
			return false
		}
		found := false
		n.Node.Callbacks(func(f engine.Func) {
			if own, ok := f.(interface{ Callable() starlark.Callable }); ok && !found {
				found = s.reaches(own.Callable())
			}
		})
		return found
	}
	s.reaches(fn)
	return engine.ClassRead.Stronger(class)
}

// inText reports whether a place lies in a text.
func inText(at diag.Pos, from, to syntax.Position) bool {
	after := at.Line > int(from.Line) || at.Line == int(from.Line) && at.Col >= int(from.Col)
	before := at.Line < int(to.Line) || at.Line == int(to.Line) && at.Col <= int(to.Col)
	return after && before
}

// operationNamed splits the name of a builtin that is an operation of a capability, else gives "".
func operationNamed(name string) (of, op string) {
	if o, ok := capability.Lookup(name); ok {
		return name[:len(name)-len(o.Name)-1], o.Name
	}
	return "", ""
}

// classOf is the class of an operation of a module, of all of them for "". The method is that of a
// request, "" when only a run knows it.
func classOf(of, op, method string) engine.Class {
	if of == "http" && method != "" {
		return capability.HTTPClass(method)
	}
	if o, ok := capability.Lookup(of + "." + op); ok {
		return o.Class
	}
	switch table.Capabilities[of] {
	case engine.EffectExec, engine.EffectHTTP:
		return engine.ClassOnce
	case engine.EffectFS:
		return engine.ClassIdempotent
	case engine.EffectEnv:
		return engine.ClassRead
	}
	return ""
}

// CheckEffects warns of tools that are said to do less than their functions may.
func CheckEffects(c *script.State) {
	for _, t := range c.Claimed {
		run, ok := t.Run.(agent.Acting)
		if !ok {
			continue
		}
		acts := run.Acts()
		if acts.Stronger(t.Class) == t.Class {
			continue
		}
		c.Session.Report(&diag.Diagnostic{Code: diag.WrongArgument, Severity: diag.Warning, Span: t.Span,
			Message: fmt.Sprintf("the tool %q is said to be of effect %s, and what its function may do is of effect %s: rules and the manifest hold it for that", t.Name, t.Class, acts),
			Help:    []string{"leave effect out: it is what the function may do; whoever runs the script allows a call by the tool's name"}})
	}
	c.Claimed = nil
}
