package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

func orchestrationRows() []Builtin {
	return []Builtin{
		{Name: "parallel", Group: GroupScript, Returns: "list", Effect: Pure, Func: parallelFunc, May: true,
			Params: []Param{
				{Name: "f", Kind: branchKind, Shape: Positional, Doc: "a function or node that is called with each item; or a list of calls, each (function or node, arguments...) or a function without parameters"},
				{Name: "items", Kind: itemsKind, Shape: Positional, Default: "None", Doc: "a list; not given with a list of calls"},
				{Name: "limit", Kind: boundKind, Shape: KeywordOnly, Default: "16", Doc: "how many at once"},
				onErrorParam,
			},
			Doc: "Makes calls at once, in a function that runs, and gives what they give in order. Each has a branch of its own; what enters a branch is frozen, and what leaves it is data. The first failure ends the others, unless on_error says otherwise."},
		{Name: "stream", Group: GroupScript, Returns: "list", Effect: Pure, Func: streamItems, May: true,
			Params: []Param{
				{Name: "items", Kind: streamedKind, Shape: Positional, Doc: "a list"},
				{Name: "stages", Kind: stageKind, Shape: Variadic, Doc: "functions or nodes, each called with what the one before gave"},
				{Name: "limit", Kind: limitsKind, Shape: KeywordOnly, Default: "16", Doc: "how many items are in a stage at once; a list has a number for each stage"},
				onErrorParam,
			},
			Doc: "Sends items through stages, in a function that runs, and gives what the last stage gives in the order of the items. An item does not wait for the others: it enters a stage as soon as there is room. With on_error = \"raise\" a failing item ends the others."},
		{Name: "phase", Group: GroupScript, Returns: "None", Effect: Logs, Func: phaseFunc, May: true,
			Params: []Param{{Name: "name", Kind: StrKind, Doc: "what the run comes to, for people"}},
			Doc:    "Tells those who watch a run what it comes to. It changes nothing else; positions stay as they are. It lasts until the next one at the same position."},
	}
}

// itemsKind takes what can be gone through more than once, in an order.
var itemsKind = Kind{Word: "list", Stub: "list",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *starlark.List, starlark.Tuple, *starlark.Set:
			return v, true
		}
		_, ok := v.(starlark.Sequence)
		return v, ok && v.Type() == "range"
	},
	hint: func(v starlark.Value) string {
		switch v.(type) {
		case *starlark.Dict:
			return "write d.items(), d.keys() or d.values()"
		case *starlark.Function, *nodeValue:
			return callsInList
		case starlark.String:
			return "a list of one is [text]; s.elems() and s.splitlines() are lists of its parts"
		}
		return "put it into a list: [...]"
	}}

// streamedKind is the items of stream.
var streamedKind = Kind{Word: itemsKind.Word, Stub: itemsKind.Stub, accept: itemsKind.accept,
	hint: func(v starlark.Value) string {
		if _, called := calledKind.accept(v); called {
			return "the items go first: stream(items, f, g)"
		}
		return itemsKind.hint(v)
	}}

const callsInList = "put the calls into a list: parallel([(f, x), (g, y)]), and what they share into each"

// branchKind takes what parallel calls.
var branchKind = Kind{Word: "function, node or list of calls", Stub: "Callable | Node | list",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		if _, list := acceptList(v); list {
			return v, true
		}
		return calledKind.accept(v)
	},
	hint: func(v starlark.Value) string {
		return "give the function and its arguments apart: parallel(f, items), or parallel([(f, x), (g, y)])"
	}}

var stageKind = Kind{Word: calledKind.Word, Stub: calledKind.Stub, accept: calledKind.accept,
	hint: func(starlark.Value) string { return "give the function itself: stream(items, f, g) calls f and g" }}

var limitsKind = anyOf(boundKind, listOf(boundKind))

// branchCall is one call that is made on a branch.
type branchCall struct {
	f    starlark.Value
	args starlark.Tuple
}

// composed says what does between nodes what a call does in a run.
var composed = map[string]string{
	"parallel": "to run nodes at once on one input, compose them: par(a, b), or a / b; on each item of a list, each(a)",
	"stream":   "to take each item through nodes, compose them: each(a >> b)",
}

// inRun reports whether the call is made in a run; else it says where it belongs.
func (c *Call) inRun(example string) bool {
	if c.running() {
		return true
	}
	d := c.complain(diag.CalledWhileComposing, c.fnSpan(), "%s is called while the file loads", c.row.QualifiedName())
	d.Help = []string{"use it in a function that runs: def main(x): " + example}
	if of := composed[c.row.Name]; of != "" {
		d.Help = append(d.Help, of)
	}
	switch c.row.QualifiedName() {
	case "fs.read":
		d.Help = append(d.Help, "what belongs to the script is read while it loads: file(\"notes.md\")")
	case "env.get", "env.secret":
		d.Help = append(d.Help, "for headers and env of mcp(...) a secret is named: secret(\"NAME\")")
	case "approve":
		d.Help = append(d.Help, "between nodes a step asks: a >> approval(\"Ship it?\") >> b")
	}
	return false
}

// sequence lists the items of an argument.
func sequence(v starlark.Value) []starlark.Value {
	var out []starlark.Value
	if seq, ok := v.(starlark.Iterable); ok {
		for item := range starlark.Elements(seq) {
			out = append(out, item)
		}
	}
	return out
}

func noItems(at diag.Span, f string) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.MissingArgument, Span: at, Message: "parallel needs the items to call " + f + " with",
		Help: []string{"parallel(" + f + ", items), or a list of calls: parallel([(" + f + ", x)])"}}
}

func itemsBesideCalls(at diag.Span) *diag.Diagnostic {
	return &diag.Diagnostic{Code: diag.WrongArgument, Span: at, Message: "parallel takes a list of calls alone",
		Help: []string{"each call brings its own arguments: [(f, x), (g, x)]"}}
}

// branchCalls are the calls that the arguments f and items say.
func (c *Call) branchCalls() []branchCall {
	f, items := c.Arg("f"), c.Arg("items")
	if _, list := acceptList(f); !list {
		if items == nil {
			c.wrong.Add(noItems(c.fnSpan(), nameOf(f)))
			return nil
		}
		var calls []branchCall
		for _, item := range sequence(items) {
			calls = append(calls, branchCall{f, starlark.Tuple{item}})
		}
		return calls
	}
	if items != nil {
		c.wrong.Add(itemsBesideCalls(c.spanOf("items")))
		return nil
	}
	var calls []branchCall
	for i, item := range sequence(f) {
		switch v := item.(type) {
		case starlark.Tuple:
			if len(v) > 0 {
				if _, ok := calledKind.accept(v[0]); ok {
					calls = append(calls, branchCall{v[0], v[1:]})
					continue
				}
			}
		case *nodeValue:
			c.complain(diag.WrongArgument, c.spanOf("f"), "call %d is the %s %s without its input", i, v.n.Kind(), v.label()).Help =
				[]string{"write (" + v.label() + ", x); to run all on one input compose them: par(...)"}
			return nil
		default:
			if _, ok := acceptFunction(item); ok {
				calls = append(calls, branchCall{f: item})
				continue
			}
		}
		c.complain(diag.WrongArgument, c.spanOf("f"), "call %d is %s, want (function or node, arguments...) or a function", i, describe(item)).Help =
			[]string{"write (f, x) or lambda: f(x); f(x) is called before " + c.row.Name + " begins"}
		return nil
	}
	return calls
}

func parallelFunc(c *Call) (starlark.Value, error) {
	if !c.inRun("results = parallel(f, items)") {
		return nil, nil
	}
	limit := c.Int("limit", engine.DefaultEachLimit)
	calls := c.branchCalls()
	if len(c.wrong) > 0 {
		return nil, nil
	}
	shared := make([]starlark.Value, 0, 2*len(calls))
	for _, call := range calls {
		shared = append(shared, call.f, call.args)
	}
	if err := c.share(shared...); err != nil {
		return nil, err
	}
	out := c.newOutcomes(len(calls))
	err := engine.CallsAt(c.env.branch, c.row.Name).All(len(calls), limit, func(i int, br engine.Branch) error {
		r, err := c.env.apart(br, "what "+nameOf(calls[i].f)+" gives", func(thread *starlark.Thread) (starlark.Value, error) {
			return starlark.Call(thread, calls[i].f, calls[i].args, nil)
		})
		return out.take(i, br, r, err)
	})
	if err != nil {
		return nil, err
	}
	return out.list(), nil
}

func phaseFunc(c *Call) (starlark.Value, error) {
	if !c.inRun("phase(\"begin\")") {
		return nil, nil
	}
	c.env.branch.Phase(c.Str("name"))
	return starlark.None, nil
}

// limits reads a number for all stages, or one for each.
func (c *Call) limits(stages int) []int {
	out := make([]int, stages)
	for i := range out {
		out[i] = engine.DefaultEachLimit
	}
	list, ok := c.Arg("limit").(*starlark.List)
	if !ok {
		n := c.Int("limit", engine.DefaultEachLimit)
		for i := range out {
			out[i] = n
		}
		return out
	}
	if list.Len() != stages {
		c.complain(diag.WrongArgument, c.spanOf("limit"), "limit: %s for %s", text.CountInWords(list.Len(), "number"), text.CountInWords(stages, "stage")).Help =
			[]string{"give one number for all stages, or a list with one for each"}
		return out
	}
	for i := range out {
		out[i], _ = starlark.AsInt32(list.Index(i))
	}
	return out
}
