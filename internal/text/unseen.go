package text

import "unicode"

// Unseen reports whether nobody sees a character that stands behind another, 0 at the beginning of a text: a
// zero-width space, a soft hyphen, a tag letter, a filler, what turns the direction of letters. Texts that
// look alike differ by such. What joins or varies a letter that can be joined or varied, as in emoji and
// Persian, belongs to how that letter is written.
func Unseen(before, r rune) bool {
	switch {
	case r < 0x80:
		return false
	case r == '\u200c', r == '\u200d': // joiners
		return before < 0x300 || ignored(before) && !unicode.Is(unicode.Variation_Selector, before)
	case unicode.Is(unicode.Variation_Selector, r):
		return r > 0xffff || before < 0x80 && !keycap(before) || ignored(before)
	}
	return ignored(r)
}

// ignored reports whether a character is drawn as nothing, whatever it means to those around it.
func ignored(r rune) bool {
	return r >= 0x80 && (r == '\u034f' || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r))
}

// keycap reports whether emoji are made of a character of ASCII.
func keycap(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }
