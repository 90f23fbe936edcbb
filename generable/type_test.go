package generable

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func TestTypeString(t *testing.T) {
	s := newSamples(t)
	unnamed := must(t)(NewSchema("", "", nil))
	for want, typ := range map[string]*Type{
		"any": AnyT, "None": NoneT, "bool": BoolT, "int": IntT, "float": FloatT, "str": StrT, "<error>": ErrorT,
		"list[dict[str, int]]":      ListOfType(DictOfType(IntT)),
		"Decision":                  s.Decision,
		"Severity":                  s.Severity,
		"<unnamed>":                 unnamed,
		"Later":                     RefTo("Later"),
		"list[str | int | None]":    ListOfType(OneOf(StrT, NoneT, IntT)),
		"Approved | Rejected":       OneOf(s.Approved, s.Rejected),
		"Approved | list[Rejected]": OneOf(s.Approved, ListOfType(s.Rejected)),
	} {
		if typ.String() != want {
			t.Errorf("got %s, want %s", typ, want)
		}
	}
}

// A type nested without end by a loop in a script costs memory in proportion, not more.
func TestDeepTypesStayCheap(t *testing.T) {
	a, b := StrT, StrT
	for range 20_000 {
		a, b = OneOf(ListOfType(a), NoneT), OneOf(ListOfType(b), NoneT)
		a.ID() // as a composition that looks at every level would
	}
	if n := len(a.ID()); n > maxID {
		t.Errorf("identity of %d bytes", n)
	}
	if text := a.String(); len(text) > 1000 || !strings.Contains(text, "…") {
		t.Errorf("text of %d bytes", len(text))
	}
	if !Same(a, b) || Same(a, ListOfType(a)) || Assignable(a, b) != nil {
		t.Error("the identity is wrong")
	}
}

func TestOneOf(t *testing.T) {
	s := newSamples(t)
	twin := newSamples(t).Approved
	for _, tc := range []struct {
		in   []*Type
		want string
	}{
		{[]*Type{IntT}, "int"},
		{[]*Type{IntT, IntT}, "int"},
		{[]*Type{NoneT}, "None"},
		{[]*Type{NoneT, IntT}, "int | None"},
		{[]*Type{OneOf(IntT, NoneT), StrT, NoneT}, "int | str | None"},
		{[]*Type{s.Approved, twin}, "Approved"},
		{[]*Type{ListOfType(IntT), ListOfType(IntT)}, "list[int]"},
		{[]*Type{ListOfType(IntT), ListOfType(StrT)}, "list[int] | list[str]"},
		{[]*Type{IntT, AnyT, StrT}, "any"},
		{[]*Type{OneOf(IntT, StrT), OneOf(StrT, BoolT)}, "int | str | bool"},
		{[]*Type{OneOf(IntT, NoneT), OneOf(StrT, NoneT), IntT}, "int | str | None"},
	} {
		if got := OneOf(tc.in...).String(); got != tc.want {
			t.Errorf("OneOf(%v) is %s, want %s", tc.in, got, tc.want)
		}
	}
}

// A | B | C | … takes its left side over as it is, in one piece.
func TestOneOfGrows(t *testing.T) {
	u := IntT
	for i := range 2000 {
		u = OneOf(u, must(t)(NewEnum("E"+strconv.Itoa(i), "", []string{"a"})))
	}
	if len(u.Variants) != 2001 {
		t.Fatalf("%d variants", len(u.Variants))
	}
	if n := testing.AllocsPerRun(10, func() { OneOf(u, StrT) }); n > 8 {
		t.Errorf("%v allocations", n)
	}
}

func TestSame(t *testing.T) {
	m := must(t)
	base := func() Field { return Field{Name: "a", Type: IntT, Guide: "g"} }
	one := m(NewSchema("S", "doc", []Field{base()}))
	if !Same(one, m(NewSchema("S", "doc", []Field{base()}))) {
		t.Error("equal declarations are not the same")
	}
	vary := func(change func(*Field)) *Type {
		f := base()
		change(&f)
		return m(NewSchema("S", "doc", []Field{f}))
	}
	different := map[string]*Type{
		"name":     m(NewSchema("R", "doc", []Field{base()})),
		"doc":      m(NewSchema("S", "other", []Field{base()})),
		"field":    vary(func(f *Field) { f.Name = "b" }),
		"type":     vary(func(f *Field) { f.Type = StrT }),
		"guide":    vary(func(f *Field) { f.Guide = "" }),
		"default":  vary(func(f *Field) { f.Optional, f.Default = true, IntOf(1) }),
		"limits":   vary(func(f *Field) { f.Limits = &Limits{Ge: ptr(1.0)} }),
		"upper":    vary(func(f *Field) { f.Limits = &Limits{Le: ptr(1.0)} }),
		"alias":    vary(func(f *Field) { f.Alias = []string{"x"} }),
		"examples": vary(func(f *Field) { f.Examples = []Value{IntOf(1)} }),
		"two":      m(NewSchema("S", "doc", []Field{base(), {Name: "b", Type: IntT}})),
		"enum":     m(NewEnum("S", "doc", []string{"a"})),
		// The two must not run together into the same content.
		"default and limit": vary(func(f *Field) { f.Optional, f.Default, f.Limits = true, IntOf(255), &Limits{Le: ptr(300.0)} }),
		"default and limits": vary(func(f *Field) {
			f.Optional, f.Default, f.Limits = true, IntOf(25), &Limits{Ge: ptr(5.0), Le: ptr(300.0)}
		}),
	}
	seen := map[string]string{one.ID(): "base"}
	for name, typ := range different {
		if Same(one, typ) || Same(typ, one) {
			t.Errorf("another %s makes no difference", name)
		}
		if prev, ok := seen[typ.ID()]; ok {
			t.Errorf("%s and %s have one identity", name, prev)
		}
		seen[typ.ID()] = name
	}
	if !strings.HasPrefix(one.ID(), "S#") {
		t.Errorf("identity %s", one.ID())
	}
	ref := RefTo("S")
	ref.Bind(one)
	if !Same(ref, one) || !Same(ListOfType(one), ListOfType(one)) || Same(ListOfType(one), DictOfType(one)) {
		t.Error("Same is wrong about references or generics")
	}
}

func TestBind(t *testing.T) {
	s := newSamples(t)
	a, b := RefTo("A"), RefTo("B")
	switch {
	case a.Bind(a), a.Bind(nil), a.Bind(StrT), a.Bind(ListOfType(a)), s.Tree.Bind(s.Expr):
		t.Error("bound to what has no end or no name")
	case !a.Bind(b):
		t.Error("not bound to another reference")
	case b.Bind(a):
		t.Error("bound in a circle")
	case !b.Bind(s.Tree):
		t.Error("not bound")
	case !b.Bind(s.Tree):
		t.Error("not bound to the same type again")
	case b.Bind(s.Expr):
		t.Error("bound to a second type")
	case a.Deref() != s.Tree:
		t.Errorf("stands for %v", a.Deref())
	}
	if c := RefTo("C"); !c.Bind(ErrorT) || c.Deref() != ErrorT {
		t.Error("not bound to the error type")
	}
}

func TestAcceptsNone(t *testing.T) {
	s := newSamples(t)
	for typ, want := range map[*Type]bool{
		NoneT: true, AnyT: true, ErrorT: true, OneOf(StrT, NoneT): true,
		StrT: false, OneOf(StrT, IntT): false, s.Decision: false, ListOfType(NoneT): false, RefTo("X"): false,
	} {
		if typ.AcceptsNone() != want {
			t.Errorf("%s: not %t", typ, want)
		}
	}
	if f := (Field{Type: OneOf(StrT, NoneT)}); f.Required() {
		t.Error("T | None is required")
	}
	if f := (Field{Type: StrT, Optional: true}); f.Required() {
		t.Error("a field with a default is required")
	}
	if f := (Field{Type: StrT}); !f.Required() {
		t.Error("a plain field is not required")
	}
}

func TestCompareToFloat(t *testing.T) {
	huge := BigOf(new(big.Int).Lsh(big.NewInt(1), 64))
	for _, tc := range []struct {
		v    Value
		f    float64
		want int
	}{
		{IntOf(1), 1, 0}, {IntOf(1), 1.5, -1}, {IntOf(2), 1.5, 1}, {IntOf(-2), -1.5, -1}, {IntOf(-1), -1.5, 1},
		{IntOf(1<<62 + 1), 1 << 62, 1}, {IntOf(1<<63 - 1), 1 << 63, -1}, {IntOf(-1 << 63), -1 << 63, 0}, {IntOf(-1 << 63), -1e30, 1},
		{huge, 1 << 64, 0}, {huge, 1e300, -1}, {huge, -1, 1}, {flt(0.5), 0.25, 1}, {flt(0.5), 0.5, 0}, {flt(0.25), 0.5, -1},
	} {
		if got, ok := compareToFloat(tc.v, tc.f); !ok || got != tc.want {
			t.Errorf("%s against %v: %d, want %d", JSON(tc.v, nil), tc.f, got, tc.want)
		}
	}
	if _, ok := compareToFloat(StrOf("1"), 1); ok {
		t.Error("a text compares")
	}
}

// However many types an inline union has, each is in it once, in the order given.
func TestOneOfMany(t *testing.T) {
	limited := func(i int) *Type {
		typ, _ := Limited(StrT, Limits{MaxLen: &i})
		return typ
	}
	var types []*Type
	for i := range 100 {
		types = append(types, limited(i), NoneT, limited(i/2))
	}
	got := OneOf(OneOf(types...), limited(99), OneOf(limited(3), IntT))
	if len(got.Variants) != 102 || got.Variants[101] != NoneT || got.Variants[100] != IntT {
		t.Fatalf("%d members", len(got.Variants))
	}
	seen := make(map[string]bool)
	for _, v := range got.Variants {
		if seen[v.ID()] {
			t.Errorf("%s twice", v.ID())
		}
		seen[v.ID()] = true
	}
}
