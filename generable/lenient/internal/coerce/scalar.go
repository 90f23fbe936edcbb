package coerce

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/internal/naming"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// scalar makes the value of a scalar type or an enum at a node.
func (c *Coercer) scalar(at int, n *tape.Node, t *generable.Type) bool {
	switch n.Kind {
	case tape.NodeArr, tape.NodeObj:
		return c.around(at, n, t)
	case tape.NodeNull, tape.NodeMissing:
		if t.Kind != generable.EnumType || n.Kind == tape.NodeMissing || c.O.Level == generable.Strict || c.enumNamed(c.Raw(n), t) < 0 {
			return c.mismatch(at, t)
		}
	}
	switch t.Kind {
	case generable.StrType:
		return c.strAt(at, n, t)
	case generable.BoolType:
		return c.boolAt(at, n, t)
	case generable.EnumType:
		return c.enumAt(at, n, t)
	}
	return c.numberAt(at, n, t)
}

// Plain returns the value of a scalar that is beyond doubt of type t. Most scalars are, and entering them takes many
// times as long.
func Plain(n *tape.Node, raw string, t *generable.Type) (generable.Value, bool) {
	any := t.Kind == generable.AnyType || t.Kind == generable.ErrorType
	switch n.Kind {
	case tape.NodeNull:
		return generable.Value{}, any || t.Kind == generable.NoneType
	case tape.NodeTrue, tape.NodeFalse:
		return generable.BoolOf(n.Kind == tape.NodeTrue), any || t.Kind == generable.BoolType
	case tape.NodeInt:
		if any || t.Kind == generable.IntType {
			return Integer(raw)
		}
	case tape.NodeFloat:
		if any || t.Kind == generable.FloatType {
			return Floating(raw)
		}
	case tape.NodeStr:
		if n.IsVerbatim() && (any || t.Kind == generable.StrType || t.Kind == generable.EnumType && in.HasValue(t, raw)) {
			return generable.StrOf(raw), true
		}
	}
	return generable.Value{}, false
}

// isScalar reports whether the values of t are scalars that a text can be read as. int | float is such a type.
func isScalar(t *generable.Type) bool {
	return in.IsNumber(t) || t.Kind == generable.BoolType || t.Kind == generable.IntType || t.Kind == generable.FloatType || t.Kind == generable.StrType || t.Kind == generable.EnumType
}

// text returns a scalar as text: the content of a string, else the text as written.
func (c *Coercer) text(at int, n *tape.Node) string {
	if n.IsText() {
		return c.Str(at)
	}
	return c.Raw(n)
}

func (c *Coercer) strAt(at int, n *tape.Node, t *generable.Type) bool {
	if n.IsText() {
		return c.done(generable.StrOf(c.Str(at)))
	}
	if c.O.Level == generable.Strict {
		return c.mismatch(at, t)
	}
	return c.asText(at, n)
}

func (c *Coercer) boolAt(at int, n *tape.Node, t *generable.Type) bool {
	if c.O.Level == generable.Strict {
		return c.mismatch(at, t)
	}
	s := c.text(at, n)
	b, ok := foldBool(s)
	if !ok && c.O.Level == generable.Loose {
		b, ok = findBool(s)
	}
	if !ok {
		return c.mismatch(at, t)
	}
	if s == "0" || s == "1" {
		c.Score++ // more likely a number
	}
	c.Repair(tape.RepToBool, at, c.show(at), strconv.FormatBool(b))
	return c.done(generable.BoolOf(b))
}

// foldBool reads a text that is only a truth value.
func foldBool(s string) (b, ok bool) {
	if len(s) > message.MaxName {
		return false, false
	}
	switch strings.ToLower(strings.Trim(s, " \t\r\n.!*`\"'_")) {
	case "true", "yes", "on", "y", "1":
		return true, true
	case "false", "no", "off", "n", "0":
		return false, true
	}
	return false, false
}

// findBool finds the only truth value in a text, unless it is negated. Yes and no count as an answer only as the
// first word of a text.
func findBool(s string) (b, ok bool) {
	if len(s) > naming.MaxSearched {
		return false, false
	}
	words := naming.Words(s)
	if len(words) > 1 && (words[0] == "yes" || words[0] == "no") {
		if rest := strings.TrimLeft(s, " \t\r\n*`\"'_"); strings.IndexByte(",.!;:*\n", rest[len(words[0])]) >= 0 {
			b, ok, words = words[0] == "yes", true, words[1:]
		}
	}
	for i, w := range words {
		var is bool
		switch w {
		case "true":
			is = true
		case "false":
		default:
			continue
		}
		if ok && is != b || naming.Negated(words[:i]) {
			return false, false
		}
		b, ok = is, true
	}
	return b, ok
}

func (c *Coercer) numberAt(at int, n *tape.Node, t *generable.Type) bool {
	var v generable.Value
	var ok bool
	form := "" // the number as written
	switch {
	case n.Kind == tape.NodeInt || n.Kind == tape.NodeFloat || n.Kind == tape.NodeNumber:
		if v, ok = c.numeral(n); !ok {
			return c.badNumber(at, n)
		}
		form = c.Raw(n)
	case n.Kind == tape.NodeNaN:
		return c.failAt(at, "a finite number", c.show(at), "")
	case n.IsText() && c.O.Level != generable.Strict:
		s := c.Str(at)
		rep := tape.RepToNumber
		form = strings.Trim(s, " \t\r\n*`\"'_")
		if v, ok = Numeral(form); !ok && c.O.Level == generable.Loose {
			v, form, ok = foundNumber(s)
			rep = tape.RepFound
		}
		if ok {
			c.Repair(rep, at, c.show(at), generable.JSON(v, nil))
		}
	}
	if !ok {
		return c.mismatch(at, t)
	}
	if t.Kind == generable.FloatType {
		if v.Kind() == generable.Float {
			return c.done(v)
		}
		f, _ := v.AsNumber()
		w, ok := generable.FloatOf(f)
		if !ok {
			return c.failAt(at, "a number that a float can hold", c.show(at), "")
		}
		c.Score++
		c.Repair(tape.RepIntToFloat, at, c.show(at), "")
		return c.done(w)
	}
	if v.Kind() != generable.Float || t.Kind == generable.OneOfType {
		return c.done(v)
	}
	if w, ok := whole(form); ok {
		c.Repair(tape.RepFloatToInt, at, c.show(at), generable.JSON(w, nil))
		return c.done(w)
	}
	if c.O.Level == generable.Loose {
		if w, ok := rounded(form, v); ok {
			c.Repair(tape.RepRound, at, c.show(at), generable.JSON(w, nil))
			return c.done(w)
		}
	}
	return c.failAt(at, "int", c.show(at), "a whole number is wanted")
}

// badNumber records that a number is too large to be read.
func (c *Coercer) badNumber(at int, n *tape.Node) bool {
	want := "a number that a float can hold"
	if n.Kind == tape.NodeInt {
		want = "an integer of at most " + text.Count(maxDigits, "digit")
	}
	return c.failAt(at, want, c.show(at), "")
}

// enumAt makes the value of an enum.
func (c *Coercer) enumAt(at int, n *tape.Node, t *generable.Type) bool {
	s := c.text(at, n)
	if in.HasValue(t, s) && (n.IsText() || c.O.Level != generable.Strict) {
		return c.strAt(at, n, t)
	}
	names := in.Names(t)
	pick := func(rep tape.RepairKind, i int) bool {
		c.Repair(rep, at, c.show(at), t.Values[i])
		return c.done(generable.StrOf(t.Values[i]))
	}
	if i := names.Aliased(s); i >= 0 {
		return pick(tape.RepAlias, i)
	}
	if c.O.Level != generable.Strict {
		if i := c.enumNamed(s, t); i >= 0 {
			return pick(tape.RepEnumFold, i)
		}
	}
	if c.O.Level == generable.Loose {
		i, ties := names.Mentioned(s)
		switch {
		case i >= 0:
			return pick(tape.RepEnumFind, i)
		case len(ties) > 1:
			all := text.Each(ties, func(i int) string { return t.Values[i] })
			hint := "it names " + strings.Join(all, " and ")
			if len(all) > 4 {
				hint = "it names " + message.List(all)
			}
			return c.failAt(at, message.OneOf(t.Values), c.show(at), hint)
		}
	}
	return c.failAt(at, message.OneOf(t.Values), c.show(at), c.nearest(s, t.Values))
}

// enumNamed finds the enum value that a text as a whole names: by name or alias, with the type's name before it, with
// its description, or by the description alone. It returns -1 without such a value.
func (c *Coercer) enumNamed(s string, t *generable.Type) int {
	names := in.Names(t)
	if i := names.Find(s); i >= 0 {
		return i
	}
	if i := names.Describes(s); i >= 0 {
		return i
	}
	if cut := strings.LastIndexAny(s, ".:"); cut > 0 && len(s) <= naming.MaxName && naming.Same(s[:cut], t.Name) {
		return names.Find(s[cut+1:])
	}
	return -1
}
