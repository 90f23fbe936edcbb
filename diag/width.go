package diag

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/internal/text"
)

// tabWidth is the width of a tab in a quoted line.
const tabWidth = 4

// drawn returns how a terminal shows r after another character, and its number of cells. Control characters become
// their pictures, so that no quoted text can move the cursor or change colours. Invisible characters are written out.
func drawn(before, r rune) (string, int) {
	switch {
	case r == '\t':
		return "    ", tabWidth
	case r < 0x20:
		return string(0x2400 + r), 1
	case r == 0x7f:
		return "\u2421", 1
	case r < 0x7f:
		return string(r), 1
	case r < 0xa0, r == unicode.ReplacementChar:
		return "\ufffd", 1
	case text.Unseen(before, r):
		s := text.Escaped(r)
		return s, len(s)
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return string(r), 0
	case isWide(r):
		return string(r), 2
	}
	return string(r), 1
}

// plain makes a message safe to print; it may keep its line ends.
func plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && (r < 0x20 || r >= 0x7f) }) {
		return s
	}
	var b strings.Builder
	s = strings.ReplaceAll(s, "\r\n", "\n")
	before := rune(0)
	for _, r := range s {
		if r == '\n' {
			b.WriteByte('\n')
		} else {
			t, _ := drawn(before, r)
			b.WriteString(t)
		}
		before = r
	}
	return b.String()
}

// wideRanges are the blocks that terminals draw two cells wide: East Asian wide and fullwidth characters and
// pictographs. They are blocks, not single code points: a caret may be off under an unassigned code point, but nowhere
// else.
var wideRanges = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3},
	{0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26a1, 0x26a1}, {0x26bd, 0x26be},
	{0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e},
	{0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27b0}, {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x4dbf}, {0x4e00, 0xa4cf},
	{0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f},
	{0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18cff}, {0x1b000, 0x1b2ff}, {0x1f004, 0x1f004},
	{0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f335},
	{0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0},
	{0x1f3f4, 0x1f3f4}, {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
	{0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4},
	{0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7},
	{0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0},
	{0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
}

func isWide(r rune) bool {
	_, found := slices.BinarySearchFunc(wideRanges[:], r, func(block [2]rune, r rune) int {
		if r < block[0] {
			return 1
		}
		return min(int(block[1]-r), 0)
	})
	return found
}
