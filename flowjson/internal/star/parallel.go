package star

import (
	"strconv"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/generable"
)

// parallel writes agents that run concurrently, with the function that takes one of their results.
func (w *writer) parallel(a *plan.Agent, said []string) {
	d := call("par")
	for _, c := range a.Children {
		if c.Type == spec.Transform {
			for _, note := range notes(c.Extras()) {
				w.comment(note)
			}
			d.parts = append(d.parts, transform(c))
		} else {
			w.model(c, notes(c.Extras()))
			d.parts = append(d.parts, atom(w.vars[c]))
		}
	}
	if a.Merge != nil && a.Merge.Input {
		d.parts = append(d.parts, w.same(a.In))
	}
	if len(d.parts) > mostArguments {
		d.parts = []*doc{list(d.parts...)}
	}
	if a.Mixed {
		d.parts = append(d.parts, named("output", atom("any")))
	}
	if a.Merge != nil {
		d.parts = append(d.parts, named("merge", w.merge(a)))
	}
	w.variable(a, "parallel", d, said)
}

// merge writes the function that takes one result of a parallel: a lambda, or a function that fails if the condition of
// the file does not hold.
func (w *writer) merge(a *plan.Agent) *doc {
	m := a.Merge
	taken := "results[" + strconv.Itoa(m.Index) + "]"
	made := func(f string) *doc {
		return call("fn", atom(f), named("input", atom("list["+typeText(a.Result)+"]")), named("output", atom(typeText(a.Out))))
	}
	if m.Pred == nil && !m.Never {
		return made("lambda results: " + taken)
	}
	asked := taken
	if m.Input {
		asked = "results[" + strconv.Itoa(len(a.Children)) + "]"
	}
	name := w.names.of("take_"+a.Children[m.Index].Name, "results")
	failing := "fail(" + quoted(a.Unmet()) + " + json.encode(" + asked + "))\n"
	kind := a.Children[m.Index].Out
	if m.Input {
		kind = a.In
	}
	w.b.WriteString("def " + name + "(results):\n")
	if m.Never {
		w.b.WriteString("    " + failing + "\n")
		return made(name)
	}
	holds, not := test(m.Pred, asked, kind)
	if !not {
		w.b.WriteString("    if not " + holds + ":\n        " + failing + "    return " + taken + "\n\n")
	} else {
		w.b.WriteString("    if " + holds + ":\n        " + failing + "    return " + taken + "\n\n")
	}
	return made(name)
}

var opposite = map[predicate.Op]string{predicate.Eq: " != ", predicate.Ne: " == ", predicate.Gt: " <= ", predicate.Ge: " < ", predicate.Lt: " >= ", predicate.Le: " > "}

// test writes a condition on a value: as a comparison if both have the same kind, with its opposite, and otherwise as a
// call of the condition.
func test(p *predicate.Predicate, asked string, of *generable.Type) (written string, opposed bool) {
	v, given := p.Value()
	op, simple := opposite[p.Op()]
	_, text := v.AsStr()
	_, number := v.AsNumber()
	_, truth := v.AsBool()
	order := p.Op() != predicate.Eq && p.Op() != predicate.Ne
	fits := text && of.Kind == generable.StrType && !order || number && (of.Kind == generable.IntType || of.Kind == generable.FloatType) || truth && of.Kind == generable.BoolType && !order
	if given && simple && fits {
		return asked + op + value(&v), true
	}
	if len(p.Operands()) > 0 {
		return "(" + p.String() + ")(" + asked + ")", false
	}
	return p.String() + "(" + asked + ")", false
}
