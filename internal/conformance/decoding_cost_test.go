package conformance

import (
	"cmp"
	"fmt"
	"html"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Promise 13.34 (types and decoding): no text makes the decoder visit a byte more than four times on average, or six
// times if it reads the text again as one without brackets or as one escaped for HTML, whether at once or in pieces;
// ten million open brackets are no exception.
func TestPromise_13_34_Visits(t *testing.T) {
	families := map[string]func(n int) string{
		"brackets": func(n int) string { return strings.Repeat("[", n) },
		"closed":   func(n int) string { return strings.Repeat("[", n/2) + strings.Repeat("]", n/2) },
		"clean":    func(n int) string { return "[" + strings.Repeat(`{"id": 1, "text": "a text"}, `, n/29) + "1]" },
		"broken":   func(n int) string { return "[" + strings.Repeat(`{id: 1 'text': "a "text"",} `, n/28) },
		"fenced":   func(n int) string { return strings.Repeat("~~~\n{\"a\": \"x\n~~~\n", n/17) },
		"thinking": func(n int) string { return strings.Repeat("<think>{\"a\": 1}</think>", n/23) },
		"quotes":   func(n int) string { return `{"a": "` + strings.Repeat(`x", y "z, `, n/10) },
		"escaped":  func(n int) string { return "{" + strings.Repeat(`\"a\": \"b\", `, n/12) + "}" },
		"wide":     func(n int) string { return strings.Repeat(`｛“a”：［1，`, n/24) },
		"prose":    func(n int) string { return strings.Repeat(`and {so} [on] {"a": 1} `, n/23) },
		"html":     func(n int) string { return "{" + strings.Repeat(`&quot;a&quot;: &quot;b&quot;, `, n/30) + "}" },
		"bare":     func(n int) string { return strings.Repeat("id: 1, text: a text\n", n/20) },
	}
	again := map[string]int{"html": 6, "bare": 6} // these may be read again
	item, errs := generable.NewSchema("Item", "", []generable.Field{{Name: "id", Type: generable.IntT}, {Name: "text", Type: generable.StrT}, {Name: "a", Type: generable.OneOf(generable.StrT, generable.NoneT)}})
	if errs != nil {
		t.Fatal(errs)
	}
	rng := rand.New(rand.NewPCG(13, 34))
	pieces := []string{"{", "}", "[", "]", ",", ":", `"`, "'", `\`, "a", "1", " ", "\n", "```", "<think>", "</think>", "// ", "/*", "null", "“", "+", "=", "|", "(", ")"}
	random, long, brackets := 40, 1<<17, 10<<20
	if testing.Short() {
		random, long, brackets = 10, 1<<15, 1<<20
	}
	for i := range random { // and random cases: a few pieces that occur again and again
		some := make([]string, 1+rng.IntN(6))
		for j := range some {
			some[j] = pieces[rng.IntN(len(pieces))]
		}
		unit := strings.Join(some, "")
		name := fmt.Sprintf("random %d %q", i, unit)
		plain := func(n int) string { return "{" + strings.Repeat(unit, n/8/len(unit)+1) }
		families[name] = plain
		families[name+" escaped"], again[name+" escaped"] = func(n int) string { return html.EscapeString(plain(n)) }, 6
		families[name+" in lines"], again[name+" in lines"] = func(n int) string { return strings.Repeat("id: "+unit+"\n", n/8/len(unit)+1) }, 6
	}
	for name, make := range families {
		for i, n := range []int{1 << 12, long, 1 << 12} {
			text := make(n)
			var typ *generable.Type
			if i == 2 {
				typ = generable.ListOfType(item)
			}
			whole := lenient.Decode(typ, text, generable.Options{})
			for _, size := range []int{len(text), 4096, 7, 1} {
				m := lenient.NewMachine(typ, generable.Options{})
				for at := 0; at < len(text); at += size {
					m.Feed(text[at:min(at+size, len(text))])
				}
				got := m.Close()
				if got.Visits > cmp.Or(again[name], 4)*len(text)+512 || got.Visits < len(text)/2 || got.OK != whole.OK {
					t.Errorf("%s in pieces of %d: %d visits of %d bytes, ok is %t, at once %t", name, size, got.Visits, len(text), got.OK, whole.OK)
				}
			}
		}
	}
	if res := lenient.Decode(nil, strings.Repeat("[", brackets), generable.Options{}); res.OK || res.Visits > 4*brackets {
		t.Errorf("%d brackets: ok is %t after %d visits", brackets, res.OK, res.Visits)
	}
}

// Promise 13.35 (types and decoding): the decoder holds at most 48 bytes for each byte of text, and
// its stack does not grow with the text's depth.
func TestPromise_13_35_Memory(t *testing.T) {
	n, levels := 1<<19, 1<<17
	if testing.Short() {
		n, levels = 1<<16, 1<<14
	}
	for name, unit := range map[string]string{"brackets": "[", "objects": `{"a":`, "numbers": "1,", "quotes": `"`, "empty": "{},", "lists": "[1],", "words": "a b,", "fences": "```\n[\n"} {
		text := "[" + strings.Repeat(unit, n/len(unit))
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := lenient.NewMachine(nil, generable.Options{})
		m.Feed(text)
		res := m.Close()
		runtime.GC()
		runtime.ReadMemStats(&after)
		// The machine holds the text too, since its reader would have to.
		if per := (float64(after.HeapAlloc)-float64(before.HeapAlloc))/float64(len(text)) - 1; per > 48 {
			t.Errorf("%s: %.1f bytes are held for each byte of text", name, per)
		}
		runtime.KeepAlive(m)
		runtime.KeepAlive(res)
	}
	// A stack of 256 KiB suffices for half a million levels: beyond it the process would end.
	defer debug.SetMaxStack(debug.SetMaxStack(256 << 10))
	done := make(chan lenient.Result)
	go func() {
		done <- lenient.Decode(nil, strings.Repeat(`[{"a":`, levels)+"1", generable.Options{MaxDepth: 1 << 20})
	}()
	if res := <-done; !res.OK {
		t.Errorf("%d levels: %v", 2*levels, res.Errors)
	}
}
