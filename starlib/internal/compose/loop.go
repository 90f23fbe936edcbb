package compose

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

var loopParams = []table.Param{
	{Name: "next", Kind: table.NextKind, Default: "None", Doc: "a function of the output, or a node, that returns the next input or None"},
	table.Opt("max", table.BoundKind, "1000", "the maximum number of turns"),
	table.Opt("until", table.CondKind, "None", "ends the loop when it holds for the output"),
	table.Opt("repair", table.NodeKind, "None", "makes the next input from the output, with until"),
	table.Opt("on_limit", table.OneOf("fail", "last"), `"fail"`, "what happens after max turns: an error, or the last output"),
}

// loopArgs reports arguments of a loop that exclude each other.
func loopArgs(c *table.Call) {
	how := "either next returns the next input or None, or until = ends the loop and repair = makes the next input"
	next, until, repair := c.Has("next"), c.Has("until"), c.Has("repair")
	switch {
	case next && (until || repair):
		other := "until"
		if !until {
			other = "repair"
		}
		c.Problemf(diag.WrongArgument, c.ArgSpan(other), "loop: next and %s exclude each other", other).Help = []string{how}
	case repair && !until:
		c.Problemf(diag.MissingArgument, c.FuncSpan(), "loop needs until with repair").Help =
			[]string{"until = lambda out: ... decides when the loop ends; a node that returns the next input or None is next: loop(a, b)"}
	case until && !repair:
		help := "repair = node makes the next input from the output"
		if body := c.Node("node"); body != nil && !body.Failed() && generable.Assignable(body.Out(), body.In()) == nil {
			help += "; repair = fn(lambda x: x) passes it on unchanged"
		} else if body != nil && !body.Failed() {
			help += fmt.Sprintf(": repair = fn(f, input = %s, output = %s)", body.Out(), body.In())
		}
		c.Problemf(diag.MissingArgument, c.FuncSpan(), "loop needs repair with until").Help = []string{help}
	}
}

// untilFunc returns the function that tests until. If until is a schema or a union, the function tests whether the
// output conforms to it, and untilFunc also returns the type.
func untilFunc(c *table.Call) (engine.Func, *generable.Type) {
	of := asked(c.Arg("until"))
	if of == nil {
		return c.FuncArg("until"), nil
	}
	is := starlark.NewBuiltin(of.String(), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		v, err := value.ToData(args[0])
		return starlark.Bool(err == nil && of.Conforms(v) == nil), nil
	})
	return thread.FuncOf(c.State, is), of
}

// asked returns the schema or union that until is, or nil for any other until.
func asked(until starlark.Value) *generable.Type {
	if t, ok := until.(*value.Type); ok {
		switch of := t.T.Deref(); of.Kind {
		case generable.RecordType, generable.UnionType, generable.OneOfType:
			return of
		}
	}
	return nil
}

func loopFunc(c *table.Call) (starlark.Value, error) {
	o := flow.LoopOptions{Max: c.Int("max", flow.DefaultLoopMax), Repair: c.Node("repair"),
		LastWins: c.Str("on_limit") == "last", NextSpan: c.ArgSpan("next"), UntilSpan: c.ArgSpan("until"), RepairSpan: c.ArgSpan("repair")}
	if p, ok := c.Arg("until").(*value.Predicate); ok {
		o.Until = p.Pred
	} else {
		o.UntilFunc, o.UntilType = untilFunc(c)
	}
	if c.Has("next") {
		if o.NextNode = c.Node("next"); o.NextNode == nil {
			o.Next = c.FuncArg("next")
		}
	}
	loopArgs(c)
	if len(c.Problems) > 0 {
		return nil, nil
	}
	body := c.Node("node")
	if next, ok := c.Arg("next").(*starlark.Function); ok {
		lint.Called(c.State, next, script.Contract{Params: []*generable.Type{body.Out()}, Result: generable.OneOf(body.In(), generable.NoneT), Who: "next of loop"})
	}
	if until, ok := c.Arg("until").(*starlark.Function); ok {
		lint.Called(c.State, until, script.Contract{Params: []*generable.Type{body.Out()}, Result: generable.BoolT, Who: "until of loop"})
	}
	maker := "next"
	if o.Repair != nil {
		maker = "repair"
	}
	return value.NewNode(c.State, c.State.Session.Loop(c.Site("node", maker), body, o)), nil
}
