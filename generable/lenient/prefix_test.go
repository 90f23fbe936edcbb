package lenient

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/gentest"
)

// The rule for what is known of a text: a snapshot of a stream is the reading of its prefix as a text that was cut
// off.

// prefixDoc is a document that is read at each byte.
type prefixDoc struct {
	kind string // its kind, or what is broken in it
	typ  *generable.Type
	text string
	o    generable.Options
}

// longestPrefixDoc bounds the documents: each is read as often as it has bytes.
const longestPrefixDoc = 600

// prefixDocs returns all texts of the two corpora, n values of random types and malformed documents.
func prefixDocs(t *testing.T, n int) []prefixDoc {
	var out []prefixDoc
	add := func(kind string, typ *generable.Type, text string, o generable.Options) {
		if len(text) <= longestPrefixDoc {
			out = append(out, prefixDoc{kind, typ, text, o})
		}
	}
	for _, row := range readCorpus(t, "testdata/typed/*.jsonl") {
		for _, level := range row.levels() {
			add(row.Rule+"/"+row.Name, typeOf(t, row.Type), row.Input, generable.Options{Level: level})
		}
	}
	files, err := filepath.Glob("testdata/corpus/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, row := range readRepairRows(t, file) {
			add(row.Rule+"/"+row.Name, generable.AnyT, row.Input, generable.Options{})
		}
	}
	for seed := range int64(n) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		typ := g.Typ(3)
		add("valid", typ, generable.JSON(g.Value(typ, 4), typ), generable.Options{})
	}
	kinds := slices.Concat(malformations, structured)
	rnd := rand.New(rand.NewPCG(11, 12))
	for seed := range uint64(n) {
		some := []malformation{kinds[int(seed)%len(kinds)]}
		if seed%3 == 0 {
			some = append(some, kinds[rnd.IntN(len(kinds))])
		}
		if d, name := malformed(seed, some...); d != nil {
			typ := generable.AnyT
			if seed%4 > 0 {
				typ = typeOfValue(d.value, 0)
			}
			add(name, typ, d.text(), generable.Options{})
		}
	}
	if testing.Short() { // every fifth, of all kinds
		for i := range len(out) / 5 {
			out[i] = out[5*i+i%5]
		}
		out = out[:len(out)/5]
	}
	return out
}

// mostByTheEnd is the maximum per thousand of documents where, at some byte, the text after the value changes it if
// the text ends there: {"a": 1} and then "b".
const mostByTheEnd = 25

// TestSnapshotsAreReadings checks at each byte of each document that the snapshot of the stream is what the text so
// far is read as if it was cut off there. If no value is open, the text may have ended: then the reading is that of a
// whole text. A snapshot shows nothing of a text without brackets, as it may continue.
func TestSnapshotsAreReadings(t *testing.T) {
	docs := prefixDocs(t, 700)
	byTheEnd, bytes := map[string]bool{}, 0
	for _, d := range docs {
		cut := d.o
		cut.Partial = true
		m, skipped := NewMachine(d.typ, d.o), NewMachine(d.typ, d.o)
		for i := range len(d.text) {
			bytes++
			prefix := d.text[:i+1]
			m.Feed(d.text[i : i+1])
			now := m.Snapshot()
			r := Decode(d.typ, prefix, cut)
			read := r.Value
			if !r.OK {
				read = r.Partial
			}
			open := len(m.scan.Stack) > 0
			if got, want := generable.JSON(now, nil), generable.JSON(read, nil); got != want || !generable.Equal(now, read) {
				lacks := open && now.IsNull() && r.Start < strings.IndexAny(prefix, "{[") // its first bracket
				switch {
				case lacks && generable.JSON(Decode(d.typ, "{"+prefix[r.Start:], cut).Value, nil) == want:
				case open:
					t.Errorf("%s: %s %q\nsnapshot %s\nreading  %s", d.kind, d.typ, prefix, got, want)
				case !now.IsNull():
					byTheEnd[d.text] = true
				}
			}
			if i%7 == 6 { // a snapshot shows the same if the text came in pieces
				skipped.Feed(d.text[len(skipped.src) : i+1])
				if other := skipped.Snapshot(); !generable.Equal(other, now) {
					t.Errorf("%s: %s %q\nbyte by byte %s\nin pieces    %s", d.kind, d.typ, prefix, generable.JSON(now, nil), generable.JSON(other, nil))
				}
			}
		}
	}
	t.Logf("%d documents, %d bytes; the end decides %d", len(docs), bytes, len(byTheEnd))
	if most := len(docs)*mostByTheEnd/1000 + 1; len(byTheEnd) > most { // one more, as -short takes a sample
		t.Errorf("the end decides %d of %d", len(byTheEnd), len(docs))
	}
}

// completeOf lists the paths that a stream reports as complete, with their values.
func completeOf(s *Stream, path string, v generable.Value, into map[string]generable.Value) {
	if _, ok := into[path]; ok {
		return
	}
	if s.State(path) == Complete {
		into[path] = v
	}
	if l, ok := v.AsList(); ok {
		for i := range l.Len() {
			completeOf(s, fmt.Sprintf("%s[%d]", path, i), l.At(i), into)
		}
	}
	if m, ok := v.AsMap(); ok {
		for i := range m.Len() {
			k, item := m.At(i)
			completeOf(s, path+message.KeyPath(k), item, into)
		}
	}
}

// TestCompleteIsFinal checks at each byte that what a stream reports as complete is in the result as it was shown,
// unless the stream reported a reset. That is rare, and never happens for a valid document.
func TestCompleteIsFinal(t *testing.T) {
	docs := prefixDocs(t, 700)
	rnd := rand.New(rand.NewPCG(5, 6))
	void := 0
	for _, d := range docs {
		if d.typ.Deref().Kind == generable.StrType {
			continue // it is not complete before the end
		}
		complete, resets := map[string]generable.Value{}, 0
		s := NewStream(d.typ, StreamOptions{Options: d.o, On: func(e *StreamEvent) {
			if e.Kind == StreamReset {
				resets++
				clear(complete)
			}
		}})
		for i := 0; i < len(d.text); {
			n := min(1+rnd.IntN(3)/2, len(d.text)-i)
			s.Feed(d.text[i : i+n])
			i += n
			completeOf(s, "", s.Snapshot(), complete)
		}
		r := s.Close()
		whole := Decode(d.typ, d.text, d.o)
		if r.Visits = whole.Visits; render(r) != render(whole) {
			t.Errorf("%s: %s %q\nin pieces %s\nat once   %s", d.kind, d.typ, d.text, render(r), render(whole))
		}
		if resets > 0 {
			void++
			if d.kind == "valid" {
				t.Errorf("%s %q: %d resets", d.typ, d.text, resets)
			}
		}
		for path, v := range complete {
			final, ok := lookup(r.Value, path)
			if i := strings.LastIndexByte(path, '.'); !ok && i >= 0 { // the tag of a variant
				of, _ := lookup(r.Value, path[:i])
				rec, is := of.AsRecord()
				ok = is && generable.Equal(v, generable.StrOf(rec.Type().Name))
				final = v
			}
			if r.OK && (!ok || !generable.Equal(v, final)) && !(path == "" && keeps(v, final, false)) {
				t.Errorf("%s: %s %q\n%q was complete as %s\nin the end it is %s", d.kind, d.typ, d.text, path, generable.JSON(v, nil), generable.JSON(final, nil))
			}
		}
	}
	t.Logf("%d documents, of which %d were void at some byte", len(docs), void)
	if void*100 > len(docs)*8 {
		t.Errorf("%d of %d were void at some byte", void, len(docs))
	}
}
