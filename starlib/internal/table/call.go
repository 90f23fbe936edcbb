package table

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Call is one call of a builtin: its bound arguments, and its position.
type Call struct {
	Row      *Builtin
	State    *script.State
	Env      *script.Env
	thread   *starlark.Thread
	Receiver starlark.Value

	Values   []starlark.Value // by parameter; nil if not given
	Refs     []ArgRef         // by parameter
	rest     []starlark.Value // arguments of the variadic parameter
	RestRefs []ArgRef         // of rest
	Kwargs   []starlark.Tuple // arguments of the keywords parameter

	Incomplete bool // a stand-in is among the arguments: do not report it again
	Problems   diag.List
	halted     bool // after the errors in binding there is nothing left to check
	Flawed     bool // binding reported an error

	crossed  int // the first of two swapped arguments, from 1
	looked   bool
	CallSite source.Call
	parts    map[ArgRef]source.Parts // parts of arguments, computed on demand
	File     *source.File
	Pos      syntax.Position
}

// call binds arguments and runs the row. It reports all mistakes of a call together.
func (b *Builtin) call(thread *starlark.Thread, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	e := script.EnvOf(thread)
	if e == nil {
		return nil, fmt.Errorf("%s was called outside of a script", b.Name)
	}
	if e.Concurrent && !b.concurrentSafe() {
		return nil, script.NotConcurrent(b.QualifiedName())
	}
	if b.InRun != nil && e.Running() {
		b = b.InRun
	}
	c := &Call{Row: b, State: e.State, Env: e, thread: thread, Receiver: recv}
	if !e.Running() {
		if err := spend(e.State, args, kwargs); err != nil {
			return nil, err
		}
	}
	c.Bind(args, kwargs)
	said := c.Problems
	if len(said) > 0 {
		if early := c.asCall(args, kwargs); early != nil {
			return c.Fail(early)
		}
		if c.halted || e.Running() {
			return c.Fail(said...)
		}
	}
	c.Problems, c.Flawed = nil, len(said) > 0
	v, err := c.carryOut()
	switch {
	case err != nil: // loading of the file ends here
		c.State.Session.Report(said...)
		return nil, err
	case len(c.Problems) > 0:
		if early := c.asCall(args, kwargs); early != nil {
			return c.Fail(early)
		}
		return c.Fail(append(said, c.Problems...)...)
	case c.Flawed:
		c.State.Session.Report(said...)
		if n, ok := v.(*value.Node); ok && b.Group == GroupCompose {
			c.State.Session.Refuse(n.Node) // a failed node claims no place
		} else if v == nil {
			v = c.Placeholder()
		}
	}
	return v, nil
}

// asCall reports a call in the form for running functions, retry(write, "x"), which composes nothing. It returns nil
// for any other call.
func (c *Call) asCall(args starlark.Tuple, kwargs []starlark.Tuple) *diag.Diagnostic {
	if c.Row.InRun == nil || c.Incomplete || c.Running() {
		return nil
	}
	inRun := &Call{Row: c.Row.InRun, State: c.State, Env: c.Env, thread: c.thread}
	inRun.Bind(args, kwargs)
	what, calls := inRun.Values[0], len(inRun.rest) > 0
	if _, list := AcceptList(what); list {
		for i, item := range Sequence(what) {
			call, own := item.(starlark.Tuple) // (f, x)
			if calls = calls || own; own && len(call) > 0 {
				item = call[0]
			}
			if i == 0 {
				what = item
			}
		}
	}
	if len(inRun.Problems) > 0 || !calls || what == nil {
		return nil
	}
	if s, ok := starlark.AsString(inRun.first()); ok {
		if _, err := strconv.Atoi(s); err == nil { // a number in quotes
			return nil
		}
	}
	name := c.Row.Name
	return &diag.Diagnostic{Code: diag.CalledWhileComposing, Span: c.FuncSpan(),
		Message: fmt.Sprintf("%s calls %s while the file loads", name, value.NameOf(what)),
		Help:    []string{"use it in a function that runs: def main(x): result = " + name + "(...); to compose a node, leave the input out"}}
}

// first returns the first argument that a call passes on, or nil.
func (c *Call) first() starlark.Value {
	if len(c.rest) == 0 {
		return starlark.None
	}
	return c.rest[0]
}

// stepsPerItem is the number of loading steps charged for each item of a builtin's arguments: a list that is written
// once may be passed to many calls.
const stepsPerItem = 8

// spend charges loading steps for the size of the arguments.
func spend(c *script.State, args starlark.Tuple, kwargs []starlark.Tuple) error {
	items := 0
	for _, v := range args {
		items += itemsIn(v)
	}
	for _, kw := range kwargs {
		items += itemsIn(kw[1])
	}
	if items < 16 {
		return nil
	}
	return c.Spend(stepsPerItem * items)
}

// itemsPerTest is the number of items that a test of a condition counts as: it is compared with the tests of other
// routes.
const itemsPerTest = 16

// itemsIn counts the items of a list, tuple or dict, and the tests of a condition.
func itemsIn(v starlark.Value) int {
	switch v := v.(type) {
	case *value.Predicate:
		return itemsPerTest * v.Pred.Size()
	case *starlark.List:
		return v.Len()
	case starlark.Tuple:
		return v.Len()
	case *starlark.Dict:
		return v.Len()
	}
	return 0
}

// carryOut runs the row, if it can be called here.
func (c *Call) carryOut() (starlark.Value, error) {
	switch b := c.Row; {
	case b.AtTop && (c.Running() || c.State.Sealed.Load()):
		err := value.ComposedWhileRunning(b.Name)
		if b.Name == "memory" {
			err.Help = MemoryAtTop
		}
		return nil, err
	case b.RunOnly != "" && !c.running(b.RunOnly):
		return nil, nil
	case b.Whole && c.Incomplete:
		return c.Placeholder(), nil
	}
	return c.Row.Func(c)
}

// Made returns v, the result of a call, unless a stand-in is among its arguments.
func (c *Call) Made(v starlark.Value) (starlark.Value, error) {
	if c.Incomplete {
		return c.Placeholder(), nil
	}
	return v, nil
}

// Problemf adds a diagnostic to those that the call will report.
func (c *Call) Problemf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	c.Problems = append(c.Problems, d)
	return d
}

// Fail reports mistakes. While composing, it returns a stand-in for the result, and the file continues; in a run, the
// call fails.
func (c *Call) Fail(found ...*diag.Diagnostic) (starlark.Value, error) {
	c.Problems = nil
	if c.Running() {
		return nil, script.Raised(found...)
	}
	c.State.Session.Report(found...)
	return c.Placeholder(), nil
}

// nodeKinds are the kinds of nodes that the builtins make.
var nodeKinds = map[string]flow.NodeKind{"agent": flow.AgentNode, "load_flow": flow.GraphNode, "fn": flow.FnNode, "approval": flow.ApprovalNode, "pick": flow.PickNode,

	"template": flow.TemplateNode, "then": flow.PipelineNode, "par": flow.ParallelNode, "forum": flow.ForumNode,
	"loop": flow.LoopNode, "branch": flow.BranchNode, "each": flow.EachNode, "graph": flow.GraphNode, "fallback": flow.FallbackNode, "race": flow.RaceNode,
	"retry": flow.RetryNode, "vote": flow.VoteNode, "wrap": flow.WrapNode, "handoff": flow.HandoffNode, "verify": flow.VerifyNode, "bounded": flow.BoundedNode}

// Placeholder returns the result of a failed call.
func (c *Call) Placeholder() starlark.Value {
	switch c.Row.Returns {
	case "node":
		return value.NewNode(c.State, c.State.Session.Failed(nodeKinds[c.Row.Name], c.Site()))
	case "type":
		return value.NewType(c.State, generable.ErrorT)
	}
	return &value.Failed{}
}

// Locate finds the call in the source, once.
func (c *Call) Locate() {
	if c.looked {
		return
	}
	c.looked = true
	if c.thread == nil { // checked before it is made
		c.CallSite, _ = c.File.CallAt(c.Pos)
		return
	}
	if c.thread.CallStackDepth() < 2 {
		return
	}
	c.Pos = c.thread.CallFrame(1).Pos
	u := c.State.ByName[c.Pos.Filename()]
	if u == nil || u.File == nil {
		return
	}
	c.File = u.File
	if c.Running() {
		c.CallSite, _ = c.File.CallAt(c.Pos)
		return
	}
	at := script.Key(c.Pos)
	site, ok := u.Calls[at] // a factory makes many nodes at one position
	if !ok {
		site, _ = c.File.CallAt(c.Pos)
		if u.Calls == nil {
			u.Calls = map[syntax.Position]source.Call{}
		}
		u.Calls[at] = site
	}
	c.CallSite = site
}

// FuncSpan returns the span of the called function.
func (c *Call) FuncSpan() diag.Span {
	c.Locate()
	if c.CallSite.Fn.IsValid() {
		return c.CallSite.Fn
	}
	return diag.Span{Pos: script.Position(c.Pos)}
}

// NameSpan returns the span of a keyword.
func (c *Call) NameSpan(name string) diag.Span {
	c.Locate()
	for _, a := range c.CallSite.Args {
		if a.Name == name {
			return a.NameSpan
		}
	}
	return c.RefSpan(ArgRef{Name: name})
}

// RefSpan finds an argument in the source: itself, or the *args or **kwargs that contains it.
func (c *Call) RefSpan(ref ArgRef) diag.Span {
	c.Locate()
	n := 0
	for _, a := range c.CallSite.Args {
		switch {
		case ref.Name != "" && (a.Name == ref.Name || a.Spread == syntax.STARSTAR):
			return a.Span
		case ref.n > 0 && a.Spread == syntax.STAR:
			return a.Span
		case ref.n > 0 && a.Name == "" && a.Spread == 0:
			if n++; n == ref.n {
				return a.Span
			}
		}
	}
	return c.FuncSpan()
}

// ArgSpan returns the span of the argument of a parameter.
func (c *Call) ArgSpan(name string) diag.Span {
	if i := c.ParamIndex(name); c.Refs[i].Given() {
		return c.RefSpan(c.Refs[i])
	}
	return c.FuncSpan()
}

// ParamIndex returns the index of a parameter of the row. It panics if the row has no such parameter.
//
//go:noinline
func (c *Call) ParamIndex(name string) int {
	i := slices.IndexFunc(c.Row.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		panic("starlib: " + c.Row.Name + " has no parameter " + name)
	}
	return i
}

// CalledKind takes what attempt can call: functions, builtins, types, and nodes.
var CalledKind = CalledBy("attempt")

// NodesKind takes a node, or one list of nodes instead of all of them.
var NodesKind = &Kind{Word: "node or list of nodes", Stub: "Node | list[Node]",
	Accept: value.Either(value.As[*value.Node], value.As[*starlark.List], value.As[starlark.Tuple]), Hint: value.HintNode}

// NextKind takes what returns a next value: a function or a node.
var NextKind = &Kind{Word: "function or node", Stub: "Callable | Node",
	Accept: value.Either(value.As[*value.Node], value.AcceptFunction), Hint: func(v starlark.Value) string {
		if n, ok := v.(starlark.Int); ok {
			return "the number of turns is max = " + n.String() + "; what makes the next input is a function or a node"
		}
		return ""
	}}

// ItemsKind takes what can be iterated over more than once, in a fixed order.
var ItemsKind = &Kind{Word: "list", Stub: "list",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *starlark.List, starlark.Tuple, *starlark.Set:
			return v, true
		}
		_, ok := v.(starlark.Sequence)
		return v, ok && v.Type() == "range"
	},
	Hint: func(v starlark.Value) string {
		switch v.(type) {
		case *starlark.Dict:
			return "write d.items(), d.keys() or d.values()"
		case *value.Node:
			return "compose nodes with par(a, b), or a / b; in a function put the calls into a list: parallel([(a, x), (b, x)])"
		case *starlark.Function:
			return CallsInList
		case starlark.String:
			return "a list of one is [text]; s.codepoints() and s.splitlines() are lists of its parts"
		}
		return "put it into a list: [...]"
	}}

// Sequence returns the items of an argument.
func Sequence(v starlark.Value) []starlark.Value {
	seq, ok := v.(starlark.Iterable)
	if !ok {
		return nil
	}
	return slices.Collect(starlark.Elements(seq))
}

// PredicateKind takes only conditions as data.
var PredicateKind = &Kind{Word: "condition", Stub: "Predicate", Accept: value.As[*value.Predicate], Hint: func(v starlark.Value) string {
	if _, ok := value.AcceptFunction(v); ok {
		return "a condition as data is needed here, such as ge(1) & le(10)"
	}
	return ""
}}

// CondKind takes conditions as data and functions.
var CondKind = &Kind{Word: "function or condition", Stub: "Callable | Predicate",
	Accept: value.Either(value.As[*value.Predicate], value.AcceptFunction), Hint: HintCondition}
