package lenient

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
	"github.com/agentscript/agentscript/internal/text"
)

// checkDecodeRoundTrip checks that the JSON of a value of any type decodes to that value, at every level, without a
// repair.
func checkDecodeRoundTrip(g *gentest.Generator) error {
	typ := g.Typ(4)
	v := g.Value(typ, 5)
	if typ.Kind == generable.StrType {
		return nil // a text is taken verbatim
	}
	text := generable.JSON(v, typ)
	for _, level := range []generable.Level{generable.Safe, generable.Strict, generable.Loose} {
		r := Decode(typ, text, generable.Options{Level: level})
		if !r.OK {
			return fmt.Errorf("%s: %s at level %d: %v", typ, text, level, r.Errors)
		}
		if !generable.Equal(r.Value, v) {
			return fmt.Errorf("%s: %s came back as %s at level %d", typ, text, generable.JSON(r.Value, typ), level)
		}
		if len(r.Repairs) > 0 {
			return fmt.Errorf("%s: %s at level %d repaired: %v", typ, text, level, r.Repairs)
		}
	}
	return nil
}

// checkDecodeAnything checks that every decoded value has the type, that the decoder accepts everything that
// constructors accept, and that errors are complete.
func checkDecodeAnything(g *gentest.Generator) error {
	typ := g.Typ(4)
	v := g.Mutate(generable.Plain(g.Value(typ, 4), typ))
	text := generable.JSON(v, nil)
	for _, o := range []generable.Options{{}, {Level: generable.Strict}, {Level: generable.Loose}, {OnBadItem: generable.ItemDrop}} {
		r := Decode(typ, text, o)
		if r.OK {
			if bad := typ.Conforms(r.Value); bad != nil {
				return fmt.Errorf("%s: %s decoded to %s (%v): %v", typ, text, generable.JSON(r.Value, typ), o, bad)
			}
			continue
		}
		if len(r.Errors) == 0 || r.Complaint() == "" {
			return fmt.Errorf("%s: %s: no error (%v)", typ, text, o)
		}
		for _, e := range r.Errors {
			if e.Expected == "" || e.Got == "" || e.Line == 0 || e.Col == 0 {
				return fmt.Errorf("%s: %s: incomplete error %+v", typ, text, e)
			}
		}
	}
	return nil
}

// checkTypedSnapshots checks that typed snapshots only grow.
func checkTypedSnapshots(g *gentest.Generator) error {
	typ := g.Typ(3)
	text := generable.JSON(g.Value(typ, 4), typ)
	m := NewMachine(typ, generable.Options{})
	last := generable.Value{}
	for i := range len(text) {
		m.Feed(text[i : i+1])
		now := m.Snapshot()
		if !grows(last, now) {
			return fmt.Errorf("%s: %q:\nfirst %s\nthen  %s", typ, text[:i+1], generable.JSON(last, nil), generable.JSON(now, nil))
		}
		last = now
	}
	if r := m.Close(); !grows(last, r.Value) {
		return fmt.Errorf("%s: %s:\nlast  %s\nfinal %s", typ, text, generable.JSON(last, nil), generable.JSON(r.Value, nil))
	}
	return nil
}

func TestDecodeRoundTrip(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		if err := checkDecodeRoundTrip(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestDecodeAnything(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Any = seed%2 == 0
		if err := checkDecodeAnything(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestRootStrings checks that a text that is one JSON string is that string, whatever it contains.
func TestRootStrings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	for range gentest.Rounds() {
		want := strings.ToValidUTF8(randomTokens(rnd), "?")
		text := text.Quote(want)
		for _, typ := range []*generable.Type{nil, generable.StrT} {
			for _, level := range []generable.Level{generable.Safe, generable.Strict, generable.Loose} {
				r := Decode(typ, text, generable.Options{Level: level})
				if got, _ := r.Value.AsStr(); !r.OK || got != want || len(r.Repairs) > 0 {
					t.Fatalf("%s at level %d: %s", text, level, render(r))
				}
			}
		}
	}
}

func TestTypedSnapshots(t *testing.T) {
	for seed := range int64(gentest.Rounds() / 10) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		if err := checkTypedSnapshots(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// FuzzDecodeTyped decodes arbitrary text into arbitrary types.
func FuzzDecodeTyped(f *testing.F) {
	for i, text := range corpus {
		f.Add(text, int64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, seed int64, how uint8) {
		g := gentest.NewGenerator(seed)
		typ := g.Typ(4)
		o := generable.Options{Level: generable.Level(how % 3), Pick: generable.Pick(how / 3 % 4), OnBadItem: generable.BadItem(how / 12 % 3), ExtraKeys: generable.ExtraKeys(how / 36 % 3)}
		r := Decode(typ, text, o)
		if r.OK == (len(r.Errors) > 0) {
			t.Errorf("OK %v with errors %v", r.OK, r.Errors)
		}
		if r.OK && o.OnBadItem != generable.ItemKeep {
			if errs := typ.Conforms(r.Value); len(errs) > 0 {
				t.Errorf("%s: %s does not have its type: %v", typ, generable.JSON(r.Value, typ), errs)
			}
		}
		m := NewMachine(typ, o)
		for i := range len(text) {
			m.Feed(text[i : i+1])
		}
		m.Snapshot()
		if got := m.Close(); render(got) != render(r) {
			t.Errorf("in pieces:\n%s\nat once:\n%s", render(got), render(r))
		}
	})
}

// TestPartialGrows checks that what is known of a truncated text only grows with the text.
func TestPartialGrows(t *testing.T) {
	for seed := range int64(gentest.Rounds() / 20) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		typ := g.Schema(3, "") // a scalar alone has no end
		text := generable.JSON(g.Value(typ, 4), typ)
		last := generable.Value{}
		for i := range len(text) + 1 {
			r := Decode(typ, text[:i], generable.Options{Partial: true})
			now := r.Value
			if !r.OK {
				now = last // nothing is known yet, or no more than before
			}
			if !grows(last, now) {
				t.Fatalf("seed %d: %s: %q:\nfirst %s\nthen  %s", seed, typ, text[:i], generable.JSON(last, nil), generable.JSON(now, nil))
			}
			last = now
		}
	}
}

// TestAnnouncedObjects checks that an object after a word and a colon is the value, whatever brackets its strings
// contain.
func TestAnnouncedObjects(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 7))
	for range gentest.Rounds() {
		m := generable.NewMap(0)
		for i := range 1 + rnd.IntN(4) {
			m.Set("k"+strconv.Itoa(i), generable.StrOf(strings.ToValidUTF8(randomTokens(rnd), "?")))
		}
		for _, before := range []string{"Here:\n", "Here: ", "Here it is: "} {
			text := before + generable.JSON(m.Value(), nil)
			if r := Decode(nil, text, generable.Options{}); !r.OK || !generable.Equal(r.Value, m.Value()) || r.Cost > 0 {
				t.Fatalf("%s: %s", text, render(r))
			}
		}
	}
}
