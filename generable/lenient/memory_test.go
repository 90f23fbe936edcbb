package lenient

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/testenv"
)

// TestAllocations limits what decoding allocates: parts of values come in blocks, the rest from memory that is kept.
func TestAllocations(t *testing.T) {
	for _, size := range []struct {
		name                                string
		items                               int
		clean, fenced, cut, plain, streamed float64
	}{
		{"1.8 KB", 6, 30, 40, 90, 40, 80},
		{"159 KB", 510, 160, 170, 2500, 180, 240},
	} {
		text, typ := catalogue(t, size.items)
		times := 20
		if testing.Short() {
			times = 2
		}
		allocates := func(what, text string, typ *generable.Type, most float64) {
			n := testenv.LeastAllocs(times, func() {
				if r := Decode(typ, text, generable.Options{OnBadItem: generable.ItemDrop}); !r.OK {
					t.Error(r.Errors)
				}
			})
			if n > most {
				t.Errorf("%s, %s: %v allocations, %v at most", size.name, what, n, most)
			}
		}
		allocates("clean", text, typ, size.clean)
		allocates("fenced", "Here is {this} as asked [1]:\n```json\n"+text+"```\nHope it helps!", typ, size.fenced)
		allocates("broken", broken(text), typ, size.cut)
		allocates("without a type", text, nil, size.plain)
		for _, typ := range []*generable.Type{typ, nil} {
			n := testenv.LeastAllocs(times, func() {
				s := NewStream(typ, StreamOptions{MinText: 32, On: func(*StreamEvent) {}})
				for at := 0; at < len(text); at += 4 {
					s.Feed(text[at:min(at+4, len(text))])
				}
				if r := s.Close(); !r.OK {
					t.Error(r.Errors)
				}
			})
			if n > size.streamed {
				t.Errorf("%s, in tokens as %v: %v allocations, %v at most", size.name, typ, n, size.streamed)
			}
		}
	}
}

// TestTokensAreReadTogether counts how often a stream with a listener reads its text: less often than tokens arrive,
// and at each token that makes something known.
func TestTokensAreReadTogether(t *testing.T) {
	text, typ := catalogue(t, 6)
	want := map[int]int{} // events by the token that ends with the sign that reveals them
	tokens, reads := 0, 0
	s := NewStream(typ, StreamOptions{MinText: 1 << 20, On: func(e *StreamEvent) {
		if e.Kind == StreamField || e.Kind == StreamItem {
			want[e.Offset]++
		}
	}})
	for at := 0; at < len(text); at += 4 {
		before := s.m.read
		s.Feed(text[at:min(at+4, len(text))])
		tokens++
		if s.m.read > before {
			reads++
		}
	}
	if reads > tokens/2 {
		t.Errorf("%d tokens were read in %d turns", tokens, reads)
	}
	for at, n := range want { // each was reported with the token that made it certain
		if end := strings.LastIndexAny(text[:at], ",]}"); n > 0 && at-end > 4 {
			t.Errorf("an event was told at %d, long after the sign at %d", at, end)
		}
	}
	if r := s.Close(); !r.OK || len(want) == 0 {
		t.Errorf("%v, %d places of events", r.Errors, len(want))
	}
}

// TestMemoryIsGivenBack requires that a stream that has ended leaves its memory to the next one, and its values and
// snapshots unchanged.
func TestMemoryIsGivenBack(t *testing.T) {
	text, typ := catalogue(t, 6)
	stream := func(text string, typ *generable.Type) (Result, []generable.Value) {
		var shown []generable.Value
		s := NewStream(typ, StreamOptions{On: func(e *StreamEvent) { shown = append(shown, e.Value) }})
		for at := 0; at < len(text); at += 5 {
			s.Feed(text[at:min(at+5, len(text))])
			shown = append(shown, s.Snapshot())
		}
		r := s.Close()
		if s.m.scan != nil || s.m.held != nil || s.m.spare != nil {
			t.Error("a stream that has ended keeps its memory")
		}
		if s.Feed("1"); s.State("") == Incomplete || !generable.Equal(s.Snapshot(), r.Value) {
			t.Error("a stream that has ended does not show its value")
		}
		return r, shown
	}
	result, shown := stream(text, typ)
	want := []string{generable.JSON(result.Value, nil)}
	for _, v := range shown {
		want = append(want, generable.JSON(v, nil))
	}
	for _, other := range []string{broken(text), `{"name": "` + strings.Repeat(`\u0041`, 500) + `", "items": [[["x"]]]}`, strings.ToUpper(text)} {
		stream(other, typ)
		stream(other, nil)
		Decode(nil, other, generable.Options{})
	}
	for i, v := range append([]generable.Value{result.Value}, shown...) {
		if generable.JSON(v, nil) != want[i] {
			t.Fatalf("a value has changed from %s to %s", want[i], generable.JSON(v, nil))
		}
	}
}

// TestNothingIsKept requires that the memory kept for the next text holds nothing of this one.
func TestNothingIsKept(t *testing.T) {
	text, typ := catalogue(t, 6)
	s := new(scratch)
	for _, text := range []string{text, broken(text), "```json\n" + text + "```", `{"name": "{\"a\": 1}", "items": [1, {"id": 2}]}`} {
		want := render(Decode(typ, text, generable.Options{}))
		for range 2 {
			r := s.decode(typ, text, generable.Options{})
			s.clear()
			if got := render(r); got != want {
				t.Errorf("with memory that was used before: %s, not %s", got, want)
			}
		}
		c := &s.coercer
		if s.machine.src != "" || s.scanner.Src != "" || c.Docs[:1][0] != "" || c.Repairs != nil || c.Subdocs != nil || c.Values(0) != nil {
			t.Error("something is kept of the text or of its value")
		}
		for _, f := range c.Stack[:cap(c.Stack)] {
			if f != nil && (f.Typ != nil || f.Key != "" || f.Vals != nil || f.M != nil || f.More != nil) {
				t.Error("a frame is kept with what it held")
			}
		}
	}
}

// memoryEnv makes the test binary run decodeAll instead of its tests.
const memoryEnv = "AGENTSCRIPT_TEST_DECODE_MEMORY"

// TestPeakMemory bounds the live heap and the goroutine's stack while texts are decoded, over the families of hostile
// texts. A separate process collects whenever the heap grows by a tenth, with the world stopped.
func TestPeakMemory(t *testing.T) {
	if os.Getenv(memoryEnv) != "" {
		decodeAll(t)
		return
	}
	if testing.Short() {
		t.Skip()
	}
	cmd := hang.Command(t, os.Args[0], "-test.run=^TestPeakMemory$")
	cmd.Env = append(os.Environ(), memoryEnv+"=1", "GODEBUG=gcstoptheworld=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func decodeAll(t *testing.T) {
	const n = 256 << 10
	debug.SetGCPercent(10)
	debug.SetMaxStack(64 << 10) // recursion would crash
	s := newSeedTypes(t)
	for _, f := range families {
		text := f.make(n)
		for _, typ := range []*generable.Type{nil, generable.ListOfType(s.Args)} {
			done := make(chan Result)
			if per := peakHeap(text, func() any {
				go func() { done <- Decode(typ, text, generable.Options{}) }()
				return <-done
			}); per > 48 {
				t.Errorf("%s, %v: %.1f bytes live for each of the text", f.name, typ, per)
			}
		}
	}
	// Without a nesting limit, lists nested in lists are created on demand.
	deep := strings.Repeat("[", n)
	for _, o := range []generable.Options{{MaxDepth: n}, {MaxDepth: n, Partial: true}} {
		if per := peakHeap(deep, func() any { return Decode(nil, deep, o) }); per > 48 {
			t.Errorf("%d open brackets: %.1f bytes live for each", n, per)
		}
	}
}

// TestListsInLists requires that lists that are created on demand behave like other lists.
func TestListsInLists(t *testing.T) {
	const n = 3 * coerce.ManyLists
	for _, c := range []struct{ open, inner, close, json string }{
		{"[", "1", "]", "1"}, {"[", "", "]", ""}, {"[", `{"a":[2]}`, "]", `{"a":[2]}`}, {"[", `"x", "y"`, "]", `"x","y"`}, {"[", "", "", ""},
	} {
		text := strings.Repeat(c.open, n) + c.inner + strings.Repeat(c.close, n)
		read := func() generable.Value {
			r := Decode(nil, text, generable.Options{MaxDepth: 2 * n})
			if !r.OK {
				t.Fatal(r.Errors)
			}
			return r.Value
		}
		v := read()
		if want := strings.Repeat("[", n) + c.json + strings.Repeat("]", n); generable.JSON(v, nil) != want {
			t.Errorf("%q: another value", c.inner)
		}
		if !generable.Equal(v, read()) || generable.Equal(v, generable.ListOf(v)) {
			t.Errorf("%q: equal values are not, or others are", c.inner)
		}
		for range n - 1 {
			l, ok := v.AsList()
			if !ok || l.Len() != 1 || len(l.Items()) != 1 || !sameList(l.Items()[0], l.At(0)) {
				t.Fatalf("%q: no list of one list", c.inner)
			}
			v = l.At(0)
		}
		if l, ok := v.AsList(); !ok || generable.JSON(l.Value(), nil) != "["+c.json+"]" {
			t.Errorf("%q: the innermost list is %s", c.inner, generable.JSON(v, nil))
		}
	}
}

// sameList reports whether two values are lists of the same length.
func sameList(v generable.Value, w generable.Value) bool {
	a, ok1 := v.AsList()
	b, ok2 := w.AsList()
	return ok1 && ok2 && a.Len() == b.Len()
}

// peakHeap returns the peak number of live bytes while f runs, per byte of the text.
func peakHeap(text string, f func() any) float64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	alive := func() uint64 { metrics.Read(live); return live[0].Value.Uint64() }
	runtime.GC()
	base := alive()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		for top := uint64(0); ; {
			top = max(top, alive())
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(50 * time.Microsecond):
			}
		}
	}()
	result := f()
	runtime.GC()
	close(stop)
	top := <-peak
	top = max(top, alive())
	runtime.KeepAlive(result)
	return float64(top-min(base, top)) / float64(len(text))
}
