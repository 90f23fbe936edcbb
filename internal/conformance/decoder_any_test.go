package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// nasty are families of growing texts, on which a reader that looks twice would be quadratic.
var nasty = map[string]func(n int) string{
	"open brackets":    func(n int) string { return strings.Repeat("[", n) },
	"open objects":     func(n int) string { return strings.Repeat(`{"a":`, n) },
	"close brackets":   func(n int) string { return strings.Repeat("]}", n) },
	"quotes":           func(n int) string { return strings.Repeat(`"`, n) },
	"backslashes":      func(n int) string { return `["` + strings.Repeat(`\`, n) },
	"fences":           func(n int) string { return strings.Repeat("```json\n{\n```\n", n) },
	"thinking":         func(n int) string { return strings.Repeat("<think>{", n) },
	"empty objects":    func(n int) string { return strings.Repeat("{} ", n) },
	"small candidates": func(n int) string { return strings.Repeat(`{"b": 1} `, n) },
	"commas":           func(n int) string { return "[" + strings.Repeat(",", n) + "]" },
	"words":            func(n int) string { return "{" + strings.Repeat("a b: c ", n) },
	"stringified":      func(n int) string { return strings.Repeat(`["`, n) + strings.Repeat(`"]`, n) },
	"numbers":          func(n int) string { return "[" + strings.Repeat("9", n) + "]" },
	"keys":             func(n int) string { return "{" + strings.Repeat(`"a": 1, `, n) + "}" },
	"mixed closers":    func(n int) string { return strings.Repeat("[{", n) + strings.Repeat("]}", n) },
	"quotes inside":    func(n int) string { return `{"a": "` + strings.Repeat(`x "y" `, n) + `"}` },
}

// Promise 7.8 (decoder): any text results in a value or in errors, without a panic, in time linear in its length.
func TestPromise_7_8_AnyInput(t *testing.T) {
	r := newReader(t)
	types := []string{"Profile", "Decision", "Wrapped", "Ints", "any", "Level", "int", "str"}
	texts, longest := 3000, 8000
	if testing.Short() {
		texts, longest = 600, 3000
	}
	for name, family := range nasty {
		for _, typ := range types {
			small, large := family(500), family(longest)
			a, b := r.read(typ, small), r.read(typ, large)
			for text, res := range map[string]lenient.Result{small: a, large: b} {
				if !res.OK && len(res.Errors) == 0 {
					t.Errorf("%s as %s: neither a value nor an error", name, typ)
				}
				if res.Visits > 60*len(text)+1000 {
					t.Errorf("%s as %s: %d visits for %d bytes", name, typ, res.Visits, len(text))
				}
			}
			if one, many := float64(a.Visits+100)/float64(len(small)), float64(b.Visits+100)/float64(len(large)); many > 2*one+1 {
				t.Errorf("%s as %s: %.1f visits a byte for %d bytes, %.1f for %d", name, typ, one, len(small), many, len(large))
			}
		}
	}
	// Random damage to a sound text, and meaningless bytes.
	rng := rand.New(rand.NewPCG(7, 8))
	sound := `{"name": "n", "address": {"street": "s \"x\"", "zip": 12}, "aliases": ["a", "ü", "c"]}`
	alphabet := []string{"{", "}", "[", "]", `"`, "'", ",", ":", "\\", "```", "<think>", "null", "1e9", "\x00", "\xff", "é", "//", "/*", "\n", "-", "NaN", "\\u12"}
	for range texts {
		text := sound
		for range 1 + rng.IntN(6) {
			i, j := rng.IntN(len(text)+1), 0
			j = i + rng.IntN(min(4, len(text)-i)+1)
			text = text[:i] + alphabet[rng.IntN(len(alphabet))] + text[j:]
		}
		for _, typ := range types {
			res := r.read(typ, text)
			if !res.OK && len(res.Errors) == 0 {
				t.Fatalf("%s of %q: neither a value nor an error", typ, text)
			}
			if res.OK && r.typ(typ).Conforms(res.Value) != nil {
				t.Fatalf("%s of %q: the value does not conform", typ, text)
			}
		}
	}
}

// Promise 7.9 (decoder): a text that is decoded in pieces gives the same result as the text decoded at once.
func TestPromise_7_9_Chunks(t *testing.T) {
	r := newReader(t)
	rng := rand.New(rand.NewPCG(7, 9))
	texts := []string{
		`{"name": "n", "address": {"street": "s \"x\" \u00e9", "zip": 12}, "aliases": ["a", "ü", "c"]}`,
		"Sure!\n```json\n{'name': 'n', address: {street: \"s\", \"zip\": \"12\",},\n \"aliases\": [\"a\" \"b\" // c\n], \"x\": 1}\n```\nDone {maybe}.",
		"<think>{\"name\": 1}</think> {\"name\": \"n\", \"address\": {\"zip\": 1}, \"aliases\": [",
		"{\"name\": \"he said \"hi\" ok\", \"address\": null}",
		"no json here, [1] or {x}", "", "ÿ\xff{", `["\u12`,
	}
	show := func(res lenient.Result, t *generable.Type) string {
		s := fmt.Sprint(res.OK, res.Cost, " ", generable.JSON(res.Value, t), "\n", res.Errors)
		for _, r := range res.Repairs {
			s += fmt.Sprintf("\n%+v", r)
		}
		return s
	}
	for _, text := range texts {
		for _, typ := range []string{"Profile", "any", "Ints", "str"} {
			want := show(r.read(typ, text), r.typ(typ))
			for range 20 {
				m := lenient.NewMachine(r.typ(typ), generable.Options{})
				for rest := text; rest != ""; {
					n := 1 + rng.IntN(min(len(rest), 1+rng.IntN(12)))
					m.Feed(rest[:n])
					rest = rest[n:]
				}
				if got := show(m.Close(), r.typ(typ)); got != want {
					t.Fatalf("%s of %q in pieces is\n%s\nat once\n%s", typ, text, got, want)
				}
			}
		}
	}
}

// Promise 7.10 (decoder): the caller chooses how far the decoder goes: strict repairs nothing, the default changes
// nothing that the text says, and loose guesses and reports it.
func TestPromise_7_10_Levels(t *testing.T) {
	r := newReader(t)
	for _, c := range []struct{ as, text, strict, safe, loose string }{
		{"A", `{"a": 1}`, `{"a":1}`, `{"a":1}`, `{"a":1}`},
		{"A", "so: ```json\n{\"a\": 1}\n```", `{"a":1}`, `{"a":1}`, `{"a":1}`},
		{"Score", `{"score": 1, "verdict": "v"}`, `{"score":1.0,"verdict":"v"}`, `{"score":1.0,"verdict":"v"}`, `{"score":1.0,"verdict":"v"}`},
		{"A", `{"a": 1,}`, "", `{"a":1}`, `{"a":1}`},
		{"A", `{"a": "1"}`, "", `{"a":1}`, `{"a":1}`},
		{"A", `{"a": 1, "b": 2}`, "", `{"a":1}`, `{"a":1}`},
		{"Args", `{"name": "n", "count": null}`, "", `{"name":"n","count":0}`, `{"name":"n","count":0}`},
		{"A", `{"a": 2.6}`, "", "", `{"a":3}`},
		{"A", `{"a": "about 3 of them"}`, "", "", `{"a":3}`},
		{"Level", `I would say high.`, "", "", `"high"`},
		{"Decision", `{"confidence": 0.5}`, "", "", `{"type":"Approved","confidence":0.5}`},
		{"Args", `{"name": "n", "count": "many"}`, "", "", `{"name":"n","count":0}`},
		{"Ints", `[1, "no", 3]`, "", "", `[1,3]`},
		{"A", `nothing`, "", "", ""},
	} {
		for level, want := range map[generable.Level]string{generable.Strict: c.strict, generable.Safe: c.safe, generable.Loose: c.loose} {
			res := lenient.Decode(r.typ(c.as), c.text, generable.Options{Level: level})
			got := ""
			if res.OK {
				got = generable.JSON(res.Value, r.typ(c.as))
			}
			if got != want {
				t.Errorf("%s of %q at level %d gives %q, %v; want %q", c.as, c.text, level, got, res.Errors, want)
			}
			if res.OK && got != "" && level == generable.Loose && c.safe == "" && len(res.Repairs) == 0 {
				t.Errorf("%s of %q is guessed without a word", c.as, c.text)
			}
		}
	}
	for _, c := range []struct {
		name    string
		options generable.Options
		as      string
		text    string
		want    string
	}{
		{"the first that fits", generable.Options{Pick: generable.PickFirst}, "A", `{"a": 1} or {"a": 2}`, `{"a":1}`},
		{"the last that fits", generable.Options{Pick: generable.PickLast}, "A", `{"a": 1} or {"a": 2}`, `{"a":2}`},
		{"only one may fit", generable.Options{Pick: generable.PickError}, "A", `{"a": 1} or {"a": 2}`, ""},
		{"unknown keys are errors", generable.Options{ExtraKeys: generable.ExtraError}, "A", `{"a": 1, "b": 2}`, ""},
		{"bad items are left out", generable.Options{OnBadItem: generable.ItemDrop}, "Ints", `[1, "no", 3]`, `[1,3]`},
		{"too deep", generable.Options{MaxDepth: 3}, "any", `[[[[1]]]]`, ""},
		{"too costly", generable.Options{MaxCost: 1}, "A", `{'a': "1",}`, ""},
	} {
		res := lenient.Decode(r.typ(c.as), c.text, c.options)
		if got := generable.JSON(res.Value, r.typ(c.as)); res.OK != (c.want != "") || res.OK && got != c.want {
			t.Errorf("%s: %q gives %s, %v; want %q", c.name, c.text, got, res.Errors, c.want)
		}
	}
}
