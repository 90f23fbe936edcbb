package starlib

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// actsOf is the most that a function of the script may do to the world: the strongest class of the
// operations that it speaks of. Where its text is not at hand it is the strongest that the script
// speaks of anywhere.
func (c *state) actsOf(fn starlark.Value) engine.Class {
	var all, class engine.Class
	for i := range c.uses {
		all = all.Stronger(c.uses[i].class)
	}
	if all.Stronger(engine.ClassRead) == engine.ClassRead {
		return engine.ClassRead // nothing in the script does more
	}
	add := func(more engine.Class) bool {
		class = class.Stronger(more)
		return class == all
	}
	s := c.newSpeech(func(v starlark.Value) bool {
		switch v := v.(type) {
		case *moduleValue:
			return add(classOf(v.name, "", ""))
		case *starlark.Builtin:
			if of, op := operationNamed(v.Name()); of != "" {
				return add(classOf(of, op, ""))
			}
		}
		return false
	})
	s.text = func(u *unit, code syntax.Node) bool {
		if code == nil {
			return add(all)
		}
		from, to := code.Span()
		return slices.ContainsFunc(c.uses, func(use Use) bool {
			return use.class != "" && use.Span.File == u.shown && inText(use.Span.Pos, from, to) && add(use.class)
		})
	}
	s.within = func(v starlark.Value) bool {
		n, ok := v.(*nodeValue)
		if !ok || !s.first(v) {
			return false
		}
		found := false
		n.n.Callbacks(func(f engine.Func) {
			if own, ok := f.(interface{ callable() starlark.Callable }); ok && !found {
				found = s.of(own.callable())
			}
		})
		return found
	}
	s.of(fn)
	return engine.ClassRead.Stronger(class)
}

// callable is what the callback calls.
func (f *callback) callable() starlark.Callable { return f.fn }

// Acts implements [engine.Acting].
func (f *callback) Acts() engine.Class { return f.c.classOf(f.fn) }

// Acts implements [engine.Acting].
func (t *toolRun) Acts() engine.Class { return t.class }

// inText reports whether a place lies in a text.
func inText(at diag.Pos, from, to syntax.Position) bool {
	after := at.Line > int(from.Line) || at.Line == int(from.Line) && at.Col >= int(from.Col)
	before := at.Line < int(to.Line) || at.Line == int(to.Line) && at.Col <= int(to.Col)
	return after && before
}

// operationNamed splits the name of a builtin that is an operation of a capability, else gives "".
func operationNamed(name string) (of, op string) {
	if o, ok := engine.OperationOf(name); ok {
		return name[:len(name)-len(o.Name)-1], o.Name
	}
	return "", ""
}

// classOf is the class of an operation of a module, of all of them for "". The method is that of a
// request, "" when only a run knows it.
func classOf(of, op, method string) engine.Class {
	if of == "http" && method != "" {
		return engine.HTTPClass(method)
	}
	if o, ok := engine.OperationOf(of + "." + op); ok {
		return o.Class
	}
	switch capabilities[of] {
	case engine.EffectExec, engine.EffectHTTP:
		return engine.ClassOnce
	case engine.EffectFS:
		return engine.ClassIdempotent
	case engine.EffectEnv:
		return engine.ClassRead
	}
	return ""
}

// checkEffects warns of tools that are said to do less than their functions may.
func (c *state) checkEffects() {
	for _, t := range c.claimed {
		run, ok := t.Run.(engine.Acting)
		if !ok {
			continue
		}
		acts := run.Acts()
		if acts.Stronger(t.Class) == t.Class {
			continue
		}
		c.session.Report(&diag.Diagnostic{Code: diag.WrongArgument, Severity: diag.Warning, Span: t.Span,
			Message: fmt.Sprintf("the tool %q is said to be of effect %s, and what its function may do is of effect %s: rules and the manifest hold it for that", t.Name, t.Class, acts),
			Help:    []string{"leave effect out: it is what the function may do; whoever runs the script allows a call by the tool's name"}})
	}
	c.claimed = nil
}
