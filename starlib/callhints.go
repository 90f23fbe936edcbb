package starlib

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// calledBy is what a builtin calls in a run, with what to write instead of a call that was made
// already.
func calledBy(name string) Kind {
	return Kind{Word: calledKind.Word, Stub: calledKind.Stub, accept: calledKind.accept,
		hint: func(v starlark.Value) string {
			return fmt.Sprintf("give the function and its arguments apart: %s(f, x) calls f itself", name)
		}}
}

// alternativesKind takes what race and fallback choose among: [f, g], called with the same
// arguments, or [(f, x), (g, y)].
func alternativesKind(name string) Kind {
	called := func(v starlark.Value) bool {
		if call, ok := v.(starlark.Tuple); ok {
			if len(call) == 0 {
				return false
			}
			v = call[0]
		}
		_, ok := calledKind.accept(v)
		return ok
	}
	both := fmt.Sprintf("%s([f, g], x) calls f and g with x, %s([(f, x), (g, y)]) each with its own", name, name)
	return Kind{Word: "list of calls", Stub: "list[Callable | Node | tuple]",
		accept: func(v starlark.Value) (starlark.Value, bool) {
			if _, list := acceptList(v); !list {
				return v, false
			}
			for item := range starlark.Elements(v.(starlark.Iterable)) {
				if _, failed := item.(*failedValue); !failed && !called(item) {
					return v, false
				}
			}
			return v, true
		},
		hint: func(v starlark.Value) string {
			if called(v) {
				return "in a function that runs the calls stand in a list: " + both
			}
			if _, list := acceptList(v); list {
				for i, item := range sequence(v) {
					if !called(item) {
						return fmt.Sprintf("item %d is %s; %s", i, describe(item), both)
					}
				}
			}
			return both
		}}
}

func argumentsBesideCalls(at diag.Span, name string) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.WrongArgument, Span: at, Message: name + " is given arguments beside calls that bring their own",
		Help: []string{fmt.Sprintf("write %s([(f, x), (g, y)]), or %s([f, g], x)", name, name)}}
}

// withoutInput tells of a node that would be called without its input, or with more. That is no
// failure of the call, which the builtin would catch.
func withoutInput(name string, f starlark.Value, args int, at diag.Span) *diag.Diagnostic {
	n, ok := f.(*nodeValue)
	if !ok || args == 1 {
		return nil
	}
	d := &diag.Diagnostic{Code: diag.WrongArgument, Span: at,
		Message: fmt.Sprintf("%s takes its input as the only argument, and %s calls it with %s", n.label(), name, text.CountInWords(args, "argument"))}
	d.Help = []string{"several values are one input: a schema, a dict or a list"}
	if args == 0 {
		d.Help = []string{fmt.Sprintf("in a function that runs, give the input as well: %s", callOf(name, n.label()))}
	} else if name == "retry" {
		d.Help = append(d.Help, "how often is said by name: retry("+n.label()+", x, max = 3)")
	}
	return d
}

// callOf shows how a builtin calls something in a run.
func callOf(name, f string) string {
	if name == "race" || name == "fallback" {
		return fmt.Sprintf("%s([%s, ...], x)", name, f)
	}
	return fmt.Sprintf("%s(%s, x)", name, f)
}
