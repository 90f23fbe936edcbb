package lenient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// catalogue makes an indented document of n items and the type that describes it: strings with escapes and other
// scripts, floats, big integers, nested lists and objects.
func catalogue(t testing.TB, n int) (string, *generable.Type) {
	m := gentest.Must(t)
	severity := m(generable.NewEnum("Severity", "", []string{"low", "medium", "high"}))
	span := m(generable.NewSchema("Span", "", []generable.Field{{Name: "from", Type: generable.IntT}, {Name: "to", Type: generable.IntT}}))
	item := m(generable.NewSchema("Item", "", []generable.Field{
		{Name: "id", Type: generable.IntT}, {Name: "title", Type: generable.StrT}, {Name: "severity", Type: severity},
		{Name: "score", Type: generable.FloatT}, {Name: "done", Type: generable.BoolT}, {Name: "note", Type: generable.OneOf(generable.StrT, generable.NoneT)},
		{Name: "tags", Type: generable.ListOfType(generable.StrT)}, {Name: "span", Type: span},
	}))
	doc := m(generable.NewSchema("Catalogue", "", []generable.Field{{Name: "name", Type: generable.StrT}, {Name: "items", Type: generable.ListOfType(item)}}))
	var b strings.Builder
	b.WriteString("{\n  \"name\": \"Überblick \\\"A\\\"\",\n  \"items\": [\n")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `    {
      "id": %d,
      "title": "Item %d says \"quoted\" things about naïve cafés, and more than that",
      "severity": "%s",
      "score": 0.%d,
      "done": %t,
      "note": null,
      "tags": ["alpha", "beta-%d", "γάμμα"],
      "span": {"from": %d, "to": %d}
    }`, 1<<40+i, i, severity.Values[i%3], 151+i, i%2 == 0, i, i*10, i*10+7)
	}
	b.WriteString("\n  ]\n}\n")
	return b.String(), doc
}

// broken unquotes the keys of a catalogue, adds trailing commas and comments, and truncates it.
func broken(text string) string {
	text = strings.ReplaceAll(text, `"id":`, `id:`)
	text = strings.ReplaceAll(text, `"tags":`, `tags:`)
	text = strings.ReplaceAll(text, "7}\n", "7,},\n")
	text = strings.ReplaceAll(text, `"note": null`, `"note": None // nothing`+"\n     ")
	text = strings.ReplaceAll(text, "None // nothing\n     ,", "None, // nothing\n     ")
	return text[:len(text)*97/100]
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []struct {
		name  string
		items int
	}{{"2KB", 6}, {"160KB", 560}} {
		text, typ := catalogue(b, size.items)
		run := func(name string, f func()) {
			b.Run(name+"/"+size.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		good := func(r Result) {
			if !r.OK {
				b.Fatal(r.Errors)
			}
		}
		raw := []byte(text)
		run("encoding-json-any", func() {
			var x any
			if err := json.Unmarshal(raw, &x); err != nil {
				b.Fatal(err)
			}
		})
		run("clean-typed", func() { good(Decode(typ, text, generable.Options{})) })
		run("clean-any", func() { good(Decode(nil, text, generable.Options{})) })
		fenced := "Here is {this} as asked [1]:\n```json\n" + text + "```\nHope it helps!"
		run("fenced-typed", func() { good(Decode(typ, fenced, generable.Options{})) })
		cut := broken(text)
		run("broken-typed-loose", func() { good(Decode(typ, cut, generable.Options{OnBadItem: generable.ItemDrop})) })
		run("stream-4-bytes", func() {
			m := NewMachine(typ, generable.Options{})
			for i := 0; i < len(text); i += 4 {
				m.Feed(text[i:min(i+4, len(text))])
			}
			good(m.Close())
		})
		run("stream-4-bytes-events", func() {
			n := 0
			s := NewStream(typ, StreamOptions{MinText: 32, On: func(*StreamEvent) { n++ }})
			for i := 0; i < len(text); i += 4 {
				s.Feed(text[i:min(i+4, len(text))])
			}
			good(s.Close())
		})
		run("stream-4-bytes-events-snapshots", func() {
			s := NewStream(typ, StreamOptions{On: func(*StreamEvent) {}})
			for i := 0; i < len(text); i += 4 {
				s.Feed(text[i:min(i+4, len(text))])
				s.Snapshot()
			}
			good(s.Close())
		})
	}
	brackets := strings.Repeat("[", 10<<20)
	b.Run("brackets-10MB", func(b *testing.B) {
		b.SetBytes(int64(len(brackets)))
		for b.Loop() {
			Decode(nil, brackets, generable.Options{})
		}
	})
}

// TestBroken160KB requires every item of a long broken document except the one that was cut off.
func TestBroken160KB(t *testing.T) {
	text, typ := catalogue(t, 560)
	clean := Decode(typ, text, generable.Options{})
	if !clean.OK {
		t.Fatal(clean.Errors)
	}
	r := Decode(typ, broken(text), generable.Options{OnBadItem: generable.ItemDrop})
	if !r.OK {
		t.Fatal(r.Errors)
	}
	items := func(r Result) *generable.List {
		rec, _ := r.Value.AsRecord()
		v, _ := rec.Get("items")
		l, _ := v.AsList()
		return l
	}
	got, want := items(r), items(clean)
	if got.Len() < want.Len()*96/100 {
		t.Fatalf("%d of %d items", got.Len(), want.Len())
	}
	for i := range got.Len() - 1 {
		if !generable.Equal(got.At(i), want.At(i)) {
			t.Fatalf("item %d: %s", i, generable.JSON(got.At(i), nil))
		}
	}
}
