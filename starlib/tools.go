package starlib

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

func toolFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return c.standIn(), nil
	}
	if had, ok := c.Arg("f").(*toolValue); ok {
		return c.changed(had.t), nil
	}
	fn, ok := c.Arg("f").(*starlark.Function)
	if !ok {
		return c.standIn(), nil
	}
	given, _ := c.Arg("params").(*starlark.Dict)
	t := c.tool(fn, given, c.spanOf("f"))
	if t == nil {
		return nil, nil
	}
	t.Returns, t.Span = c.typ("returns"), c.fnSpan()
	if c.Has("name") {
		t.Name = c.Str("name")
		t.Params.Name = t.Name
	}
	if c.Has("effect") {
		t.Class = engine.Class(c.Str("effect"))
		if !c.state.sealed.Load() {
			c.state.claimed = append(c.state.claimed, t)
		}
	}
	c.guarded(t)
	if c.stood {
		return c.standIn(), nil
	}
	return &toolValue{t: t}, nil
}

// changed is a tool with another way to fail: what it is stays.
func (c *Call) changed(had *engine.Tool) starlark.Value {
	for _, name := range []string{"params", "effect", "returns", "name"} {
		if c.Has(name) {
			c.complain(diag.WrongArgument, c.spanOf(name), "%s belongs to the function that a tool is made of", name).Help =
				[]string{"a tool takes on_error, timeout and max_result here; " + name + " is given where it is made"}
		}
	}
	t := *had
	t.Span = c.fnSpan()
	c.guarded(&t)
	if c.stood {
		return c.standIn()
	}
	return &toolValue{t: &t}
}

// toolList reads a list of tools; a function that declares its parameters is one.
func (c *Call) toolList(name string) []*engine.Tool {
	var out []*engine.Tool
	n := 0
	for item := range c.items(name) {
		n++
		switch item := item.(type) {
		case *toolValue:
			out = append(out, item.t)
		case *starlark.Function:
			at := c.partSpan(c.at[c.param(name)], piece{n: n})
			if t := c.tool(item, nil, at); t != nil {
				t.Span = at
				out = append(out, t)
			}
		case *starlark.Builtin:
			if t := asks(item); t != nil {
				out = append(out, t)
			}
		case *failedValue:
			c.stood = true
		}
	}
	return out
}

// tool makes a tool of a function, whose parameters are typed by given, by a default that is
// a type, or by a plain default; nil when something is wrong.
func (c *Call) tool(fn *starlark.Function, given *starlark.Dict, at diag.Span) *engine.Tool {
	before := len(c.wrong)
	params := c.parameters(fn, given, at)
	name := fn.Name()
	if name == "lambda" && !c.Has("name") {
		c.complain(diag.MissingArgument, at, "a tool made of a lambda needs a name").Help = []string{`tool(lambda ..., name = "...")`}
	}
	var fields []generable.Field
	for _, p := range params {
		if p.wrong {
			continue
		}
		if p.field.Type == nil {
			d := c.complain(diag.MissingArgument, at, "the parameter %s of tool %s has no type", p.name, name)
			d.Help = append(d.Help, "declare it: def "+name+"("+p.name+" = str), or tool("+name+", {\""+p.name+"\": str})")
			continue
		}
		fields = append(fields, p.field)
	}
	doc, _ := parseDoc(fn.Doc())
	t, errs := generable.NewSchema(name, "", fields)
	for _, e := range errs {
		c.complain(diag.BadField, at, "tool %s: %s", name, e)
	}
	if len(c.wrong) > before {
		return nil
	}
	types := make([]*generable.Type, len(params))
	for i := range params {
		types[i] = params[i].field.Type
	}
	c.state.checkFields(fn, types...)
	c.state.checkDoc(fn)
	if strings.TrimSpace(doc) == "" {
		c.undescribed(name, fn)
	}
	run := &toolRun{callback: c.state.wrap(fn)}
	c.state.noting(run)
	return &engine.Tool{Name: name, Doc: doc, Params: t, Class: engine.ClassRead, Run: run}
}

// undescribed warns a strict session, once for each function, of a tool that says nothing about itself.
func (c *Call) undescribed(name string, fn *starlark.Function) {
	if c.running() || !c.state.session.Strict {
		return
	}
	at := diag.Span{Pos: position(fn.Position()), Len: len("def")}
	help := `say what it does, and when to use it, in its docstring: """..."""`
	if name == "lambda" {
		name, at.Len = c.Str("name"), len("lambda")
		help = "make it a def, whose docstring says what it does"
	}
	if c.state.undescribed[at.Pos] {
		return
	}
	c.state.undescribed[at.Pos] = true
	c.noDescription(name, at, help)
}

func (c *Call) noDescription(name string, at diag.Span, help string) {
	c.state.session.Report(&diag.Diagnostic{Code: diag.UndescribedTool, Severity: diag.Warning, Span: at,
		Message: fmt.Sprintf("nothing tells the model what the tool %q does", name), Help: []string{help}})
}

// parameter is a parameter of a function of the script with what it says about its type.
type parameter struct {
	name     string
	keyword  bool // by keyword alone
	field    generable.Field
	declared bool // by a type or field(...), so that the default is no value
	wrong    bool // its type was reported
}

// parameters reads the parameters of a function.
func (c *Call) parameters(fn *starlark.Function, given *starlark.Dict, at diag.Span) []parameter {
	params, unfitDefaults := parametersOf(fn)
	for name, err := range unfitDefaults {
		c.complain(diag.WrongArgument, at, "the default of %s: %s", name, err)
	}
	if fn.HasVarargs() || fn.HasKwargs() {
		c.complain(diag.WrongArgument, at, "%s takes *args or **kwargs, which have no types", fn.Name()).Help =
			[]string{"name each parameter, and give it a type: def " + fn.Name() + "(path = str)"}
	}
	if given == nil {
		return params
	}
	n := 0
	for key, v := range given.Entries() {
		n++
		entry := piece{n: n, key: key.String()}
		name, _ := key.(starlark.String)
		i := slices.IndexFunc(params, func(p parameter) bool { return p.name == string(name) })
		w, ok := fieldKind.takes(v)
		switch {
		case i < 0:
			entry.at = true
			c.stray(fn, params, given, key, entry)
		case !ok:
			params[i].wrong = true
			d := c.complain(diag.WrongArgument, c.partSpan(c.at[c.param("params")], entry), "%s: want %s, got %s", string(name), fieldKind.Word, describe(v))
			if h := fieldKind.hint(v); h != "" {
				d.Help = append(d.Help, h)
			}
		default:
			f := fieldOf(string(name), w)
			if had := params[i].field; had.Optional && !f.Optional && !params[i].declared {
				f.Default, f.Optional = had.Default, true
			}
			if f.Guide == "" {
				f.Guide = params[i].field.Guide
			}
			params[i].field = f
		}
	}
	return params
}

// stray reports a type that is given for no parameter of the function. The parameter that it
// must be meant for is not reported as well.
func (c *Call) stray(fn *starlark.Function, params []parameter, given *starlark.Dict, key starlark.Value, entry piece) {
	name, ok := key.(starlark.String)
	d := c.complain(diag.UnknownArgument, c.partSpan(c.at[c.param("params")], entry), "%s has no parameter %s", fn.Name(), string(name))
	if !ok {
		d.Message = "the names of parameters are str, got " + describe(key)
	}
	var all, open []string
	for i := range params {
		all = append(all, params[i].name)
		_, has, err := given.Get(starlark.String(params[i].name))
		if params[i].field.Type == nil && err == nil && !has {
			open = append(open, params[i].name)
		}
	}
	meant, near := diag.Suggest(string(name), open)
	switch {
	case near:
	case len(open) == 1:
		meant = open[0]
	case len(all) == 0:
		d.Help = []string{"it takes none"}
		return
	default:
		d.Help = []string{"its parameters are " + joined(all)}
		if hint := didYouMean(string(name), all); hint != "" {
			d.Help = []string{hint}
		}
		return
	}
	d.Help = []string{"did you mean " + meant + "?"}
	for i := range params {
		params[i].wrong = params[i].wrong || params[i].name == meant
	}
}

// parametersOf reads what a function says about its parameters: defaults and docstring.
// Defaults that have no form outside the script are returned by name.
func parametersOf(fn *starlark.Function) ([]parameter, map[string]error) {
	n := fn.NumParams()
	if fn.HasVarargs() {
		n--
	}
	if fn.HasKwargs() {
		n--
	}
	_, docs := parseDoc(fn.Doc())
	var unfit map[string]error
	params := make([]parameter, n)
	for i := range n {
		name, _ := fn.Param(i)
		p := &params[i]
		p.name = name
		p.keyword = i >= n-fn.NumKwonlyParams()
		p.field = generable.Field{Name: name}
		switch d := fn.ParamDefault(i).(type) {
		case nil:
		case *typeValue, *fieldValue:
			p.field, p.declared = fieldOf(name, d), true
		default:
			v, err := toValue(d)
			if err != nil {
				if unfit == nil {
					unfit = map[string]error{}
				}
				unfit[name] = err
				continue
			}
			p.field.Type, p.field.Default, p.field.Optional = typeOfDefault(v), v, true
		}
		if p.field.Guide == "" {
			p.field.Guide = docs[name]
		}
	}
	return params, unfit
}

// typeOfDefault is the type of a parameter that has a plain default.
func typeOfDefault(v generable.Value) *generable.Type {
	switch v.Kind() {
	case generable.Bool:
		return generable.BoolT
	case generable.Int, generable.Big:
		return generable.IntT
	case generable.Float:
		return generable.FloatT
	case generable.Str:
		return generable.StrT
	case generable.ListKind:
		return generable.ListOfType(generable.AnyT)
	case generable.MapKind:
		return generable.DictOfType(generable.AnyT)
	case generable.RecordKind:
		r, _ := v.AsRecord()
		return r.Type()
	}
	return generable.AnyT
}

// toolRun calls a function of the script with the fields of the arguments' record.
type toolRun struct {
	*callback
	notes bool         // it uses a memory of the script
	class engine.Class // the most that it does
}

// UsesMemory tells the engine which calls of an answer keep its order.
func (t *toolRun) UsesMemory() bool { return t.notes }

func (t *toolRun) Call(b engine.Branch, args []generable.Value) (generable.Value, error) {
	s, err := t.c.enter(b)
	if err != nil {
		return generable.Value{}, err
	}
	defer s.done()
	var kwargs []starlark.Tuple
	if r, ok := args[0].AsRecord(); ok {
		for i, f := range r.Type().Fields {
			kwargs = append(kwargs, starlark.Tuple{starlark.String(f.Name), fromValue(r.At(i))})
		}
	}
	return t.result(s, nil, kwargs, nil)
}

// Info tells that the engine gives one argument, the record.
func (t *toolRun) Info() engine.FuncInfo {
	info := t.about
	info.Params, info.Needs = 1, 1
	return info
}
