package starlib

import (
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func describeRows() []Builtin {
	return []Builtin{
		{Name: "describe", Group: GroupValues, Returns: "str", Effect: Pure, May: true, Func: describeFunc,
			Params: []Param{{Name: "about", Kind: AnyKind, Doc: "a node, a type, a function, a builtin, an instance"}},
			Doc:    "Gives the text that help prints: of a node what it is called, takes and gives, where it was made, and the same of its parts."},
		{Name: "sum", Group: GroupValues, Returns: "value", Effect: Pure, May: true, Func: sumFunc,
			Params: []Param{
				{Name: "items", Kind: itemsKind, Shape: Positional, Doc: "numbers, or with start = [] lists; True counts as 1"},
				{Name: "start", Kind: AnyKind, Default: "0", Doc: "what the items are added to"},
			},
			Doc: "Adds up numbers, or with start = [] joins lists."},
	}
}

// signatureValue is what typeof gives of a node.
type signatureValue struct{ in, out *typeValue }

var _ starlark.HasAttrs = (*signatureValue)(nil)

func (s *signatureValue) String() string       { return s.in.String() + " -> " + s.out.String() }
func (s *signatureValue) Type() string         { return "signature" }
func (s *signatureValue) Freeze()              {}
func (s *signatureValue) Truth() starlark.Bool { return true }
func (s *signatureValue) AttrNames() []string  { return []string{"input", "output"} }

func (s *signatureValue) Hash() (uint32, error) {
	in, err := s.in.Hash()
	if err != nil {
		return 0, err
	}
	out, err := s.out.Hash()
	return in*31 ^ out, err
}

func (s *signatureValue) Attr(name string) (starlark.Value, error) {
	switch name {
	case "input":
		return s.in, nil
	case "output":
		return s.out, nil
	}
	return nil, noAttr("a signature", name, s.AttrNames())
}

func (c *state) signature(n *engine.Node) starlark.Value {
	return &signatureValue{c.typ(n.In()), c.typ(n.Out())}
}

func describeFunc(c *Call) (starlark.Value, error) {
	switch v := c.Arg("about").(type) {
	case *failedValue:
		return v, nil
	case starlark.String:
		return starlark.String("str: " + v.String()), nil
	default:
		return starlark.String(c.row.table.Help(v)), nil
	}
}

func sumFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return &failedValue{}, nil
	}
	total := c.Arg("start")
	if total == nil {
		total = starlark.MakeInt(0)
	}
	items := sequence(c.Arg("items"))
	if list, ok := total.(*starlark.List); ok {
		return c.sumLists(sequence(list), items)
	}
	total, ok := number(total)
	if !ok {
		c.complain(diag.WrongArgument, c.spanOf("start"), "sum adds numbers, or with start = [] lists; start is %s", describe(c.Arg("start")))
		return nil, nil
	}
	for i, item := range items {
		n, ok := number(item)
		if !ok {
			c.notAdded(i, item)
			return nil, nil
		}
		var err error
		if total, err = starlark.Binary(syntax.PLUS, total, n); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// number is what an item counts for; a bool counts as it does in Python.
func number(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case starlark.Int, starlark.Float:
		return v, true
	case starlark.Bool:
		if v {
			return starlark.MakeInt(1), true
		}
		return starlark.MakeInt(0), true
	}
	return v, false
}

// sumLists joins lists into one that grows, and does not copy it for each.
func (c *Call) sumLists(joined, items []starlark.Value) (starlark.Value, error) {
	for i, item := range items {
		list, ok := item.(*starlark.List)
		if !ok {
			c.notAdded(i, item)
			return nil, nil
		}
		joined = append(joined, sequence(list)...)
	}
	return starlark.NewList(joined), nil
}

func (c *Call) notAdded(i int, item starlark.Value) {
	d := c.complain(diag.WrongArgument, c.spanOf("items"), "sum adds numbers, or with start = [] lists; item %d is %s", i, describe(item))
	switch item.(type) {
	case starlark.String:
		d.Help = []string{`texts are joined: "".join(items)`}
	case *starlark.List:
		d.Help = []string{"write sum(items, [])"}
	case *recordValue:
		d.Help = []string{"add up one field: sum([x.field for x in items])"}
	}
}
