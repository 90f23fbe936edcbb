package starlib

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// predicateRows are the conditions as data. Their names are short and common: a script may use
// them for something else.
func predicateRows() []Builtin {
	row := func(name string, op predicate.Op, what, doc string) Builtin {
		return Builtin{Name: name, Group: GroupCompose, Returns: "predicate", Effect: Pure, May: true, Doc: doc,
			Params: []Param{
				{Name: "field", Kind: StrKind, Shape: Positional, Default: "None", Skip: true, Doc: `the field to test, "a.b" for a field of a field; left out, the value itself`},
				{Name: "value", Kind: AnyKind, Shape: Positional, Default: "None", Doc: what},
			},
			Func: func(c *Call) (starlark.Value, error) { return predicateFunc(c, op) }}
	}
	return []Builtin{
		row("eq", predicate.Eq, "what it equals", `A condition: the value equals this one; eq("field", x) tests a field. Conditions combine with &, | and ~; they can be checked for gaps, drawn and exported.`),
		row("ne", predicate.Ne, "what it does not equal", "A condition: the value is another one."),
		row("gt", predicate.Gt, "a number or text", "A condition: the value is greater."),
		row("ge", predicate.Ge, "a number or text", `A condition: the value is greater or equal: ge(80), ge("score", 80).`),
		row("lt", predicate.Lt, "a number or text", "A condition: the value is less."),
		row("le", predicate.Le, "a number or text", "A condition: the value is less or equal."),
		row("matches", predicate.Matches, "a regular expression", "A condition: some part of the text matches a regular expression (RE2)."),
		{Name: "has", Group: GroupCompose, Returns: "predicate", Effect: Pure, May: true,
			Doc: `A condition: a field is there and not None. has("tags", "urgent") holds when a list has that item, a text that part, a dict that key.`,
			Params: []Param{
				{Name: "field", Kind: StrKind, Shape: Positional, Doc: "the field to test"},
				{Name: "value", Kind: AnyKind, Shape: Positional, Default: "None", Doc: "what it holds"},
			},
			Func: func(c *Call) (starlark.Value, error) { return predicateFunc(c, predicate.Has) }},
	}
}

func predicateFunc(c *Call, op predicate.Op) (starlark.Value, error) {
	field, value := "", c.Arg("value")
	if c.Has("field") {
		field = c.Str("field")
	}
	if op != predicate.Has && value == nil { // one argument: what the value is compared with
		if !c.Has("field") {
			c.complain(diag.MissingArgument, c.fnSpan(), "%s needs what to compare with", c.row.Name).Help = []string{c.row.Name + "(80), or " + c.row.Name + `("score", 80) for a field`}
			return c.standIn(), nil
		}
		field, value = "", c.Arg("field")
	}
	var v *generable.Value
	if value != nil {
		got, err := toValue(value)
		if err != nil {
			return nil, err
		}
		v = &got
	}
	p, err := predicate.New(op, field, v)
	if err != nil {
		c.complain(diag.BadCondition, c.fnSpan(), "%v", err).Help = []string{`matches(r"^ERR-[0-9]+$"), matches("code", r"^ERR")`}
		return c.standIn(), nil
	}
	return &predicateValue{p}, nil
}

// predicateValue is a condition as data. It is callable, so that code can ask it, too.
type predicateValue struct{ p *predicate.Predicate }

var (
	_ starlark.HasBinary = (*predicateValue)(nil)
	_ starlark.HasUnary  = (*predicateValue)(nil)
	_ starlark.Callable  = (*predicateValue)(nil)
)

func (p *predicateValue) String() string { return p.p.String() }

func (p *predicateValue) Type() string { return "predicate" }

func (p *predicateValue) Freeze() {}

func (p *predicateValue) Truth() starlark.Bool { return true }

func (p *predicateValue) Name() string { return p.p.String() }

func (p *predicateValue) Hash() (uint32, error) { return starlark.String(p.String()).Hash() }

// Binary combines two conditions: p & q, p | q.
func (p *predicateValue) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	q, ok := y.(*predicateValue)
	if op != syntax.AMP && op != syntax.PIPE {
		return nil, nil
	}
	if !ok {
		return nil, errorf(diag.BadCondition, "a condition combines with another one, not with %s", describe(y)).
			WithHelp(`ge(80) & lt(90), eq("kind", "a") | eq("kind", "b")`)
	}
	a, b := p.p, q.p
	if side == starlark.Right {
		a, b = b, a
	}
	if op == syntax.AMP {
		return &predicateValue{a.And(b)}, nil
	}
	return &predicateValue{a.Or(b)}, nil
}

// Unary negates a condition: ~p.
func (p *predicateValue) Unary(op syntax.Token) (starlark.Value, error) {
	if op != syntax.TILDE {
		return nil, nil
	}
	return &predicateValue{p.p.Not()}, nil
}

// CallInternal asks the condition of a value: ge(80)(x).
func (p *predicateValue) CallInternal(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) != 1 || len(kwargs) > 0 {
		return nil, errorf(diag.WrongArgument, "a condition is asked of one value: %s(x)", p.p)
	}
	v, err := toValue(args[0])
	if err != nil {
		return nil, err
	}
	return starlark.Bool(p.p.Holds(v)), nil
}

// predicateKind takes conditions as data alone.
var predicateKind = Kind{Word: "condition", Stub: "Predicate", accept: as[*predicateValue], hint: func(v starlark.Value) string {
	if _, ok := acceptFunction(v); ok {
		return "a condition as data is needed here, such as ge(1) & le(10)"
	}
	return ""
}}

// condKind takes conditions as data and functions.
var condKind = Kind{Word: "function or condition", Stub: "Callable | Predicate",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		if _, ok := v.(*predicateValue); ok {
			return v, true
		}
		return acceptFunction(v)
	}, hint: hintFunction}
