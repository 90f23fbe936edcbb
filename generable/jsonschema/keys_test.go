package jsonschema

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Keys that a schema describes by pattern or by name are kept, each with a value of one of the types that the schema
// has for such keys.
func TestKeysByPattern(t *testing.T) {
	const two = `"patternProperties": {"^i": {"type": "integer"}, "^s": {"type": "string"}}`
	const one = `"patternProperties": {"^i": {"type": "integer"}}`
	for _, c := range []struct{ name, schema, typ, text, want string }{
		{"one, closed", `{` + one + `, "additionalProperties": false}`, "dict[str, int]", `{"i": 1}`, `{"i":1}`},
		{"two, closed", `{` + two + `, "additionalProperties": false}`, "dict[str, int | str]", `{"i": 1, "s": "x"}`, `{"i":1,"s":"x"}`},
		{"two", `{` + two + `}`, "dict[str, int | str]", `{"i": 1, "s": "x"}`, `{"i":1,"s":"x"}`},
		{"two, one forbidden", `{"patternProperties": {"^i": {"type": "integer"}, "^x": false}, "additionalProperties": false}`, "dict[str, int]", `{"i": 1}`, `{"i":1}`},
		{"all forbidden", `{"patternProperties": {"^i": false, "^x": false}, "additionalProperties": false}`, "Root", `{}`, `{}`},
		{"others of their own type", `{` + one + `, "additionalProperties": {"type": "string"}}`, "dict[str, int | str]", `{"i": 1, "z": "x"}`, `{"i":1,"z":"x"}`},
		{"others of any type", `{` + one + `, "additionalProperties": true}`, "dict[str, any]", `{"i": 1, "z": [2]}`, `{"i":1,"z":[2]}`},
		{"beside properties", `{"properties": {"a": {"type": "string"}}, ` + one + `, "additionalProperties": false}`, "Root", `{"a": "x", "i": 1}`, `{"a":"x"}`},
		{"names and a type", `{"propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}}`, "Root", `{"b": 2}`, `{"b":2}`},
		{"names and two patterns, closed", `{"propertyNames": {"enum": ["i", "s"]}, ` + two + `, "additionalProperties": false}`, "Root", `{"i": 1, "s": "x"}`, `{"i":1,"s":"x"}`},
		{"names that no rule lists", `{"propertyNames": {"maxLength": 3}, "additionalProperties": {"type": "integer"}}`, "dict[str, int]", `{"b": 2}`, `{"b":2}`},
		{"names of one value", `{"propertyNames": {"const": "a"}, "additionalProperties": {"type": "integer"}}`, "Root", `{"a": 2}`, `{"a":2}`},
		{"names, none wanted", `{"propertyNames": {"enum": ["a"]}, "additionalProperties": false}`, "Root", `{}`, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			typ, _, errs := Parse(c.schema, Options{Lenient: true})
			if errs != nil {
				t.Fatal(errs)
			}
			if typ.String() != c.typ {
				t.Errorf("type %s, want %s", typ, c.typ)
			}
			r := lenient.Decode(typ, c.text, generable.Options{Level: generable.Strict})
			if !r.OK || generable.JSON(r.Value, typ) != c.want {
				t.Errorf("%s read as %s, want %s: %v", c.text, generable.JSON(r.Value, typ), c.want, r.Errors)
			}
		})
	}
}

// A schema without any allowed key is closed: an object with a key is an error at level Strict.
func TestNoKeys(t *testing.T) {
	for _, schema := range []string{
		`{"type": "object", "propertyNames": false}`, `{"additionalProperties": false}`,
		`{"propertyNames": {"enum": ["a"]}, "additionalProperties": false}`, `{"patternProperties": {"^a": false}, "additionalProperties": false}`,
	} {
		typ, _, errs := Parse(schema, Options{Lenient: true})
		if errs != nil {
			t.Fatal(errs)
		}
		if r := lenient.Decode(typ, `{"a": 1}`, generable.Options{Level: generable.Strict}); r.OK {
			t.Errorf("%s takes a key", schema)
		}
	}
}
