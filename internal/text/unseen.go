package text

import "unicode"

// Unseen reports whether a character that follows before is invisible: a zero-width space, a soft hyphen, a tag letter,
// a filler, or a character that changes the direction of letters. before is 0 at the beginning of a text. Texts that
// look alike can differ in such characters. A character that joins or varies letters, as in emoji and Persian, does not
// count as invisible after a letter that it can join or vary: it is part of how that letter is written.
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

// ignored reports whether a character itself is drawn as nothing, regardless of its effect on the characters around it.
func ignored(r rune) bool {
	return r >= 0x80 && (r == '\u034f' || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r))
}

// keycap reports whether an ASCII character is the base of emoji.
func keycap(r rune) bool { return '0' <= r && r <= '9' || r == '#' || r == '*' }
