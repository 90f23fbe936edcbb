package lenient

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

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

// TestValuesAreValidUTF8: whatever bytes a text has, and however it becomes a value, the value's texts are valid UTF-8.
func TestValuesAreValidUTF8(t *testing.T) {
	s := newSeedTypes(t)
	types := []*generable.Type{nil, generable.StrT, generable.OneOf(generable.ListOfType(generable.AnyT), generable.StrT), generable.OneOf(generable.StrT, generable.NoneT),
		generable.ListOfType(generable.StrT), generable.ListOfType(s.Args), s.Profile, generable.DictOfType(generable.StrT)}
	r := rand.New(rand.NewPCG(3629, 8))
	for range 20_000 {
		var text strings.Builder
		for range 1 + r.IntN(8) {
			text.WriteString(triggers[r.IntN(len(triggers))])
			if r.IntN(3) == 0 {
				text.WriteString([]string{"\xff", "\xc3", "\xe2\x82", "é\x8b"}[r.IntN(4)])
			}
		}
		typ := types[r.IntN(len(types))]
		for _, level := range []generable.Level{generable.Safe, generable.Loose} {
			got := Decode(typ, text.String(), generable.Options{Level: level, Partial: r.IntN(4) == 0})
			if wrong := invalidText(got.Value); wrong != "" {
				t.Errorf("%q as %v at %v has the text %q", text.String(), typ, level, wrong)
			}
		}
	}
}

// invalidText returns a text or a key of a value that is not UTF-8, "" if there is none.
func invalidText(v generable.Value) (wrong string) {
	look := func(key string, v generable.Value) {
		if wrong == "" && !utf8.ValidString(key) {
			wrong = key
		}
		wrong = cmp.Or(wrong, invalidText(v))
	}
	if s, _ := v.AsStr(); !utf8.ValidString(s) {
		return s
	}
	if l, ok := v.AsList(); ok {
		for _, item := range l.Items() {
			look("", item)
		}
	}
	if m, ok := v.AsMap(); ok {
		for key, item := range m.All() {
			look(key, item)
		}
	}
	if r, ok := v.AsRecord(); ok {
		for i := range r.Type().Fields {
			look("", r.At(i))
		}
	}
	return wrong
}
