package lenient

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// family makes texts of about n bytes that are designed to slow a decoder down.
type family struct {
	name string
	make func(n int) string
}

func repeated(unit string) func(int) string {
	return func(n int) string { return strings.Repeat(unit, n/len(unit)+1) }
}

func around(open, unit, end string) func(int) string {
	return func(n int) string { return open + strings.Repeat(unit, n/len(unit)+1) + end }
}

var families = []family{
	{"open brackets", repeated("[")},
	{"open braces", repeated("{")},
	{"open objects", repeated(`{"a":`)},
	{"closers", repeated("]}")},
	{"nested and closed", func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) }},
	{"mismatched closers", func(n int) string { return strings.Repeat("[{", n/4) + strings.Repeat("]", n/2) }},
	{"deep objects against closers", func(n int) string { return strings.Repeat(`{"a":[`, n/12) + strings.Repeat("}", n/2) }},
	{"objects with prose", repeated(`{"a":1} and then `)},
	{"lines", repeated("{\"a\":1}\n")},
	{"fences", repeated("```json\n{\"a\":1}\n```\n")},
	{"open fences", repeated("```json\n{\"a\": \"x\n")},
	{"closed fences, open strings", repeated("```\n[\"a\n```\n")},
	{"ticks", repeated("`")},
	{"tick runs", repeated("``` ")},
	{"inner quotes", around(`{"a": "`, `he said "hi" and `, `"}`)},
	{"inner quotes with commas", around(`{"a": "`, `x", y "z, `, `"}`)},
	{"quoted words", around(`{"a": `, `"b" `, `}`)},
	{"quotes", around(`{"a":`, `"`, `}`)},
	{"quotes and commas", around(`["`, `",`, `]`)},
	{"quotes and blanks", around(`{"a": "x"`, ` "`, `}`)},
	{"quote, blanks, word", around(`["x`, `"          y`, `]`)},
	{"single quotes", around(`{'a': '`, `it's `, `'}`)},
	{"missing end quotes", around(`{`, `"k": "v, `, `}`)},
	{"missing end quotes in list", around(`[`, `"v, `, `]`)},
	{"missing end quotes at lines", around("{", "\"k\": \"v\n", "}")},
	{"missing start quotes", around(`{`, `k": v", `, `}`)},
	{"bare words", around(`[`, `a b c, `, `]`)},
	{"one bare word", around(`{a: `, `word `, ``)},
	{"words and parentheses", around(`[`, `a-b(`, `]`)},
	{"long word and parentheses", func(n int) string { return "[" + strings.Repeat("a", n/2) + "-" + strings.Repeat("(", n/2) }},
	{"calls", repeated(`f(`)},
	{"calls in a list", around(`[`, `f(`, `]`)},
	{"concatenation", around(`{"a": "x"`, ` + "y"`, `}`)},
	{"escaped document", around(`{`, `\"a\": \"b\", `, `}`)},
	{"backslashes", around(`["`, `\`, ``)},
	{"escapes", around(`["`, `\u0041\n`, `"]`)},
	{"bad escapes", around(`["`, `\d`, `"]`)},
	{"invalid bytes", around(`["`, "\xff", `"]`)},
	{"commas", around(`[`, `,`, `]`)},
	{"colons", around(`{"a"`, `:`, `}`)},
	{"sets", repeated(`{"a","b"} `)},
	{"keys without values", around(`{`, `"a", `, `}`)},
	{"lone keys", around(`{`, `"a" `, `}`)},
	{"doubled braces", repeated("{{a")},
	{"triple quotes", around(`[`, `""" x " y `, `]`)},
	{"comments", around(`[`, `/* x */ 1, // y`+"\n", `]`)},
	{"open comment", around(`[1 `, `/*`, ``)},
	{"slashes", around(`[`, `1/`, `]`)},
	{"ellipses", around(`[`, `...`, `]`)},
	{"numbers", around(`[`, `1,`, `]`)},
	{"one number", around(`[`, `1`, `]`)},
	{"numbers without commas", around(`[`, `1 `, `]`)},
	{"reasoning", repeated("<think>{\"a\":1}</think>")},
	{"open reasoning", repeated("<think>{\"a\":1} ")},
	{"ends of reasoning", repeated("{\"a\":1}</think>")},
	{"angle brackets", repeated("<")},
	{"prose", repeated("lorem ipsum [see] {note} ")},
	{"blanks", around(`[1`, ` `, `]`)},
	{"lines in a string in a fence", around("```\n[\"", "x\n", "")},
	{"full-width commas", around(`[`, `1，`, `]`)},
	{"smart quotes", around(`[`, `“a” `, `]`)},
	{"JSON in strings", around(`[`, `"{\"a\":\"[1]\"}",`, `]`)},
	{"duplicate keys", around(`{`, `"a":1,`, `}`)},
	{"extra closers behind objects", repeated(`{"a":{"b":1}}, "c":2}, `)},
	{"keys behind whole objects", around(`{"a":1}`, `, "a":1}`, ``)},
	{"members in lists", repeated(`{"a":[1,"b":2],`)},
	{"members in nested lists", repeated(`{"a":[1,"b":`)},
	{"lists that go on", around(`{"a":[1]`, `,[2]`, `}`)},
	{"lists of lists that go on", around(`{"a":[[1]]`, `,[2]]`, `}`)},
	{"lists that lack their opener", around(`{`, `"a":"x","y"],`, `}`)},
	{"keys, then the closer of a list", around(`{"a":"x"`, `,"y"`, `]}`)},
	{"parentheses", repeated(`[(`)},
	{"closed parentheses", func(n int) string {
		return "[" + strings.Repeat("(", n/2) + "1" + strings.Repeat(")", n/2) + "]"
	}},
	{"calls with arguments", around(`[`, `f(1,2),`, `]`)},
	{"named arguments", repeated(`{"a":P(x=`)},
	{"fences inside of brackets", repeated("[```json\n{\"a\":")},
	{"fenced items", around("[", "```json\n[1]\n```, ", "]")},
	{"objects that lack their closer", repeated(`[{"a":1, `)},
	{"wrong closers", around(`[`, `{"a":[1}],`, `]`)},
	{"closers of another kind", around(`{"a":[`, `}]}`, ``)},
	{"wide brackets", repeated(`｛"a"：［`)},
	{"wide closers", around(`［`, `1｝］`, ``)},
	{"sets that turn out as objects", around(`[`, `{"a","b","c":1},`, `]`)},
	{"one set that turns out as an object", around(`{`, `"a",`, `"b":1}`)},
	{"numbers with commas", around(`{"a":`, `1,`, `"b":1}`)},
	{"words with commas", around(`{a: `, `b, `, `c: 1}`)},
	{"stray words", around(`{`, `X "a": "x", `, `}`)},
	{"strings over closers", around(`[`, "{\"a\":\"x\n},\n", `]`)},
	{"blank lines", around(`{"a":"x"`, "\n\n", `b`)},
	{"different objects in prose", func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "{\"k%d\":1} and ", i)
		}
		return b.String()
	}},
	{"odd blanks", around(`[1`, "\u00a0", `]`)},
	{"odd blanks in words", around(`[a`, "\u3000b", `]`)},
	{"lines of members", repeated("a: 1\n")},
	{"objects in a string", around(`{"a": "`, `use {"a": "b", "c": ["d"]} or `, `"}`)},
	{"calls in a string", around(`{"a": "`, `f("a", "b"); `, `"}`)},
	{"open brackets in a string", around(`["`, `["a" {`, `"]`)},
	{"patterns in a list", around(`[`, `"^[a-z"]+$", `, `]`)},
	{"strings that end in a bracket", around(`[`, `["[1"] x, `, `]`)},
	{"keys in strings", around(`{`, `"a": "x, b: "y", `, `}`)},
	{"keys on lines in strings", around(`{`, "\"a\": \"x\n b: \"y\"\n", `}`)},
	{"fences that are texts", around(`{`, "\"a\": ```js\n[1].map(f)\n```, ", `}`)},
	{"fences in strings", around(`{"a": "`, "```js\nf(\"x\")\n```", `"}`)},
	{"quotes in keys", around(`{`, `"a"b": 1, `, `}`)},
	{"objects glued to values", around(`[`, `{"a":1{"a":"b"`, `]`)},
	{"brackets glued to strings", around(`{`, `"a":"x"{, `, `}`)},
	{"members behind closers", repeated("{\"a\":1}\n\"b\":2}, c: 3} ")},
	{"members on lines", around(`{`, "\"a\":\"x\"\nb: y\n", `}`)},
	{"doubled quotes", around(`[`, `"a"", `, `]`)},
	{"lines of words", around(`{a: `, "word one\n", `, b: 1}`)},
	{"lines of words and members", around(`{`, "a: one, two\nthree\n\nfour,\n", `}`)},
	{"words and commas without an end", around(`{a: `, "b c, ", ``)},
	{"quotes twice", around(`{"a": "`, `x"" y`, `"}`)},
}

// TestLinear counts the bytes visited, over all families, for texts fed at once and in pieces.
func TestLinear(t *testing.T) {
	s := newSeedTypes(t)
	types := []*generable.Type{nil, generable.ListOfType(s.Args), s.Profile, generable.IntT}
	sizes, fed := []int{1000, 64 << 10}, 8<<10
	if testing.Short() {
		sizes, fed = []int{1000, 8 << 10}, 2<<10
	}
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			for _, n := range sizes {
				text := f.make(n)
				for _, typ := range types {
					r := Decode(typ, text, generable.Options{})
					if limit := 4*len(text) + 512; r.Visits > limit {
						t.Errorf("%v: %d visits of %d bytes (%.2f)", typ, r.Visits, len(text), float64(r.Visits)/float64(len(text)))
					}
				}
			}
			text := f.make(fed)
			want := Decode(nil, text, generable.Options{})
			for _, size := range []int{1, 4, 1000} {
				m := NewMachine(nil, generable.Options{})
				for rest := text; rest != ""; {
					k := min(size, len(rest))
					m.Feed(rest[:k])
					rest = rest[k:]
				}
				got := m.Close()
				if render(got) != render(want) || got.Visits != want.Visits {
					t.Errorf("fed by %d: another result", size)
				}
			}
		})
	}
}

// TestMemory bounds the live heap over the families, per byte of input.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip()
	}
	const n = 1 << 20
	for _, f := range families {
		text := f.make(n)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := NewMachine(nil, generable.Options{})
		m.src = text
		m.open().Feed(text)
		r := m.Close()
		runtime.GC()
		runtime.ReadMemStats(&after)
		per := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(len(text))
		if per > 48 {
			t.Errorf("%s: %.1f bytes of heap per byte of input", f.name, per)
		}
		runtime.KeepAlive(m)
		runtime.KeepAlive(r)
	}
}

// BenchmarkFamilies reports the time per byte for a size and its double: it must not grow.
func BenchmarkFamilies(b *testing.B) {
	for _, f := range families {
		for _, n := range []int{128 << 10, 256 << 10} {
			text := f.make(n)
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(f.name, " ", "-"), n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Decode(nil, text, generable.Options{})
				}
			})
		}
	}
}
