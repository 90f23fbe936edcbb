package generable

import (
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// scalar makes the value of a scalar type, or of an enum, at a node.
func (c *coercer) scalar(at int, n *node, t *Type) bool {
	switch n.kind {
	case nodeArr, nodeObj:
		return c.around(at, n, t)
	case nodeNull, nodeMissing:
		if t.Kind != EnumType || n.kind == nodeMissing || c.o.Level == Strict || c.enumNamed(c.raw(n), t) < 0 {
			return c.mismatch(at, t)
		}
	case nodeStr:
		if c.partial && n.flags&flagOpen != 0 && t.Kind != StrType {
			return c.fail() // more of it may come
		}
	}
	switch t.Kind {
	case StrType:
		return c.strAt(at, n, t)
	case BoolType:
		return c.boolAt(at, n, t)
	case EnumType:
		return c.enumAt(at, n, t)
	}
	return c.numberAt(at, n, t)
}

func isScalar(t *Type) bool {
	return t.Kind == BoolType || t.Kind == IntType || t.Kind == FloatType || t.Kind == StrType || t.Kind == EnumType
}

// text is a scalar as text: the content of a string, else what stands there.
func (c *coercer) text(at int, n *node) string {
	if n.isText() {
		return c.str(at)
	}
	return c.raw(n)
}

func (c *coercer) strAt(at int, n *node, t *Type) bool {
	if n.isText() {
		return c.done(StrOf(c.str(at)))
	}
	if c.o.Level == Strict {
		return c.mismatch(at, t)
	}
	s := c.raw(n)
	c.repair(repToString, at, s, text.Quote(s))
	return c.done(StrOf(s))
}

func (c *coercer) boolAt(at int, n *node, t *Type) bool {
	switch {
	case n.kind == nodeTrue || n.kind == nodeFalse:
		return c.done(BoolOf(n.kind == nodeTrue))
	case c.o.Level == Strict:
		return c.mismatch(at, t)
	}
	s := c.text(at, n)
	b, ok := foldBool(s)
	if !ok && c.o.Level == Loose {
		b, ok = findBool(s)
	}
	if !ok {
		return c.mismatch(at, t)
	}
	after := "false"
	if b {
		after = "true"
	}
	if s == "0" || s == "1" {
		c.score++ // rather a number
	}
	c.repair(repToBool, at, c.show(at), after)
	return c.done(BoolOf(b))
}

// foldBool reads a text that is nothing but a truth value.
func foldBool(s string) (b, ok bool) {
	if len(s) > maxSuggestLen {
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

// findBool finds the only truth value in a text, unless it is negated. Of yes and no, only the
// first word of a text is an answer.
func findBool(s string) (b, ok bool) {
	if len(s) > maxSearched {
		return false, false
	}
	words := splitWords(s)
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
		if ok && is != b || negated(words[:i]) {
			return false, false
		}
		b, ok = is, true
	}
	return b, ok
}

func (c *coercer) numberAt(at int, n *node, t *Type) bool {
	var v Value
	var ok bool
	form := "" // how it is written
	switch {
	case n.kind == nodeInt || n.kind == nodeFloat || n.kind == nodeNumber:
		if v, ok = c.numeral(n); !ok {
			return c.badNumber(at, n)
		}
		form = c.raw(n)
	case n.kind == nodeNaN:
		return c.failAt(at, "a finite number", c.show(at), "")
	case n.isText() && c.o.Level != Strict:
		s := c.str(at)
		rep := repToNumber
		form = strings.Trim(s, " \t\r\n*`\"'_")
		if v, ok = textNumber(form); !ok && c.o.Level == Loose {
			v, form, ok = foundNumber(s)
			rep = repFound
		}
		if ok {
			c.repair(rep, at, c.show(at), JSON(v, nil))
		}
	}
	if !ok {
		return c.mismatch(at, t)
	}
	if t.Kind == FloatType {
		if v.Kind() == Float {
			return c.done(v)
		}
		f, _ := v.AsNumber()
		w, ok := FloatOf(f)
		if !ok {
			return c.failAt(at, "a number that a float can hold", c.show(at), "")
		}
		c.score++
		c.repair(repIntToFloat, at, c.show(at), "")
		return c.done(w)
	}
	if v.Kind() != Float {
		return c.done(v)
	}
	if w, ok := whole(form); ok {
		c.repair(repFloatToInt, at, c.show(at), JSON(w, nil))
		return c.done(w)
	}
	if c.o.Level == Loose {
		if w, ok := rounded(form, v); ok {
			c.repair(repRound, at, c.show(at), JSON(w, nil))
			return c.done(w)
		}
	}
	return c.failAt(at, "int", c.show(at), "a whole number is wanted")
}

// badNumber records that a number is too large to be read.
func (c *coercer) badNumber(at int, n *node) bool {
	want := "a number that a float can hold"
	if n.kind == nodeInt {
		want = "an integer of at most " + text.Count(maxDigits, "digit")
	}
	return c.failAt(at, want, c.show(at), "")
}

func (c *coercer) enumAt(at int, n *node, t *Type) bool {
	s := c.text(at, n)
	if in.HasValue(t, s) && (n.isText() || c.o.Level != Strict) {
		if !n.isText() {
			c.repair(repToString, at, s, text.Quote(s))
		}
		return c.done(StrOf(s))
	}
	names := in.Names(t)
	pick := func(rep repairKind, i int) bool {
		c.repair(rep, at, c.show(at), t.Values[i])
		return c.done(StrOf(t.Values[i]))
	}
	if i := names.aliased(s); i >= 0 {
		return pick(repAlias, i)
	}
	if c.o.Level != Strict {
		if i := c.enumNamed(s, t); i >= 0 {
			return pick(repEnumFold, i)
		}
	}
	if c.o.Level == Loose {
		i, ties := names.mentioned(s)
		switch {
		case i >= 0:
			return pick(repEnumFind, i)
		case len(ties) > 1:
			all := make([]string, len(ties))
			for k, i := range ties {
				all[k] = t.Values[i]
			}
			hint := "it names " + strings.Join(all, " and ")
			if len(all) > 4 {
				hint = "it names " + listNames(all)
			}
			return c.failAt(at, oneOfTexts(t.Values), c.show(at), hint)
		}
	}
	return c.failAt(at, oneOfTexts(t.Values), c.show(at), c.nearest(s, t.Values))
}

// enumNamed finds the value of an enum that a text names by itself: by name or alias, with the
// name of the type before it, with its description, or by the description alone. It returns -1
// when there is none.
func (c *coercer) enumNamed(s string, t *Type) int {
	names := in.Names(t)
	if i := names.find(s); i >= 0 {
		return i
	}
	if i := names.describes(s); i >= 0 {
		return i
	}
	if cut := strings.LastIndexAny(s, ".:"); cut > 0 && len(s) <= maxName && sameFolded(s[:cut], t.Name) {
		return names.find(s[cut+1:])
	}
	return -1
}
