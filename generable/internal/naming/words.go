package naming

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// MaxSearched bounds the texts that are searched for values.
const MaxSearched = 1 << 16

// Words lists the words of a text in lower case. "isn't" is one word.
func Words(s string) []string { return splitText(s, false, false).words }

// wordText is a text reduced to its words, joined without blanks, so that a name is found whether it is written as
// one word or as several.
type wordText struct {
	text   string
	starts []int    // where each word begins in text
	words  []string // the words in lower case, for negations
}

// besideSigns removes the blank after comparison signs.
var besideSigns = strings.NewReplacer("< ", "<", "> ", ">", "= ", "=", "~ ", "~")

// splitText reduces a text to its words, without accents, and in lower case unless exact is set. A minus belongs to
// its number, and so do other signs if they distinguish names; a negating sign is a separate word, but is not
// searched.
func splitText(s string, exact, signs bool) wordText {
	if s = plainSigns(s, false); signs {
		s = besideSigns.Replace(s)
	}
	var w wordText
	var b []byte
	inWord := false
	from := 0
	end := func(i int) {
		if inWord {
			w.words = append(w.words, strings.ReplaceAll(strings.ToLower(strings.Trim(s[from:i], "'’")), "’", "'"))
			inWord = false
		}
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			if !inWord {
				inWord, from = true, i
				w.starts = append(w.starts, len(b))
			}
			if exact && r >= 'A' && r <= 'Z' {
				b = append(b, byte(r))
			} else {
				b = appendFold(b, s[i:i+n], Keys)
			}
		case inWord && (r == '\'' || r == '’'):
		case inWord && (r == '+' || r == '#') && (i+n == len(s) || !message.IsAlnum(s[i+n])): // C++
			b = append(b, byte(r))
		case inWord && (r == '+' || r == '-') && signs && (i+n == len(s) || strings.IndexByte(" \t\n\r", s[i+1]) >= 0): // A-
			b = append(b, byte(r))
		case !inWord && i+1 < len(s) && (r == '-' && digit(s[i+1]) && !endsInDigit(s[:i]) || signs && strings.IndexByte("+#~<>", byte(r)) >= 0 && r < utf8.RuneSelf && message.IsAlnum(s[i+1])):
			inWord, from = true, i
			w.starts = append(w.starts, len(b))
			b = append(b, byte(r))
		case !inWord && r == '!' && denies(s, i):
			w.starts, w.words = append(w.starts, len(b)), append(w.words, "not")
			b = append(b, ' ')
		default:
			end(i)
		}
		i += n
	}
	end(len(s))
	w.text = string(b)
	return w
}

// endsInDigit reports whether a text ends in a digit, ignoring blanks: 1 -2 is a range.
func endsInDigit(s string) bool {
	s = strings.TrimRight(s, " ")
	return s != "" && digit(s[len(s)-1])
}

// wordAt returns the index of the word that begins at an offset, the index after the last word at the end of the
// text, or -1 if no word begins there.
func (w *wordText) wordAt(at int) int {
	if at == len(w.text) {
		return len(w.starts)
	}
	if i, ok := slices.BinarySearch(w.starts, at); ok {
		return i
	}
	return -1
}

// negationReach is how many words before a match are searched for a negation.
const negationReach = 3

// Negated reports whether one of the last words negates what follows.
func Negated(before []string) bool {
	for i := len(before) - 1; i >= 0 && i >= len(before)-negationReach; i-- {
		switch w := before[i]; w {
		case "not", "no", "never", "non", "neither", "nor", "without", "cannot", "isnt", "arent", "wasnt", "dont", "doesnt", "hardly":
			return true
		case "but":
			return i > 0 && (before[i-1] == "anything" || before[i-1] == "everything" || before[i-1] == "all")
		case "rather", "instead", "however":
			return false
		default:
			if strings.HasSuffix(w, "n't") {
				return true
			}
		}
	}
	return false
}
