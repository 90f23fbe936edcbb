package generable

import (
	"math/big"
	"strconv"
	"strings"
)

// maxDigits bounds the integers that are read: turning digits into a number takes more than
// linear time.
const maxDigits = 4300

// numeral is the value of a number of the tape: an integer of any size, or a float.
func (c *coercer) numeral(n *node) (Value, bool) {
	s := c.raw(n)
	switch n.kind {
	case nodeInt:
		return integer(s)
	case nodeFloat:
		return floating(s)
	}
	return looseNumeral(s)
}

func integer(s string) (Value, bool) {
	if len(s) < 19 {
		i, neg := int64(0), false
		digits := s
		if s[0] == '-' {
			neg, digits = true, s[1:]
		}
		for k := range len(digits) {
			i = i*10 + int64(digits[k]-'0')
		}
		if neg {
			i = -i
		}
		return IntOf(i), true
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return IntOf(i), true
	}
	if len(s) > maxDigits {
		return Value{}, false
	}
	if b, ok := new(big.Int).SetString(s, 10); ok {
		return BigOf(b), true
	}
	return Value{}, false
}

func floating(s string) (Value, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return Value{}, false
	}
	return FloatOf(f)
}

// looseNumeral reads what [looseNumber] recognises, with a sign.
func looseNumeral(s string) (Value, bool) {
	neg := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	if s != "" && looseNumber(s) {
		s = strings.ReplaceAll(strings.TrimSuffix(s, "n"), "_", "")
		if len(s) > 2 && s[0] == '0' && s[1]|0x20 >= 'b' && s[1]|0x20 <= 'x' && s[1]|0x20 != 'e' {
			b, ok := new(big.Int).SetString(s, 0)
			if !ok {
				return Value{}, false
			}
			if neg {
				b.Neg(b)
			}
			return BigOf(b), true
		}
		s = completeNumber(s)
		if neg {
			s = "-" + s
		}
		if strictNumber(s) == nodeInt {
			return integer(s)
		}
		return floating(s)
	}
	return Value{}, false
}

// textNumber reads a text that is nothing but a number: as JSON or another language writes
// it, or with commas between thousands.
func textNumber(s string) (Value, bool) {
	s = strings.TrimSpace(s)
	if len(s) == 0 || len(s) > 400 {
		return Value{}, false
	}
	switch strictNumber(s) {
	case nodeInt:
		return integer(s)
	case nodeFloat:
		return floating(s)
	}
	if v, ok := looseNumeral(s); ok {
		return v, true
	}
	if plain, ok := dropThousands(s); ok {
		return textNumber(plain)
	}
	return Value{}, false
}

// dropThousands takes the commas out of 1,234,567.8. Anything else with a comma is not
// certain to be such a number.
func dropThousands(s string) (string, bool) {
	whole, frac, _ := strings.Cut(s, ".")
	groups := strings.Split(strings.TrimLeft(whole, "+-"), ",")
	if len(groups) < 2 || strings.Contains(frac, ",") {
		return "", false
	}
	for i, g := range groups {
		if g == "" || strings.Trim(g, "0123456789") != "" || len(g) > 3 || (i > 0 && len(g) != 3) {
			return "", false
		}
	}
	if groups[0][0] == '0' {
		return "", false
	}
	return strings.ReplaceAll(s, ",", ""), true
}

// foundNumber finds the only number in a text, with its percent or currency sign taken off.
// Several numbers are no answer.
func foundNumber(s string) (Value, bool) {
	found := ""
	for i := 0; i < len(s); {
		if class[s[i]]&isDigit == 0 {
			i++
			continue
		}
		from := i
		for i < len(s) && (class[s[i]]&isDigit != 0 || ((s[i] == '.' || s[i] == ',') && i+1 < len(s) && class[s[i+1]]&isDigit != 0)) {
			i++
		}
		if found != "" || i < len(s) && class[s[i]]&isIdent != 0 && s[i] < 0x80 && s[i] != '.' && s[i] != '-' {
			return Value{}, false
		}
		found = s[from:i]
		if from > 0 && (s[from-1] == '-' || s[from-1] == '.') && (from == 1 || class[s[from-2]]&isBlank != 0) {
			found = s[from-1 : i]
		}
	}
	if found == "" {
		return Value{}, false
	}
	return textNumber(found)
}
