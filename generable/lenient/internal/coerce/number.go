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
	"github.com/agentscript/agentscript/internal/lazy"
)

// maxDigits bounds the integers that are read: converting digits to a number takes more than linear time.
const maxDigits = 4300

// numeral returns the value of a number on the tape: an integer of any size, or a float.
func (c *Coercer) numeral(n *tape.Node) (generable.Value, bool) {
	s := c.Raw(n)
	switch n.Kind {
	case tape.NodeInt:
		return Integer(s)
	case tape.NodeFloat:
		return Floating(s)
	}
	return Numeral(s)
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

// Numeral reads a text that is only a number: as JSON or another language writes it, or with thousands separators.
func Numeral(s string) (generable.Value, bool) {
	if len(s) > maxDigits {
		return generable.Value{}, false
	}
	form, ok := decimal(s)
	if !ok {
		return generable.Value{}, false
	}
	if lex.StrictNumber(form) == tape.NodeInt {
		return Integer(form)
	}
	return Floating(form)
}

// decimal writes a number that [Numeral] reads the way JSON does.
func decimal(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "\u2212"); ok {
		s = "-" + rest // the typographic minus sign
	}
	if thousands().MatchString(s) {
		s = thousandMarks.Replace(s)
	}
	sign, body := "", s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, body = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	if !lex.LooseNumber(body) {
		return "", false
	}
	body = strings.ReplaceAll(strings.TrimSuffix(body, "n"), "_", "")
	if lex.IsBased(body) {
		b, ok := new(big.Int).SetString(body, 0)
		return sign + b.String(), ok
	}
	return sign + lex.CompleteNumber(body), true
}

// exactly returns the exact value of a number that [Numeral] read as a float, which may have lost digits.
func exactly(s string) (*big.Rat, bool) {
	form, ok := decimal(s)
	digits, exp, _ := strings.Cut(strings.ToLower(form), "e")
	if strings.Trim(digits, "-0.") == "" {
		return new(big.Rat), ok
	}
	if strings.Contains(digits, ".") {
		digits = strings.TrimRight(digits, "0")
	}
	if n, err := strconv.Atoi("0" + strings.TrimLeft(exp, "+-")); err != nil || n+len(digits) > maxDigits {
		return nil, false
	}
	return new(big.Rat).SetString(form)
}

// whole returns the integer that a number read as a float by [Numeral] stands for: 42.0, 1e20.
func whole(s string) (generable.Value, bool) {
	r, ok := exactly(s)
	if !ok || !r.IsInt() {
		return generable.Value{}, false
	}
	return generable.BigOf(r.Num()), true
}

// rounded returns the integer nearest to a float that is not integral, rounding halves away from zero. It uses the
// digits as written, where they are known.
func rounded(s string, v generable.Value) (generable.Value, bool) {
	r, ok := exactly(s)
	if !ok {
		f, _ := v.AsFloat()
		return generable.IntOf(int64(math.Round(f))), math.Abs(f) < 1<<53
	}
	r.Add(r, big.NewRat(int64(r.Sign()), 2))
	return generable.BigOf(new(big.Int).Quo(r.Num(), r.Denom())), true
}

// thousands matches a number with separators between groups of three digits, 1,234,567.8, using only characters that
// nobody uses as a decimal mark there. A point is a decimal mark: 1.234 is not read as 1234. Any other text with a
// comma may not be such a number.
var thousands = sync.OnceValue(func() *regexp.Regexp {
	var groups []string
	for _, mark := range []string{",", " ", "\u00a0", "\u202f", "\u2009", "'"} {
		groups = append(groups, "("+mark+"[0-9]{3})+")
	}
	return regexp.MustCompile(`^[-+]?[1-9][0-9]{0,2}(` + strings.Join(groups, "|") + `)(\.[0-9]+)?$`)
})

var thousandMarks = strings.NewReplacer(",", "", " ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "'", "")

var numbers = lazy.Regexp(`[0-9]+([.,][0-9]+)*([eE][-+]?[0-9]+)?`)

// foundNumber finds the only number in a text, without its percent or currency sign, or reads the text as a fraction.
// It rejects several numbers, and a number that is part of a word or negated. The second result is the number as
// written.
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
	// A minus comes before the number or before its currency sign, and not directly after a word.
	number := s[from:to]
	before := strings.TrimRight(s[:from], "$€£¥")
	minus, signed := strings.CutSuffix(before, "-")
	if !signed {
		minus, signed = strings.CutSuffix(before, "\u2212")
	}
	if last := len(minus) - 1; signed && last >= 0 && (minus[last] == '-' || minus[last] == '+') {
		return generable.Value{}, "", false // two signs
	}
	if signed && (minus == "" || lex.Class[minus[len(minus)-1]]&lex.IsBlank != 0 || minus[len(minus)-1] == ':') {
		number = "-" + number
	}
	v, ok := Numeral(number)
	return v, number, ok
}

// fraction reads 3/4: two whole numbers and nothing else.
func fraction(s string) (generable.Value, bool) {
	above, below, ok := strings.Cut(strings.TrimSpace(s), "/")
	a, ok1 := Numeral(above)
	b, ok2 := Numeral(below)
	num, isInt1 := a.AsBig()
	den, isInt2 := b.AsBig()
	if !ok || !ok1 || !ok2 || !isInt1 || !isInt2 || den.Sign() == 0 {
		return generable.Value{}, false
	}
	q := new(big.Rat).SetFrac(num, den)
	if q.IsInt() {
		return generable.BigOf(q.Num()), true
	}
	f, _ := q.Float64()
	return generable.FloatOf(f)
}
