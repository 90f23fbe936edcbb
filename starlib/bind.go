package starlib

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// Call is one call of a builtin: its bound arguments, and where it stands.
type Call struct {
	row    *Builtin
	state  *state
	env    *env
	thread *starlark.Thread
	recv   starlark.Value

	vals []starlark.Value // by parameter; nil when not given
	at   []argRef         // by parameter
	rest []starlark.Value // of the variadic parameter
	refs []argRef         // of rest
	kw   []starlark.Tuple // of the keywords parameter

	stood  bool // a stand-in is among the arguments: stay silent about it
	wrong  diag.List
	halted bool // what was wrong while binding leaves nothing to look into
	flawed bool // something was wrong while binding

	crossed int // the first of two arguments, from 1, that stand in each other's place
	looked  bool
	site    source.Call
	file    *source.File
	pos     syntax.Position
}

// argRef remembers how an argument was given, so that its place can be found when needed.
type argRef struct {
	n    int    // ordinal among the positional arguments, from 1; 0 when not given so
	name string // of a keyword argument
}

func (r argRef) given() bool { return r != argRef{} }

// call binds arguments and runs the row. All mistakes of one call are reported together.
func (b *Builtin) call(thread *starlark.Thread, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	e := envOf(thread)
	if e == nil {
		return nil, fmt.Errorf("%s was called outside of a script", b.Name)
	}
	if e.beside && !b.besideFlow() {
		return nil, notBeside(b.QualifiedName())
	}
	if b.inRun != nil && e.running() {
		b = b.inRun
	}
	c := &Call{row: b, state: e.c, env: e, thread: thread, recv: recv}
	c.bind(args, kwargs)
	said := c.wrong
	if len(said) > 0 && (c.halted || e.running()) {
		return c.fail(said...)
	}
	c.wrong, c.flawed = nil, len(said) > 0
	v, err := b.Func(c)
	switch {
	case err != nil: // the file ends here
		c.report(said)
		return nil, err
	case len(c.wrong) > 0:
		return c.fail(append(said, c.wrong...)...)
	case c.flawed:
		c.report(said)
		if n, ok := v.(*nodeValue); ok && b.Group == GroupCompose {
			c.state.session.Refuse(n.n) // what fails claims nothing
		} else if v == nil {
			v = c.standIn()
		}
	}
	return v, nil
}

func (c *Call) bind(args starlark.Tuple, kwargs []starlark.Tuple) {
	params := c.row.Params
	c.vals = make([]starlark.Value, len(params))
	c.at = make([]argRef, len(params))
	next, crowded := 0, false
	for i, arg := range c.unswapped(args) {
		ref := argRef{n: i + 1}
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
				c.rest, c.refs = append(c.rest, v), append(c.refs, ref)
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
		ref := argRef{name: name}
		i, known := c.row.index[name]
		switch {
		case known && c.at[i].given():
			c.complain(diag.WrongArgument, c.argSpan(ref), "%s: %s is given twice", c.row.shownName(), name)
			c.halted = true
		case known:
			c.set(i, kv[1], ref)
		case catch != nil && (name[0] != '_' || !c.hasOptions()):
			if v, ok := c.take(catch, kv[1], ref); ok {
				c.kw = append(c.kw, starlark.Tuple{kv[0], v})
			}
		default:
			unknown = append(unknown, kv)
		}
	}
	for _, kv := range unknown {
		c.unknown(string(kv[0].(starlark.String)), kv[1])
	}
	for i := range params {
		if params[i].Required() && !c.at[i].given() {
			c.missing(&params[i])
		}
	}
}

// hasOptions reports whether the row's own keywords begin with an underscore, so that any
// other keyword can be a field.
func (c *Call) hasOptions() bool {
	for name := range c.row.index {
		if name[0] == '_' {
			return true
		}
	}
	return false
}

func (c *Call) fits(p *Param, v starlark.Value) bool {
	_, ok := p.Kind.takes(v)
	return ok
}

func (c *Call) set(i int, v starlark.Value, ref argRef) {
	p := &c.row.Params[i]
	c.at[i] = ref
	if _, none := v.(starlark.NoneType); none && !p.Required() && p.Kind.Stub != TypeKind.Stub && p.Kind.accept != nil {
		return // None is as good as absent
	}
	if w, ok := c.take(p, v, ref); ok {
		c.vals[i] = w
	}
}

// take checks one argument and reports what is wrong with it.
func (c *Call) take(p *Param, v starlark.Value, ref argRef) (starlark.Value, bool) {
	w, ok := p.Kind.takes(v)
	if ok {
		if _, failed := v.(*failedValue); failed {
			if p.aside {
				return nil, false
			}
			c.stood = true
		}
		found := p.Kind.vetted(p, w)
		c.blame(p, ref, found)
		whole := slices.ContainsFunc(found, func(f fault) bool { return f.part == piece{} })
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
		name = ref.name
	}
	d := c.complain(code, c.argSpan(ref), "%s: want %s, got %s", name, p.Kind.Word, describe(v))
	if p.Kind.hint != nil {
		if h := p.Kind.hint(v); h != "" {
			d.Help = append(d.Help, h)
		}
	}
	if p.Kind.guess != nil {
		if w, ok := p.Kind.guess(v); ok {
			return w, true
		}
	}
	c.halted = c.halted || !p.aside
	return nil, false
}

func (c *Call) tooMany(i int, ref argRef) {
	c.halted = true
	most := 0
	for _, p := range c.row.Params {
		if p.Shape <= Positional {
			most++
		}
	}
	d := c.complain(diag.TooManyArguments, c.argSpan(ref), "%s takes %s by position", c.row.shownName(), text.CountInWords(most, "argument"))
	if most == 0 {
		d.Help = append(d.Help, "its arguments are keywords: "+joined(c.keywordNames()))
		return
	}
	d.Label = fmt.Sprintf("argument %d", i+1)
	if _, list := c.row.index["args"]; list {
		d.Help = append(d.Help, "the arguments of the command stand in a list: args = [...]")
		return
	}
	d.Help = append(d.Help, c.row.Signature())
}

// keywordNames lists the parameters that can be given by keyword.
func (c *Call) keywordNames() []string {
	names := make([]string, 0, len(c.row.index))
	for _, p := range c.row.Params {
		if _, ok := c.row.index[p.Name]; ok {
			names = append(names, p.Name)
		}
	}
	return names
}

// unknown reports a keyword that the builtin does not have. One that is near is not missed then, and
// a node is made as if the name were right, so that what follows is looked at.
func (c *Call) unknown(name string, v starlark.Value) {
	names := c.keywordNames()
	d := c.complain(diag.UnknownArgument, c.nameSpan(name), "%s has no argument %s", c.row.shownName(), name)
	meant, help := c.row.synonym(name)
	switch {
	case help != "":
		d.Help = append(d.Help, help)
		for i := range c.row.Params { // what the remedy gives is not missed as well
			if p := &c.row.Params[i]; p.Required() && !c.at[i].given() && (strings.Contains(help, p.Name+" = ") || strings.Contains(help, p.Name+"(")) {
				c.at[i] = argRef{name: name}
			}
		}
	case d.Meant(name, names):
		meant, _ = diag.Suggest(name, names)
	case len(names) == 0:
		d.Help = append(d.Help, "its arguments are given by position: "+c.row.Signature())
	default:
		d.Help = append(d.Help, "its arguments are "+joined(names))
	}
	i, known := c.row.index[meant]
	if !known || c.at[i].given() {
		c.halted = true
		return
	}
	p := &c.row.Params[i]
	c.at[i] = argRef{name: name}
	w, ok := p.Kind.takes(v)
	_, failed := v.(*failedValue)
	switch {
	case ok && !failed && c.row.Returns == "node" && len(p.Kind.vetted(p, w)) == 0: // else a wrong guess would tell
		c.vals[i] = w
	case !p.aside:
		c.halted = true
	}
}

func (c *Call) missing(p *Param) {
	c.halted = true
	d := c.complain(diag.MissingArgument, c.fnSpan(), "%s needs %s", c.row.shownName(), p.Name)
	if p.Doc != "" {
		d.Label = fmt.Sprintf("%s: %s", p.Kind.Word, p.Doc)
	}
	d.Help = append(d.Help, c.row.Signature())
}

// complain adds a diagnostic to what the call will report.
func (c *Call) complain(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	c.wrong = append(c.wrong, d)
	return d
}

// fail reports mistakes. While composing, a stand-in takes the place of the result and the
// file goes on; in a run the call raises.
func (c *Call) fail(found ...*diag.Diagnostic) (starlark.Value, error) {
	c.wrong = nil
	if c.running() {
		return nil, raised(found...)
	}
	c.report(found)
	return c.standIn(), nil
}

// report reports mistakes while composing.
func (c *Call) report(found diag.List) {
	for _, d := range found {
		c.state.session.Report(d)
	}
}

// nodeKinds are the kinds of what the builtins make.
var nodeKinds = map[string]engine.NodeKind{"agent": engine.AgentNode, "fn": engine.FnNode, "pick": engine.PickNode,
	"template": engine.TemplateNode, "then": engine.PipelineNode, "par": engine.ParallelNode, "forum": engine.ForumNode,
	"loop": engine.LoopNode, "branch": engine.BranchNode, "each": engine.EachNode, "graph": engine.GraphNode, "fallback": engine.FallbackNode, "race": engine.RaceNode,
	"retry": engine.RetryNode, "vote": engine.VoteNode, "wrap": engine.WrapNode, "handoff": engine.HandoffNode, "verify": engine.VerifyNode, "bounded": engine.BoundedNode}

// standIn is what a failed call gives.
func (c *Call) standIn() starlark.Value {
	switch c.row.Returns {
	case "node":
		return c.state.node(c.state.session.Failed(nodeKinds[c.row.Name], c.nodeSite()))
	case "type":
		return c.state.typ(generable.ErrorT)
	}
	return &failedValue{}
}

// lookup finds the call in the source, once.
func (c *Call) lookup() {
	if c.looked {
		return
	}
	c.looked = true
	if c.thread == nil { // looked at before it is made
		c.site, _ = c.file.CallAt(c.pos)
		return
	}
	if c.thread.CallStackDepth() < 2 {
		return
	}
	c.pos = c.thread.CallFrame(1).Pos
	u := c.state.shown[c.pos.Filename()]
	if u == nil || u.file == nil {
		return
	}
	c.file = u.file
	if c.running() {
		c.site, _ = c.file.CallAt(c.pos)
		return
	}
	at := key(c.pos)
	site, ok := u.sites[at] // a factory makes many nodes at one place
	if !ok {
		site, _ = c.file.CallAt(c.pos)
		if u.sites == nil {
			u.sites = map[syntax.Position]source.Call{}
		}
		u.sites[at] = site
	}
	c.site = site
}

func (c *Call) fnSpan() diag.Span {
	c.lookup()
	if c.site.Fn.IsValid() {
		return c.site.Fn
	}
	return diag.Span{Pos: position(c.pos)}
}

func (c *Call) nameSpan(name string) diag.Span {
	c.lookup()
	for _, a := range c.site.Args {
		if a.Name == name {
			return a.NameSpan
		}
	}
	return c.argSpan(argRef{name: name})
}

// argSpan finds an argument in the source: itself, or the *args or **kwargs that it is from.
func (c *Call) argSpan(ref argRef) diag.Span {
	c.lookup()
	n := 0
	for _, a := range c.site.Args {
		switch {
		case ref.name != "" && (a.Name == ref.name || a.Spread == syntax.STARSTAR):
			return a.Span
		case ref.n > 0 && a.Spread == syntax.STAR:
			return a.Span
		case ref.n > 0 && a.Name == "" && a.Spread == 0:
			if n++; n == ref.n {
				return a.Span
			}
		}
	}
	return c.fnSpan()
}

// spanOf is the place of the argument of a parameter.
func (c *Call) spanOf(name string) diag.Span {
	if i := c.param(name); c.at[i].given() {
		return c.argSpan(c.at[i])
	}
	return c.fnSpan()
}

func (c *Call) param(name string) int {
	i := slices.IndexFunc(c.row.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		panic("starlib: " + c.row.Name + " has no parameter " + name)
	}
	return i
}
