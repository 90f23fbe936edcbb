package lenient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compileSchema compiles the JSON Schema of a type with an independent validator.
func compileSchema(typ *generable.Type) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(typ.JSONSchema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("type.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("type.json")
}

// checkStrictAgrees checks that the decoder at Strict accepts exactly what the type's JSON Schema accepts, for values
// of the type and values with one place changed, and that everything it accepts at other levels becomes a valid
// value.
func checkStrictAgrees(g *gentest.Generator) error {
	typ := g.Typ(4)
	if typ.Kind == generable.StrType {
		return nil // a text is taken verbatim
	}
	schema, err := compileSchema(typ)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", typ, err, typ.JSONSchema())
	}
	valid := func(text string) error {
		x, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			return err
		}
		return schema.Validate(x)
	}
	v := generable.Plain(g.Value(typ, 4), typ)
	for range 4 {
		text := generable.JSON(v, nil)
		r := Decode(typ, text, generable.Options{Level: generable.Strict})
		if bad := valid(text); r.OK != (bad == nil) && !strictException(r, text) {
			return fmt.Errorf("%s: %s\ndecoded: %v %v\nschema: %v\n%s", typ, text, r.OK, r.Errors, bad, typ.JSONSchema())
		}
		for _, level := range []generable.Level{generable.Safe, generable.Loose} {
			r := Decode(typ, text, generable.Options{Level: level})
			if !r.OK {
				continue
			}
			out := generable.JSON(r.Value, typ)
			if err := valid(out); err != nil {
				return fmt.Errorf("%s: %s decoded at level %d to %s: %w", typ, text, level, out, err)
			}
		}
		v = g.Mutate(v)
	}
	return nil
}

// strictException reports where the two differ on purpose: a value that two branches of an inline union accept is
// ambiguous, while one of them satisfies a schema; JSON Schema accepts 1.0 as an integer; and an object may name its
// schema under "type".
func strictException(r Result, text string) bool {
	if r.OK {
		return strings.Contains(text, `"type":`)
	}
	for _, e := range r.Errors {
		if !strings.HasPrefix(e.Got, "one that fits ") && !(strings.Contains(e.Expected, "int") && strings.Contains(e.Got, ".0")) {
			return false
		}
	}
	return true
}

func TestStrictAgreesWithSchema(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Wire = seed%2 == 0
		if err := checkStrictAgrees(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestSamplesAgreeWithSchema checks the schemas of the shared samples against hand-written values.
func TestSamplesAgreeWithSchema(t *testing.T) {
	for _, row := range []struct {
		typ  *generable.Type
		text string
		ok   bool
	}{
		{sampleType(t, "Finding"), `{"severity":"low","tags":["a"]}`, true},
		{sampleType(t, "Finding"), `{"severity":"low","tags":[]}`, false},
		{sampleType(t, "Finding"), `{"severity":"Low","tags":["a"]}`, false},
		{sampleType(t, "Finding"), `{"severity":"low","line":0,"tags":["a"]}`, false},
		{sampleType(t, "Decision"), `{"type":"Approved","confidence":1}`, true},
		{sampleType(t, "Decision"), `{"type":"Approved","confidence":1.01}`, false},
		{sampleType(t, "Decision"), `{"confidence":1}`, false},
		{sampleType(t, "Decision"), `{"type":"Rejected","reason":"r","hints":null}`, false},
		{sampleType(t, "Tree"), `{"name":"a","children":[{"name":"b","children":[]}]}`, true},
		{sampleType(t, "Tree"), `{"name":"a","children":[{"name":"b"}]}`, false},
		{sampleType(t, "Expr"), `{"kind":"Add","left":{"kind":"Num","value":1},"right":{"kind":"Num","value":2.5}}`, true},
		{sampleType(t, "Expr"), `{"kind":"Add","left":{"kind":"Num","value":1}}`, false},
	} {
		schema, err := compileSchema(row.typ)
		if err != nil {
			t.Fatal(err)
		}
		var x any
		if err := json.Unmarshal([]byte(row.text), &x); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(x); (err == nil) != row.ok {
			t.Errorf("schema of %s: %s: %v", row.typ, row.text, err)
		}
		if r := Decode(row.typ, row.text, generable.Options{Level: generable.Strict}); r.OK != row.ok {
			t.Errorf("%s: %s: %v", row.typ, row.text, r.Errors)
		}
	}
}
