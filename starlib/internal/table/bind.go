package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Call is one call of a builtin: its bound arguments, and where it stands.
type Call struct {
	Row      *Builtin
	State    *script.State
	Env      *script.Env
	thread   *starlark.Thread
	Receiver starlark.Value

	Values   []starlark.Value // by parameter; nil when not given
	Refs     []ArgRef         // by parameter
	rest     []starlark.Value // of the variadic parameter
	RestRefs []ArgRef         // of rest
	Kwargs   []starlark.Tuple // of the keywords parameter

	Incomplete bool // a stand-in is among the arguments: stay silent about it
	Problems   diag.List
	halted     bool // what was wrong while binding leaves nothing to look into
	Flawed     bool // something was wrong while binding

	crossed  int // the first of two arguments, from 1, that stand in each other's place
	looked   bool
	CallSite source.Call
	File     *source.File
	Pos      syntax.Position
}

// ArgRef remembers how an argument was given, so that its place can be found when needed.
type ArgRef struct {
	n    int    // ordinal among the positional arguments, from 1; 0 when not given so
	Name string // of a keyword argument
}

func (r ArgRef) Given() bool { return r != ArgRef{} }

// call binds arguments and runs the row. All mistakes of one call are reported together.
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
	c.Bind(args, kwargs)
	said := c.Problems
	if len(said) > 0 && (c.halted || e.Running()) {
		return c.Fail(said...)
	}
	c.Problems, c.Flawed = nil, len(said) > 0
	v, err := b.Func(c)
	switch {
	case err != nil: // the file ends here
		c.report(said)
		return nil, err
	case len(c.Problems) > 0:
		return c.Fail(append(said, c.Problems...)...)
	case c.Flawed:
		c.report(said)
		if n, ok := v.(*value.Node); ok && b.Group == GroupCompose {
			c.State.Session.Refuse(n.Node) // what fails claims nothing
		} else if v == nil {
			v = c.Placeholder()
		}
	}
	return v, nil
}

func (c *Call) Bind(args starlark.Tuple, kwargs []starlark.Tuple) {
	params := c.Row.Params
	c.Values = make([]starlark.Value, len(params))
	c.Refs = make([]ArgRef, len(params))
	next, crowded := 0, false
	for i, arg := range c.unswapped(args) {
		ref := ArgRef{n: i + 1}
		switch c.crossed {
		case 0:
		case i + 1:
			ref.n++
		case i:
			ref.n--
		}
		for next < len(params) && params[next].Skip && !c.fits(&params[next], arg) {
			next++
		}
		switch {
		case next < len(params) && params[next].Shape <= Positional:
			c.set(next, arg, ref)
			next++
		case next < len(params) && params[next].Shape == Variadic:
			if v, ok := c.take(&params[next], arg, ref); ok {
				c.rest, c.RestRefs = append(c.rest, v), append(c.RestRefs, ref)
			}
		default:
			if !crowded { // said once for all that follow
				c.tooMany(i, ref)
			}
			crowded = true
		}
	}
	var catch *Param
	if n := len(params); n > 0 && params[n-1].Shape == Keywords {
		catch = &params[n-1]
	}
	var unknown []starlark.Tuple // they may be meant for what no other is given for
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		ref := ArgRef{Name: name}
		i, known := c.Row.index[name]
		switch {
		case known && c.Refs[i].Given():
			c.Problemf(diag.WrongArgument, c.RefSpan(ref), "%s: %s is given twice", c.Row.shownName(), name)
			c.halted = true
		case known:
			c.set(i, kv[1], ref)
		case catch != nil && (name[0] != '_' || !c.hasOptions()):
			if v, ok := c.take(catch, kv[1], ref); ok {
				c.Kwargs = append(c.Kwargs, starlark.Tuple{kv[0], v})
			}
		default:
			unknown = append(unknown, kv)
		}
	}
	for _, kv := range unknown {
		c.unknown(string(kv[0].(starlark.String)), kv[1])
	}
	for i := range params {
		if params[i].Required() && !c.Refs[i].Given() {
			c.missing(&params[i])
		}
	}
}

// hasOptions reports whether the row's own keywords begin with an underscore, so that any
// other keyword can be a field.
func (c *Call) hasOptions() bool {
	for name := range c.Row.index {
		if name[0] == '_' {
			return true
		}
	}
	return false
}

func (c *Call) fits(p *Param, v starlark.Value) bool {
	_, ok := p.Kind.Takes(v)
	return ok
}

func (c *Call) set(i int, v starlark.Value, ref ArgRef) {
	p := &c.Row.Params[i]
	c.Refs[i] = ref
	if _, none := v.(starlark.NoneType); none && !p.Required() && p.Kind.Stub != TypeKind.Stub && p.Kind.Accept != nil {
		return // None is as good as absent
	}
	if w, ok := c.take(p, v, ref); ok {
		c.Values[i] = w
	}
}

// take checks one argument and reports what is wrong with it.
func (c *Call) take(p *Param, v starlark.Value, ref ArgRef) (starlark.Value, bool) {
	w, ok := p.Kind.Takes(v)
	if ok {
		if _, failed := v.(*value.Failed); failed {
			if p.aside {
				return nil, false
			}
			c.Incomplete = true
		}
		found := p.Kind.vetted(p, w)
		c.blame(p, ref, found)
		whole := slices.ContainsFunc(found, func(f Fault) bool { return f.Part == Piece{} })
		return w, !whole || p.Shape > KeywordOnly || p.Required() // else as if it were not given
	}
	if found := p.Kind.misfits(p, v); found != nil {
		c.halted = c.halted || !p.aside
		c.blame(p, ref, found)
		return nil, false
	}
	code := diag.WrongArgument
	if p.Kind.isNode() {
		code = diag.NotANode
	}
	name := p.Name
	if p.Shape == Keywords {
		name = ref.Name
	}
	d := c.Problemf(code, c.RefSpan(ref), "%s: want %s, got %s", name, p.Kind.Word, value.Describe(v))
	if p.Kind.Hint != nil {
		if h := p.Kind.Hint(v); h != "" {
			d.Help = append(d.Help, h)
		}
	}
	if p.Kind.Guess != nil {
		if w, ok := p.Kind.Guess(v); ok {
			return w, true
		}
	}
	c.halted = c.halted || !p.aside
	return nil, false
}

func (c *Call) tooMany(i int, ref ArgRef) {
	c.halted = true
	most := 0
	for _, p := range c.Row.Params {
		if p.Shape <= Positional {
			most++
		}
	}
	d := c.Problemf(diag.TooManyArguments, c.RefSpan(ref), "%s takes %s by position", c.Row.shownName(), text.CountInWords(most, "argument"))
	if most == 0 {
		d.Help = append(d.Help, "its arguments are keywords: "+script.Joined(c.keywordNames()))
		return
	}
	d.Label = fmt.Sprintf("argument %d", i+1)
	if _, list := c.Row.index["args"]; list {
		d.Help = append(d.Help, "the arguments of the command stand in a list: args = [...]")
		return
	}
	d.Help = append(d.Help, c.Row.Signature())
}

// keywordNames lists the parameters that can be given by keyword.
func (c *Call) keywordNames() []string {
	names := make([]string, 0, len(c.Row.index))
	for _, p := range c.Row.Params {
		if _, ok := c.Row.index[p.Name]; ok {
			names = append(names, p.Name)
		}
	}
	return names
}

// unknown reports a keyword that the builtin does not have. One that is near is not missed then, and
// a node is made as if the name were right, so that what follows is looked at.
func (c *Call) unknown(name string, v starlark.Value) {
	names := c.keywordNames()
	d := c.Problemf(diag.UnknownArgument, c.NameSpan(name), "%s has no argument %s", c.Row.shownName(), name)
	meant, help := c.Row.synonym(name)
	switch {
	case help != "":
		d.Help = append(d.Help, help)
		for i := range c.Row.Params { // what the remedy gives is not missed as well
			if p := &c.Row.Params[i]; p.Required() && !c.Refs[i].Given() && (strings.Contains(help, p.Name+" = ") || strings.Contains(help, p.Name+"(")) {
				c.Refs[i] = ArgRef{Name: name}
			}
		}
	case d.Meant(name, names):
		meant, _ = diag.Suggest(name, names)
	case len(names) == 0:
		d.Help = append(d.Help, "its arguments are given by position: "+c.Row.Signature())
	default:
		d.Help = append(d.Help, "its arguments are "+script.Joined(names))
	}
	i, known := c.Row.index[meant]
	if !known || c.Refs[i].Given() {
		c.halted = true
		return
	}
	p := &c.Row.Params[i]
	c.Refs[i] = ArgRef{Name: name}
	w, ok := p.Kind.Takes(v)
	_, failed := v.(*value.Failed)
	switch {
	case ok && !failed && c.Row.Returns == "node" && len(p.Kind.vetted(p, w)) == 0: // else a wrong guess would tell
		c.Values[i] = w
	case !p.aside:
		c.halted = true
	}
}

func (c *Call) missing(p *Param) {
	c.halted = true
	d := c.Problemf(diag.MissingArgument, c.FuncSpan(), "%s needs %s", c.Row.shownName(), p.Name)
	if p.Doc != "" {
		d.Label = fmt.Sprintf("%s: %s", p.Kind.Word, p.Doc)
	}
	d.Help = append(d.Help, c.Row.Signature())
}

// Problemf adds a diagnostic to what the call will report.
func (c *Call) Problemf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	c.Problems = append(c.Problems, d)
	return d
}

// Fail reports mistakes. While composing, a stand-in takes the place of the result and the
// file goes on; in a run the call raises.
func (c *Call) Fail(found ...*diag.Diagnostic) (starlark.Value, error) {
	c.Problems = nil
	if c.Running() {
		return nil, script.Raised(found...)
	}
	c.report(found)
	return c.Placeholder(), nil
}

// report reports mistakes while composing.
func (c *Call) report(found diag.List) {
	for _, d := range found {
		c.State.Session.Report(d)
	}
}

// nodeKinds are the kinds of what the builtins make.
var nodeKinds = map[string]flow.NodeKind{"agent": flow.AgentNode, "fn": flow.FnNode, "pick": flow.PickNode,
	"template": flow.TemplateNode, "then": flow.PipelineNode, "par": flow.ParallelNode, "forum": flow.ForumNode,
	"loop": flow.LoopNode, "branch": flow.BranchNode, "each": flow.EachNode, "graph": flow.GraphNode, "fallback": flow.FallbackNode, "race": flow.RaceNode,
	"retry": flow.RetryNode, "vote": flow.VoteNode, "wrap": flow.WrapNode, "handoff": flow.HandoffNode, "verify": flow.VerifyNode, "bounded": flow.BoundedNode}

// Placeholder is what a failed call gives.
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
	if c.thread == nil { // looked at before it is made
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
	site, ok := u.Calls[at] // a factory makes many nodes at one place
	if !ok {
		site, _ = c.File.CallAt(c.Pos)
		if u.Calls == nil {
			u.Calls = map[syntax.Position]source.Call{}
		}
		u.Calls[at] = site
	}
	c.CallSite = site
}

func (c *Call) FuncSpan() diag.Span {
	c.Locate()
	if c.CallSite.Fn.IsValid() {
		return c.CallSite.Fn
	}
	return diag.Span{Pos: script.Position(c.Pos)}
}

func (c *Call) NameSpan(name string) diag.Span {
	c.Locate()
	for _, a := range c.CallSite.Args {
		if a.Name == name {
			return a.NameSpan
		}
	}
	return c.RefSpan(ArgRef{Name: name})
}

// RefSpan finds an argument in the source: itself, or the *args or **kwargs that it is from.
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

// ArgSpan is the place of the argument of a parameter.
func (c *Call) ArgSpan(name string) diag.Span {
	if i := c.ParamIndex(name); c.Refs[i].Given() {
		return c.RefSpan(c.Refs[i])
	}
	return c.FuncSpan()
}

func (c *Call) ParamIndex(name string) int {
	i := slices.IndexFunc(c.Row.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		panic("starlib: " + c.Row.Name + " has no parameter " + name)
	}
	return i
}

// unswapped puts two arguments that stand in each other's place in order, and reports that: each fits
// the parameter of the other, and neither its own. It is one mistake.
func (c *Call) unswapped(args starlark.Tuple) starlark.Tuple {
	params := c.Row.Params
	for i := 0; i+1 < len(args) && i+1 < len(params); i++ {
		p, q := &params[i], &params[i+1]
		if q.Shape > Positional || p.Skip || q.Skip {
			return args
		}
		if c.fits(p, args[i]) || c.fits(q, args[i+1]) || !c.fits(p, args[i+1]) || !c.fits(q, args[i]) {
			continue
		}
		d := c.Problemf(diag.WrongArgument, c.RefSpan(ArgRef{n: i + 1}), "%s: %s and %s stand in each other's place", c.Row.shownName(), p.Name, q.Name)
		d.Help = []string{c.Row.Signature()}
		out := append(starlark.Tuple(nil), args...)
		out[i], out[i+1] = args[i+1], args[i]
		c.crossed = i + 1
		return out
	}
	return args
}

// shownName is how a script calls the builtin: fs.read, agent, as_tool of a node.
func (b *Builtin) shownName() string {
	if b.IsMember() || b.Of == "memory" {
		return b.QualifiedName()
	}
	return b.Name
}
