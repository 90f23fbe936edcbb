package jsonschema

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// The reading of a property does not depend on what other properties refer to.
func TestComposedReferenceTwice(t *testing.T) {
	const defs = `"$defs": {
		"Id": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}}, "required": ["id"]},
		"Named": {"title": "Named", "allOf": [{"$ref": "#/$defs/Id"}, {"properties": {"name": {"type": "string"}}, "required": ["name"]}]},
		"Aged": {"$ref": "#/$defs/Named", "properties": {"age": {"type": "integer"}, "name": {"minLength": 2}}, "required": ["age"]},
		"Choice": {"allOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"minLength": 2}, {"minimum": 2}]}]},
		"Bound": {"allOf": [{"type": "integer", "minimum": 1}, {"maximum": 9}]}}`
	uses := []string{
		`{"$ref": "#/$defs/Named"}`, `{"$ref": "#/$defs/Aged"}`, `{"$ref": "#/$defs/Bound"}`, `{"$ref": "#/$defs/Choice"}`,
		`{"allOf": [{"$ref": "#/$defs/Named"}, {"properties": {"x": {"type": "boolean"}}}]}`,
		`{"allOf": [{"$ref": "#/$defs/Named"}, {"properties": {"name": {"maxLength": 5}, "id": {"maximum": 7}}, "required": ["z"]}]}`,
		`{"allOf": [{"$ref": "#/$defs/Aged"}, {"$ref": "#/$defs/Named"}]}`,
		`{"allOf": [{"$ref": "#/$defs/Named"}, {"$ref": "#/$defs/Aged"}, {"properties": {"age": {"minimum": 3}}}]}`,
		`{"$ref": "#/$defs/Named", "properties": {"name": {"pattern": "^a"}}}`,
		`{"allOf": [{"$ref": "#/$defs/Choice"}, {"maximum": 5}]}`,
		`{"allOf": [{"$ref": "#/$defs/Bound"}, {"minimum": 4}]}`,
		`{"anyOf": [{"allOf": [{"$ref": "#/$defs/Bound"}, {"maximum": 3}]}, {"type": "null"}]}`,
	}
	read := func(props string) *generable.Type {
		typ, _, errs := Parse(`{"type": "object", "properties": {`+props+`}, `+defs+`}`, Options{Name: "Root", Lenient: true})
		if errs != nil {
			t.Fatalf("%s: %v", props, errs)
		}
		return typ
	}
	shape := func(typ *generable.Type) string {
		f := typ.Fields[typ.FieldIndex("b")]
		return f.Type.JSONSchema() + f.Type.String()
	}
	for _, b := range uses {
		alone := shape(read(`"b": ` + b))
		for _, a := range uses {
			if got := shape(read(fmt.Sprintf(`"a": %s, "b": %s`, a, b))); got != alone {
				t.Errorf("%s behind %s:\n%s\nalone:\n%s", b, a, got, alone)
			}
		}
	}
}

// composedSchema makes definitions that refer to earlier ones, alone and in allOf, all of them objects.
func composedSchema(r *rand.Rand) string {
	var defs []string
	part := func(n int) string {
		p := string("xyz"[r.IntN(3)])
		switch k := r.IntN(6); {
		case k < 3 && n > 0:
			return fmt.Sprintf(`{"$ref": "#/$defs/D%d"}`, r.IntN(n))
		case k == 3:
			return fmt.Sprintf(`{"required": ["%s"]}`, p)
		case k == 4:
			return fmt.Sprintf(`{"properties": {"%s": {"type": "integer", "minimum": %d}}}`, p, r.IntN(5))
		}
		return fmt.Sprintf(`{"properties": {"%s": {"type": "integer", "maximum": %d}}}`, p, 3+r.IntN(5))
	}
	for i := range 2 + r.IntN(5) {
		var parts []string
		for range 1 + r.IntN(3) {
			parts = append(parts, part(i))
		}
		body := `"type": "object", "allOf": [` + strings.Join(parts, ", ") + `]`
		if i > 0 && r.IntN(3) == 0 {
			body += fmt.Sprintf(`, "$ref": "#/$defs/D%d"`, r.IntN(i))
		}
		defs = append(defs, fmt.Sprintf(`"D%d": {%s}`, i, body))
	}
	last := len(defs) - 1
	return fmt.Sprintf(`{"type": "object", "properties": {"p": {"$ref": "#/$defs/D%d"}, "q": {"$ref": "#/$defs/D%d"}, "r": {"allOf": [{"$ref": "#/$defs/D%d"}, {"$ref": "#/$defs/D%d"}]}}, "$defs": {%s}}`,
		r.IntN(len(defs)), last, r.IntN(len(defs)), last, strings.Join(defs, ", "))
}

// A schema composed of references reads what all of its parts accept, as judged by another validator.
func TestComposedReferencesAgree(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		text := composedSchema(r)
		typ, _, errs := Parse(text, Options{Lenient: true})
		if errs != nil {
			if strings.Contains(errs.Error(), "least") || strings.Contains(errs.Error(), "ge no greater") {
				continue
			}
			t.Fatalf("seed %d: %v\n%s", seed, errs, text)
		}
		doc, err := validator.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := validator.NewCompiler()
		c.AddResource("s.json", doc)
		schema, err := c.Compile("s.json")
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			m := generable.NewMap(0)
			for _, k := range []string{"p", "q", "r"} {
				in := generable.NewMap(0)
				for _, f := range []string{"x", "y", "z"} {
					if r.IntN(3) > 0 {
						in.Set(f, generable.IntOf(int64(r.IntN(9))))
					}
				}
				if r.IntN(3) > 0 {
					m.Set(k, in.Value())
				}
			}
			answer := generable.JSON(m.Value(), nil)
			x, _ := validator.UnmarshalJSON(strings.NewReader(answer))
			want := schema.Validate(x)
			got := lenient.Decode(typ, answer, generable.Options{Level: generable.Strict})
			if got.OK != (want == nil) {
				t.Fatalf("seed %d: %s\nread: %v %v\nwanted: %v\n%s", seed, answer, got.OK, got.Errors, want, text)
			}
		}
	}
}
