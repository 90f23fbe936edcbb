package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/arch"
	"github.com/agentscript/agentscript/internal/hang"
)

// decoderCode bounds the lines of code of the decoder and its own packages, without tests, blank lines and comments.
const decoderCode = 10_200

// heapEnv makes the test binary measure the heap of decodings instead of running its test, in a process whose
// collections stop the world, so that what they find alive was alive.
const heapEnv = "AGENTSCRIPT_TEST_READING_HEAP"

// Promise 28.20 (reading): the decoder has at most 10,200 lines of code, is linear on every family, and stays within
// its limits for speed and heap.
func TestPromise_28_20_SmallAndLinear(t *testing.T) {
	if os.Getenv(heapEnv) != "" {
		readingHeap(t)
		return
	}
	unraced(t)
	t.Run("small", decoderIsSmall)
	t.Run("linear", readingIsLinear)
	t.Run("speed", readingIsFast)
	t.Run("heap", func(t *testing.T) {
		cmd := hang.Command(t, os.Args[0], "-test.run=^TestPromise_28_20_SmallAndLinear$")
		cmd.Env = append(os.Environ(), heapEnv+"=1", "GODEBUG=gcstoptheworld=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
}

func decoderIsSmall(t *testing.T) {
	lines := 0
	for _, dir := range []string{"generable/lenient", "generable/internal"} {
		err := arch.Files(filepath.Join("..", "..", dir), func(rel string) error {
			if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(filepath.Join("..", "..", dir, rel))
			lines += arch.CodeLines(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if lines > decoderCode || lines < decoderCode/2 {
		t.Errorf("the decoder has %d lines of code, %d at most", lines, decoderCode)
	}
}

// readingFamilies are texts that repeat what reading must look ahead for: structure in strings, unquoted text with
// brackets, lines and paragraphs, fences as values, missing or superfluous quotes and commas.
var readingFamilies = []struct{ name, front, unit, behind string }{
	{"objects in a string", `{"a": "`, `use {"b": "c", "d": [1]} or `, `"}`},
	{"lists in a string", `{"a": "`, `one of ["a", "b"] ok `, `"}`},
	{"calls in a string", `{"a": "`, `f("a", "b"); g(x) `, `"}`},
	{"blocks of code in a string", `{"a": "`, `if x == "y" { return "z" } `, `"}`},
	{"references in a list", `[`, `"see [1" and more", `, `"x"]`},
	{"patterns in a list", `[`, `"^[a-z"]{2,3}+$", `, `"x"]`},
	{"LaTeX", `["`, `\sqrt{x} is "\mathbb{R}" `, `"]`},
	{"documents in fences in a string", `{"a": "`, "```json\n{\"b\": [1]}\n```\n", `"}`},
	{"keys in strings", `{`, `"a": "first, b: "second", `, `"c": 1}`},
	{"signatures", `{`, `a: def f(a, b: int) -> str, `, `b: 1}`},
	{"parentheses without quotes", `{a: `, `f(g(1, 2), [3]) `, `, b: 1}`},
	{"brackets never closed without quotes", `{a: `, `f([{`, `, b: 1}`},
	{"braces in words", `{a: `, `words{in braces}more `, `, b: 1}`},
	{"paragraphs", `{a: `, "A part, and more.\n\n", `b: 1}`},
	{"lines", `{a: `, "one line\nand another ", `, b: 1}`},
	{"first members without a colon", ``, `{a 'b'} `, ``},
	{"versions", `[`, `2.0.1, `, `1]`},
	{"fences as values", `{`, "\"a\": ```js\nf(\"x\", [1]); // }\n```, ", `"b": 1}`},
	{"comments behind values", `{`, "\"a\": 1, // it's \"b\": 2\n", `"c": 3}`},
	{"objects that open early", `[`, `{"a": "b" {"c": "d" `, `]`},
	{"runs of quotes", `[`, `"a""", `, `"b"]`},
	{"members behind closers", `{"a": 1}`, `, "b": 2}`, ``},
	{"single quotes", `{`, `'key': 'it's a text', `, `'last': 1}`},
	{"quotes within quotes", `["`, `"'`, `"]`},
	{"backslashes and quotes", `["`, `\"\`, `"]`},
	{"entities", `{&quot;a&quot;: [`, `&quot;b&amp;&quot;, `, `1]}`},
	{"objects on lines", ``, "{\"id\":1}\n", ``},
}

func readingIsLinear(t *testing.T) {
	sizes := []int{10 << 10, 100 << 10, 1 << 20}
	if testing.Short() {
		sizes = sizes[:2]
	}
	typ := readingType(t)
	for _, f := range readingFamilies {
		for _, typ := range []*generable.Type{nil, typ} {
			least := 0.0
			for i, n := range sizes {
				text := f.front + strings.Repeat(f.unit, n/len(f.unit)) + f.behind
				r := lenient.Decode(typ, text, generable.Options{})
				per := float64(r.Visits-512) / float64(len(text))
				if i == 0 {
					least = per
				}
				if per > 4 || per > least*1.1+0.2 {
					t.Errorf("%s as %v: %d bytes are looked at %.2f times each, %d %.2f times", f.name, typ, len(text), per, sizes[0], least)
				}
			}
		}
	}
	// A text between single quotes is looked at no more often than one between JSON quotes.
	clean := readingDocument(100)
	single := strings.ReplaceAll(clean, `"`, "'")
	a, b := lenient.Decode(nil, clean, generable.Options{}), lenient.Decode(nil, single, generable.Options{})
	if !b.OK || !generable.Equal(a.Value, b.Value) || float64(b.Visits) > 1.05*float64(a.Visits) {
		t.Errorf("between single quotes: ok is %t after %d visits, %d between those of JSON", b.OK, b.Visits, a.Visits)
	}
}

// readingDocument returns a list of n JSON objects.
func readingDocument(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id": %d, "title": "The title of number %d", "tags": ["alpha", "beta"], "score": 0.%d, "done": true},`+"\n", i, i, i)
	}
	return "[" + strings.TrimRight(b.String(), ",\n") + "]"
}

// readingType describes its objects, and accepts those of the families as far as possible.
func readingType(t *testing.T) *generable.Type {
	t.Helper()
	item, errs := generable.NewSchema("Item", "", []generable.Field{
		{Name: "id", Type: generable.IntT}, {Name: "title", Type: generable.StrT}, {Name: "tags", Type: generable.ListOfType(generable.StrT)},
		{Name: "score", Type: generable.FloatT}, {Name: "done", Type: generable.BoolT}, {Name: "a", Type: generable.OneOf(generable.StrT, generable.NoneT)},
	})
	if errs != nil {
		t.Fatal(errs)
	}
	return generable.ListOfType(item)
}

// readingIsFast counts what takes time in decoding: allocations, and bytes looked at.
func readingIsFast(t *testing.T) {
	text, typ := readingDocument(400), readingType(t)
	decode := func() {
		if r := lenient.Decode(typ, text, generable.Options{}); !r.OK || r.Visits > len(text)+len(text)/100 {
			t.Errorf("clean JSON: ok is %t after %d visits of %d bytes", r.OK, r.Visits, len(text))
		}
	}
	stream := func() {
		s := lenient.NewStream(typ, lenient.StreamOptions{On: func(*lenient.StreamEvent) {}})
		for at := 0; at < len(text); at += 4 {
			s.Feed(text[at:min(at+4, len(text))])
		}
		if r := s.Close(); !r.OK || r.Visits > 4*len(text) {
			t.Errorf("a stream: ok is %t after %d visits of %d bytes", r.OK, r.Visits, len(text))
		}
	}
	library := func() {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Error(err)
		}
	}
	once, events, theirs := costOf(decode), costOf(stream), costOf(library)
	if 2*once.allocs > theirs.allocs || once.bytes > theirs.bytes {
		t.Errorf("typed decoding takes %+v, encoding/json without a type %+v: half of its allocations at most", once, theirs)
	}
	if text := uint64(len(text)); events.allocs > 4*once.allocs || events.bytes > 4*(once.bytes+text) { // it holds the text too
		t.Errorf("a typed stream with events takes %+v, at once %+v: four times at most", events, once)
	}
}

// taken is what a call allocates.
type taken struct{ allocs, bytes uint64 }

// costOf measures a call, after earlier calls have made what is cached.
func costOf(f func()) taken {
	const times = 5
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		f()
	}
	runtime.ReadMemStats(&after)
	return taken{(after.Mallocs - before.Mallocs) / times, (after.TotalAlloc - before.TotalAlloc) / times}
}

// readingHeap bounds the live heap at its peak, while objects on lines and texts full of entities are read.
func readingHeap(t *testing.T) {
	const n = 256 << 10
	debug.SetGCPercent(10)
	typ := readingType(t)
	for name, make := range map[string]func(n int) string{
		"short objects on lines": func(n int) string { return strings.Repeat("{\"a\":1}\n", n/8) },
		"objects on lines":       func(n int) string { return strings.Repeat("{\"id\":17,\"title\":\"x\"}\n", n/22) },
		"lists on lines":         func(n int) string { return strings.Repeat("[1,\"a\",true]\n", n/13) },
		"long objects on lines":  func(n int) string { return strings.ReplaceAll(readingDocument(n/100), ",\n", "\n")[1:] },
		"entities":               func(n int) string { return "{&quot;a&quot;: [" + strings.Repeat("&quot;b&quot;,", n/14) + "1]}" },
		"numbers and entities":   func(n int) string { return "{&quot;a&quot;: [" + strings.Repeat("1,", n/2) + "1]}" },
		"members and entities":   func(n int) string { return "[" + strings.Repeat("{&quot;a&quot;: 1}, ", n/20) + "1]" },
		"entities in a text":     func(n int) string { return "[&quot;" + strings.Repeat("&amp;", n/5) + "&quot;]" },
	} {
		text := make(n)
		for _, typ := range []*generable.Type{nil, typ} {
			if per := float64(peak(func() any { return lenient.Decode(typ, text, generable.Options{}) })) / float64(len(text)); per > 40 {
				t.Errorf("%s as %v: %.1f bytes live for each of the text", name, typ, per)
			}
		}
	}
}

// peak returns the most bytes that are live while f runs, beyond those before it.
func peak(f func() any) uint64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	alive := func() uint64 { metrics.Read(live); return live[0].Value.Uint64() }
	runtime.GC()
	base := alive()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		for top := uint64(0); ; {
			top = max(top, alive())
			select {
			case <-stop:
				most <- top
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	result := f()
	runtime.GC()
	close(stop)
	top := max(<-most, alive())
	runtime.KeepAlive(result)
	return top - min(base, top)
}
