package reading

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Each kind of repair has a reason, and each reason a kind.
func TestReasons(t *testing.T) {
	kinds := map[string]bool{}
	for _, kind := range lenient.RepairKinds() {
		if kinds[kind] = true; reasons[kind] == "" {
			t.Errorf("no reason for %s", kind)
		}
	}
	for kind := range reasons {
		if !kinds[kind] {
			t.Errorf("%s is no kind of repair", kind)
		}
	}
}

func TestExplain(t *testing.T) {
	typ, errs := generable.NewSchema("P", "", []generable.Field{{Name: "name", Type: generable.StrT}, {Name: "age", Type: generable.IntT}})
	if errs != nil {
		t.Fatal(errs)
	}
	for _, row := range []struct {
		text string
		how  generable.Options
		want string
	}{
		{`{"name": "é", "age": 1}`, generable.Options{}, `1:1: chosen: {"name": "é", "age": 1}; it fits
read as P at level safe; nothing was repaired
`},
		{"Sure:\n{'name': 'é', \"age\": \"36\",}", generable.Options{}, `1:1: prose: Sure:; words around the value are not part of it (cost 0)
2:1: chosen: {'name': 'é', "age": "36",}; it fits
2:2: quotes: ' -> "; other quotes take the place of JSON's (cost 1)
2:10: quotes in name: ' -> "; other quotes take the place of JSON's (cost 1)
2:22: string to number in age: "36" -> 36; the type wants a number (cost 2)
2:27: trailing comma in age; nothing follows the comma (cost 1)
read as P at level safe; its repairs cost 5
`},
		{`{"name": "A"}`, generable.Options{Level: generable.Strict}, `1:1: nearest: {"name": "A"}; it does not fit
error: age: want int, got nothing at line 1, column 1
not read as P at level strict: 1 error
`},
		{"no idea", generable.Options{}, `error: want P as JSON, got text without JSON: "no idea" at line 1, column 1
not read as P at level safe: 1 error
`},
	} {
		var b strings.Builder
		Explain(&b, row.text, typ, row.how, lenient.Decode(typ, row.text, row.how))
		if b.String() != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.text, b.String(), row.want)
		}
	}
}

// The explanation says what was not taken, and why.
func TestExplainChoice(t *testing.T) {
	const text = "{\"a\": 1}\nor\n{\"a\": 2}"
	for pick, want := range map[generable.Pick]string{
		generable.PickBest:  `3:1: chosen: {"a": 2}; of what fits it needs the least repair, and of equals it is in a fence, or comes last`,
		generable.PickFirst: `1:1: chosen: {"a": 1}; it is the first that fits`,
		generable.PickLast:  `3:1: chosen: {"a": 2}; it is the last that fits`,
	} {
		typ, _ := generable.NewSchema("A", "", []generable.Field{{Name: "a", Type: generable.IntT}})
		var b strings.Builder
		how := generable.Options{Pick: pick}
		Explain(&b, text, typ, how, lenient.Decode(typ, text, how))
		if !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "not chosen: ") {
			t.Errorf("%s, want %s", b.String(), want)
		}
	}
}
