package generable_test

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
	"github.com/agentscript/agentscript/internal/testenv"
)

func TestTypeString(t *testing.T) {
	s := newSamples(t)
	unnamed := gentest.Must(t)(generable.NewSchema("", "", nil))
	enum := func(values ...string) *generable.Type {
		return gentest.Must(t)(generable.NewEnum("", "", values))
	}
	for want, typ := range map[string]*generable.Type{
		"any": generable.AnyT, "None": generable.NoneT, "bool": generable.BoolT, "int": generable.IntT, "float": generable.FloatT, "str": generable.StrT, "<error>": generable.ErrorT,
		"list[dict[str, int]]":   generable.ListOfType(generable.DictOfType(generable.IntT)),
		"Decision":               s.Decision,
		"Severity":               s.Severity,
		"<unnamed>":              unnamed,
		`enum("a", "say \"b\"")`: enum("a", `say "b"`),
		`list[enum("a", "b", "c", "d", "e", "f", ...)]`: generable.ListOfType(enum("a", "b", "c", "d", "e", "f", "g")),
		`enum("a", ...)`:            enum("a", strings.Repeat("b", 200)),
		"Later":                     generable.RefTo("Later"),
		"list[str | int | None]":    generable.ListOfType(generable.OneOf(generable.StrT, generable.NoneT, generable.IntT)),
		"Approved | Rejected":       generable.OneOf(s.Approved, s.Rejected),
		"Approved | list[Rejected]": generable.OneOf(s.Approved, generable.ListOfType(s.Rejected)),
	} {
		if typ.String() != want {
			t.Errorf("got %s, want %s", typ, want)
		}
	}
}

// A type that a loop in a script nests without end uses memory in proportion, not more.
func TestDeepTypesStayCheap(t *testing.T) {
	a, b := generable.StrT, generable.StrT
	for range 20_000 {
		a, b = generable.OneOf(generable.ListOfType(a), generable.NoneT), generable.OneOf(generable.ListOfType(b), generable.NoneT)
		a.ID() // as a composition that looks at every level would
	}
	if n := len(a.ID()); n > 512 {
		t.Errorf("identity of %d bytes", n)
	}
	if text := a.String(); len(text) > 1000 || !strings.Contains(text, "…") {
		t.Errorf("text of %d bytes", len(text))
	}
	if !generable.Same(a, b) || generable.Same(a, generable.ListOfType(a)) || generable.Assignable(a, b) != nil {
		t.Error("the identity is wrong")
	}
}

func TestOneOf(t *testing.T) {
	s := newSamples(t)
	twin := newSamples(t).Approved
	for _, tc := range []struct {
		in   []*generable.Type
		want string
	}{
		{[]*generable.Type{generable.IntT}, "int"},
		{[]*generable.Type{generable.IntT, generable.IntT}, "int"},
		{[]*generable.Type{generable.NoneT}, "None"},
		{[]*generable.Type{generable.NoneT, generable.IntT}, "int | None"},
		{[]*generable.Type{generable.OneOf(generable.IntT, generable.NoneT), generable.StrT, generable.NoneT}, "int | str | None"},
		{[]*generable.Type{s.Approved, twin}, "Approved"},
		{[]*generable.Type{generable.ListOfType(generable.IntT), generable.ListOfType(generable.IntT)}, "list[int]"},
		{[]*generable.Type{generable.ListOfType(generable.IntT), generable.ListOfType(generable.StrT)}, "list[int] | list[str]"},
		{[]*generable.Type{generable.IntT, generable.AnyT, generable.StrT}, "any"},
		{[]*generable.Type{generable.OneOf(generable.IntT, generable.StrT), generable.OneOf(generable.StrT, generable.BoolT)}, "int | str | bool"},
		{[]*generable.Type{generable.OneOf(generable.IntT, generable.NoneT), generable.OneOf(generable.StrT, generable.NoneT), generable.IntT}, "int | str | None"},
	} {
		if got := generable.OneOf(tc.in...).String(); got != tc.want {
			t.Errorf("OneOf(%v) is %s, want %s", tc.in, got, tc.want)
		}
	}
}

// Types with many members that mention each other have texts whose length multiplies with each level.
func TestTypeStringOfManyMembers(t *testing.T) {
	types := make([]*generable.Type, 20)
	for i := range types {
		types[i] = &generable.Type{Kind: generable.ListType}
	}
	for i := range types {
		types[i].Elem = &generable.Type{Kind: generable.OneOfType, Variants: types}
	}
	if text := types[0].String(); len(text) > 17<<10 || !strings.HasPrefix(text, "list[list[") || !strings.Contains(text, "…") {
		t.Errorf("%d bytes", len(text))
	}
}

// A | B | C | … copies its left side unchanged, in one piece.
func TestOneOfGrows(t *testing.T) {
	u := generable.IntT
	for i := range 2000 {
		u = generable.OneOf(u, gentest.Must(t)(generable.NewEnum("E"+strconv.Itoa(i), "", []string{"a"})))
	}
	if len(u.Variants) != 2001 {
		t.Fatalf("%d variants", len(u.Variants))
	}
	if n := testenv.LeastAllocs(10, func() { generable.OneOf(u, generable.StrT) }); n > 8 {
		t.Errorf("%v allocations", n)
	}
}

func TestSame(t *testing.T) {
	m := gentest.Must(t)
	base := func() generable.Field { return generable.Field{Name: "a", Type: generable.IntT, Guide: "g"} }
	one := m(generable.NewSchema("S", "doc", []generable.Field{base()}))
	if !generable.Same(one, m(generable.NewSchema("S", "doc", []generable.Field{base()}))) {
		t.Error("equal declarations are not the same")
	}
	vary := func(change func(*generable.Field)) *generable.Type {
		f := base()
		change(&f)
		return m(generable.NewSchema("S", "doc", []generable.Field{f}))
	}
	different := map[string]*generable.Type{
		"name":     m(generable.NewSchema("R", "doc", []generable.Field{base()})),
		"doc":      m(generable.NewSchema("S", "other", []generable.Field{base()})),
		"field":    vary(func(f *generable.Field) { f.Name = "b" }),
		"type":     vary(func(f *generable.Field) { f.Type = generable.StrT }),
		"guide":    vary(func(f *generable.Field) { f.Guide = "" }),
		"default":  vary(func(f *generable.Field) { f.Optional, f.Default = true, generable.IntOf(1) }),
		"limits":   vary(func(f *generable.Field) { f.Limits = &generable.Limits{Ge: gentest.Ptr(1.0)} }),
		"upper":    vary(func(f *generable.Field) { f.Limits = &generable.Limits{Le: gentest.Ptr(1.0)} }),
		"alias":    vary(func(f *generable.Field) { f.Alias = []string{"x"} }),
		"examples": vary(func(f *generable.Field) { f.Examples = []generable.Value{generable.IntOf(1)} }),
		"two":      m(generable.NewSchema("S", "doc", []generable.Field{base(), {Name: "b", Type: generable.IntT}})),
		"enum":     m(generable.NewEnum("S", "doc", []string{"a"})),
		// The two must not be joined into the same content.
		"default and limit": vary(func(f *generable.Field) {
			f.Optional, f.Default, f.Limits = true, generable.IntOf(255), &generable.Limits{Le: gentest.Ptr(300.0)}
		}),
		"default and limits": vary(func(f *generable.Field) {
			f.Optional, f.Default, f.Limits = true, generable.IntOf(25), &generable.Limits{Ge: gentest.Ptr(5.0), Le: gentest.Ptr(300.0)}
		}),
	}
	seen := map[string]string{one.ID(): "base"}
	for name, typ := range different {
		if generable.Same(one, typ) || generable.Same(typ, one) {
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
	ref := generable.RefTo("S")
	ref.Bind(one)
	if !generable.Same(ref, one) || !generable.Same(generable.ListOfType(one), generable.ListOfType(one)) || generable.Same(generable.ListOfType(one), generable.DictOfType(one)) {
		t.Error("Same is wrong about references or generics")
	}
}

func TestBind(t *testing.T) {
	s := newSamples(t)
	a, b := generable.RefTo("A"), generable.RefTo("B")
	switch {
	case a.Bind(a), a.Bind(nil), a.Bind(generable.StrT), a.Bind(generable.ListOfType(a)), s.Tree.Bind(s.Expr):
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
	if c := generable.RefTo("C"); !c.Bind(generable.ErrorT) || c.Deref() != generable.ErrorT {
		t.Error("not bound to the error type")
	}
}

func TestAcceptsNone(t *testing.T) {
	s := newSamples(t)
	for typ, want := range map[*generable.Type]bool{
		generable.NoneT: true, generable.AnyT: true, generable.ErrorT: true, generable.OneOf(generable.StrT, generable.NoneT): true,
		generable.StrT: false, generable.OneOf(generable.StrT, generable.IntT): false, s.Decision: false, generable.ListOfType(generable.NoneT): false, generable.RefTo("X"): false,
	} {
		if typ.AcceptsNone() != want {
			t.Errorf("%s: not %t", typ, want)
		}
	}
	if f := (generable.Field{Type: generable.OneOf(generable.StrT, generable.NoneT)}); f.Required() {
		t.Error("T | None is required")
	}
	if f := (generable.Field{Type: generable.StrT, Optional: true}); f.Required() {
		t.Error("a field with a default is required")
	}
	if f := (generable.Field{Type: generable.StrT}); !f.Required() {
		t.Error("a plain field is not required")
	}
}

func TestCompareToFloat(t *testing.T) {
	huge := generable.BigOf(new(big.Int).Lsh(big.NewInt(1), 64))
	for _, tc := range []struct {
		v    generable.Value
		f    float64
		want int
	}{
		{generable.IntOf(1), 1, 0}, {generable.IntOf(1), 1.5, -1}, {generable.IntOf(2), 1.5, 1}, {generable.IntOf(-2), -1.5, -1}, {generable.IntOf(-1), -1.5, 1},
		{generable.IntOf(1<<62 + 1), 1 << 62, 1}, {generable.IntOf(1<<63 - 1), 1 << 63, -1}, {generable.IntOf(-1 << 63), -1 << 63, 0}, {generable.IntOf(-1 << 63), -1e30, 1},
		{huge, 1 << 64, 0}, {huge, 1e300, -1}, {huge, -1, 1}, {gentest.Float(0.5), 0.25, 1}, {gentest.Float(0.5), 0.5, 0}, {gentest.Float(0.25), 0.5, -1},
	} {
		if got, ok := generable.Compare(tc.v, gentest.Float(tc.f)); !ok || got != tc.want {
			t.Errorf("%s against %v: %d, want %d", generable.JSON(tc.v, nil), tc.f, got, tc.want)
		}
	}
	if _, ok := generable.Compare(generable.StrOf("1"), gentest.Float(1)); ok {
		t.Error("a text compares")
	}
}

// However many types an inline union has, each occurs once, in the given order.
func TestOneOfMany(t *testing.T) {
	limited := func(i int) *generable.Type {
		typ, _ := generable.Limited(generable.StrT, generable.Limits{MaxLen: &i})
		return typ
	}
	var types []*generable.Type
	for i := range 100 {
		types = append(types, limited(i), generable.NoneT, limited(i/2))
	}
	got := generable.OneOf(generable.OneOf(types...), limited(99), generable.OneOf(limited(3), generable.IntT))
	if len(got.Variants) != 102 || got.Variants[101] != generable.NoneT || got.Variants[100] != generable.IntT {
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

// A limited type accepts None if its type does and, if its only values are listed, None is among them.
func TestLimitedAcceptsNone(t *testing.T) {
	maybe := generable.OneOf(generable.StrT, generable.NoneT)
	only := func(values ...generable.Value) generable.Limits {
		return generable.Limits{Only: generable.NewList(values)}
	}
	for i, c := range []struct {
		typ    *generable.Type
		limits generable.Limits
		want   bool
	}{
		{maybe, generable.Limits{MinLen: gentest.Ptr(1)}, true},
		{maybe, only(generable.StrOf("a")), false},
		{maybe, only(generable.StrOf("a"), generable.Value{}), true},
		{generable.StrT, generable.Limits{MinLen: gentest.Ptr(1)}, false},
	} {
		typ := gentest.Must(t)(generable.Limited(c.typ, c.limits))
		if typ.AcceptsNone() != c.want {
			t.Errorf("row %d: %v", i, !c.want)
		}
	}
}

// A reference can stand for any type that has a list, dict or schema between the type and the reference.
func TestBindPart(t *testing.T) {
	self := generable.RefTo("Self")
	typ := generable.OneOf(generable.StrT, generable.ListOfType(self))
	if self.BindPart(nil) || self.BindPart(generable.OneOf(generable.IntT, self)) || generable.StrT.BindPart(typ) {
		t.Error("bound to nothing, to itself, or no reference")
	}
	for range 2 {
		if !self.BindPart(typ) {
			t.Error("not bound to the same type again")
		}
	}
	if self.BindPart(generable.IntT) {
		t.Error("a reference is bound once")
	}
	if errs := typ.Conforms(of([]any{"a", []any{"b"}})); errs != nil {
		t.Error(errs)
	}
	limited := generable.RefTo("Limited")
	if limited.BindPart(gentest.Must(t)(generable.Limited(limited, generable.Limits{Only: generable.NewList(nil)}))) {
		t.Error("bound to itself behind limits")
	}
}
