package coerce

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/internal/naming"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// maxDigits bounds the integers that are read: turning digits into a number takes more than
// linear time.
const maxDigits = 4300

// numeral is the value of a number of the tape: an integer of any size, or a float.
func (c *Coercer) numeral(n *tape.Node) (generable.Value, bool) {
	s := c.Raw(n)
	switch n.Kind {
	case tape.NodeInt:
		return Integer(s)
	case tape.NodeFloat:
		return Floating(s)
	}
	return LooseNumeral(s)
}

func Integer(s string) (generable.Value, bool) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return generable.IntOf(i), true
	}
	if len(s) > maxDigits {
		return generable.Value{}, false
	}
	if b, ok := new(big.Int).SetString(s, 10); ok {
		return generable.BigOf(b), true
	}
	return generable.Value{}, false
}

func Floating(s string) (generable.Value, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return generable.Value{}, false
	}
	return generable.FloatOf(f)
}

// LooseNumeral reads what [lex.LooseNumber] recognises, with a sign.
func LooseNumeral(s string) (generable.Value, bool) {
	if form, ok := looseDecimal(s); ok {
		return strictNumeral(form)
	}
	return basedInteger(s)
}

// strictNumeral reads a number of JSON.
func strictNumeral(s string) (generable.Value, bool) {
	if lex.StrictNumber(s) == tape.NodeInt {
		return Integer(s)
	}
	return Floating(s)
}

// basedInteger reads an integer to another base than ten.
func basedInteger(s string) (generable.Value, bool) {
	neg, body := cutSign(s)
	if body == "" || !lex.LooseNumber(body) {
		return generable.Value{}, false
	}
	b, ok := new(big.Int).SetString(strings.ReplaceAll(strings.TrimSuffix(body, "n"), "_", ""), 0)
	if !ok {
		return generable.Value{}, false
	}
	if neg {
		b.Neg(b)
	}
	return generable.BigOf(b), true
}

// looseDecimal writes what [lex.LooseNumber] recognises, with a sign, as JSON does. Only base
// ten counts.
func looseDecimal(s string) (string, bool) {
	neg, s := cutSign(s)
	if s == "" || !lex.LooseNumber(s) {
		return "", false
	}
	s = strings.ReplaceAll(strings.TrimSuffix(s, "n"), "_", "")
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 >= 'b' && s[1]|0x20 <= 'x' && s[1]|0x20 != 'e' {
		return "", false
	}
	if s = lex.CompleteNumber(s); neg {
		s = "-" + s
	}
	return s, true
}

// cutSign takes a sign off the front of a number.
func cutSign(s string) (neg bool, rest string) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[0] == '-', s[1:]
	}
	return false, s
}

// decimal writes a number that [textNumber] reads as JSON does. Only base ten counts.
func decimal(s string) (string, bool) {
	s = typedMinus(s)
	if form, ok := looseDecimal(s); ok {
		return form, true
	}
	if plain, ok := dropThousands(s); ok {
		return decimal(plain)
	}
	return "", false
}

// whole is the integer that a number stands for which [textNumber] read as a float: 42.0, 1e20.
// It is judged by the digits, as the float may have lost some.
func whole(s string) (generable.Value, bool) {
	neg, digits, exp, ok := scientific(s)
	switch {
	case !ok:
		return generable.Value{}, false
	case digits == "":
		return generable.IntOf(0), true
	case exp < 0:
		return generable.Value{}, false
	}
	if neg {
		digits = "-" + digits
	}
	return Integer(digits + strings.Repeat("0", exp))
}

// scientific takes a number apart that [decimal] reads: its digits, without zeros around them,
// and the power of ten that they count.
func scientific(s string) (neg bool, digits string, exp int, ok bool) {
	if s, ok = decimal(s); !ok {
		return false, "", 0, false
	}
	neg, s = cutSign(s)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil {
			e = -len(s) // of no number but zero, as a float holds it
		}
		s, exp = s[:i], max(e, -tape.MaxText)
	}
	if i := strings.IndexByte(s, '.'); i >= 0 {
		exp -= len(s) - i - 1
		s = s[:i] + s[i+1:]
	}
	digits = strings.TrimRight(s, "0")
	exp += len(s) - len(digits)
	return neg, strings.TrimLeft(digits, "0"), exp, true
}

// rounded is the integer nearest to a float that is not integral, of two the one further from
// zero: by the digits it was written with, where those are known.
func rounded(s string, v generable.Value) (generable.Value, bool) {
	neg, digits, exp, ok := scientific(s)
	if !ok {
		f, _ := v.AsFloat()
		return generable.IntOf(int64(math.Round(f))), math.Abs(f) < 1<<53
	}
	at := len(digits) + exp // where the decimal point is
	if at < 0 || exp >= 0 {
		return generable.IntOf(0), true
	}
	w := generable.IntOf(0)
	if at > 0 {
		if w, ok = Integer(digits[:at]); !ok {
			return generable.Value{}, false
		}
	}
	b, _ := w.AsBig()
	if digits[at] >= '5' {
		b = new(big.Int).Add(b, big.NewInt(1))
	}
	if neg {
		b = new(big.Int).Neg(b)
	}
	return generable.BigOf(b), true
}

// textNumber reads a text that is nothing but a number: as JSON or another language writes
// it, or with commas or blanks between thousands.
func textNumber(s string) (generable.Value, bool) {
	if s = typedMinus(s); len(s) > maxDigits {
		return generable.Value{}, false
	}
	if form, ok := decimal(s); ok {
		return strictNumeral(form)
	}
	return basedInteger(s)
}

// typedMinus trims a number and replaces the minus sign of typesetters.
func typedMinus(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "\u2212"); ok {
		return "-" + rest
	}
	return s
}

// thousands is a number with marks between groups of three digits, 1,234,567.8: those that no one uses as
// a decimal mark there. A point is one: 1.234 is not read as 1234. Anything else with a comma is not certain
// to be such a number.
var thousands = sync.OnceValue(func() *regexp.Regexp {
	var groups []string
	for _, mark := range []string{",", " ", "\u00a0", "\u202f", "\u2009", "'"} {
		groups = append(groups, "("+mark+"[0-9]{3})+")
	}
	return regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}(` + strings.Join(groups, "|") + `)(\.[0-9]+)?$`)
})

var thousandMarks = strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "'", "")

// dropThousands takes the marks out of a number that has such.
func dropThousands(s string) (string, bool) {
	if !thousands().MatchString(s) {
		return "", false
	}
	return thousandMarks.Replace(s), true
}

var numbers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9]+([.,][0-9]+)*([eE][-+]?[0-9]+)?`)
})

// foundNumber finds the only number in a text, with its percent or currency sign taken off, or
// reads it as a fraction. Several numbers are no answer, nor is one that is part of a word or
// of which a negation speaks. The second result is how the number is written.
func foundNumber(s string) (generable.Value, string, bool) {
	if len(s) > naming.MaxSearched {
		return generable.Value{}, "", false
	}
	if v, ok := fraction(s); ok {
		return v, "", true
	}
	found := numbers().FindAllStringIndex(s, 2)
	if len(found) != 1 {
		return generable.Value{}, "", false
	}
	from, to := found[0][0], found[0][1]
	if to < len(s) && (message.IsAlnum(s[to]) || s[to] == '_') || from > 0 && (message.IsAlnum(s[from-1]) || s[from-1] == '_') {
		return generable.Value{}, "", false
	}
	if naming.Negated(naming.Words(s[:from])) {
		return generable.Value{}, "", false
	}
	if from > 0 && s[from-1] == '.' && (from == 1 || lex.Class[s[from-2]]&lex.IsBlank != 0) {
		from--
	}
	v, ok := textNumber(s[from:to])
	// A minus comes before the number or before its currency sign, and not behind a word.
	before := strings.TrimRight(s[:from], "$€£¥")
	minus, signed := strings.CutSuffix(before, "-")
	if !signed {
		minus, signed = strings.CutSuffix(before, "\u2212")
	}
	if last := len(minus) - 1; signed && last >= 0 && (minus[last] == '-' || minus[last] == '+') {
		return generable.Value{}, "", false // two signs
	}
	if ok && signed && (minus == "" || lex.Class[minus[len(minus)-1]]&lex.IsBlank != 0 || minus[len(minus)-1] == ':') {
		return negative(v), "-" + s[from:to], true
	}
	return v, s[from:to], ok
}

func negative(v generable.Value) generable.Value {
	if b, ok := v.AsBig(); ok {
		return generable.BigOf(new(big.Int).Neg(b))
	}
	f, _ := v.AsFloat()
	w, _ := generable.FloatOf(-f)
	return w
}

// fraction reads 3/4: two whole numbers and nothing else.
func fraction(s string) (generable.Value, bool) {
	above, below, ok := strings.Cut(strings.TrimSpace(s), "/")
	if !ok {
		return generable.Value{}, false
	}
	a, ok1 := textNumber(above)
	b, ok2 := textNumber(below)
	x, isNumber1 := a.AsNumber()
	y, isNumber2 := b.AsNumber()
	if !ok1 || !ok2 || !isNumber1 || !isNumber2 || a.Kind() == generable.Float || b.Kind() == generable.Float || y == 0 {
		return generable.Value{}, false
	}
	num, _ := a.AsBig()
	den, _ := b.AsBig()
	if q, r := new(big.Int).QuoRem(num, den, new(big.Int)); r.Sign() == 0 {
		return generable.BigOf(q), true
	}
	return generable.FloatOf(x / y)
}
