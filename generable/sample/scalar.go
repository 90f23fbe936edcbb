package sample

import (
	"fmt"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
)

// number makes a number within bounds. Early tries are close to a bound.
func (m *Maker) number(t *generable.Type, l *generable.Limits, try int) generable.Value {
	lo, hi := math.NaN(), math.NaN()
	step := 0.0
	if l != nil {
		lo, hi = tighter(l.Ge, l.Gt, math.Max), tighter(l.Le, l.Lt, math.Min)
		if l.MultipleOf != nil {
			step = *l.MultipleOf
		}
	}
	switch {
	case math.IsNaN(lo) && math.IsNaN(hi):
		lo, hi = 1, 100
	case math.IsNaN(lo):
		lo = hi - 100
	case math.IsNaN(hi):
		hi = lo + 100
	}
	if step > 0 && hi-lo < step*100 && !(l.Le != nil || l.Lt != nil) {
		hi = lo + step*100
	}
	var x float64
	if m.bare && try == 0 {
		try = 3
	}
	switch try {
	case 3:
		x = lo
	case 4:
		x = hi
	case 5:
		x = (lo + hi) / 2
	default:
		x = lo + m.rng.Float64()*(hi-lo)
	}
	if step > 0 {
		k := math.Round(x / step)
		if k*step < lo {
			k++
		}
		if k*step > hi {
			k--
		}
		x, _ = strconv.ParseFloat(strconv.FormatFloat(k*step, 'g', 12, 64), 64)
	} else if t.Kind == generable.FloatType {
		if round := math.Round(x*100) / 100; round > lo && round < hi {
			x = round
		}
	}
	if t.Kind == generable.IntType {
		if x = math.Round(x); x < lo {
			x++
		}
		if x > hi || l != nil && l.Lt != nil && x >= *l.Lt {
			x--
		}
		if l != nil && l.Gt != nil && x <= *l.Gt {
			x = math.Floor(*l.Gt) + 1
		}
		if x > math.MaxInt64/2 || x < math.MinInt64/2 {
			x = math.Copysign(1<<53, x)
		}
		return generable.IntOf(int64(x))
	}
	v, _ := generable.FloatOf(x)
	return v
}

// tighter returns the tighter of two bounds, NaN if there is none.
func tighter(a, b *float64, of func(a, b float64) float64) float64 {
	switch {
	case a == nil && b == nil:
		return math.NaN()
	case a == nil:
		return *b
	case b == nil:
		return *a
	}
	return of(*a, *b)
}

const letters = "abcdefghijklmnopqrstuvwxyz"

func (m *Maker) word(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[m.rng.IntN(len(letters))]
	}
	return string(b)
}

// formatted makes a text of a named format.
func (m *Maker) formatted(format string) string {
	n := m.rng.IntN(28) + 1
	switch format {
	case "date":
		return fmt.Sprintf("2026-%02d-%02d", 1+m.rng.IntN(12), n)
	case "time":
		return fmt.Sprintf("%02d:%02d:00Z", m.rng.IntN(24), m.rng.IntN(60))
	case "date-time":
		return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+m.rng.IntN(12), n, m.rng.IntN(24), m.rng.IntN(60))
	case "duration":
		return fmt.Sprintf([]string{"PT%dH", "P%dD", "P%dW", "PT%dM"}[m.rng.IntN(4)], n)
	case "email":
		return "mock" + strconv.Itoa(n) + "@example.org"
	case "hostname":
		return "mock" + strconv.Itoa(n) + ".example.org"
	case "ipv4":
		return "192.0.2." + strconv.Itoa(n)
	case "ipv6":
		return "2001:db8::" + strconv.FormatInt(int64(n), 16)
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", m.rng.Uint32(), m.rng.IntN(1<<16), m.rng.IntN(1<<12), m.rng.IntN(1<<12), m.rng.Int64N(1<<48))
	case "uri":
		return "https://example.org/mock/" + strconv.Itoa(n)
	}
	return m.word(n)
}

// matching makes a text with a part that matches the pattern. Later tries make longer ones, up to the maximum
// length.
func (m *Maker) matching(l *generable.Limits, try int) (string, error) {
	tree, err := syntax.Parse(l.Pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	w := &writer{m: m, more: 1 + try/4, most: 1 << 12}
	if l.MinLen != nil && try%2 == 1 {
		w.more = max(w.more, *l.MinLen)
	}
	if l.MaxLen != nil {
		w.most = *l.MaxLen
		if try%4 == 2 {
			w.more = 0
		}
	}
	if err := w.write(tree); err != nil {
		return "", err
	}
	s := w.b.String()
	if lacks := minLen(l) - utf8.RuneCountInString(s); lacks > 0 && try%4 == 3 {
		s += strings.Repeat("x", lacks) // if the pattern need not match the whole text
	}
	return s, nil
}

func minLen(l *generable.Limits) int {
	if l.MinLen == nil {
		return 0
	}
	return *l.MinLen
}

// writer generates a text that matches a regular expression.
type writer struct {
	m    *Maker
	b    strings.Builder
	more int // number of optional repetitions
	most int // number of bytes from which on optional repetitions are skipped
}

func (w *writer) write(t *syntax.Regexp) error {
	switch t.Op {
	case syntax.OpNoMatch:
		return fmt.Errorf("nothing matches it")
	case syntax.OpLiteral:
		for _, r := range t.Rune {
			w.b.WriteRune(r)
		}
	case syntax.OpCharClass:
		r, ok := w.of(t.Rune)
		if !ok {
			return fmt.Errorf("no character is in the class %s", t)
		}
		w.b.WriteRune(r)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.b.WriteByte(letters[w.m.rng.IntN(len(letters))])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range t.Sub {
			if err := w.write(sub); err != nil {
				return err
			}
		}
	case syntax.OpAlternate:
		return w.write(t.Sub[w.m.rng.IntN(len(t.Sub))])
	case syntax.OpStar:
		return w.repeat(t.Sub[0], 0, -1)
	case syntax.OpPlus:
		return w.repeat(t.Sub[0], 1, -1)
	case syntax.OpQuest:
		return w.repeat(t.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return w.repeat(t.Sub[0], t.Min, t.Max)
	}
	return nil // for assertions between characters, the finished text is tested
}

func (w *writer) repeat(t *syntax.Regexp, least, most int) error {
	n := least
	if w.more > 0 {
		n += w.m.rng.IntN(w.more + 1)
	}
	if most >= 0 {
		n = min(n, most)
	}
	for i := range n {
		if i >= least && w.b.Len() >= w.most {
			break
		}
		if err := w.write(t); err != nil {
			return err
		}
	}
	return nil
}

// of chooses a character from ranges: a letter or digit if possible, otherwise a visible one if possible.
func (w *writer) of(ranges []rune) (rune, bool) {
	for _, allowed := range []string{letters + "0123456789", letters + strings.ToUpper(letters) + "0123456789", " !#$%&()*+,-./:;<=>?@[]^_{|}~'\"`\\"} {
		var in []rune
		for _, r := range allowed {
			for i := 0; i+1 < len(ranges); i += 2 {
				if ranges[i] <= r && r <= ranges[i+1] {
					in = append(in, r)
					break
				}
			}
		}
		if len(in) > 0 {
			return in[w.m.rng.IntN(len(in))], true
		}
	}
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < ranges[i]+256; r++ {
			if utf8.ValidRune(r) && (unicode.IsPrint(r) || r == '\t' || r == '\n') {
				return r, true
			}
		}
	}
	if len(ranges) > 0 && utf8.ValidRune(ranges[0]) {
		return ranges[0], true
	}
	return 0, false
}
