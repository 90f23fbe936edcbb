package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// ArgRef records how an argument was given, so that its position can be found on demand.
type ArgRef struct {
	n    int    // ordinal among the positional arguments, from 1; 0 for others
	Name string // name of a keyword argument
}

// Given reports whether the argument was given.
func (r ArgRef) Given() bool { return r != ArgRef{} }

// Bind assigns arguments to the parameters of the row and reports what is wrong with them.
func (c *Call) Bind(args starlark.Tuple, kwargs []starlark.Tuple) {
	params := c.Row.Params
	c.Values = make([]starlark.Value, len(params))
	c.Refs = make([]ArgRef, len(params))
	if c.routesAlone(args, kwargs) {
		return
	}
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
			if !crowded { // reported once for all that follow
				c.tooMany(i, ref, arg)
			}
			crowded = true
		}
	}
	var catch *Param
	if n := len(params); n > 0 && params[n-1].Shape == Keywords {
		catch = &params[n-1]
	}
	var unknown []starlark.Tuple // they may be meant for parameters without an argument
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		ref := ArgRef{Name: name}
		i, known := c.Row.index[name]
		switch {
		case known && c.Refs[i].Given():
			c.Problemf(diag.WrongArgument, c.RefSpan(ref), "%s: %s is passed twice", c.Row.shownName(), name).
				Advise("leave " + name + " = out: it is already passed by position")
			c.halted = true
		case known:
			c.set(i, kv[1], ref)
		case catch != nil && (!strings.HasPrefix(name, "_") || !c.hasOptions()):
			if v, ok := c.take(catch, kv[1], ref); ok {
				c.Kwargs = append(c.Kwargs, starlark.Tuple{kv[0], v})
			}
		default:
			unknown = append(unknown, kv)
		}
	}
	if c.routesByName(unknown) {
		unknown = nil
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

// routesAlone reports routes without the node that they belong to, as in sort >> branch({...}), as one mistake.
func (c *Call) routesAlone(args starlark.Tuple, kwargs []starlark.Tuple) bool {
	i, routes := c.Row.index["routes"]
	if !routes || i != 1 || len(args) != 1 || c.fits(&c.Row.Params[0], args[0]) || !c.fits(&c.Row.Params[1], args[0]) {
		return false
	}
	for _, kv := range kwargs {
		if name := string(kv[0].(starlark.String)); name == c.Row.Params[0].Name || name == "routes" {
			return false
		}
	}
	c.halted = true
	c.Problemf(diag.MissingArgument, c.FuncSpan(), "%s needs the node whose output is routed", c.Row.shownName()).
		Advise("write it as a method of that node: `sort." + c.Row.Name + "({...})`, not `sort >> " + c.Row.Name + "({...})`")
	return true
}

// routesByName reports routes that are given by name instead of in a dict, as one mistake for all of them.
func (c *Call) routesByName(unknown []starlark.Tuple) bool {
	i, routes := c.Row.index["routes"]
	if !routes || c.Refs[i].Given() || len(unknown) == 0 {
		return false
	}
	var shown []string
	for _, kv := range unknown {
		n, ok := kv[1].(*value.Node)
		if !ok {
			return false
		}
		shown = append(shown, strconv.Quote(string(kv[0].(starlark.String)))+": "+n.Label())
	}
	c.halted = true
	c.Refs[i] = ArgRef{Name: string(unknown[0][0].(starlark.String))}
	c.Problemf(diag.UnknownArgument, c.NameSpan(string(unknown[0][0].(starlark.String))), "the routes of %s belong in a dict", c.Row.shownName()).
		Advise("write {" + script.Joined(shown) + "}, with types as keys, or the values of a bool or an enum")
	return true
}

// hasOptions reports whether the row's own keywords begin with an underscore, so that any other keyword can be a field.
func (c *Call) hasOptions() bool {
	return slices.ContainsFunc(c.keywordNames(), func(name string) bool { return name[0] == '_' })
}

func (c *Call) fits(p *Param, v starlark.Value) bool {
	_, ok := p.Kind.Takes(v)
	return ok
}

func (c *Call) set(i int, v starlark.Value, ref ArgRef) {
	p := &c.Row.Params[i]
	c.Refs[i] = ref
	if _, none := v.(starlark.NoneType); none && !p.Required() && p.Kind.Stub != TypeKind.Stub && p.Kind.Accept != nil {
		return // None is the same as absent
	}
	if w, ok := c.take(p, v, ref); ok {
		c.Values[i] = w
	}
}

// take checks one argument and reports what is wrong with it.
func (c *Call) take(p *Param, v starlark.Value, ref ArgRef) (starlark.Value, bool) {
	if _, typed := v.(*value.Typed); typed {
		if w, ok := p.Kind.Takes(v); ok {
			v = w
		}
	}
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
		return w, !whole || p.Shape > KeywordOnly || p.Required() // otherwise it counts as not given
	}
	if n, ok := v.(*value.Node); ok && n.Node.Failed() { // the failed node was reported, and is the reason why it does not fit
		c.Incomplete, c.halted = true, c.halted || !p.aside
		return nil, false
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
	d := c.Problemf(code, c.RefSpan(ref), "%s: want %s, got %s", name, p.Kind.Word, value.Describe(v)).Advise(p.Kind.HintOf(v))
	p.Kind.advise(c, d, v)
	if p.Kind.Guess != nil {
		if w, ok := p.Kind.Guess(v); ok {
			return w, true
		}
	}
	c.halted = c.halted || !p.aside
	return nil, false
}

func (c *Call) tooMany(i int, ref ArgRef, v starlark.Value) {
	c.halted = true
	most := 0
	for _, p := range c.Row.Params {
		if p.Shape <= Positional {
			most++
		}
	}
	d := c.Problemf(diag.TooManyArguments, c.RefSpan(ref), "%s takes %s by position", c.Row.shownName(), text.CountInWords(most, "argument"))
	if most == 0 {
		if names := c.keywordNames(); len(names) > 0 {
			d.Help = append(d.Help, "its arguments are keywords: "+script.Joined(names))
		}
		return
	}
	d.Label = fmt.Sprintf("argument %d", i+1)
	if _, list := c.Row.index["args"]; list {
		d.Help = append(d.Help, "the arguments of the command belong in a list: args = [...]")
		return
	}
	if s, text := v.(starlark.String); text && c.Row.Name == "schema" && s != "" && !strings.ContainsAny(string(s), " .-:\n") {
		d.Help = append(d.Help, "a field is declared by name, with its type: "+string(s)+" = str")
		return
	}
	if named := c.Row.byName(); len(named) > 0 {
		d.Help = append(d.Help, "the others are passed by name: "+script.Joined(named))
		return
	}
	d.Help = append(d.Help, c.Row.Signature())
}

// byName lists the keyword-only parameters, except those that few calls need, if there are others.
func (b *Builtin) byName() (names []string) {
	var all []string
	for i := range b.Params {
		p := &b.Params[i]
		if p.Shape != KeywordOnly {
			continue
		}
		if all = append(all, p.Name); !p.aside {
			names = append(names, p.Name)
		}
	}
	if len(names) == 0 {
		return all
	}
	return names
}

// keywordNames lists the parameters that can be given by keyword.
func (c *Call) keywordNames() []string {
	var names []string
	for _, p := range c.Row.Params {
		if _, ok := c.Row.index[p.Name]; ok {
			names = append(names, p.Name)
		}
	}
	return names
}

// unknown reports a keyword that the builtin does not have. A similar parameter then does not count as missing, and a
// node is made as if the name were right, so that the rest is checked.
func (c *Call) unknown(name string, v starlark.Value) {
	names := c.keywordNames()
	d := c.Problemf(diag.UnknownArgument, c.NameSpan(name), "%s has no argument %s", c.Row.shownName(), name)
	meant, help := c.synonym(name)
	switch {
	case help != "":
		d.Help = append(d.Help, help)
		for i := range c.Row.Params { // what the remedy adds does not count as missing
			if p := &c.Row.Params[i]; p.Required() && !c.Refs[i].Given() && (strings.Contains(help, p.Name+" = ") || strings.Contains(help, p.Name+"(")) {
				c.Refs[i] = ArgRef{Name: name}
			}
		}
	case d.Meant(name, names):
		meant, _ = diag.Suggest(name, names)
	case len(names) == 0:
		d.Help = append(d.Help, "its arguments are passed by position: "+c.Row.Signature())
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
	case ok && !failed && c.Row.Returns == "node" && len(p.Kind.vetted(p, w)) == 0: // otherwise a wrong guess would be reported
		c.Values[i] = w
	case !p.aside:
		c.halted = true
	}
}

func (c *Call) missing(p *Param) {
	c.halted = true
	d := c.Problemf(diag.MissingArgument, c.FuncSpan(), "%s needs %s", c.Row.shownName(), p.Name).Advise(c.Row.Signature())
	if p.Doc != "" {
		d.Label = fmt.Sprintf("%s: %s", p.Kind.Word, p.Doc)
	}
}

// unswapped swaps two arguments of which each fits only the parameter of the other, and reports that as one mistake.
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
		c.Problemf(diag.WrongArgument, c.RefSpan(ArgRef{n: i + 1}), "%s: %s and %s are swapped", c.Row.shownName(), p.Name, q.Name).
			Advise(c.Row.Signature())
		out := slices.Clone(args)
		out[i], out[i+1] = args[i+1], args[i]
		c.crossed = i + 1
		return out
	}
	return args
}

// shownName returns the builtin's name as a script calls it: fs.read, agent, as_tool of a node.
func (b *Builtin) shownName() string {
	if b.IsMember() || b.Of == "memory" {
		return b.QualifiedName()
	}
	return b.Name
}
