package lenient

import (
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// TestRowsGrow requires that consecutive rows form a growing list, even if there are many and they have more keys
// than their schema: nothing shown is taken back where a list is wanted.
func TestRowsGrow(t *testing.T) {
	row := gentest.Must(t)(generable.NewSchema("Row", "", []generable.Field{{Name: "id", Type: generable.IntT}, {Name: "text", Type: generable.StrT}}))
	text := strings.Repeat("{\"id\": 1, \"more\": [2], \"text\": \"a\"}\n", 60)
	for _, typ := range []*generable.Type{generable.ListOfType(row), generable.AnyT} {
		resets, most := 0, 0
		s := NewStream(typ, StreamOptions{On: func(e *StreamEvent) {
			if e.Kind == StreamReset {
				resets++
			}
		}})
		for i := range len(text) {
			s.Feed(text[i : i+1])
			if l, ok := s.Snapshot().AsList(); ok {
				if l.Len() < most {
					t.Fatalf("%s: %d rows after %d at %d", typ, l.Len(), most, i)
				}
				most = l.Len()
			}
		}
		r := s.Close()
		if l, ok := r.Value.AsList(); !ok || l.Len() != 60 || most < 59 {
			t.Errorf("%s: %s; %d rows were shown", typ, render(r), most)
		}
		if typ != generable.AnyT && resets > 0 {
			t.Errorf("%d resets", resets)
		}
	}
}

// TestRowsAreKept requires all rows, however much the items must be coerced: a single row needs fewer coercions, but
// loses the others.
func TestRowsAreKept(t *testing.T) {
	row := gentest.Must(t)(generable.NewSchema("Row", "", []generable.Field{{Name: "id", Type: generable.IntT}, {Name: "text", Type: generable.StrT}}))
	for _, text := range []string{
		strings.Repeat("{\"id\": 1, \"more\": [2], \"text\": \"a\"}\n", 4),
		"{\"ID\": \"1\", \"Text\": \"a\", \"b\": 1, \"c\": 2}\n{\"ID\": \"1\", \"Text\": \"b\", \"b\": 1, \"c\": 2}\n{\"id\": 3, \"text\": \"c\"}",
	} {
		r := Decode(generable.ListOfType(row), text, generable.Options{})
		if l, ok := r.Value.AsList(); !ok || l.Len() != strings.Count(strings.TrimSpace(text), "\n")+1 {
			t.Errorf("%q: %s", text, render(r))
		}
	}
}

// TestRowsAreLinear requires that the memory per row does not grow with their number.
func TestRowsAreLinear(t *testing.T) {
	row := gentest.Must(t)(generable.NewSchema("Row", "", []generable.Field{{Name: "id", Type: generable.IntT}}))
	cost := func(n int) uint64 {
		s := NewStream(generable.ListOfType(row), StreamOptions{On: func(*StreamEvent) {}})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			s.Feed("{\"id\": 12}\n")
			s.Snapshot()
		}
		runtime.ReadMemStats(&after)
		if r := s.Close(); !r.OK {
			t.Fatal(r.Errors)
		}
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	if few, many := cost(500), cost(8000); many > 2*few {
		t.Errorf("a row takes %d bytes among 500, %d among 8000", few, many)
	}
}
