package lenient

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
	"github.com/agentscript/agentscript/internal/testenv"
)

// feed passes a text to a stream in pieces of a few bytes, and calls look after each.
func feed(s *Stream, text string, rnd *rand.Rand, most int, look func(at int)) {
	for at := 0; at < len(text); {
		n := min(1+rnd.IntN(most), len(text)-at)
		if most > len(text) { // at once
			n = len(text)
		}
		s.Feed(text[at : at+n])
		at += n
		if look != nil {
			look(at)
		}
	}
}

// ending returns the end of a long text, for messages.
func ending(s string) string { return s[max(0, len(s)-120):] }

// checkStream feeds a text and checks that snapshots only grow except after a reset, that events report what
// snapshots show, and that the result is that of the whole text.
func checkStream(typ *generable.Type, text string, o generable.Options, rnd *rand.Rand, most int) (resets int, err error) {
	var log []string
	repairs := map[string]int{}
	shown := map[string]string{} // texts as reported by the events
	var s *Stream
	var inside generable.Value
	s = NewStream(typ, StreamOptions{Options: o, MinText: rnd.IntN(2) * rnd.IntN(12), On: func(e *StreamEvent) {
		inside = s.Snapshot()
		if s.Feed("x") {
			panic("fed from inside")
		}
		log = append(log, fmt.Sprintf("%s %s %q %s", e.Kind, e.Path(), e.Text, generable.JSON(e.Value, nil)))
		switch e.Kind {
		case StreamReset:
			resets++
			clear(shown)
		case StreamText:
			shown[e.Path()] += e.Text
		case StreamRepair:
			repairs[fmt.Sprint(e.Repair.Kind, e.Repair.Offset)]++
		}
	}})
	fail := func(format string, args ...any) {
		if err == nil {
			err = fmt.Errorf(format+"\nevents:\n%s", append(args, strings.Join(log[max(0, len(log)-12):], "\n"))...)
		}
	}
	last, before := generable.Value{}, 0
	feed(s, text, rnd, most, func(at int) {
		now := s.Snapshot()
		if resets == before && !extends(last, now) {
			fail("%q:\nfirst %s\nthen  %s", ending(text[:at]), generable.JSON(last, nil), generable.JSON(now, nil))
		}
		for path, want := range shown {
			if v, ok := lookup(now, path); ok {
				if got, _ := v.AsStr(); !strings.HasPrefix(got, want) {
					fail("%q: events told %s = %q, the snapshot shows %q", ending(text[:at]), path, want, got)
				}
			} else {
				fail("%q: events told %s = %q, the snapshot does not have it: %s", ending(text[:at]), path, want, generable.JSON(now, nil))
			}
		}
		last, before = now, resets
	})
	got := s.Close()
	for _, r := range got.Repairs {
		if repairs[fmt.Sprint(r.Kind, r.Offset)] == 0 {
			fail("the repair %+v was not told", r)
		}
	}
	if got.OK {
		for path, text := range shown {
			v, _ := lookup(got.Value, path)
			if all, _ := v.AsStr(); all != text {
				fail("events told %s = %q, in the end it is %q", path, text, all)
			}
		}
		if !extends(inside, got.Value) {
			fail("seen from inside %s\nfinal %s", generable.JSON(inside, nil), generable.JSON(got.Value, nil))
		}
	}
	if resets == before && got.OK && !extends(last, got.Value) {
		fail("last  %s\nfinal %s", generable.JSON(last, nil), generable.JSON(got.Value, nil))
	}
	want := Decode(typ, text, o)
	want.Visits, got.Visits = 0, 0
	if render(got) != render(want) {
		fail("%q: streamed\n%s\nat once\n%s", ending(text), render(got), render(want))
	}
	return resets, err
}

func TestStreamOfDocuments(t *testing.T) {
	s := newSeedTypes(t)
	text, typ := catalogue(t, 8)
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, row := range []struct {
		typ    *generable.Type
		text   string
		resets int
	}{
		{typ, text, 0},
		{typ, "Here:\n```json\n" + text + "```\nBye.", 0},
		{nil, text, 0},
		{typ, broken(text), 0},
		{nil, `{"name":"Zoë \"Z\" \u00e9\ud83d\ude00 \\","items":[{"id":12,"ok":true},{"id":-2.5e3,"ok":null}],"deep":{"a":{"b":[[],{}]}}}`, 0},
		{nil, `["He said "hi" to", "b", "c"]`, 0},
		{nil, `{"a": "x", "b": "one", "two", three", "c": 1}`, -1},
		{nil, "First {\"a\": 1}, then\n```json\n{\"a\": 2}\n```", -1},
		{nil, "{\"a\": 1}\n{\"a\": 2}\n", -1},
		{s.Profile, `{"name":"B","address":{"street":"Main","zip":12},"aliases":["x","yy"]}`, 0},
		{s.Profile, "<think>maybe {\"name\":\"no\"}</think>\n" + `{"Name":"B","address":{"street":"Main","zip":"12"},"aliases":"x"}`, 0},
		{s.Profile, `maybe {"name":"no"}</think>` + `{"name":"B","address":{"street":"Main","zip":12},"aliases":[]}`, 1},
		{generable.ListOfType(s.Shape), `[{"type":"Point"},{"side":1,"type":"Square"},{"type":"circle","radius":2}]`, 0},
		{generable.StrT, "<think>no</think>Hello, wörld.  \n Bye \xff. ", 0},
		{generable.OneOf(s.Args, generable.ListOfType(generable.IntT)), `[1,22,333]`, 0},
		{generable.DictOfType(generable.OneOf(generable.IntT, generable.StrT)), `{"a":1,"b":"22","c":333,"a":2}`, -1},
		{generable.OneOf(generable.StrT, generable.NoneT), `"a text"`, 0},
		{generable.IntT, `42`, 0},
	} {
		for _, most := range []int{1, 2, 7, 40, 1 << 20} {
			got, err := checkStream(row.typ, row.text, generable.Options{}, rnd, most)
			if err != nil {
				t.Errorf("%s: %v", row.typ, err)
			}
			if row.resets >= 0 && got != row.resets {
				t.Errorf("%q: %d resets in pieces of %d", ending(row.text), got, most)
			}
		}
	}
}

// TestStreamKeepsRecords requires that coercions are recorded at the end as if the text were read at once, and
// reported once, even if nothing listens and if they are held back.
func TestStreamKeepsRecords(t *testing.T) {
	m := gentest.Must(t)
	a := m(generable.NewSchema("Alpha", "", []generable.Field{{Name: "name", Type: generable.StrT, Alias: []string{"title"}}, {Name: "n", Type: generable.OneOf(generable.IntT, generable.NoneT)}}))
	b := m(generable.NewSchema("Beta", "", []generable.Field{{Name: "text", Type: generable.StrT}}))
	u := m(generable.NewUnion("U", "", "", []*generable.Type{a, b}))
	late := m(generable.NewSchema("Late", "", []generable.Field{{Name: "n", Type: generable.IntT}, {Name: "f", Type: generable.FloatT}, {Name: "id", Type: generable.IntT, Stream: generable.StreamFirst}}))
	for _, c := range []struct {
		typ  *generable.Type
		text string
	}{
		{a, `{"Name":"x","n":1}`}, {a, `{"title":"x","n":1}`}, {a, `{"name":"x","n":"1"}`}, {u, `{"type":"beta","text":"x"}`}, {u, `{"type":"Alpha","name":"x"}`},
		{generable.ListOfType(a), `[{"Title":"x","n":1},{"name":"y","N":"2"}]`}, {late, `{"n":"1","f":"2.5","id":"3"}`}, {nil, `{'a': 1}`},
	} {
		want := Decode(c.typ, c.text, generable.Options{})
		counts := map[string]int{}
		for _, r := range want.Repairs {
			counts[fmt.Sprint(r.Kind, r.Offset, r.Before)]++
		}
		for _, listens := range []bool{true, false} {
			told := map[string]int{}
			o := StreamOptions{}
			if listens {
				o.On = func(e *StreamEvent) {
					if e.Repair != nil {
						told[fmt.Sprint(e.Repair.Kind, e.Repair.Offset, e.Repair.Before)]++
					}
				}
			}
			s := NewStream(c.typ, o)
			s.Feed(c.text)
			got := s.Close()
			if got.Visits = want.Visits; render(got) != render(want) {
				t.Errorf("%s, listens %t:\n%s\nat once\n%s", c.text, listens, render(got), render(want))
			}
			if listens && !maps.Equal(told, counts) {
				t.Errorf("%s: told %v, on record %v", c.text, told, counts)
			}
		}
	}
}

// TestStreamOfRandomValues checks the guarantees for random types, and for valid documents without a reset.
func TestStreamOfRandomValues(t *testing.T) {
	for seed := range int64(gentest.Rounds() / 5) {
		g := gentest.NewGenerator(seed)
		rnd := rand.New(rand.NewPCG(uint64(seed), 9))
		typ := g.Typ(3)
		text := generable.JSON(g.Value(typ, 4), typ)
		resets, err := checkStream(typ, text, generable.Options{}, rnd, 5)
		if err == nil && resets > 0 {
			err = fmt.Errorf("%s: %d resets", text, resets)
		}
		if err != nil {
			t.Fatalf("seed %d: %s: %v", seed, typ, err)
		}
		// A broken text may be read again, but nothing else changes.
		b := []byte(text)
		for range 1 + len(b)/40 {
			b[rnd.IntN(len(b))] = `{}[]",: x\'`[rnd.IntN(11)]
		}
		if _, err := checkStream(typ, string(b), generable.Options{}, rnd, 9); err != nil {
			t.Fatalf("seed %d: %s: %q: %v", seed, typ, b, err)
		}
		if _, err := checkStream(nil, string(b), generable.Options{}, rnd, 9); err != nil {
			t.Fatalf("seed %d: %q: %v", seed, b, err)
		}
	}
}

// TestStreamsAreLinear counts what a stream with a listener visits, over all families, in small pieces.
func TestStreamsAreLinear(t *testing.T) {
	s := newSeedTypes(t)
	all := append([]family{{"blank lines", repeated("\n")}, {"text and blanks", around("text", "\n", "")}, {"reasoning and text", repeated("<think>x</think> y ")}}, families...)
	sizes := []int{1000, 32 << 10}
	if testing.Short() {
		sizes = []int{250, 2 << 10}
	}
	for _, f := range all {
		for _, n := range sizes {
			text := f.make(n)
			for _, typ := range []*generable.Type{nil, generable.ListOfType(s.Args), s.Profile, generable.StrT} {
				for _, size := range []int{1, 4, 1000} {
					st := NewStream(typ, StreamOptions{On: func(*StreamEvent) {}})
					for rest := text; rest != ""; {
						k := min(size, len(rest))
						st.Feed(rest[:k])
						rest = rest[k:]
					}
					n := st.Close().Visits + st.m.live.visits + st.m.live.c.Visits
					if n > 6*len(text)+512 {
						t.Errorf("%s: %v in pieces of %d: %d visits of %d bytes (%.2f)", f.name, typ, size, n, len(text), float64(n)/float64(len(text)))
					}
				}
			}
		}
	}
}

func streamTypes(t *testing.T) (*generable.Type, *generable.Type) {
	m := gentest.Must(t)
	step := m(generable.NewSchema("Step", "", []generable.Field{
		{Name: "id", Type: generable.IntT, Stream: generable.StreamFirst},
		{Name: "text", Type: generable.StrT},
	}))
	return m(generable.NewSchema("Plan", "", []generable.Field{
		{Name: "title", Type: generable.StrT, Stream: generable.StreamAtomic},
		{Name: "body", Type: generable.StrT, Stream: generable.StreamState},
		{Name: "steps", Type: generable.ListOfType(step)},
		{Name: "done", Type: generable.BoolT, Stream: generable.StreamState},
	})), step
}

// TestStreamPolicies shows how each policy affects snapshots and events.
func TestStreamPolicies(t *testing.T) {
	plan, _ := streamTypes(t)
	var log []string
	s := NewStream(plan, StreamOptions{On: func(e *StreamEvent) {
		log = append(log, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Kind, e.Path(), e.Text)))
	}})
	for _, row := range []struct{ piece, want, events string }{
		{`{"title": "A ti`, `{"body":{"state":"pending"},"done":{"state":"pending"}}`, ""},
		{`tle", "body":`, `{"title":"A title","body":{"state":"pending"},"done":{"state":"pending"}}`, "field .title"},
		{` "so`, `{"title":"A title","body":{"value":"so","state":"incomplete"},"done":{"state":"pending"}}`, "text .body so"},
		{` far"`, `{"title":"A title","body":{"value":"so far","state":"incomplete"},"done":{"state":"pending"}}`, "text .body  far"},
		{`, "steps":[{`, `{"title":"A title","body":{"value":"so far","state":"complete"},"steps":[],"done":{"state":"pending"}}`, "field .body"},
		{`"text": "first`, `{"title":"A title","body":{"value":"so far","state":"complete"},"steps":[],"done":{"state":"pending"}}`, ""},
		{`", "id": 1}`, `{"title":"A title","body":{"value":"so far","state":"complete"},"steps":[{"id":1,"text":"first"}],"done":{"state":"pending"}}`,
			"text .steps[0].text first|field .steps[0].text|field .steps[0].id|item .steps[0]"},
		{`], "done": true}`, `{"title":"A title","body":"so far","steps":[{"id":1,"text":"first"}],"done":true}`, "field .steps|field .done"},
	} {
		log = log[:0]
		s.Feed(row.piece)
		if got := generable.JSON(s.Snapshot(), nil); got != row.want {
			t.Errorf("after %q:\ngot  %s\nwant %s", row.piece, got, row.want)
		}
		if got := strings.Join(log, "|"); got != row.events {
			t.Errorf("after %q: events %q, want %q", row.piece, got, row.events)
		}
	}
	if r := s.Close(); !r.OK || log[len(log)-1] != "done" {
		t.Errorf("%+v, %v", r, log)
	}
}

// TestStreamStates asks for the state of paths.
func TestStreamStates(t *testing.T) {
	plan, _ := streamTypes(t)
	s := NewStream(plan, StreamOptions{})
	s.Feed(`{"title": "t", "steps": [{"id": 1, "text": "a"}, {"id": 2, "text": "b`)
	for path, want := range map[string]FieldState{
		"": Incomplete, ".title": Complete, ".body": Pending, ".steps": Incomplete, ".steps[0]": Complete, ".steps[0].text": Complete,
		".steps[1]": Incomplete, ".steps[1].id": Complete, ".steps[1].text": Incomplete, ".steps[2]": Pending, ".steps[x]": Pending, "nonsense": Pending,
	} {
		if got := s.State(path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	p, ok := s.Partial()
	if !ok || !p.Has("title") || p.Has("body") || strings.Join(p.ArrivedFieldNames(), " ") != "title steps" {
		t.Errorf("partial %v %t", p.ArrivedFieldNames(), ok)
	}
	s.Feed(`"}], "body": "", "done": true}`)
	s.Close()
	if got := s.State(".body"); got != Complete {
		t.Errorf("in the end .body is %s", got)
	}
}

// TestStreamStops ends a stream as soon as enough is known.
func TestStreamStops(t *testing.T) {
	types := newSeedTypes(t)
	s := NewStream(types.Shape, StreamOptions{Stop: func(e *StreamEvent) bool { return e.Kind == StreamVariant }})
	text, fed := `{"type": "Circle", "radius": 2.5}`, 0
	for _, c := range []byte(text) {
		fed++
		if !s.Feed(string(c)) {
			break
		}
	}
	if fed != len(`{"type": "Circle", "`) {
		t.Errorf("stopped after %q", text[:fed])
	}
	if s.Feed("more") {
		t.Error("a stream that was stopped wants more")
	}
	if r := s.Close(); !r.OK || generable.JSON(r.Value, nil) != `{"type":"Circle"}` {
		t.Errorf("%+v", r)
	}
}

// TestStreamGathersText requires fewer and longer texts without losses.
func TestStreamGathersText(t *testing.T) {
	var texts []string
	s := NewStream(nil, StreamOptions{MinText: 10, On: func(e *StreamEvent) {
		if e.Kind == StreamText {
			texts = append(texts, e.Text)
		}
	}})
	for _, c := range `{"a": "one two three four five", "b": "x"}` {
		s.Feed(string(c))
	}
	s.Close()
	if got := strings.Join(texts, "|"); got != "one two th|ree four f|ive|x" {
		t.Error(got)
	}
}

// TestSnapshotsCostDepth requires that a snapshot of a wide value costs no more than one of a narrow value, and that
// snapshots do not change once taken.
func TestSnapshotsCostDepth(t *testing.T) {
	cost := func(items int) float64 {
		s := NewStream(nil, StreamOptions{})
		s.Feed(`{"list": [` + strings.Repeat(`{"a": [1, 2, 3], "b": "text"}, `, items) + `{"open": "`)
		var kept []generable.Value
		var texts []string
		n := testenv.LeastAllocs(50, func() {
			s.Feed("more")
			v := s.Snapshot()
			kept = append(kept[:0], v)
		})
		for range 20 {
			s.Feed("x")
			v := s.Snapshot()
			kept, texts = append(kept, v), append(texts, generable.JSON(v, nil))
		}
		for i, text := range texts {
			if generable.JSON(kept[i+1], nil) != text {
				t.Fatal("a snapshot changed")
			}
		}
		return n
	}
	if few, many := cost(10), cost(5000); many > few+2 || many > 16 {
		t.Errorf("a snapshot makes %v allocations with 10 items, %v with 5000", few, many)
	}
}

// extends reports whether b preserves everything that a showed. Null as the whole means that nothing is known yet.
func extends(a, b generable.Value) bool { return grows(a, b) }

// TestStreamWaitsForAll checks that members are reported when the last StreamFirst field has arrived, in their order
// of arrival.
func TestStreamWaitsForAll(t *testing.T) {
	m := gentest.Must(t)
	typ := m(generable.NewSchema("Both", "", []generable.Field{
		{Name: "n", Type: generable.IntT},
		{Name: "a", Type: generable.IntT, Stream: generable.StreamFirst},
		{Name: "b", Type: generable.IntT, Stream: generable.StreamFirst},
	}))
	for text, want := range map[string]string{
		`{"n": 1, "a": 2, "b": 3, }`: ".n@23 .a@23 .b@23",
		`{"a": 2, "n": 1, "b": 3, }`: ".a@23 .n@23 .b@23",
	} {
		var told []string
		read := 0 // before the current byte
		s := NewStream(typ, StreamOptions{On: func(e *StreamEvent) {
			if e.Kind == StreamField {
				told = append(told, fmt.Sprintf("%s@%d", e.Path(), read))
			}
		}})
		for i := range len(text) {
			s.Feed(text[i : i+1])
			read = i + 1
		}
		if got := strings.Join(told, " "); got != want {
			t.Errorf("%s: told %s, want %s", text, got, want)
		}
		if r := s.Close(); !r.OK {
			t.Error(r.Errors)
		}
	}
}
