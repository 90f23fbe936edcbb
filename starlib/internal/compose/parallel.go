package compose

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/cover"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func orchestrationRows() []table.Builtin {
	return []table.Builtin{
		{Name: "parallel", Group: table.GroupScript, Returns: "list", Effect: table.Pure, RunOnly: "results = parallel(f, items)", Func: parallelFunc, May: true,
			Params: []table.Param{
				{Name: "f", Kind: branchKind, Shape: table.Positional, Doc: "a function or node that is called with each item; or a list of calls, each (function or node, arguments...) or a function without parameters"},
				{Name: "items", Kind: table.ItemsKind, Shape: table.Positional, Default: "None", Doc: "a list; omitted with a list of calls"},
				table.Opt("limit", table.BoundKind, "16", "how many calls run at once"),
				onErrorParam,
			},
			Doc: "Makes calls concurrently, in a running function, and returns their results in order. Each call has its own branch: values that enter a branch are frozen, and values that leave it are data. The first failure ends the others, unless on_error says otherwise."},
		{Name: "stream", Group: table.GroupScript, Returns: "list", Effect: table.Pure, RunOnly: "results = stream(items, f, g)", Func: streamItems, May: true,
			Params: []table.Param{
				{Name: "items", Kind: streamedKind, Shape: table.Positional, Doc: "a list"},
				{Name: "stages", Kind: stageKind, Shape: table.Variadic, Doc: "functions or nodes, each called with the result of the one before it"},
				table.Opt("limit", limitsKind, "16", "how many items are in a stage at once; a list sets the number for each stage"),
				onErrorParam,
			},
			Doc: "Sends items through stages, in a running function, and returns the results of the last stage in the order of the items. An item does not wait for the others: it enters a stage as soon as there is room. With on_error = \"raise\", a failing item ends the others."},
		{Name: "phase", Group: table.GroupScript, Returns: "None", Effect: table.Logs, RunOnly: `phase("begin")`, Func: phaseFunc, May: true,
			Params: []table.Param{{Name: "name", Kind: table.StrKind, Doc: "what the run does next, for people"}},
			Doc:    "Reports to observers of a run what it does next. It changes nothing else; positions stay the same. A phase lasts until the next one at the same position."},
	}
}

// streamedKind takes the items of stream.
var streamedKind = table.Hinted(table.ItemsKind, func(v starlark.Value) string {
	if _, called := table.CalledKind.Accept(v); called {
		return "the items go first: stream(items, f, g)"
	}
	return ""
})

// branchKind takes what parallel calls.
var branchKind = &table.Kind{Word: "function, node or list of calls", Stub: "Callable | Node | list",
	Accept: value.Either(table.AcceptList, table.CalledKind.Accept),
	Hint:   table.Saying("pass the function and its arguments separately: parallel(f, items), or parallel([(f, x), (g, y)])")}

var stageKind = table.Hinted(table.CalledKind, table.Saying("pass the function itself: stream(items, f, g) calls f and g"))

var limitsKind = table.AnyOf(table.BoundKind, table.ListOf(table.BoundKind))

// branchCall is a call that is made on a branch.
type branchCall struct {
	f    starlark.Value
	args starlark.Tuple
}

func partsOf(calls []branchCall) func(i int) starlark.Tuple {
	return func(i int) starlark.Tuple { return starlark.Tuple{calls[i].f, calls[i].args} }
}

// branchCalls returns the calls described by the arguments f and items.
func branchCalls(c *table.Call) []branchCall {
	f, items := c.Arg("f"), c.Arg("items")
	if _, list := table.AcceptList(f); !list {
		if items == nil {
			c.Problems.Add(table.NoItems(c.FuncSpan(), value.NameOf(f)))
			return nil
		}
		var calls []branchCall
		for _, item := range table.Sequence(items) {
			calls = append(calls, branchCall{f, starlark.Tuple{item}})
		}
		return calls
	}
	if items != nil {
		c.Problems.Add(table.ItemsBesideCalls(c.ArgSpan("items")))
		return nil
	}
	var calls []branchCall
	for i, item := range table.Sequence(f) {
		switch v := item.(type) {
		case starlark.Tuple:
			if len(v) > 0 {
				if _, ok := table.CalledKind.Accept(v[0]); ok {
					calls = append(calls, branchCall{v[0], v[1:]})
					continue
				}
			}
		case *value.Node:
			c.Problemf(diag.WrongArgument, c.ArgSpan("f"), "call %d is the %s %s without its input", i, v.Node.Kind(), v.Label()).Help =
				[]string{"write (" + v.Label() + ", x); to run all on one input compose them: par(...)"}
			return nil
		default:
			if _, ok := value.AcceptFunction(item); ok {
				calls = append(calls, branchCall{f: item})
				continue
			}
		}
		c.Problemf(diag.WrongArgument, c.ArgSpan("f"), "call %d is %s, want (function or node, arguments...) or a function", i, value.Describe(item)).Help =
			[]string{"write (f, x) or lambda: f(x); f(x) is called before " + c.Row.Name + " begins"}
		return nil
	}
	return calls
}

func parallelFunc(c *table.Call) (starlark.Value, error) {
	limit := c.Int("limit", flow.DefaultEachLimit)
	calls := branchCalls(c)
	if len(c.Problems) > 0 {
		return nil, nil
	}
	shared := make([]starlark.Value, 0, 2*len(calls))
	for _, call := range calls {
		shared = append(shared, call.f, call.args)
	}
	if err := share(c, shared...); err != nil {
		return nil, err
	}
	out := newOutcomes(c, len(calls))
	err := callsAt(c, partsOf(calls)).All(len(calls), limit, func(i int, br engine.Branch) error {
		r, err := onBranch(c, br, calls[i].f, calls[i].args)
		return out.take(i, br, r, err)
	})
	if err != nil {
		return nil, err
	}
	return out.list(), nil
}

func phaseFunc(c *table.Call) (starlark.Value, error) {
	c.Env.Branch.Phase(c.Str("name"))
	return starlark.None, nil
}

// limits reads a number for all stages, or one for each.
func limits(c *table.Call, stages int) []int {
	list, ok := c.Arg("limit").(*starlark.List)
	if !ok {
		return slices.Repeat([]int{c.Int("limit", flow.DefaultEachLimit)}, stages)
	}
	out := make([]int, stages)
	if list.Len() != stages {
		c.Problemf(diag.WrongArgument, c.ArgSpan("limit"), "limit: %s for %s", text.CountInWords(list.Len(), "number"), text.CountInWords(stages, "stage")).Help =
			[]string{"pass one number for all stages, or a list with one for each"}
		return out
	}
	for i := range out {
		out[i], _ = starlark.AsInt32(list.Index(i))
	}
	return out
}

// share freezes what branches can see, and remembers where that happened.
func share(c *table.Call, values ...starlark.Value) error {
	if err := thread.Share(c.Env.State, values...); err != nil {
		return err
	}
	s := c.Env.Thread.(*thread.Thread)
	if c.Thread().CallStackDepth() > 1 {
		s.Frozen, s.Taker = script.Position(c.Thread().CallFrame(1).Pos), c.Row.Name
	}
	return s.Settle() // the branches' steps are not charged for it
}

// What happens to the branches when one fails.
const (
	raiseErrors = "raise"
	keepErrors  = "keep"
	dropErrors  = "drop"
)

var onErrorParam = table.Param{Name: "on_error", Kind: table.OneOf(raiseErrors, keepErrors, dropErrors), Shape: table.KeywordOnly, Default: `"raise"`,
	Doc: `how failures are handled: "raise" ends the others and fails, "keep" returns an Attempt for each, "drop" leaves the failed ones out`}

// outcomes collects the results of branches, in the order of their inputs.
type outcomes struct {
	policy string
	took   func(way int)
	items  []starlark.Value
}

func newOutcomes(c *table.Call, n int) *outcomes {
	return &outcomes{policy: c.StrOr("on_error", raiseErrors), took: waysOf(c), items: make([]starlark.Value, n)}
}

// take keeps the result of branch i. A returned error ends all branches.
func (o *outcomes) take(i int, br engine.Branch, r thread.Result, err error) error {
	if err == nil {
		o.items[i] = r.Form
		if o.policy == keepErrors {
			o.items[i] = attempted(r.Data, nil)
		}
		return nil
	}
	if o.policy == raiseErrors {
		return err
	}
	e, ends := br.Catch(err)
	if ends != nil {
		return ends
	}
	o.took(cover.BranchFails)
	if o.policy == keepErrors {
		o.items[i] = attempted(generable.Value{}, e)
	}
	return nil
}

// list returns all results, without those that were dropped.
func (o *outcomes) list() starlark.Value {
	return starlark.NewList(slices.DeleteFunc(o.items, func(v starlark.Value) bool { return v == nil }))
}
