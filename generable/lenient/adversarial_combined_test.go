package lenient

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// triggers are the texts that start repairs: quotes, fences, brackets, commas, colons, backslashes, entities,
// comments, and pieces of members and words that may precede or follow them.
var triggers = []string{
	`"`, `'`, "`", "```", "```json\n", "~~~", "“", "”", "´", "«", "\\", `\"`, `\\"`, `"""`, `''`, `""`, "{", "}", "[", "]", "(", ")", ",", ":", ";", "=", "=>", "，", "：", "｛", "］",
	"\n", " ", "\n\n", "\t", "a", "b c", "key", "f(", "def f(a): ", "1", "2.0.1", "-", "+", "0x1F", "true", "None", "nul", "...", "…", "//", "/*", "*/", "# ", "<think>", "</think>", "<", "&quot;", "&amp;", "{&quot;",
	"http://x", "\u00a0", "\u180e", "\xff", "\\u00", "\\d", `"a":`, `"a": "x`, `a: `, `"a"`, `, "b": `, `"x", `, "{}", "[]", "},", "],", `":`, `",`, `"}`, `"]`, "};", "```js\n", "\n```\n", ".", "$", "@", "|", "prose and ", "Answer:\n",
}

// TestCombinedTriggers counts the bytes visited in texts that repeat a few triggers, with others before and after:
// for every combination, a longer text needs no more visits per byte than a short one.
func TestCombinedTriggers(t *testing.T) {
	s := newSeedTypes(t)
	types := []*generable.Type{nil, generable.ListOfType(s.Args), s.Profile, generable.IntT, generable.StrT}
	levels := []generable.Level{generable.Strict, generable.Safe, generable.Loose}
	r := rand.New(rand.NewPCG(28, 20))
	some := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(triggers[r.IntN(len(triggers))])
		}
		return b.String()
	}
	times := 2000
	if testing.Short() {
		times = 300
	}
	for range times {
		front, unit, behind := some(r.IntN(5)), some(1+r.IntN(5)), some(r.IntN(5))
		typ, o := types[r.IntN(len(types))], generable.Options{Level: levels[r.IntN(len(levels))], Partial: r.IntN(4) == 0}
		for _, n := range []int{1 << 10, 16 << 10} {
			text := front + strings.Repeat(unit, n/len(unit)+1) + behind
			if got := Decode(typ, text, o).Visits; got > 6*len(text)+512 {
				t.Errorf("%q, %q, %q as %v at level %v, partial %v: %.2f visits for each of %d bytes", front, unit, behind, typ, o.Level, o.Partial, float64(got)/float64(len(text)), len(text))
			}
		}
	}
}
