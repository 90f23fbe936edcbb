package spec

import (
	"math"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// Value returns the literal of a condition on values of a kind: a quoted number counts as a number where numbers are
// expected, and likewise true and false. Null stands for any kind.
func (c *Condition) Value(kind tree.Kind) generable.Value {
	v := c.literal(kind)
	switch v.kind {
	case tree.Number:
		return numeral(c.Literal.Text, c.Kind == "double")
	case tree.Bool:
		return generable.BoolOf(v.text == "true")
	}
	return generable.StrOf(v.text)
}

// Typed returns the literal of a condition as the format's origin reads it: by the declared type or, without one, by
// its text, quoted or not: true or false, a whole number, a number, a text.
func (c *Condition) Typed() generable.Value {
	text := c.Literal.Text
	switch kind := c.Kind; {
	case kind == "string":
	case kind == "boolean" || kind == "" && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
		return generable.BoolOf(strings.EqualFold(text, "true"))
	default:
		if _, ok := finite(text); ok {
			return numeral(text, kind == "double")
		}
	}
	return generable.StrOf(text)
}

// finite reads a decimal number. Words such as inf and nan are texts.
func finite(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) && !strings.ContainsAny(text, "xX_")
}

// numeral reads a number: a whole one becomes an int, unless it must be a float.
func numeral(text string, float bool) generable.Value {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && !float {
		return generable.IntOf(n)
	}
	n, err := strconv.ParseFloat(text, 64)
	if v, finite := generable.FloatOf(n); err == nil && finite {
		return v
	}
	return generable.StrOf(text)
}

// Index returns the index of the first agent with a name.
func (s *Spec) Index(name string) (int, bool) {
	i, ok := s.named[name]
	return i, ok
}
