package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// TestPairedBounds checks that a bound far from 0 never occurs alone for llama.cpp, which makes a grammar from it
// that does not hold.
func TestPairedBounds(t *testing.T) {
	p := func(f float64) *float64 { return &f }
	for _, row := range []struct {
		limits generable.Limits
		want   string
	}{
		{generable.Limits{Lt: p(-7)}, `"type":"integer","minimum":-9007199254740991,"maximum":-8}`},
		{generable.Limits{Le: p(-1)}, `"type":"integer","minimum":-9007199254740991,"maximum":-1}`},
		{generable.Limits{Ge: p(105)}, `"type":"integer","minimum":105,"maximum":9007199254740991}`},
		{generable.Limits{Le: p(0)}, `"type":"integer","maximum":0}`},
		{generable.Limits{Ge: p(99)}, `"type":"integer","minimum":99}`},
		{generable.Limits{Ge: p(-500)}, `"type":"integer","minimum":-500}`},
		{generable.Limits{Ge: p(100), Le: p(200)}, `"type":"integer","minimum":100,"maximum":200}`},
		{generable.Limits{Ge: p(1e300)}, `"minimum":1e+300}`},
	} {
		typ, errs := generable.Limited(generable.IntT, row.limits)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for target, paired := range map[string]bool{"ollama": true, "compat": true, "openai": false} {
			w, err := Compile(typ, target)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(w.Schema, row.want) != (paired || !strings.Contains(row.want, "9007199254740991")) {
				t.Errorf("%s: %s, want %s", target, w.Schema, row.want)
			}
		}
	}
}

// Integers that some JSON reader would round are digits in a string; those up to 2^53-1 are not.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		bound  float64
		digits bool
	}{{safeInt, false}, {-safeInt, false}, {safeInt + 1, true}, {-safeInt - 1, true}} {
		for _, l := range []*generable.Limits{{Ge: &c.bound}, {Le: &c.bound}} {
			w := compile(t, schema("S", "", field{Name: "n", Type: generable.IntT, Limits: l}), "openai")
			if got := slices.Contains(kinds(w), "integer-as-text"); got != c.digits {
				t.Errorf("%s: digits in a string: %v", w.Schema, got)
			}
		}
	}
}

// An enum lists the only values of a union if the target lists all of them, down to a single truth value.
func TestListedLiterals(t *testing.T) {
	only := &generable.Limits{Only: generable.NewList([]generable.Value{generable.BoolOf(true), generable.StrOf("a")})}
	typ := good(generable.Limited(generable.OneOf(generable.BoolT, generable.StrT), *only))
	for target, listed := range map[string]bool{"gemini": false, "openai": true, "ollama": true} {
		w := compile(t, typ, target)
		if slices.Contains(kinds(w), "literals") == listed || (strings.Contains(w.Schema, `"const":"a"`) || strings.Contains(w.Schema, `"enum":["a"]`)) != listed {
			t.Errorf("%s: %s", target, w.Schema)
		}
	}
}

// A dict of any values states that it is open: some targets read an object without that keyword as closed.
func TestOpenDict(t *testing.T) {
	const want = `{"type":"object","additionalProperties":true}`
	if w := compile(t, generable.DictOfType(generable.AnyT), "ollama"); w.Schema != want {
		t.Errorf("%s, want %s", w.Schema, want)
	}
}

// If an enum cannot list its values, the description and the prompt do.
func TestEnumInWords(t *testing.T) {
	typ := schema("S", "", field{Name: "x", Type: good(generable.NewEnum("E", "", []string{`a"b`, "c"}))})
	w := compile(t, typ, "openai")
	if want := `"x":{"type":"string","description":"one of \"a\\\"b\", \"c\""}`; !strings.Contains(w.Schema, want) {
		t.Errorf("schema %s, want %s", w.Schema, want)
	}
	if want := `- x: one of "a\"b", "c"`; !strings.Contains(w.Prompt, want) {
		t.Errorf("prompt %s, want %s", w.Prompt, want)
	}
}
