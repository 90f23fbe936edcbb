package lenient

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// malformed makes a document with malformations, and names them. It returns nil when one of them cannot be applied.
func malformed(seed uint64, kinds ...malformation) (*document, string) {
	d := newDocument(rand.New(rand.NewPCG(seed, 7)))
	var names []string
	for _, k := range kinds {
		if !k.apply(d) {
			return nil, ""
		}
		names = append(names, k.name)
	}
	if json.Valid([]byte(d.text())) && d.front+d.back == "" {
		return nil, "" // the two faults make another document
	}
	return d, strings.Join(names, " + ")
}

// tally counts how documents are read, and collects misread ones by the names of their malformations.
type tally struct {
	total, wrong int
	misread      map[string][]string
	silent       []string // misread with ok and without a cost
}

// read checks that a document is read the same in pieces, and counts whether it is read as the value that it
// represents.
func (c *tally) read(t *testing.T, d *document, name string) {
	t.Helper()
	c.total++
	text := d.text()
	typ := typeOfValue(d.value, 0)
	for _, typ := range []*generable.Type{nil, typ} {
		r := Decode(typ, text, generable.Options{})
		m := NewMachine(typ, generable.Options{})
		for rest := text; rest != ""; {
			n := min(1+d.IntN(9), len(rest))
			m.Feed(rest[:n])
			rest = rest[n:]
		}
		if got := m.Close(); render(got) != render(r) {
			t.Errorf("%s: %q in pieces:\n%s\nas a whole:\n%s", name, text, render(got), render(r))
		}
		if r.OK && generable.JSON(r.Value, nil) == generable.JSON(d.value, nil) {
			continue
		}
		c.wrong++
		if c.misread == nil {
			c.misread = map[string][]string{}
		}
		shown := fmt.Sprintf("%s: %q\nwant %s\ngot  %s %v\n", name, text, generable.JSON(d.value, nil), generable.JSON(r.Value, nil), r.Errors)
		c.misread[name] = append(c.misread[name], shown)
		if r.OK && r.Cost == 0 {
			c.silent = append(c.silent, shown)
		}
		return
	}
}

// most fails when more than perMille of a thousand documents are misread, or one is misread with OK and without a
// cost. It shows the shortest example of each name.
func (c *tally) most(t *testing.T, perMille int) {
	t.Helper()
	t.Logf("%d of %d misread, %d of them without a cost", c.wrong, c.total, len(c.silent))
	if c.wrong*1000 > c.total*perMille {
		t.Errorf("%d of %d misread, want %d in a thousand at most", c.wrong, c.total, perMille)
		for _, name := range slices.Sorted(maps.Keys(c.misread)) {
			l := c.misread[name]
			t.Logf("%d of %s", len(l), slices.MinFunc(l, func(a, b string) int { return len(a) - len(b) }))
		}
	}
	if len(c.silent) > 0 {
		t.Errorf("%d misread without a cost:\n%s", len(c.silent), strings.Join(c.silent, ""))
	}
}

// Promise 28.18 (reading): of generated malformations, at most 0.3 % of single ones and 1 % of pairs are misread, and
// no wrong value is reported as ok with cost 0.
func TestPromise_28_18_Malformations(t *testing.T) {
	singles, pairs := uint64(80), uint64(3)
	if testing.Short() {
		singles, pairs = 20, 1
	}
	all := slices.Concat(malformations, structured)
	var one, two tally
	for i, a := range all {
		for seed := range singles {
			if d, name := malformed(seed*1000+uint64(i), a); d != nil {
				one.read(t, d, name)
			}
		}
		for j, b := range all {
			for seed := range pairs {
				if seed += uint64(i*1000 + j); testing.Short() && (i+j)%3 > 0 || i == j {
					continue
				}
				if d, name := malformed(seed<<20, a, b); d != nil {
					two.read(t, d, name)
				}
			}
		}
	}
	one.most(t, 3)
	two.most(t, 10)
}

// typeOfValue returns a type that the value has, as specific as a schema would be.
func typeOfValue(v generable.Value, depth int) *generable.Type {
	switch v.Kind() {
	case generable.Bool:
		return generable.BoolT
	case generable.Int:
		return generable.IntT
	case generable.Float:
		return generable.FloatT
	case generable.Str:
		return generable.StrT
	case generable.ListKind:
		l, _ := v.AsList()
		elem := typeOfValue(l.At(0), depth+1)
		for i := range l.Len() {
			if t := typeOfValue(l.At(i), depth+1); t.String() != elem.String() || t.Kind == generable.RecordType {
				return generable.ListOfType(generable.AnyT)
			}
		}
		return generable.ListOfType(elem)
	case generable.MapKind:
		m, _ := v.AsMap()
		var fields []generable.Field
		for i := range m.Len() {
			key, item := m.At(i)
			fields = append(fields, generable.Field{Name: key, Type: typeOfValue(item, depth+1)})
		}
		t, errs := generable.NewSchema("Document", "", fields)
		if len(errs) > 0 {
			return generable.AnyT
		}
		return t
	}
	return generable.AnyT
}
