package sample_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/generable/sample"
	"github.com/agentscript/agentscript/internal/gentest"
)

// Every value conforms to its type, and decodes from its JSON without repairs.
func TestValuesConform(t *testing.T) {
	g := gentest.NewGenerator(1)
	g.Wire = true
	for i := range gentest.Rounds() {
		typ := g.Schema(1+i%3, "")
		m := sample.New(uint64(i))
		for range 3 {
			v, err := m.Value(typ, "it")
			if err != nil {
				t.Fatalf("%s: %v", typ.JSONSchema(), err)
			}
			if errs := typ.Conforms(v); errs != nil {
				t.Fatalf("%s: %s: %v", typ.JSONSchema(), generable.JSON(v, typ), errs)
			}
			text := generable.JSON(v, typ)
			read := lenient.Decode(typ, text, generable.Options{Level: generable.Strict})
			if !read.OK || !generable.Equal(read.Value, v) {
				t.Fatalf("%s: %s reads as %s: %v", typ.JSONSchema(), text, generable.JSON(read.Value, typ), read.Errors)
			}
			if len(text) > 100_000 {
				t.Fatalf("%d bytes", len(text))
			}
		}
	}
}

func f(x float64) *float64 { return &x }
func n(x int) *int         { return &x }

func even(v generable.Value) bool { i, _ := v.AsInt(); return i%2 == 0 }

// Limits hold, alone and together.
func TestLimits(t *testing.T) {
	list := generable.ListOfType
	enum, _ := generable.NewEnum("Level", "", []string{"low", "high"})
	for _, row := range []struct {
		t *generable.Type
		l generable.Limits
	}{
		{generable.IntT, generable.Limits{Ge: f(5), Le: f(5)}},
		{generable.IntT, generable.Limits{Gt: f(4.5), Lt: f(5.5)}},
		{generable.IntT, generable.Limits{Ge: f(1e15)}},
		{generable.IntT, generable.Limits{Lt: f(-1e15)}},
		{generable.IntT, generable.Limits{MultipleOf: f(7), Gt: f(7), Lt: f(15)}},
		{generable.IntT, generable.Limits{MultipleOf: f(1000), Ge: f(1)}},
		{generable.IntT, generable.Limits{Check: &generable.Check{Says: "an even number", Holds: even}}},
		{generable.FloatT, generable.Limits{Gt: f(0), Lt: f(0.001)}},
		{generable.FloatT, generable.Limits{Ge: f(0), Le: f(1)}},
		{generable.FloatT, generable.Limits{MultipleOf: f(0.07), Ge: f(0.01), Le: f(0.08)}},
		{generable.StrT, generable.Limits{MinLen: n(3), MaxLen: n(3)}},
		{generable.StrT, generable.Limits{MinLen: n(500)}},
		{generable.StrT, generable.Limits{MaxLen: n(0)}},
		{generable.StrT, generable.Limits{Pattern: `^[A-Z]{2}-\d{4}$`}},
		{generable.StrT, generable.Limits{Pattern: `^(foo|bar)+[^a-z]?\b.*\.go$`}},
		{generable.StrT, generable.Limits{Pattern: `^[a-z]+$`, MinLen: n(40), MaxLen: n(60)}},
		{generable.StrT, generable.Limits{Pattern: `^\w+( \w+)*$`, MinLen: n(10), MaxLen: n(20)}},
		{generable.StrT, generable.Limits{Pattern: `(?i)error`, MinLen: n(30)}},
		{generable.StrT, generable.Limits{Pattern: `^\p{Greek}{3}$`}},
		{generable.StrT, generable.Limits{Pattern: `^[^\x00-\x7f]$`}},
		{generable.StrT, generable.Limits{Pattern: `^.{3,}@x$`, Format: "", MaxLen: n(8)}},
		{generable.StrT, generable.Limits{Pattern: `^https://`, Format: "uri"}},
		{generable.IntT, generable.Limits{Check: &generable.Check{Says: "42", Holds: func(v generable.Value) bool { i, _ := v.AsInt(); return i == 42 },
			Hints: func() []generable.Limits {
				return []generable.Limits{{Ge: f(50)}, {Only: generable.NewList([]generable.Value{generable.IntOf(42)})}}
			}}}},
		{generable.StrT, generable.Limits{Check: &generable.Check{Says: "one word", Holds: func(v generable.Value) bool { s, _ := v.AsStr(); return !strings.Contains(s, " ") }}}},
		{list(generable.IntT), generable.Limits{MinLen: n(5), MaxLen: n(5)}},
		{list(generable.BoolT), generable.Limits{MinLen: n(2), Unique: true}},
		{list(enum), generable.Limits{Unique: true, MaxLen: n(2)}},
		{generable.DictOfType(generable.StrT), generable.Limits{MinLen: n(3)}},
		{generable.OneOf(generable.IntT, generable.NoneT), generable.Limits{Ge: f(10), Le: f(11)}},
		{generable.StrT, generable.Limits{Only: generable.NewList([]generable.Value{generable.StrOf("a"), generable.StrOf("b")})}},
	} {
		typ, errs := generable.NewSchema("S", "", []generable.Field{{Name: "x", Type: row.t, Limits: &row.l}})
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for seed := range uint64(20) {
			m := sample.New(seed)
			for range 3 {
				v, err := m.Value(typ, "it")
				if err != nil {
					t.Errorf("%s: %v", typ.JSONSchema(), err)
				} else if errs := typ.Conforms(v); errs != nil {
					t.Errorf("%s: %v", typ.JSONSchema(), errs)
				}
			}
		}
	}
	for _, name := range generable.FormatNames() {
		typ, _ := generable.Limited(generable.StrT, generable.Limits{Format: name})
		for seed := range uint64(50) {
			if _, err := sample.New(seed).Value(typ, "it"); err != nil {
				t.Error(err)
			}
		}
	}
}

// The error for limits that cannot be satisfied names the field and the limit.
func TestNoValue(t *testing.T) {
	never := &generable.Check{Says: "a prime over a million", Holds: func(generable.Value) bool { return false }}
	item, _ := generable.NewSchema("Item", "", []generable.Field{{Name: "price", Type: generable.IntT, Limits: &generable.Limits{Check: never}}})
	order, _ := generable.NewSchema("Order", "", []generable.Field{{Name: "items", Type: generable.ListOfType(item)}})
	self := generable.RefTo("Loop")
	loop, _ := generable.NewSchema("Loop", "", []generable.Field{{Name: "next", Type: self}})
	self.Bind(loop)
	nothing, _ := generable.Limited(generable.StrT, generable.Limits{Pattern: `[^\x00-\x{10FFFF}]`})
	short, _ := generable.Limited(generable.StrT, generable.Limits{Pattern: `^[a-z]{9}$`, MaxLen: n(3)})
	for _, row := range []struct {
		t    *generable.Type
		want string
	}{
		{order, "items[0].price of the answer: of 200 values none was a prime over a million"},
		{loop, "the answer: no value of Loop ends"},
		{nothing, "no text is made for the pattern"},
		{short, "at most 3 characters"},
	} {
		if v, err := sample.New(1).Value(row.t, "the answer"); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s, %v, want %q", generable.JSON(v, nil), err, row.want)
		}
	}
}

// Alternatives come in turn, also in nested types; texts name what they belong to; a seed changes the start.
func TestTurns(t *testing.T) {
	yes, _ := generable.NewSchema("Yes", "", nil)
	no, _ := generable.NewSchema("No", "", []generable.Field{{Name: "why", Type: generable.StrT}})
	verdict, _ := generable.NewUnion("Verdict", "", "", []*generable.Type{yes, no})
	level, _ := generable.NewEnum("Level", "", []string{"low", "mid", "high"})
	typ, _ := generable.NewSchema("S", "", []generable.Field{{Name: "v", Type: verdict}, {Name: "levels", Type: generable.ListOfType(level)},
		{Name: "b", Type: generable.BoolT}, {Name: "maybe", Type: generable.OneOf(generable.StrT, generable.NoneT)}, {Name: "e", Type: generable.StrT, Examples: []generable.Value{generable.StrOf("as shown")}}})
	show := func(seed uint64) (all []string) {
		m := sample.New(seed)
		for range 4 {
			v, err := m.Value(typ, "critic")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, generable.JSON(v, typ))
		}
		return all
	}
	want := []string{
		`{"v":{"type":"Yes"},"levels":["low","mid"],"b":true,"maybe":"[mock] maybe of critic","e":"as shown"}`,
		`{"v":{"type":"No","why":"[mock] v.why of critic"},"levels":["high","low","mid"],"b":false,"maybe":null,"e":"as shown"}`,
		`{"v":{"type":"Yes"},"levels":["high"],"b":true,"maybe":"[mock] maybe of critic 2","e":"as shown"}`,
		`{"v":{"type":"No","why":"[mock] v.why of critic 2"},"levels":["low","mid"],"b":false,"maybe":null,"e":"as shown"}`,
	}
	if got := show(0); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := show(1); got[0][:18] != `{"v":{"type":"No",` || !slices.Equal(got, show(1)) {
		t.Errorf("with a seed:\n%s", strings.Join(got, "\n"))
	}
}

// Values of a recursive type are finite, and bounded in size.
func TestRecursion(t *testing.T) {
	self := generable.RefTo("Section")
	section, _ := generable.NewSchema("Section", "", []generable.Field{{Name: "title", Type: generable.StrT},
		{Name: "parts", Type: generable.ListOfType(self)}, {Name: "also", Type: generable.DictOfType(self)}, {Name: "next", Type: generable.OneOf(self, generable.NoneT)}})
	self.Bind(section)
	v, err := sample.New(0).Value(section, "it")
	if text := generable.JSON(v, section); err != nil || len(text) > 50_000 || !strings.Contains(text, "parts[0].title of it") {
		t.Errorf("%v, %d bytes", err, len(text))
	}
	deep := generable.StrT
	for range 100 {
		deep = generable.ListOfType(deep)
	}
	if v, err := sample.New(0).Value(deep, "it"); err != nil || len(generable.JSON(v, nil)) > 50_000 {
		t.Errorf("%v, %d bytes", err, len(generable.JSON(v, nil)))
	}
}

// For every valid pattern, the result matches or is an error.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{`^a+$`, `(a|b){2,}[^c]`, `\d{3}-\d{4}`, `^$`, `\bx\B`, `(?s).`, `[[:upper:]]*`, `^(a?){9}b`, `$^`} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 100 {
			t.Skip()
		}
		re, err := regexp.Compile(pattern)
		typ, errs := generable.Limited(generable.StrT, generable.Limits{Pattern: pattern})
		if err != nil || len(errs) > 0 {
			t.Skip()
		}
		v, err := sample.New(7).Value(typ, "it")
		if s, ok := v.AsStr(); err == nil && (!ok || !re.MatchString(s) && pattern != "") {
			t.Errorf("%q: %q", pattern, s)
		}
		_ = fmt.Sprint(err)
	})
}
