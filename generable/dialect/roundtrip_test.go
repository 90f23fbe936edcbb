package dialect

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// rounds is how many random types each property is checked with.
const rounds = 32

// Any value of any type, written in the wire form of any target, reads back as itself, and so does its natural form;
// the schema stays within the target's subset and accepts the wire form.
func TestRoundTrip(t *testing.T) {
	rewritten := 0
	for seed := range uint64(rounds) {
		m := newMaker(seed)
		typ := m.typ(3 + int(seed%4)/3)
		for _, target := range Targets() {
			w, err := Compile(typ, target)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, target, err)
			}
			if w.Rewritten() {
				rewritten++
			}
			if found := lint(target, w.Schema); found != nil {
				t.Fatalf("seed %d, %s, %s:\n%s\n%s", seed, target, typ, strings.Join(found, "\n"), w.Schema)
			}
			valid := validator(t, w.Schema)
			for range 3 {
				v := m.value(typ, nil, 5)
				if problem := roundTrip(w, v, valid); problem != "" {
					t.Fatalf("seed %d, %s, %s: %s\n%s", seed, target, typ, problem, w.Schema)
				}
			}
		}
	}
	if rewritten < 2*rounds {
		t.Errorf("only %d wires differ from their type: the types are too plain", rewritten)
	}
}

// roundTrip reports what goes wrong between a value and its forms.
func roundTrip(w *Wire, v generable.Value, valid func(string) error) string {
	natural := generable.JSON(v, w.Natural)
	out, err := do(w, v)
	if err != nil {
		return "Do: " + err.Error()
	}
	text := generable.JSON(out, nil)
	if err := valid(text); err != nil {
		return "the schema refuses " + text + ": " + err.Error()
	}
	same := func(w *Wire, got generable.Value) bool {
		return generable.Equal(v, got) && generable.JSON(got, w.Natural) == natural // fields left out are equal to null
	}
	forms := []string{text, natural}
	if text[0] == '{' || text[0] == '[' {
		forms = append(forms, "Here it is:\n```json\n"+text+"\n```")
	}
	for _, in := range forms {
		r := w.Decode(in, generable.Options{})
		if !r.OK || !same(w, r.Value) {
			return "Decode of " + in + " gives " + generable.JSON(r.Value, w.Natural) + " for " + natural + "; " + r.Errors.Error()
		}
	}
	if r := w.Decode(text, generable.Options{Level: generable.Strict}); !r.OK || !same(w, r.Value) || r.Cost > 0 {
		return "strict Decode of " + text + " gives " + generable.JSON(r.Value, w.Natural) + "; " + r.Errors.Error()
	}
	return ""
}

// A host may declare an optional field without a default that fits its type: it has a form nevertheless.
func TestOptionalWithoutADefault(t *testing.T) {
	inner := &generable.Type{Kind: generable.RecordType, Name: "Inner", Fields: []generable.Field{{Name: "x", Type: generable.IntT}}}
	for _, typ := range []*generable.Type{
		generable.DictOfType(generable.AnyT), generable.DictOfType(generable.IntT), generable.ListOfType(generable.IntT), inner,
		generable.ListOfType(inner), generable.OneOf(inner, generable.ListOfType(inner)), generable.IntT, generable.TupleType([]*generable.Type{generable.IntT, generable.StrT}, nil),
	} {
		host := &generable.Type{Kind: generable.RecordType, Name: "Host", Fields: []generable.Field{{Name: "word", Type: generable.StrT}, {Name: "more", Type: typ, Optional: true}}}
		for _, target := range Targets() {
			if _, err := Compile(host, target); err != nil {
				t.Errorf("%s for %s: %v", typ, target, err)
			}
		}
	}
}
