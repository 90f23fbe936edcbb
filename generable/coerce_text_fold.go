package generable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold reduces a name to what people mean by it: letters and digits alone, in lower case,
// without accents.
func fold(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			switch {
			case r >= 'A' && r <= 'Z':
				b.WriteByte(byte(r) + 'a' - 'A')
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				b.WriteByte(byte(r))
			}
		case unicode.Is(unicode.Mn, r): // an accent on its own
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteString(unaccented(unicode.ToLower(r)))
		}
	}
	return b.String()
}

// accents lists the base letters of the accented letters of European languages.
var accents = [...]struct{ base, letters string }{
	{"a", "àáâãäåāăą"}, {"ae", "æ"}, {"c", "çćĉċč"}, {"d", "ďđð"}, {"e", "èéêëēĕėęě"},
	{"g", "ĝğġģ"}, {"h", "ĥħ"}, {"i", "ìíîïĩīĭįı"}, {"j", "ĵ"}, {"k", "ķ"}, {"l", "ĺļľŀł"},
	{"n", "ñńņňŋ"}, {"o", "òóôõöøōŏő"}, {"oe", "œ"}, {"r", "ŕŗř"}, {"s", "śŝşšș"}, {"ss", "ß"},
	{"t", "ţťŧț"}, {"th", "þ"}, {"u", "ùúûüũūŭůűų"}, {"w", "ŵ"}, {"y", "ýÿŷ"}, {"z", "źżž"},
}

func unaccented(r rune) string {
	for _, a := range accents {
		if strings.ContainsRune(a.letters, r) {
			return a.base
		}
	}
	return string(r)
}

// foldMatch finds the only one of names that is the same as s when both are folded.
func foldMatch(s string, names []string) (string, bool) {
	if len(s) > 4*maxSuggestLen {
		return "", false
	}
	key, found := fold(s), ""
	if key == "" {
		return "", false
	}
	for _, name := range names {
		if fold(name) == key {
			if found != "" {
				return "", false
			}
			found = name
		}
	}
	return found, found != ""
}

// splitWords lists the words of a text in lower case, without accents. "isn't" is one word.
func splitWords(s string) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
	for i, w := range words {
		words[i] = strings.ReplaceAll(strings.Trim(w, "'’"), "’", "'")
	}
	return words
}

// negationReach is how many words before a match are searched for a negation.
const negationReach = 3

// negated reports whether one of the last words turns what follows into its opposite.
func negated(before []string) bool {
	for i := max(0, len(before)-negationReach); i < len(before); i++ {
		switch w := before[i]; {
		case w == "not", w == "no", w == "never", w == "neither", w == "nor", w == "without", w == "cannot",
			strings.HasSuffix(w, "n't"):
			return true
		}
	}
	return false
}

// findEnum finds the only value that a text names, word by word, longer names first. It
// returns all it found when that is not one. A negated value is not named.
func findEnum(s string, values []string) (string, []string) {
	words := splitWords(s)
	for i, w := range words {
		words[i] = fold(w)
	}
	plain := splitWords(s)
	var found []string
	taken := make([]bool, len(words))
	for n := longestName(values); n > 0; n-- {
		for _, v := range values {
			name := splitWords(v)
			if len(name) != n {
				continue
			}
			for i := 0; i+n <= len(words); i++ {
				if !namedAt(words, name, taken, i) {
					continue
				}
				for k := range n {
					taken[i+k] = true
				}
				if negated(plain[:i]) {
					return "", nil
				}
				found = appendNew(found, v)
			}
		}
	}
	if len(found) == 1 {
		return found[0], found
	}
	return "", found
}

func longestName(values []string) int {
	n := 0
	for _, v := range values {
		n = max(n, len(splitWords(v)))
	}
	return n
}

func namedAt(words, name []string, taken []bool, i int) bool {
	for k, w := range name {
		if taken[i+k] || words[i+k] != fold(w) {
			return false
		}
	}
	return true
}

func appendNew(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list, s)
}
