package predicate

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// random returns a condition that can be written as text.
func random(r *rand.Rand, depth int) *Predicate {
	half, _ := generable.FloatOf(2.5)
	whole, _ := generable.FloatOf(42)
	digits, _ := new(big.Int).SetString("123456789012345678901", 10)
	values := []generable.Value{generable.IntOf(-3), generable.IntOf(42), half, whole, generable.BigOf(digits), generable.StrOf("Straße"), generable.StrOf(`a "b" \ c`), generable.StrOf("é, (x) | y"), generable.BoolOf(true), generable.BoolOf(false), {}}
	if depth > 0 {
		switch a := random(r, depth-1); r.IntN(4) {
		case 0:
			return a.And(random(r, depth-1))
		case 1:
			return a.Or(random(r, depth-1))
		case 2:
			return a.Not()
		}
	}
	switch r.IntN(20) {
	case 0:
		return Always()
	case 1:
		return Never()
	}
	v, field := values[r.IntN(len(values))], []string{"", "score", "a.b"}[r.IntN(3)]
	op := Op(r.IntN(int(And)))
	if op == Matches {
		v = generable.StrOf("^[a-z]+$")
	}
	if op == Has && field == "" {
		field = "score"
	}
	p, err := New(op, field, &v)
	if err != nil {
		panic(err)
	}
	if r.IntN(3) == 0 {
		p = p.Folded()
	}
	if r.IntN(3) == 0 {
		p = p.Exact()
	}
	return p
}

// subjects returns values near those that random conditions compare with, alone and in fields.
func subjects() []generable.Value {
	float := func(f float64) generable.Value {
		v, _ := generable.FloatOf(f)
		return v
	}
	digits, _ := new(big.Int).SetString("123456789012345678901", 10)
	dict := func(key string, v generable.Value) generable.Value {
		m := generable.NewMap(1)
		m.Set(key, v)
		return m.Value()
	}
	plain := []generable.Value{{}, generable.IntOf(-3), float(-3), generable.IntOf(42), float(42), float(2.5), generable.BigOf(digits), generable.BoolOf(true),
		generable.BoolOf(false), generable.StrOf("STRASSE"), generable.StrOf("STRAßE"), generable.StrOf("straße"), generable.StrOf("É, (X) | Y"), generable.StrOf("abc")}
	out := append(slices.Clone(plain), dict("other", float(1)))
	for _, v := range plain {
		out = append(out, dict("score", v), dict("a", dict("b", v)))
	}
	return out
}

func TestParseWhatIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 11))
	values := subjects()
	for range 2000 {
		p := random(r, 4)
		want := p.String()
		got := Parse(want)
		if got == nil || got.String() != want {
			t.Fatalf("%s is read as %v", want, got)
		}
		for _, v := range values {
			if p.Holds(v) != got.Holds(v) {
				t.Fatalf("%s holds for %s: %t, but what is read says %t", want, generable.JSON(v, nil), p.Holds(v), got.Holds(v))
			}
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		` ge( 10 )|eq(0)`: "ge(10) | eq(0)", "~eq(0)": "~eq(0)", "has(\"x\")": `has("x")`, "score > 3": `gt("score", 3)`, "((eq(1)))": "eq(1)",
		"an even number": "", "eq(": "", "eq(0": "", "eq(0) |": "", "eq(0) eq(1)": "", "eq(zero)": "", "eq(1, 2)": "", "ge(1,2,3)": "", "matches(\"[\")": "", "": "", "~": "", "eq()": "", "has(3)": "",
		`ge("m", fold=True)`: `ge("m", fold = True)`, `eq("n",42.0,exact = True , fold = True)`: `eq("n", 42.0, fold = True, exact = True)`, `eq(1, exact = False)`: "eq(1)",
		"~always|never": "~always | never", "always & (never)": "always & never", "has(\"x\", fold = True)": "", "gt(1, exact = True)": "", "eq(fold = True)": "", "eq(1, fold = 2)": "",
		"eq(fold = True, 1)": "", "eq(1, fold True)": "", "eq(1, exact = )": "", "eq(1, bold = True)": "", "eq(\"n\", 1, 2, fold = True)": "", "alwaysx": "", "never mind": "", "always()": "",
		"always = 3": `eq("always", 3)`, "123456789012345678901 ": "", "eq(123456789012345678901)": "eq(123456789012345678901)",
		strings.Repeat("(", 5000): "", strings.Repeat("~", 4000): "",
	} {
		got := ""
		if p := Parse(text); p != nil {
			got = p.String()
		}
		if got != want {
			t.Errorf("%.60q is %q, want %q", text, got, want)
		}
	}
	if c := CheckOf("~eq(0)"); c == nil || c.Says != "~eq(0)" || c.Holds(generable.IntOf(0)) || !c.Holds(generable.IntOf(1)) {
		t.Error(c)
	}
	if CheckOf("even") != nil {
		t.Error("even is a condition")
	}
}
