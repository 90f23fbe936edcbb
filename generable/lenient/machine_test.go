package lenient

import (
	"math/rand/v2"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// grows reports whether a later snapshot preserves everything that an earlier one showed: texts and lists only get
// longer, members stay, scalars do not change. A dict may become the instance of a schema that it was the beginning
// of.
func grows(a, b generable.Value) bool {
	switch a.Kind() {
	case generable.Null:
		return true
	case generable.Str:
		x, _ := a.AsStr()
		y, ok := b.AsStr()
		return ok && len(y) >= len(x) && y[:len(x)] == x
	case generable.ListKind:
		x, _ := a.AsList()
		y, ok := b.AsList()
		if !ok || y.Len() < x.Len() {
			return false
		}
		for i := range x.Len() {
			if !grows(x.At(i), y.At(i)) {
				return false
			}
		}
		return true
	case generable.MapKind:
		x, _ := a.AsMap()
		for i := range x.Len() {
			k, v := x.At(i)
			var w generable.Value
			var ok bool
			if m, is := b.AsMap(); is {
				w, ok = m.Get(k)
			} else if r, is := b.AsRecord(); is {
				if w, ok = r.Get(k); !ok {
					w, ok = generable.StrOf(r.Type().Name), true // the tag
				}
			}
			if !ok || !grows(v, w) {
				return false
			}
		}
		_, isMap := b.AsMap()
		_, isRecord := b.AsRecord()
		return isMap || isRecord
	}
	return generable.Equal(a, b)
}

// TestSnapshotsGrow feeds documents byte by byte and requires each snapshot to preserve what the previous one showed,
// up to the final value.
func TestSnapshotsGrow(t *testing.T) {
	s := newSeedTypes(t)
	catalogueText, catalogueType := catalogue(t, 2)
	for _, row := range []struct {
		typ  *generable.Type
		text string
	}{
		{nil, `{"name":"Zoë \"Z\" \u00e9\ud83d\ude00 \\","items":[{"id":12,"ok":true},{"id":-2.5e3,"ok":null}],"deep":{"a":{"b":[[],{}]}}}`},
		{nil, "Sure, here {it} is:\n```json\n[1, 2.50, \"x\"]\n```\nBye."},
		{nil, `{a: 'x', b: True, c: [1 2 3], d: "said "hi" to"}`},
		{s.Profile, `{"name":"B","address":{"street":"Main","zip":12},"aliases":["x","yy"]}`},
		{s.Note, `{"level":"very high","text":"é","shape":{"type":"Circle","radius":2.5},"extra":{"a":1}}`},
		{generable.ListOfType(s.Shape), `[{"type":"Point"},{"side":1,"type":"Square"}]`},
		{catalogueType, catalogueText},
		{generable.StrT, "<think>no</think>Hello, wörld. "},
		{generable.OneOf(s.Args, generable.ListOfType(generable.IntT)), `[1,22,333]`},
		{generable.DictOfType(generable.OneOf(generable.IntT, generable.StrT)), `{"a":1,"b":"22","c":333}`},
	} {
		m := NewMachine(row.typ, generable.Options{})
		last := generable.Value{}
		for i := range len(row.text) {
			m.Feed(row.text[i : i+1])
			now := m.Snapshot()
			if !grows(last, now) {
				t.Errorf("%q:\nfirst %s\nthen  %s", row.text[:i+1], generable.JSON(last, nil), generable.JSON(now, nil))
			}
			last = now
		}
		r := m.Close()
		if !r.OK || !grows(last, r.Value) {
			t.Errorf("last %s\nfinal %s %v", generable.JSON(last, nil), generable.JSON(r.Value, nil), r.Errors)
		}
		if !generable.Equal(m.Snapshot(), r.Value) || !generable.Equal(m.Close().Value, r.Value) {
			t.Error("the machine answers otherwise after Close")
		}
	}
}

// TestSnapshotIsTyped requires typed values as soon as they are complete, and nothing before that.
func TestSnapshotIsTyped(t *testing.T) {
	s := newSeedTypes(t)
	for _, row := range []struct {
		typ        *generable.Type
		text, want string
	}{
		{s.Profile, `{"name":"B","address":{"street":"Ma`, `{"name":"B","address":{"street":"Ma"}}`},
		{s.Profile, `{"name":"B","address":{"street":"Ma","zip":1`, `{"name":"B","address":{"street":"Ma"}}`},
		{s.Profile, `{"name":"B","address":{"street":"Ma","zip":1}`, `{"name":"B","address":{"street":"Ma","zip":1}}`},
		{s.Note, `{"level":"Low","text`, `{"level":"low"}`},
		{s.Note, `{"level":"low","text"`, `{"level":"low"}`},
		{s.Note, `{"level":"low","text":nul`, `{"level":"low"}`},
		{s.Note, `{"level":"low","text":null`, `{"level":"low"}`}, // null may be the beginning of a word
		{s.Note, `{"level":"low","text":null,`, `{"level":"low","text":null}`},
		{s.Shape, `{"radius":1.5,`, `null`},
		{s.Shape, `{"type":"Circle","radius":1.5`, `{"type":"Circle"}`},
		{generable.ListOfType(generable.FloatT), `[1, 2`, `[1.0]`},
		{generable.ListOfType(generable.BoolT), `[true, fal`, `[true]`},
		{nil, `{"a":"x\`, `{"a":"x"}`},
		{nil, `{"a":"x\ud83d`, `{"a":"x"}`},
		{nil, "{\"a\":\"x\xc3", `{"a":"x"}`},
		{generable.StrT, "Hello", `"Hello"`},
		{generable.StrT, "<think>so", `null`},
		{generable.IntT, "4", `null`},
	} {
		m := NewMachine(row.typ, generable.Options{})
		m.Feed(row.text)
		if got := generable.JSON(m.Snapshot(), nil); got != row.want {
			t.Errorf("%s: got %s, want %s", row.text, got, row.want)
		}
	}
}

// TestRandomChunks cuts typed documents at random and requires the same result each time.
func TestRandomChunks(t *testing.T) {
	text, typ := catalogue(t, 12)
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, text := range []string{text, broken(text), "Here: ```json\n" + text + "\n``` bye"} {
		want := render(Decode(typ, text, generable.Options{OnBadItem: generable.ItemDrop}))
		for range 20 {
			m := NewMachine(typ, generable.Options{OnBadItem: generable.ItemDrop})
			for rest := text; rest != ""; {
				n := min(1+rnd.IntN(1+rnd.IntN(200)), len(rest))
				m.Feed(rest[:n])
				rest = rest[n:]
			}
			if got := render(m.Close()); got != want {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
}

// TestResultsOutliveFeeding requires that further feeding does not affect values that were returned before.
func TestResultsOutliveFeeding(t *testing.T) {
	m := NewMachine(nil, generable.Options{})
	m.Feed(`{"a": "first", "b": "`)
	before := m.Snapshot()
	text := generable.JSON(before, nil)
	for range 1000 {
		m.Feed("more and more ")
	}
	if got := generable.JSON(before, nil); got != text {
		t.Errorf("a snapshot changed: %s", got)
	}
}
