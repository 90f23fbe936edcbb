package generable

import (
	"math"
	"slices"
	"strings"
)

// scalar makes the value of a scalar type, or of an enum, at a node.
func (c *coercer) scalar(at int, n *node, t *Type) bool {
	switch n.kind {
	case nodeArr, nodeObj:
		return c.around(at, n, t)
	case nodeNull, nodeMissing:
		return c.mismatch(at, t)
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

func (n *node) isText() bool { return n.kind == nodeStr || n.kind == nodeWord || n.kind == nodeConcat }

func (c *coercer) strAt(at int, n *node, t *Type) bool {
	if n.isText() {
		return c.done(StrOf(c.str(at)))
	}
	if c.o.Level == Strict {
		return c.mismatch(at, t)
	}
	s := c.raw(n)
	c.repair(repToString, at, s, string(AppendQuoted(nil, s)))
	return c.done(StrOf(s))
}

func (c *coercer) boolAt(at int, n *node, t *Type) bool {
	switch {
	case n.kind == nodeTrue || n.kind == nodeFalse:
		return c.done(BoolOf(n.kind == nodeTrue))
	case c.o.Level == Strict:
		return c.mismatch(at, t)
	}
	s := c.raw(n)
	if n.isText() {
		s = c.str(at)
	}
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
	c.repair(repToBool, at, c.show(at), after)
	return c.done(BoolOf(b))
}

// foldBool reads a text that is nothing but a truth value.
func foldBool(s string) (b, ok bool) {
	switch strings.ToLower(strings.Trim(s, " \t\r\n.!*`\"'")) {
	case "true", "yes", "on", "y", "1":
		return true, true
	case "false", "no", "off", "n", "0":
		return false, true
	}
	return false, false
}

// findBool finds the only truth value in a text, unless it is negated.
func findBool(s string) (b, ok bool) {
	words := splitWords(s)
	for i, w := range words {
		var is bool
		switch w {
		case "true", "yes":
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
	switch {
	case n.kind == nodeInt || n.kind == nodeFloat || n.kind == nodeNumber:
		if v, ok = c.numeral(n); !ok {
			return c.badNumber(at, n)
		}
	case n.kind == nodeNaN:
		return c.failAt(at, "a finite number", c.show(at), "")
	case n.isText() && c.o.Level != Strict:
		s := c.str(at)
		rep := repToNumber
		if v, ok = textNumber(strings.Trim(s, " \t\r\n*`\"'")); !ok && c.o.Level == Loose {
			v, ok = foundNumber(s)
			rep = repFound
		}
		if ok {
			c.repair(rep, at, c.show(at), JSON(v, nil))
		}
	default:
		return c.mismatch(at, t)
	}
	if !ok {
		return c.mismatch(at, t)
	}
	if t.Kind == FloatType {
		if v.kind == Float {
			return c.done(v)
		}
		f, _ := v.AsNumber()
		w, ok := FloatOf(f)
		if !ok {
			return c.failAt(at, "a number that a float can hold", c.show(at), "")
		}
		c.score++
		c.repair(repIntToFloat, at, c.show(at), JSON(w, nil))
		return c.done(w)
	}
	if v.kind != Float {
		return c.done(v)
	}
	if w, ok := exactInt(v); ok && c.o.Level != Strict {
		c.repair(repFloatToInt, at, c.show(at), JSON(w, nil))
		return c.done(w)
	}
	if f, _ := v.AsFloat(); c.o.Level == Loose && math.Abs(f) < 1<<53 {
		w := IntOf(int64(math.Round(f)))
		c.repair(repRound, at, c.show(at), JSON(w, nil))
		return c.done(w)
	}
	return c.failAt(at, "int", c.show(at), "a whole number is wanted")
}

// badNumber records that a number is too large to be read.
func (c *coercer) badNumber(at int, n *node) bool {
	want := "a number that a float can hold"
	if n.kind == nodeInt {
		want = "an integer of at most " + count(maxDigits, "digit")
	}
	return c.failAt(at, want, c.show(at), "")
}

func (c *coercer) enumAt(at int, n *node, t *Type) bool {
	s := c.raw(n)
	if n.isText() {
		s = c.str(at)
	}
	if slices.Contains(t.Values, s) && (n.isText() || c.o.Level != Strict) {
		if !n.isText() {
			c.repair(repToString, at, s, string(AppendQuoted(nil, s)))
		}
		return c.done(StrOf(s))
	}
	if c.o.Level != Strict {
		if v, ok := foldMatch(s, t.Values); ok {
			c.repair(repEnumFold, at, c.show(at), v)
			return c.done(StrOf(v))
		}
	}
	if c.o.Level == Loose {
		v, all := findEnum(s, t.Values)
		if v != "" {
			c.repair(repEnumFind, at, c.show(at), v)
			return c.done(StrOf(v))
		}
		if len(all) > 1 {
			return c.failAt(at, oneOfTexts(t.Values), c.show(at), "it names "+strings.Join(all, " and "))
		}
	}
	return c.failAt(at, oneOfTexts(t.Values), c.show(at), didYouMean(s, t.Values))
}
