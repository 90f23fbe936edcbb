package predicate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// random makes a condition that a text can write.
func random(r *rand.Rand, depth int) *Predicate {
	half, _ := generable.FloatOf(2.5)
	values := []generable.Value{generable.IntOf(-3), half, generable.StrOf(`a "b" \ c`), generable.StrOf("é, (x) | y"), generable.BoolOf(true), generable.BoolOf(false), {}}
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
	return p
}

func TestParseWhatIsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 11))
	for range 2000 {
		want := random(r, 4).String()
		if got := Parse(want); got == nil || got.String() != want {
			t.Fatalf("%s is read as %v", want, got)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		` ge( 10 )|eq(0)`: "ge(10) | eq(0)", "~eq(0)": "~eq(0)", "has(\"x\")": `has("x")`, "score > 3": `gt("score", 3)`, "((eq(1)))": "eq(1)",
		"an even number": "", "eq(": "", "eq(0": "", "eq(0) |": "", "eq(0) eq(1)": "", "eq(zero)": "", "eq(1, 2)": "", "ge(1,2,3)": "", "matches(\"[\")": "", "": "", "~": "", "eq()": "", "has(3)": "",
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
