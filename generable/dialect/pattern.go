package dialect

import "strings"

// takesPattern reports whether a pattern may stand in the target's schema.
func (r *Rules) takesPattern(p string) bool {
	switch r.Patterns {
	case portablePatterns:
		return portable(p)
	case anchoredPatterns:
		return portable(p) && anchored(p)
	}
	return false
}

// portable reports whether a pattern means the same in every dialect of regular expressions:
// no flags, no named groups, no classes by name, no escapes but of punctuation and \d \w \s
// and their opposites, plain ASCII.
func portable(p string) bool {
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x80 || c < ' ':
			return false
		case c == '\\':
			if i++; i == len(p) {
				return false
			}
			e := p[i]
			letter := e >= 'a' && e <= 'z' || e >= 'A' && e <= 'Z' || e >= '0' && e <= '9'
			if letter && strings.IndexByte("dDwWsSntr", e) < 0 {
				return false
			}
		case class:
			class = c != ']'
			if c == '[' || c == '&' || c == '~' { // [:alpha:], and set operators of some dialects
				return false
			}
		case c == '[':
			class = true
			rest := strings.TrimPrefix(p[i+1:], "^")
			if strings.HasPrefix(rest, "]") {
				return false
			}
		case c == '{' && strings.HasPrefix(p[i+1:], ","):
			return false
		case c == '(' && strings.HasPrefix(p[i+1:], "?") && !strings.HasPrefix(p[i+1:], "?:"):
			return false
		}
	}
	return !class
}

// anchored reports whether a portable pattern is of the simple kind that grammars are made
// of: in ^…$, without choices outside of groups, classes such as \d or lazy repetition.
func anchored(p string) bool {
	if len(p) < 2 || p[0] != '^' || p[len(p)-1] != '$' || p[len(p)-2] == '\\' {
		return false
	}
	depth, class := 0, false
	body := p[1 : len(p)-1]
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++
			if e := body[i]; e >= 'a' && e <= 'z' || e >= 'A' && e <= 'Z' {
				return false
			}
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			if strings.HasPrefix(body[i:], "(?") {
				return false
			}
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0, c == '^', c == '$':
			return false
		case c == '?' && i > 0 && strings.IndexByte("*+?}", body[i-1]) >= 0 && (i < 2 || body[i-2] != '\\'):
			return false
		case c == '{' && !smallCount(body[i:]):
			return false
		}
	}
	return true
}

// smallCount reports whether s begins with a repetition such as {2,30} of small numbers.
func smallCount(s string) bool {
	end := strings.IndexByte(s, '}')
	if end < 2 || end > len("{999,999}")-1 {
		return false
	}
	low, high, both := strings.Cut(s[1:end], ",")
	isNumber := func(n string) bool {
		return n != "" && len(n) <= 3 && strings.Trim(n, "0123456789") == ""
	}
	return isNumber(low) && (!both || high == "" || isNumber(high))
}
