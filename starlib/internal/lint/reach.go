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

// search looks for something that a function refers to, as far as its text shows: through a global, a captured
// variable, a default, or another function that it refers to. A function cannot be reached through data, since data
// contain no functions.
type search struct {
	c    *script.State
	seen map[starlark.Value]bool

	// is reports whether a value is the one searched for.
	is func(v starlark.Value) bool
	// text reports whether the text of a function contains what is searched for; code is nil if the text is unknown.
	// May be nil.
	text func(u *script.Unit, code syntax.Node) bool
	// within searches other kinds of values. May be nil.
	within func(v starlark.Value) bool
}

func newSearch(c *script.State, is func(starlark.Value) bool) *search {
	return &search{c: c, seen: map[starlark.Value]bool{}, is: is}
}

// EachReached calls f with the given values and each value that they lead to.
func EachReached(c *script.State, values starlark.StringDict, f func(starlark.Value)) {
	s := newSearch(c, func(v starlark.Value) bool { f(v); return false })
	for _, v := range values {
		s.reaches(v)
	}
}

// reaches reports whether a value is the one searched for, or refers to it.
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

// first reports whether a value is visited for the first time.
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

// UsesMemory reports whether a function uses a memory: calls of such tools in one answer are made in the order of the
// answer. What an agent does with its own memory does not count.
func UsesMemory(c *script.State, v starlark.Value) bool {
	return newSearch(c, func(v starlark.Value) bool { _, is := v.(*value.Memory); return is }).reaches(v)
}

// Nodes returns the nodes that a value is or refers to, each once.
func Nodes(c *script.State, v starlark.Value) (nodes []*flow.Node) {
	EachReached(c, starlark.StringDict{"": v}, func(v starlark.Value) {
		if n, is := v.(*value.Node); is && !slices.Contains(nodes, n.Node) {
			nodes = append(nodes, n.Node)
		}
	})
	return nodes
}

// EffectClassOf returns the strongest effect that a function of the script may have: the strongest class of the
// operations that it refers to. If the function's text is not available, it is the strongest class in the whole script.
func EffectClassOf(c *script.State, fn starlark.Value) engine.Class {
	var all, class engine.Class
	for i := range c.Uses {
		all = all.Stronger(c.Uses[i].Class)
	}
	if all.Stronger(engine.ClassRead) == engine.ClassRead {
		return engine.ClassRead // nothing in the script is stronger
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

// operationNamed splits the name of a builtin that is an operation of a capability; otherwise it returns "".
func operationNamed(name string) (of, op string) {
	if o, ok := capability.Lookup(name); ok {
		return name[:len(name)-len(o.Name)-1], o.Name
	}
	return "", ""
}

// classOf returns the class of an operation of a module, or of all its operations for "". method is the method of a
// request, or "" if only a run knows it.
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

// CheckEffects warns of tools whose declared effect is weaker than what their functions may do.
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
			Message: fmt.Sprintf("the tool %q is declared with effect %s, but its function may have effect %s, which rules and the manifest use", t.Name, t.Class, acts),
			Help:    []string{"leave effect out: it follows from the function; whoever runs the script can allow the tool by its name"}})
	}
	c.Claimed = nil
}
