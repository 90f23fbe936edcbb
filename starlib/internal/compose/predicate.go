package compose

import (
	"strconv"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// predicateRows returns the conditions as data. Their names are short and common: scripts may bind them.
func predicateRows() []table.Builtin {
	row := func(name string, op predicate.Op, what, doc string) table.Builtin {
		return table.Builtin{Name: name, Group: table.GroupCompose, Returns: "predicate", Effect: table.Pure, May: true, Doc: doc,
			Params: []table.Param{
				{Name: "field", Kind: table.Naming(table.StrKind, table.FieldName), Shape: table.Positional, Default: "None", Skip: true, Doc: `the field to test, "a.b" for a nested field; by default the value itself`},
				{Name: "value", Kind: table.AnyKind, Shape: table.Positional, Default: "None", Doc: what},
			},
			Func: func(c *table.Call) (starlark.Value, error) { return predicateFunc(c, op) }}
	}
	comparison := func(name string, op predicate.Op, what, doc string) table.Builtin {
		b := row(name, op, what, doc)
		b.Params = append(b.Params, table.Opt("fold", table.BoolKind, "False", `ignores case, comparing texts in lower case: eq("yes", fold = True) holds for "YES"`))
		if op == predicate.Eq || op == predicate.Ne {
			b.Params = append(b.Params, table.Opt("exact", table.BoolKind, "False", "an int never equals a float: eq(42, exact = True) does not hold for 42.0"))
		}
		return b
	}
	constant := func(name string, p *predicate.Predicate, doc string) table.Builtin {
		return table.Builtin{Name: name, Group: table.GroupCompose, Returns: "predicate", Effect: table.Pure, May: true, Value: true, Doc: doc,
			Make: func(*script.State, *table.Table) starlark.Value { return &value.Predicate{Pred: p} }}
	}
	has := row("has", predicate.Has, "the item, part or key that the field must contain", `A condition: a field is present and not None. has("tags", "urgent") holds if a list contains that item, a text that part, or a dict that key.`)
	has.Params[0] = table.Param{Name: "field", Kind: table.Naming(table.StrKind, table.FieldName), Shape: table.Positional, Doc: "the field to test"}
	return []table.Builtin{
		comparison("eq", predicate.Eq, "the value to compare with", `A condition: the value equals this one; eq("field", x) tests a field. Conditions combine with &, | and ~; they can be checked for gaps, drawn and exported.`),
		comparison("ne", predicate.Ne, "the value to compare with", "A condition: the value does not equal this one."),
		comparison("gt", predicate.Gt, "a number or text", "A condition: the value is greater."),
		comparison("ge", predicate.Ge, "a number or text", `A condition: the value is greater or equal: ge(80), ge("score", 80).`),
		comparison("lt", predicate.Lt, "a number or text", "A condition: the value is less."),
		comparison("le", predicate.Le, "a number or text", "A condition: the value is less or equal."),
		row("matches", predicate.Matches, "a regular expression", "A condition: some part of the text matches a regular expression (RE2)."),
		has,
		constant("always", predicate.Always(), "The condition that holds for every value: routes and edges after it in a branch or graph receive nothing."),
		constant("never", predicate.Never(), "The condition that holds for no value."),
	}
}

func predicateFunc(c *table.Call, op predicate.Op) (starlark.Value, error) {
	field, val := c.Str("field"), c.Arg("value")
	if op != predicate.Has && val == nil { // one argument: the value to compare with
		if !c.Has("field") {
			c.Problemf(diag.MissingArgument, c.FuncSpan(), "%s needs what to compare with", c.Row.Name).Help = []string{c.Row.Name + "(80), or " + c.Row.Name + `("score", 80) for a field`}
			return c.Placeholder(), nil
		}
		field, val = "", c.Arg("field")
	}
	var v *generable.Value
	if t, ok := val.(*value.Type); ok {
		help := "write " + t.String() + ": as a condition a type holds for its values"
		if field != "" {
			help = "compare with a value, " + c.Row.Name + "(" + strconv.Quote(field) + ", \"...\"); a type is already a condition"
		}
		c.Problemf(diag.WrongValue, c.FuncSpan(), "the type %s is not data", t).Help = []string{help}
		return c.Placeholder(), nil
	}
	if val != nil {
		got, err := value.ToData(val)
		if err != nil {
			return nil, err
		}
		v = &got
	}
	p, err := predicate.New(op, field, v)
	if err != nil {
		c.Problemf(diag.BadCondition, c.FuncSpan(), "%v", err).Help = []string{`matches(r"^ERR-[0-9]+$"), matches("code", r"^ERR")`}
		return c.Placeholder(), nil
	}
	if op <= predicate.Le && c.Bool("fold", false) {
		p = p.Folded()
	}
	if (op == predicate.Eq || op == predicate.Ne) && c.Bool("exact", false) {
		p = p.Exact()
	}
	return &value.Predicate{Pred: p}, nil
}

var (
	_ starlark.HasBinary = (*value.Predicate)(nil)
	_ starlark.HasUnary  = (*value.Predicate)(nil)
	_ starlark.Callable  = (*value.Predicate)(nil)
)
