package table

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// CalledBy returns the kind of what a builtin calls in a run, with advice for a call that was made already.
func CalledBy(name string) *Kind {
	return Hinted(NextKind, Saying(fmt.Sprintf("pass the function and its arguments separately: %s(f, x) calls f itself", name)))
}

// AlternativesKind takes the alternatives of race and fallback: [f, g], called with the same arguments, or [(f, x), (g,
// y)].
func AlternativesKind(name string) *Kind {
	called := func(v starlark.Value) bool {
		if call, ok := v.(starlark.Tuple); ok {
			if len(call) == 0 {
				return false
			}
			v = call[0]
		}
		_, ok := CalledKind.Accept(v)
		return ok
	}
	both := fmt.Sprintf("%s([f, g], x) calls f and g with x, %s([(f, x), (g, y)]) each with its own", name, name)
	return &Kind{Word: "list of calls", Stub: "list[Callable | Node | tuple]",
		Accept: func(v starlark.Value) (starlark.Value, bool) {
			if _, list := AcceptList(v); !list {
				return v, false
			}
			for item := range starlark.Elements(v.(starlark.Iterable)) {
				if _, failed := item.(*value.Failed); !failed && !called(item) {
					return v, false
				}
			}
			return v, true
		},
		Hint: func(v starlark.Value) string {
			if called(v) {
				return "in a running function, put the calls into a list: " + both
			}
			if _, list := AcceptList(v); list {
				for i, item := range Sequence(v) {
					if !called(item) {
						return fmt.Sprintf("item %d is %s; %s", i, value.Describe(item), both)
					}
				}
			}
			return both
		}}
}

// ArgumentsBesideCalls reports arguments in addition to calls that have their own.
func ArgumentsBesideCalls(at diag.Span, name string) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.WrongArgument, Span: at, Message: name + " gets arguments in addition to calls with their own",
		Help: []string{fmt.Sprintf("write %s([(f, x), (g, y)]), or %s([f, g], x)", name, name)}}
}

// WithoutInput reports a node that would be called without its input, or with more than it. That is not a failure of
// the call, which the builtin would catch.
func WithoutInput(name string, f starlark.Value, args int, at diag.Span) *diag.Diagnostic {
	n, ok := f.(*value.Node)
	if !ok || args == 1 {
		return nil
	}
	d := &diag.Diagnostic{Code: diag.WrongArgument, Span: at,
		Message: fmt.Sprintf("%s takes its input as the only argument, and %s calls it with %s", n.Label(), name, text.CountInWords(args, "argument"))}
	d.Help = []string{"several values are one input: a schema, a dict or a list"}
	if args == 0 {
		d.Help = []string{fmt.Sprintf("in a running function, pass the input as well: %s", callOf(name, n.Label()))}
	} else if name == "retry" {
		d.Help = append(d.Help, "the number of calls is passed by name: retry("+n.Label()+", x, max = 3)")
	}
	return d
}

// callOf returns a call that a builtin makes in a run, as text.
func callOf(name, f string) string {
	if name == "race" || name == "fallback" {
		return fmt.Sprintf("%s([%s, ...], x)", name, f)
	}
	return fmt.Sprintf("%s(%s, x)", name, f)
}

// Unnamed adds how to name a type.
func Unnamed(d *diag.Diagnostic) {
	d.Help = append(d.Help, "assign the type to a variable first, or name it with _name = \"Name\"")
}

// CallsInList is the remedy for calls that are given as separate arguments.
const CallsInList = "put the calls into a list: parallel([(f, x), (g, y)]), and what they share into each"

// NoItems reports a call of parallel without items.
func NoItems(at diag.Span, f string) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.MissingArgument, Span: at, Message: "parallel needs the items to call " + f + " with",
		Help: []string{"parallel(" + f + ", items), or a list of calls: parallel([(" + f + ", x)])"}}
}

// ItemsBesideCalls reports items in addition to a list of calls.
func ItemsBesideCalls(at diag.Span) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.WrongArgument, Span: at, Message: "parallel takes only a list of calls",
		Help: []string{"each call brings its own arguments: [(f, x), (g, x)]"}}
}

// NoStages reports a call of stream without stages.
func NoStages(at diag.Span) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.MissingArgument, Span: at, Message: "stream needs stages for its items", Help: []string{"stream(items, f, g): functions or nodes"}}
}

// MemoryAtTop is the help for a memory that is made in a running function.
const MemoryAtTop = `move it to the top level, as in notes = memory("notes"): functions may use notes`
