package analysis

import (
	"cmp"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// param is a parameter of what is called.
type param struct {
	name     string
	takes    string // its type or kind
	doc      string
	fallback string // its default; "" if it is required
	place    bool   // it can be given by position
	keyword  bool   // it can be given by name
	spread   string // * or **
	values   []choice
	names    []table.Subject // the subject that a text argument names
}

// choice is a possible text argument, with a line about it.
type choice struct{ text, doc string }

// callee is something that a call may refer to.
type callee struct {
	name    string
	params  []param
	returns string
	doc     string
}

// callees returns what a call may refer to, as far as it is known.
func (v *View) callees(call *syntax.CallExpr) (out []callee) {
	for _, t := range v.called(call, 0) {
		switch f := t.value.(type) {
		case *value.Type:
			if d := f.T.Deref(); f.Func == nil && d.Kind == generable.RecordType {
				out = append(out, constructor(d))
				continue
			} else if f.Func != nil {
				t.row, _ = v.Table.Lookup(f.Func.Name())
			}
		case *value.Maker:
			t.row, _ = v.Table.Lookup(f.Name())
		case *starlark.Function:
			out = append(out, ofFunction(f))
			continue
		case *value.Node:
			if !f.Node.Failed() {
				out = append(out, callee{name: f.Label(), params: []param{{name: "input", takes: f.Node.In().String(), place: true}}, returns: f.Node.Out().String()})
			}
			continue
		case *starlark.Builtin:
			if t.row == nil {
				if c, ok := universal[f.Name()]; ok && f.Receiver() == nil {
					out = append(out, c)
					continue
				}
				t.row, _ = v.Table.Lookup(f.Name())
			}
		}
		switch {
		case t.row != nil:
			out = append(out, v.ofRow(t.row, call))
			if t.row.InRun != nil {
				out = append(out, v.ofRow(t.row.InRun, call))
			}
		case t.def != nil:
			out = append(out, ofDef(t.def))
		}
	}
	return out
}

// universal are the functions of the interpreter that take arguments by name.
var universal = map[string]callee{
	"sorted":    {name: "sorted", params: []param{{name: "iterable", place: true}, {name: "key", takes: "function", fallback: "None", keyword: true}, {name: "reverse", takes: "bool", fallback: "False", keyword: true}}, returns: "list"},
	"min":       {name: "min", params: []param{{name: "args", spread: "*"}, {name: "key", takes: "function", fallback: "None", keyword: true}}, returns: "value"},
	"max":       {name: "max", params: []param{{name: "args", spread: "*"}, {name: "key", takes: "function", fallback: "None", keyword: true}}, returns: "value"},
	"enumerate": {name: "enumerate", params: []param{{name: "iterable", place: true}, {name: "start", takes: "int", fallback: "0", place: true}}, returns: "list"},
}

// constructor returns the callee that makes an instance of a schema.
func constructor(d *generable.Type) callee {
	c := callee{name: d.String(), returns: d.String(), doc: d.Doc}
	for i := range d.Fields {
		f := &d.Fields[i]
		p := param{name: f.Name, takes: typeLine(f.Type), doc: f.Guide, keyword: true, values: enumValues(f.Type)}
		if !f.Required() {
			p.fallback = "..."
		}
		c.params = append(c.params, p)
	}
	return c
}

// enumValues returns the values of an enum, or of the enums that a type may be.
func enumValues(t *generable.Type) (out []choice) {
	for _, part := range (thing{typ: t}).parts() {
		if part.typ == nil || part.typ.Deref().Kind != generable.EnumType {
			continue
		}
		d := part.typ.Deref()
		for i, s := range d.Values {
			out = append(out, choice{s, cmp.Or(firstLine(d.Note(i).Doc), firstLine(d.Doc), "a value of "+typeLine(d))})
		}
	}
	return out
}

// ofFunction returns the callee for a function of the script that is known as a value.
func ofFunction(fn *starlark.Function) callee {
	text, docs := value.ParseDoc(fn.Doc())
	c := callee{name: fn.Name(), doc: text, returns: "value"}
	declared, _ := value.ParametersOf(fn)
	for _, p := range declared {
		one := param{name: p.Name, doc: docs[p.Name], place: !p.Keyword, keyword: true}
		if p.Field.Type != nil {
			one.takes, one.values = typeLine(p.Field.Type), enumValues(p.Field.Type)
		}
		if p.Field.Optional {
			one.fallback = generable.JSON(p.Field.Default, p.Field.Type)
		}
		if p.Field.Guide != "" {
			one.doc = p.Field.Guide
		}
		c.params = append(c.params, one)
	}
	return c
}

// ofDef returns the callee for a function of the script that is known by its text.
func ofDef(def *syntax.DefStmt) callee {
	c := callee{name: def.Name.Name, returns: "value"}
	var docs map[string]string
	if s, ok := def.Body[0].(*syntax.ExprStmt); ok {
		if lit, ok := s.X.(*syntax.Literal); ok {
			if text, ok := lit.Value.(string); ok {
				c.doc, docs = value.ParseDoc(text)
			}
		}
	}
	named := false
	for _, p := range def.Params {
		a, id := startree.ArgOf(p), startree.ParamName(p)
		one := param{place: !named, keyword: true}
		if a.Spread != 0 {
			one = param{spread: a.Spread.String()}
			named = true
		}
		if id == nil {
			continue
		}
		one.name, one.doc = id.Name, docs[id.Name]
		if a.Name != nil {
			one.fallback = "..."
		}
		c.params = append(c.params, one)
	}
	return c
}

// ofRow returns the callee for a builtin.
func (v *View) ofRow(row *table.Builtin, call *syntax.CallExpr) callee {
	c := callee{name: row.QualifiedName(), doc: row.Doc, returns: row.Returns}
	for i := range row.Params {
		p := &row.Params[i]
		one := param{name: p.Name, takes: p.Kind.Word, doc: p.Doc, fallback: p.Default, values: literals(p.Kind.Stub, p.Doc), names: p.Kind.Named(),
			place: p.Shape == table.Either || p.Shape == table.Positional, keyword: p.Shape == table.Either || p.Shape == table.KeywordOnly}
		switch p.Shape {
		case table.Variadic:
			one.spread = "*"
		case table.Keywords:
			one.spread = "**"
		}
		c.params = append(c.params, one)
	}
	if row.Name == "replace" && row.Of == "" && len(call.Args) > 0 {
		for _, t := range v.of(startree.ArgOf(call.Args[0]).Value, 0) {
			if t.typ != nil && t.typ.Deref().Kind == generable.RecordType {
				c.params = append(c.params, constructor(t.typ.Deref()).params...)
			}
		}
	}
	return c
}

// literals returns the texts that an annotation of the stub lists, each with the clause of the doc that describes it.
func literals(stub, about string) (out []choice) {
	for _, list := range literal().FindAllStringSubmatch(stub, -1) {
		for _, one := range inQuotes().FindAllStringSubmatch(list[1], -1) {
			doc := firstLine(about)
			for clause := range strings.SplitSeq(doc, "; ") {
				if strings.Contains(clause, one[0]) {
					doc = clause
					break
				}
			}
			out = append(out, choice{one[1], doc})
		}
	}
	return out
}

var (
	literal  = lazy.Regexp(`Literal\[([^\]]*)\]`)
	inQuotes = lazy.Regexp(`"([^"]*)"`)
)

// argument returns the call that has the value at the place as an argument or as an item of one, and the argument as
// written. It returns nil if there is none.
func (v *View) argument() (call *syntax.CallExpr, arg syntax.Expr) {
	path := v.Query.path
	for i := len(path) - 2; i > 0; i-- {
		switch n := path[i].(type) {
		case *syntax.ListExpr, *syntax.TupleExpr, *syntax.ParenExpr, *syntax.CondExpr:
		case *syntax.BinaryExpr:
			if n.Op != syntax.EQ || n.X == path[i+1] {
				return nil, nil
			}
		case *syntax.CallExpr:
			arg, _ = path[i+1].(syntax.Expr)
			if arg == n.Fn {
				return nil, nil
			}
			return n, arg
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// given returns the names of the parameters that a call sets besides the argument at the place, and the number of
// positional arguments before it.
func given(c *callee, call *syntax.CallExpr, at syntax.Expr) (names []string, before int) {
	for _, arg := range call.Args {
		a := startree.ArgOf(arg)
		switch {
		case arg == at || a.Value == at:
			at = nil
		case a.Name != nil:
			names = append(names, a.Name.Name)
		case a.Spread == 0 && at != nil:
			before++
		}
	}
	n := before
	for _, p := range c.params {
		if p.place && n > 0 {
			names = append(names, p.name)
			n--
		}
	}
	return names, before
}

// keywords lists the arguments that can still be added to a call by name.
func (v *View) keywords(call *syntax.CallExpr, at syntax.Expr) (out []Candidate) {
	for _, c := range v.callees(call) {
		names, _ := given(&c, call, at)
		for _, p := range c.params {
			if p.keyword && !slices.Contains(names, p.name) {
				out = append(out, Candidate{p.name, p.name + " = ", "argument", p.line()})
			}
		}
	}
	return out
}

// line describes in one line what a parameter takes and what it is for.
func (p *param) line() string {
	doc := firstLine(p.doc)
	switch {
	case p.takes == "" && doc == "":
		return "an argument"
	case p.takes == "":
		return doc
	case doc == "":
		return p.takes
	}
	return p.takes + ": " + doc
}

// expected lists the texts that the argument at the place of a call may be, if its type is an enum.
func (v *View) expected(call *syntax.CallExpr, arg syntax.Expr) (out []choice) {
	for _, c := range v.callees(call) {
		if p := c.paramOf(call, arg); p != nil {
			out = append(out, p.values...)
		}
	}
	return out
}

// paramOf returns the parameter that takes an argument of a call, or nil.
func (c *callee) paramOf(call *syntax.CallExpr, arg syntax.Expr) *param {
	a := startree.ArgOf(arg)
	if a.Name != nil {
		for i := range c.params {
			if c.params[i].name == a.Name.Name && c.params[i].keyword {
				return &c.params[i]
			}
		}
		return nil
	}
	_, n := given(c, call, arg)
	for i := range c.params {
		p := &c.params[i]
		if p.spread == "*" {
			return p
		}
		if p.place {
			if n == 0 {
				return p
			}
			n--
		}
	}
	return nil
}
