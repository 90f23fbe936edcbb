package jsonschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Each row reads answers by a schema: the result as JSON, or "!" and a part of the error.
func TestFromSchemaReads(t *testing.T) {
	const node = `{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["v"]}}}`
	const tree = `{"$ref": "#/$defs/json", "$defs": {"json": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/json"}}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}}]}}}`
	const shapes = `{"oneOf": [{"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]}, {"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]}]}`
	const pets = `{"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}], "discriminator": {"propertyName": "pet", "mapping": {"meow": "#/components/schemas/Cat"}},
		"components": {"schemas": {"Cat": {"type": "object", "properties": {"pet": {"type": "string"}, "lives": {"type": "integer"}}, "required": ["pet"]}, "Dog": {"type": "object", "properties": {"pet": {"type": "string"}, "age": {"type": "integer"}}}}}}`
	for _, c := range []struct{ name, schema, text, want string }{
		{"true is any", `true`, `[1, {"a": null}]`, `[1,{"a":null}]`},
		{"empty is any", `{}`, `{"a": 1}`, `{"a":1}`},
		{"integer", `{"type": "integer"}`, `"12"`, `12`},
		{"integer, whole float", `{"type": "integer"}`, `12.0`, `12`},
		{"big integer", `{"type": "integer"}`, `123456789012345678901234567890`, `123456789012345678901234567890`},
		{"type list", `{"type": ["string", "null"]}`, `null`, `null`},
		{"type list, other", `{"type": ["integer", "boolean"]}`, `"x"`, `!want int`},
		{"nullable", `{"type": "string", "nullable": true}`, `null`, `null`},
		{"minimum", `{"type": "integer", "minimum": 3}`, `2`, `!at least 3`},
		{"minimum beside nothing", `{"minimum": 3}`, `2`, `!at least 3`},
		{"exclusive, draft 4", `{"type": "number", "minimum": 3, "exclusiveMinimum": true}`, `3.0`, `!more than 3`},
		{"exclusiveMaximum", `{"type": "number", "exclusiveMaximum": 3}`, `3.0`, `!less than 3`},
		{"multipleOf decimal", `{"type": "number", "multipleOf": 0.01}`, `0.07`, `0.07`},
		{"multipleOf not", `{"type": "number", "multipleOf": 0.01}`, `0.075`, `!a multiple of 0.01`},
		{"item limits", `{"type": "array", "items": {"type": "string", "minLength": 2}}`, `["ab", "c"]`, `!([1]|at least 2 characters`},
		{"unique", `{"type": "array", "uniqueItems": true}`, `[1, "1", 1.0]`, `!item 2 like item 0`},
		{"pattern with \\u", `{"type": "string", "pattern": "^[\\u00e0-\\u00ff]+$"}`, `"é"`, `"é"`},
		{"format", `{"type": "string", "format": "date"}`, `"2026-13-01"`, `!a date`},
		{"string enum folds", `{"enum": ["low", "high"]}`, `"High"`, `"high"`},
		{"int enum", `{"enum": [1, 2]}`, `"2"`, `2`},
		{"int enum, not in it", `{"enum": [1, 2]}`, `3`, `!one of 1, 2`},
		{"mixed enum", `{"enum": ["a", 1, true, null]}`, `null`, `null`},
		{"mixed enum, number", `{"enum": ["a", 1, true, null]}`, `1`, `1`},
		{"mixed enum, false", `{"enum": ["a", 1, true, null]}`, `false`, `!`},
		{"const object", `{"const": {"a": [1]}}`, `{"a": [1]}`, `{"a":[1]}`},
		{"const object, other", `{"const": {"a": [1]}}`, `{"a": [2]}`, `!one of {"a":[1]}`},
		{"empty text in enum", `{"enum": ["", "x"]}`, `""`, `""`},
		{"titled constants", `{"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}`, `"B"`, `"b"`},
		{"optional is left out", `{"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}`, `{"a": "x"}`, `{"a":"x"}`},
		{"optional null is left out", `{"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}`, `{"a": "x", "b": null}`, `{"a":"x"}`},
		{"optional any keeps null", `{"properties": {"a": {}}}`, `{"a": null}`, `{"a":null}`},
		{"optional any is left out", `{"properties": {"a": {}}}`, `{}`, `{}`},
		{"nullable is null", `{"properties": {"a": {"type": ["integer", "null"]}}}`, `{}`, `{"a":null}`},
		{"required nullable is null", `{"properties": {"a": {"type": ["integer", "null"]}}, "required": ["a"]}`, `{}`, `{"a":null}`},
		{"required any", `{"properties": {"a": {}}, "required": ["a"]}`, `{"b": 1}`, `!a: want any, got nothing`},
		{"required without property", `{"type": "object", "required": ["a"]}`, `{"a": [1]}`, `{"a":[1]}`},
		{"required of draft 3 beside a list", `{"allOf": [{"required": ["a"]}, {"required": true, "properties": {"a": {"type": "integer"}}}]}`, `{}`, `{}`},
		{"default", `{"properties": {"a": {"type": "integer", "default": 7}}}`, `{}`, `{"a":7}`},
		{"default null", `{"properties": {"a": {"type": "string", "default": null}}}`, `{}`, `{"a":null}`},
		{"extra key", `{"properties": {"a": {"type": "integer"}}}`, `{"a": 1, "type": "thing", "b": 2}`, `{"a":1}`},
		{"no properties", `{"type": "object"}`, `{"z": 1, "a": [2]}`, `{"z":1,"a":[2]}`},
		{"dict", `{"type": "object", "additionalProperties": {"type": "integer"}}`, `{"z": "1"}`, `{"z":1}`},
		{"closed and empty", `{"type": "object", "properties": {}, "additionalProperties": false}`, `{}`, `{}`},
		{"keys listed", `{"type": "object", "propertyNames": {"enum": ["a", "b"]}, "additionalProperties": {"type": "integer"}}`, `{"b": "2"}`, `{"b":2}`},
		{"tuple", `{"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}`, `["1", "2"]`, `["1",2]`},
		{"tuple, too long", `{"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}`, `["1", 2, 3]`, `!at most 2 items`},
		{"tuple, old form", `{"type": "array", "items": [{"type": "string"}, {"type": "integer"}]}`, `["1", 2, null]`, `["1",2,null]`},
		{"allOf", `{"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}`, `{"a": 1, "b": 2}`, `{"a":1,"b":2}`},
		{"allOf bounds", `{"type": "number", "allOf": [{"minimum": 1}, {"minimum": 5}]}`, `3.5`, `!at least 5`},
		{"ref with siblings", `{"$ref": "#/$defs/a", "required": ["y"], "$defs": {"a": {"properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}}}`, `{"x": 1}`, `!y: want int`},
		{"pointer with escapes", `{"$ref": "#/$defs/a~1b~0c%20d", "$defs": {"a/b~c d": {"type": "integer"}}}`, `"5"`, `5`},
		{"anchor", `{"items": {"$ref": "#it"}, "$defs": {"x": {"$anchor": "it", "type": "integer"}}}`, `["5"]`, `[5]`},
		{"id in full", `{"$id": "https://example.org/root.json", "items": {"$ref": "https://example.org/item.json"}, "$defs": {"x": {"$id": "item.json", "type": "integer"}}}`, `["5"]`, `[5]`},
		{"id", `{"$id": "https://example.org/root.json", "items": {"$ref": "item.json"}, "$defs": {"x": {"$id": "item.json", "type": "integer"}}}`, `["5"]`, `[5]`},
		{"recursive object", node, `{"v": 1, "next": {"v": "2", "kids": [{"v": 3}]}}`, `{"v":1,"next":{"v":2,"next":null,"kids":[{"v":3,"next":null}]}}`},
		{"recursive list", tree, `{"a": [1, ["x", {"b": null}]]}`, `{"a":[1,["x",{"b":null}]]}`},
		{"list of itself", `{"type": "array", "items": {"$ref": "#"}}`, `[[], [[]]]`, `[[],[[]]]`},
		{"tagged", shapes, `{"r": 2, "kind": "circle"}`, `{"kind":"circle","r":2.0}`},
		{"tagged, folded", shapes, `{"kind": "Square", "a": 1}`, `{"kind":"square","a":1.0}`},
		{"tagged, unknown", shapes, `{"kind": "line"}`, `!one of circle, square`},
		{"discriminator with mapping", pets, `{"pet": "meow", "lives": 9}`, `{"pet":"meow","lives":9}`},
		{"discriminator by name", pets, `{"pet": "Dog", "age": 3}`, `{"pet":"Dog","age":3}`},
		{"untagged by fit", `{"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}`, `{"b": 1}`, `{"b":1}`},
		{"beside anyOf", `{"type": "string", "anyOf": [{"maxLength": 1}, {"minLength": 5}]}`, `"abc"`, `!`},
		{"no items", `{"type": "array", "items": false}`, `[1]`, `!at most 0 items`},
		{"no items, none", `{"type": "array", "items": {"not": {}}}`, `[]`, `[]`},
		{"tuple with an end", `{"prefixItems": [{"type": "integer"}, false]}`, `[1, 2]`, `!at most 1 item`},
		{"no keys", `{"type": "object", "propertyNames": false}`, `{}`, `{}`},
		{"choice of one", `{"anyOf": [false, {"type": "integer"}]}`, `"7"`, `7`},
		{"empty key", `{"properties": {"": {"type": "integer"}, "a": {}}, "required": [""]}`, `{"": "3", "a": 1}`, `{"":3,"a":1}`},
		{"empty key, missing", `{"properties": {"": {"type": "integer"}}, "required": [""]}`, `{"a": 1}`, `!want int, got nothing`},
		{"empty key, other type", `{"properties": {"": {"type": "integer"}}}`, `{"": "x"}`, `!([""]: want int|x`},
		{"empty key, left out", `{"properties": {"": {"type": "integer"}, "a": {}}}`, `{"a": 1}`, `{"a":1}`},
		{"required empty key", `{"type": "object", "required": [""]}`, `{"": null}`, `{"":null}`},
		{"allOf of one property", `{"allOf": [{"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"minimum": 5}}}, {"properties": {"a": {"maximum": 9}}}]}`, `{"a": 4}`, `!a: want at least 5`},
		{"allOf of enums", `{"type": "string", "allOf": [{"enum": ["a", "b", "c"]}, {"enum": ["c", "b"]}, {"enum": ["b", "d"]}]}`, `"c"`, `!want one of b`},
		{"title with blanks", `{"title": "my thing", "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}`, `[]`, `!MyThing`},
	} {
		typ, _, errs := Parse(c.schema, Options{})
		if errs != nil {
			t.Errorf("%s: %v", c.name, errs)
			continue
		}
		r := lenient.Decode(typ, c.text, generable.Options{})
		got := generable.JSON(r.Value, typ)
		if !r.OK {
			got = "!" + r.Errors.Error()
		}
		if want, isErr := strings.CutPrefix(c.want, "!"); isErr && strings.HasPrefix(got, "!") {
			for part := range strings.SplitSeq(strings.TrimPrefix(want, "("), "|") {
				if !strings.Contains(got, part) && !strings.Contains(got, want) {
					t.Errorf("%s: got %s, want %s", c.name, got, c.want)
				}
			}
		} else if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// Errors in a schema are reported with their place. Rows that begin with ~ apply only to strict reading: read
// leniently, the schema is a type, and the place is among the ignored parts.
func TestFromSchemaErrors(t *testing.T) {
	deep := strings.Repeat(`{"type": "array", "items": `, 300) + `{}` + strings.Repeat(`}`, 300)
	for _, c := range []struct{ schema, want string }{
		{`3`, `#: want a schema`},
		{`{"type": "strng"}`, `#/type: want one of object, array, string, integer, number, boolean, null, got "strng"; did you mean string?`},
		{`{"type": []}`, `#/type: want one of`},
		{`{"properties": {"a": {"$ref": "#/$defs/nod"}}, "$defs": {"node": {}}}`, `#/properties/a/$ref: want a reference to something, got "#/$defs/nod": #/$defs has no "nod"; did you mean node?`},
		{`{"$ref": "other.json#/a"}`, `#/$ref: want a reference into the schema itself`},
		{`{"$ref": "#"}`, `#: want a schema that says what fits, got one that leads back to itself`},
		{`{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`, `leads back to itself`},
		{`{"anyOf": [{"$ref": "#"}, {"type": "null"}]}`, `leads back to itself`},
		{`{"allOf": [{"$ref": "#"}, {"type": "object"}]}`, `leads back to itself`},
		{`{"properties": {"a": {"$ref": "#"}}, "required": ["a"]}`, `which leads back to itself`},
		{`{"properties": {"a": 3}}`, `#/properties/a: want a schema`},
		{`{"properties": []}`, `#/properties: want an object of schemas`},
		{`{"required": "a"}`, `#/required: want a list of names`},
		{`{"enum": []}`, `#/enum: want a list of values`},
		{`{"type": "string", "minLength": -1}`, `#/minLength: want a whole number of at least 0`},
		{`{"type": "number", "minimum": "1"}`, `#/minimum: want a number`},
		{`{"allOf": [{"type": "string"}, {"type": "integer"}]}`, `#/type: want types that agree`},
		{deep, `nested at most 248 deep`},
		{`{"a/b": 1, "properties": {"x~y/z": {"type": "x"}}}`, `#/properties/x~0y~1z/type`},
		{`{"type": "object"`, `want`},
		{`{"type": "object"} x`, `a schema is plain JSON`},
		{`~{"type": "object", "patternProperties": {"^a": {"type": "integer"}}}`, `#/patternProperties`},
		{`~{"type": "string", "not": {"const": "a"}}`, `#/not`},
		{`~{"type": "object", "properties": {"a": {}}, "if": {}, "then": {}}`, `#/if`},
		{`~{"type": "string", "pattern": "(?=a)"}`, `#/pattern`},
		{`~{"type": "integer", "default": 1, "properties": {}, "dependentRequired": {}}`, `#/dependentRequired`},
		{`~{"properties": {"a": {"type": "integer", "default": "x"}}}`, `#/properties/a/default`},
		{`~{"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}`, `#/additionalProperties`},
		{`~{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `#/anyOf`},
		{`{"allOf": [{"type": "integer"}, false]}`, `#/allOf/1: want a schema that some value fits`},
		{`{"anyOf": [false, {"not": true}]}`, `#/anyOf: want a schema that some value fits`},
		{`{"properties": {"a": false}, "required": ["a"]}`, `#/properties/a: want a schema that some value fits`},
		{`{"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"not": {}}}}`, `want a schema that some value fits`},
		{`~{"properties": {"a": false}}`, `#/properties/a: want a schema that some value fits`},
		{`false`, `#: want a schema that some value fits, got one that no value fits`},
	} {
		schema, soft := strings.CutPrefix(c.schema, "~")
		typ, _, errs := Parse(schema, Options{})
		if typ != nil || errs == nil || !strings.Contains(errs.Error(), c.want) {
			t.Errorf("%.200s: got %v, want %s", c.schema, errs, c.want)
		}
		typ, ignored, errs := Parse(schema, Options{Lenient: true})
		if !soft && errs == nil {
			t.Errorf("%.200s: no error when read leniently", c.schema)
		}
		if soft && (errs != nil || typ == nil || !strings.Contains(ignored.Error(), c.want)) {
			t.Errorf("%.200s: leniently: got %v, ignored %v", c.schema, errs, ignored)
		}
	}
}

// Unknown keywords and unchecked formats are reported, even without errors.
func TestFromSchemaNotes(t *testing.T) {
	_, ignored, errs := Parse(`{"type": "string", "minLenght": 3, "format": "int32", "x-own": 1}`, Options{})
	got := ignored.Error()
	if errs != nil || !strings.Contains(got, "did you mean minLength?") || !strings.Contains(got, "#/format") || strings.Contains(got, "x-own") {
		t.Errorf("%v; ignored %s", errs, got)
	}
}

// Schemas that double in size with each level end in an error or a type, not in a hang.
func TestFromSchemaDoubling(t *testing.T) {
	for _, form := range []string{
		`"D%d": {"allOf": [{"$ref": "#/$defs/D%d"}, {"properties": {"p%d": {"$ref": "#/$defs/D%d"}}}]}`,
		`"D%d": {"anyOf": [{"$ref": "#/$defs/D%d"}, {"type": "array", "items": {"$ref": "#/$defs/D%[2]d"}}], "title": "T%d%d"}`,
		`"D%d": {"properties": {"a": {"$ref": "#/$defs/D%d"}, "b%d": {"$ref": "#/$defs/D%d"}}}`,
		`"D%d": {"allOf": [{"anyOf": [{"$ref": "#/$defs/D%d"}, {"title": "x%d"}]}, {"anyOf": [{"$ref": "#/$defs/D%d"}, {"type": "integer"}]}]}`,
	} {
		var b strings.Builder
		b.WriteString(`{"$ref": "#/$defs/D0", "$defs": {`)
		for i := range 60 {
			b.WriteString(fmt.Sprintf(form, i, i+1, i, i+1) + ",")
		}
		b.WriteString(`"D60": {"type": "object", "properties": {"x": {"type": "string"}}}}}`)
		typ, _, errs := Parse(b.String(), Options{Lenient: true})
		if (typ == nil) == (errs == nil) {
			t.Errorf("%s: %v", form, errs)
		}
		if typ != nil {
			lenient.Decode(typ, `{"a": {"a": 1}}`, generable.Options{})
		}
	}
}

// A discriminator is the tag of a union, whose values are those of its mapping or the names of the schemas.
func TestDiscriminators(t *testing.T) {
	typ, _, errs := Parse(`{"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}], "discriminator": {"propertyName": "pet", "mapping": {"meow": "#/$defs/Cat"}},
		"$defs": {"Cat": {"type": "object", "properties": {"pet": {"type": "string"}}}, "Dog": {"type": "object", "properties": {"pet": {"type": "string"}}}}}`, Options{})
	if errs != nil || typ.Kind != generable.UnionType || typ.Tag != "pet" {
		t.Fatalf("%v, %v", typ, errs)
	}
	for _, row := range []struct{ text, want string }{{`{"pet": "meow"}`, `{"pet":"meow"}`}, {`{"pet": "Dog"}`, `{"pet":"Dog"}`}, {`{"pet": "bird"}`, ""}} {
		r := lenient.Decode(typ, row.text, generable.Options{})
		if got := generable.JSON(r.Value, typ); r.OK != (row.want != "") || r.OK && got != row.want {
			t.Errorf("%s is %s, %v", row.text, got, r.Errors)
		}
	}
}

func FuzzFromJSONSchema(f *testing.F) {
	for _, s := range []string{
		`{"type": "object", "properties": {"a": {"$ref": "#"}}}`,
		`{"oneOf": [{"properties": {"k": {"const": "a"}}, "required": ["k"]}], "discriminator": {"propertyName": "k"}}`,
		`{"allOf": [{"$ref": "#/$defs/a"}, {"anyOf": [{"type": "null"}]}], "$defs": {"a": {"enum": [1, "", null, 2.5, {}]}}}`,
		`{"type": ["array", "string"], "prefixItems": [{"type": "integer"}], "uniqueItems": true, "pattern": "\\u00e9", "default": []}`,
		`{"properties": {"a": {"default": 1, "type": "number", "multipleOf": 0.1}}, "propertyNames": {"enum": ["x"]}, "additionalProperties": {"type": "string"}}`,
	} {
		f.Add(s, `{"a": 1}`)
	}
	f.Fuzz(func(t *testing.T, schema, text string) {
		for _, o := range []Options{{}, {Lenient: true, KeepInts: true}} {
			typ, _, errs := Parse(schema, o)
			if (typ == nil) == (errs == nil) {
				t.Fatal("neither a type nor an error, or both")
			}
			if typ == nil {
				continue
			}
			if generable.Assignable(typ, typ) != nil {
				t.Fatal("not assignable to itself")
			}
			typ.LLMDescription()
			typ.PromptFragment()
			if _, _, errs := Parse(typ.JSONSchema(), o); errs != nil {
				t.Fatalf("its own schema is refused: %v\n%s", errs, typ.JSONSchema())
			}
			if r := lenient.Decode(typ, text, generable.Options{}); r.OK {
				again := lenient.Decode(typ, generable.JSON(r.Value, typ), generable.Options{Level: generable.Strict})
				if !again.OK || !generable.Equal(r.Value, again.Value) {
					t.Fatalf("%s is read again as %v %v", generable.JSON(r.Value, typ), generable.JSON(again.Value, typ), again.Errors)
				}
			}
		}
	})
}

// Keywords that no type can express are errors, unless they have no effect.
func TestBeyondTypes(t *testing.T) {
	for schema, says := range map[string]bool{
		`{"unevaluatedProperties": false}`: false, `{"unevaluatedProperties": {"type": "string"}}`: true, `{"unevaluatedItems": true}`: false,
		`{"not": false}`: false, `{"not": {"type": "string"}}`: true,
		`{"if": {"type": "string"}}`: false, `{"if": {"type": "string"}, "then": false}`: true, `{"if": {"type": "string"}, "else": false}`: true,
	} {
		_, ignored, errs := Parse(schema, Options{})
		if (errs != nil) != says || len(ignored) > 0 {
			t.Errorf("%s: %v, ignored %v", schema, errs, ignored)
		}
	}
}

// The items of a tuple that have no names are numbered from 1.
func TestTupleNames(t *testing.T) {
	typ, _, errs := Parse(`{"prefixItems": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]}`, Options{})
	if errs != nil {
		t.Fatal(errs)
	}
	if a, b := typ.Variants[0].String(), typ.Variants[1].String(); a != "RootItem1" || b != "RootItem2" {
		t.Errorf("%s and %s", a, b)
	}
}
