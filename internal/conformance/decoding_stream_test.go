package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/testenv"
)

// planned declares a script's types for streams, with a policy of each kind.
const planned = `
Step = schema("A step", id = field(int, stream = "first"), text = str)
Plan = schema("A plan", title = field(str, stream = "atomic"), body = field(str, stream = "state"), steps = list[Step], n = int)
Yes = schema("Yes", why = str)
No = schema("No", why = str, hints = list[str])
Verdict = union("A verdict", Yes, No)
`

// events are the events of a stream, one line each.
type events []string

func (l *events) on(e *lenient.StreamEvent) {
	s := strings.TrimSpace(e.Kind.String() + " " + e.Path())
	switch {
	case e.Repair != nil: // its position is in the text, reported as an offset
		s = "repair " + e.Repair.Kind
	case e.Text != "":
		s += " " + e.Text
	case e.Kind != lenient.StreamDone:
		s += " " + generable.JSON(e.Value, nil)
	}
	*l = append(*l, s)
}

// Promise 13.23 (types and decoding): a stream reports texts that grow, fields, items and variants that are complete,
// repairs, a reset when the text was misread, and its end.
func TestPromise_13_23_Events(t *testing.T) {
	mod := loaded(t, agentscript.New(), planned)
	for _, c := range []struct {
		typ    *generable.Type
		pieces []string
		want   string
	}{
		{mod.Type("Verdict"), []string{`{"type": "N`, `o", "why": "be`, `cause", 'hints': ["a`, `b"]}`},
			`variant No|text .why be|text .why cause|field .why "because"|text .hints[0] a|repair quotes|text .hints[0] b|item .hints[0] "ab"|field .hints ["ab"]|done`},
		{nil, []string{`{"a": 1, "b": [tr`, `ue, 2`, `5]}`}, `field .a 1|item .b[0] true|item .b[1] 25|field .b [true,25]|done`},
		{generable.ListOfType(generable.IntT), []string{"Not [3] but\n", "```json\n[1", ", 2]", "\n```"},
			"item [0] 3|reset another value|item [0] 1|item [1] 2|repair fence|repair prose|done"},
	} {
		var log events
		s := lenient.NewStream(c.typ, lenient.StreamOptions{On: log.on})
		for _, p := range c.pieces {
			s.Feed(p)
		}
		s.Close()
		got := strings.Join(log, "|")
		if strings.Contains(c.want, "reset") { // the reason is for people
			for _, e := range log {
				if strings.HasPrefix(e, "reset ") {
					got = strings.ReplaceAll(got, e, "reset another value")
				}
			}
		}
		if got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.pieces, got, c.want)
		}
	}
	computes(t, `["field .a 1","text .b x","field .b x"]`, `
T = schema("T", a = int, b = str)
def got():
    s = T.stream()
    told = []
    for piece in ['{"a": 1,', ' "b": "x', '"}']:
        told += [e.kind + " " + e.path + " " + (e.text or str(e.value)) for e in s.feed(piece)]
    s.close()
    late = attempt(s.feed, "more") # nothing is read any more, and that is said
    return told if not late.ok and "closed" in late.error.message else late
`)
}

// Promise 13.24 (types and decoding): snapshots only grow: texts and lists get longer, members stay, and scalars
// appear when they are complete; a snapshot never changes once taken, and the last one agrees with the result.
func TestPromise_13_24_Snapshots(t *testing.T) {
	mod := loaded(t, agentscript.New(), planned)
	for _, c := range []struct{ as, text string }{
		{"Plan", `{"title": "A title", "body": "so \"far\" \u00e9", "steps": [{"text": "first", "id": 1}, {"id": 22, "text": "second"}], "n": 123}`},
		{"Plan", "Here:\n```json\n{'title': 'A title', body: 'x', \"steps\": [{\"id\": 1, \"text\": \"a\"} {\"id\": 2, \"text\": \"b\"},], n: 123,\n```"},
		{"Verdict", `<think>{"type": "Yes"}</think>{"type": "no", "why": "folded tag", "hints": ["a", "bb"]}`},
	} {
		for _, size := range []int{1, 3, 20} {
			s := lenient.NewStream(mod.Type(c.as), lenient.StreamOptions{})
			var kept []generable.Value
			var texts []string
			distinct := 0
			for at := 0; at < len(c.text); at += size {
				s.Feed(c.text[at:min(at+size, len(c.text))])
				v := s.Snapshot()
				text := generable.JSON(v, nil)
				if n := len(kept); n > 0 && texts[n-1] != text {
					distinct++
					// The states of a field are words that change, so its own text is compared.
					if !shows(withoutStates(kept[n-1]), withoutStates(v)) {
						t.Errorf("%q: %s, then %s", c.text[:at], texts[n-1], text)
					}
				}
				kept, texts = append(kept, v), append(texts, text)
			}
			res := s.Close()
			last := withoutStates(kept[len(kept)-1])
			whole := !strings.HasSuffix(c.text, "```") // one that breaks off gets its end when it is closed
			if !res.OK || !shows(last, res.Value) || whole && !shows(membersOf(res.Value), last) || distinct < 3 {
				t.Errorf("%s in pieces of %d: %d snapshots, in the end %s, %s", c.as, size, distinct, texts[len(texts)-1], told(res))
			}
			for i, v := range kept {
				if generable.JSON(v, nil) != texts[i] {
					t.Fatalf("a snapshot changed from %s to %s", texts[i], generable.JSON(v, nil))
				}
			}
		}
	}
}

// membersOf returns an instance as the dict that a snapshot shows for it.
func membersOf(v generable.Value) generable.Value {
	r, ok := v.AsRecord()
	if !ok {
		return v
	}
	out := generable.NewMap(len(r.Type().Fields))
	for _, f := range r.Type().Fields {
		if v, ok := r.Get(f.Name); ok {
			out.Set(f.Name, v)
		}
	}
	return out.Value()
}

// withoutStates returns a snapshot whose field body is shown without its state.
func withoutStates(v generable.Value) generable.Value {
	m, ok := v.AsMap()
	if !ok {
		return v
	}
	out := generable.NewMap(m.Len())
	for i := range m.Len() {
		k, v := m.At(i)
		if k == "body" {
			if inner, ok := v.AsMap(); ok {
				var there bool
				if v, there = inner.Get("value"); !there {
					continue
				}
			}
		}
		out.Set(k, v)
	}
	return out.Value()
}

// Promise 13.25 (types and decoding): a field declares how it appears in snapshots: only when it is complete, before
// anything else of its instance, or with its state.
func TestPromise_13_25_Policies(t *testing.T) {
	s := lenient.NewStream(loaded(t, agentscript.New(), planned).Type("Plan"), lenient.StreamOptions{})
	for _, c := range []struct{ piece, want string }{
		{`{"title": "A ti`, `{"body":{"state":"pending"}}`},
		{`tle", "body": "s`, `{"title":"A title","body":{"value":"s","state":"incomplete"}}`},
		{`o", "steps": [{"text": "one`, `{"title":"A title","body":{"value":"so","state":"complete"},"steps":[]}`},
		{`", "id": 1}, {"id": 2, "te`, `{"title":"A title","body":{"value":"so","state":"complete"},"steps":[{"id":1,"text":"one"},{"id":2}]}`},
		{`xt": "two"}], "n": 7}`, `{"title":"A title","body":"so","steps":[{"id":1,"text":"one"},{"id":2,"text":"two"}],"n":7}`},
	} {
		s.Feed(c.piece)
		if got := generable.JSON(s.Snapshot(), nil); got != c.want {
			t.Errorf("after %q:\ngot  %s\nwant %s", c.piece, got, c.want)
		}
	}
}

// Promise 13.26 (types and decoding): a stream that knows enough asks for no more text, and its result is what is
// known.
func TestPromise_13_26_EarlyStop(t *testing.T) {
	mod := loaded(t, agentscript.New(), planned)
	text := `{"type": "No", "why": "because", "hints": ["a", "b", "c"]}`
	s := lenient.NewStream(mod.Type("Verdict"), lenient.StreamOptions{Stop: func(e *lenient.StreamEvent) bool { return e.Path() == ".hints[0]" && e.Kind == lenient.StreamItem }})
	at := 0
	for at < len(text) && s.Feed(text[at:at+1]) {
		at++
	}
	if want := strings.Index(text, `"a"`) + 3; at < want-1 || at > want {
		t.Errorf("it stopped at %q", text[:at])
	}
	if s.Feed("more") {
		t.Error("it wants more after it stopped")
	}
	if res := s.Close(); !res.OK || generable.JSON(res.Value, nil) != `{"type":"No","why":"because","hints":["a"]}` {
		t.Errorf("it ends in %s", told(res))
	}
	computes(t, `[["a"],{"type":"No","why":"because","hints":["a"]}]`, planned+`
def got():
    s = Verdict.stream()
    items = []
    for c in '`+text+`'.elems():
        items += [e.value for e in s.feed(c) if e.kind == "item"]
        if items:
            return [items, s.close(cut = True).value]
`)
}

// Promise 13.27 (types and decoding): a stream's result is that of the whole text, for every
// chunking and every option.
func TestPromise_13_27_StreamedResults(t *testing.T) {
	r := newReader(t)
	texts := []string{seams, `{"name": "n", "address": {"street": "s", "zip": 1}, "aliases": ["a", 7, {}]} or {"a": 1}`, "1, 2, \"x\"", "<think>never\n[1]", ""}
	for _, o := range []generable.Options{{}, {Level: generable.Strict}, {Level: generable.Loose}, {Pick: generable.PickFirst}, {Pick: generable.PickError}, {MaxCost: 3},
		{OnBadItem: generable.ItemDrop}, {OnBadItem: generable.ItemKeep}, {ExtraKeys: generable.ExtraError}, {MaxDepth: 1}, {Partial: true}} {
		for _, name := range []string{"Profile", "any", "Ints", "A"} {
			for _, text := range texts {
				want := told(lenient.Decode(r.typ(name), text, o))
				for _, size := range []int{1, 2, 3, 5, 64} {
					s := lenient.NewStream(r.typ(name), lenient.StreamOptions{Options: o, On: func(*lenient.StreamEvent) {}})
					inPieces(s, text, size)
					s.Snapshot()
					if got := told(s.Close()); got != want {
						t.Fatalf("%+v: %s of %q in pieces of %d:\n%s\nat once\n%s", o, name, text, size, got, want)
					}
				}
			}
		}
	}
}

// Promise 13.28 (types and decoding): the cost of a snapshot depends on how many containers are open, not on how wide
// the value is.
func TestPromise_13_28_SnapshotsByDepth(t *testing.T) {
	cost := func(depth, items int) float64 {
		s := lenient.NewStream(nil, lenient.StreamOptions{})
		s.Feed(strings.Repeat(`{"a": [`, depth) + strings.Repeat(`{"b": [1, 2], "c": "text"}, `, items) + `"`)
		return testenv.LeastAllocs(100, func() {
			s.Feed("x")
			s.Snapshot()
		})
	}
	narrow, wide, deep := cost(2, 10), cost(2, 4000), cost(20, 10)
	if wide > narrow+2 || deep < 2*narrow || deep > 20*narrow {
		t.Errorf("a snapshot makes %v allocations, %v of a wide value, %v of a deep one", narrow, wide, deep)
	}
}

// Promise 13.29 (types and decoding): a value made field by field matches the one that a stream shows: the same fields
// have arrived, in the same order, and it becomes the same instance.
func TestPromise_13_29_PartialByHand(t *testing.T) {
	mod := loaded(t, agentscript.New(), planned)
	typ := mod.Type("No")
	s := lenient.NewStream(typ, lenient.StreamOptions{})
	hand, err := generable.NewPartial(typ)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ piece, field, value string }{
		{`{"hints": ["a", "b"], `, "hints", `["a","b"]`}, {`"why": "w"`, "why", `"w"`},
	} {
		s.Feed(c.piece)
		if hand, err = hand.WithField(c.field, lenient.Decode(nil, c.value, generable.Options{}).Value); err != nil {
			t.Fatal(err)
		}
		p, ok := s.Partial()
		if !ok || !slices.Equal(p.ArrivedFieldNames(), hand.ArrivedFieldNames()) {
			t.Errorf("after %q %v have arrived, by hand %v", c.piece, p.ArrivedFieldNames(), hand.ArrivedFieldNames())
		}
		for _, name := range []string{"why", "hints"} {
			a, got := p.Get(name)
			b, want := hand.Get(name)
			if got != want || p.Has(name) != hand.Has(name) || !generable.Equal(a, b) {
				t.Errorf("after %q %s is %s, by hand %s", c.piece, name, generable.JSON(a, nil), generable.JSON(b, nil))
			}
		}
		x, xe := p.ToComplete()
		y, ye := hand.ToComplete()
		if fmt.Sprint(xe) != fmt.Sprint(ye) || xe == nil && !generable.Equal(x.Value(), y.Value()) {
			t.Errorf("after %q: %v, by hand %v", c.piece, xe, ye)
		}
	}
	computes(t, `[["why"],true,false,["why","hints"],true,"No(why = \"w\", hints = [])"]`, planned+`
def got():
    hand = No.partial().with_field("why", "w")
    s = No.stream()
    s.feed('{"why": "w", ')
    p = s.partial()
    first = [p.arrived_field_names, p.has("why") and p.get("why") == hand.get("why"), p.has("hints")]
    s.feed('"hints": []')
    whole = hand.with_field("hints", [])
    return first + [s.partial().arrived_field_names, s.partial().to_complete() == whole.to_complete(), str(whole.to_complete())]
`)
}
