package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
)

func budgetRows() []Builtin {
	return []Builtin{
		{Name: "remaining", Of: "budget", Group: GroupAgents, Returns: engine.RemainingType.Name, Effect: Recorded, Func: remainingFunc,
			Doc: "Tells, in a function that runs, what the budgets around it leave: " + joined(engine.RemainingType.FieldNames()) +
				". What nothing bounds is None. The answer is recorded: a replay gives the same."},
	}
}

// makerValue is a builtin that has members of its own: budget(...) and budget.remaining().
type makerValue struct {
	*starlark.Builtin
	members starlark.HasAttrs
}

var (
	_ starlark.Callable = (*makerValue)(nil)
	_ starlark.HasAttrs = (*makerValue)(nil)
)

// maker is the value of a row whose name has members.
func maker(t *Table, name string) starlark.Value {
	row, _ := t.Lookup(name)
	return &makerValue{row.value(), &moduleValue{name: name, members: t.members[name]}}
}

func (m *makerValue) AttrNames() []string { return m.members.AttrNames() }

func (m *makerValue) Attr(name string) (starlark.Value, error) { return m.members.Attr(name) }

func remainingFunc(c *Call) (starlark.Value, error) {
	if !c.inRun("left = budget.remaining()") {
		return nil, nil
	}
	if err := c.env.strand.debit(c.Thread().Steps); err != nil { // all of them: they are told of
		return nil, err
	}
	v, err := engine.Remaining(c.env.branch)
	if err != nil {
		return nil, err
	}
	return fromValue(v), nil
}
