package dialect

import (
	"math"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
)

type field = generable.Field

func schema(name, doc string, fields ...field) *generable.Type {
	return good(generable.NewSchema(name, doc, fields))
}

// samples are types that show the differences between dialects, one each.
func samples() map[string]*generable.Type {
	s := map[string]*generable.Type{}
	s["record"] = schema("Person", "A person", field{Name: "name", Type: generable.StrT, Guide: "Full name"}, field{Name: "age", Type: generable.IntT})
	severity := good(generable.NewEnum("Severity", "How bad it is", []string{"low", "high"}))
	s["enum"] = severity
	s["list"] = generable.ListOfType(severity)
	s["optional"] = schema("Finding", "",
		field{Name: "where", Type: generable.OneOf(generable.StrT, generable.NoneT), Guide: "File and line."},
		field{Name: "weight", Type: generable.FloatT, Optional: true, Default: generable.IntOf(1)},
		field{Name: "owner", Type: generable.OneOf(generable.StrT, generable.NoneT), Optional: true, Default: generable.StrOf("ada"), Guide: "Who sees to it"},
		field{Name: "severity", Type: severity, Optional: true, Default: generable.StrOf("low")},
		field{Name: "tags", Type: generable.ListOfType(generable.StrT), Optional: true, Default: generable.ListOf()},
	)
	s["limits"] = schema("Account", "",
		field{Name: "email", Type: generable.StrT, Limits: &generable.Limits{Format: "email", MaxLen: ptr(80)}},
		field{Name: "site", Type: generable.StrT, Limits: &generable.Limits{Format: "uri"}},
		field{Name: "code", Type: generable.StrT, Limits: &generable.Limits{Pattern: `^[A-Z]{2}-\d+$`}, Examples: []generable.Value{generable.StrOf("AB-12")}},
		field{Name: "zip", Type: generable.StrT, Limits: &generable.Limits{Pattern: "^[0-9]{5}$"}},
		field{Name: "score", Type: generable.FloatT, Limits: &generable.Limits{Ge: ptr(0.0), Le: ptr(0.5)}},
		field{Name: "count", Type: generable.IntT, Limits: &generable.Limits{Ge: ptr(0.5), Le: ptr(10.0)}},
		field{Name: "serial", Type: generable.IntT, Limits: &generable.Limits{Ge: ptr(0.0), Le: ptr(math.Pow(2, 62))}},
		field{Name: "tags", Type: generable.ListOfType(generable.StrT), Limits: &generable.Limits{MinLen: ptr(2), MaxLen: ptr(3)}},
	)
	s["dict"] = generable.DictOfType(generable.DictOfType(generable.IntT))
	yes := schema("Approved", "It is ready", field{Name: "confidence", Type: generable.FloatT})
	no := schema("Rejected", "It needs changes", field{Name: "reason", Type: generable.StrT}, field{Name: "hints", Type: generable.ListOfType(generable.StrT), Optional: true, Default: generable.ListOf()})
	s["union"] = good(generable.NewUnion("Decision", "The outcome", "", []*generable.Type{yes, no}))
	s["inline"] = schema("Answer", "",
		field{Name: "id", Type: generable.OneOf(generable.IntT, generable.StrT), Limits: &generable.Limits{Ge: ptr(1.0)}},
		field{Name: "data", Type: generable.OneOf(generable.StrT, generable.ListOfType(generable.IntT), generable.DictOfType(generable.IntT), generable.NoneT)},
		field{Name: "extra", Type: generable.AnyT},
	)
	tree := generable.RefTo("Tree")
	s["tree"] = schema("Tree", "A tree of names", field{Name: "name", Type: generable.StrT}, field{Name: "children", Type: generable.ListOfType(tree), Guide: "Subtrees"})
	tree.Bind(s["tree"])
	expr := generable.RefTo("Expr")
	num := schema("Num", "A number", field{Name: "value", Type: generable.FloatT})
	sum := schema("Add", "A sum", field{Name: "left", Type: expr, Guide: "First summand"}, field{Name: "right", Type: expr})
	s["expr"] = good(generable.NewUnion("Expr", "An expression", "kind", []*generable.Type{num, sum}))
	expr.Bind(s["expr"])
	s["names"] = schema("Größe", "", field{Name: "größe in m", Type: generable.FloatT}, field{Name: "gr__e_in_m", Type: generable.StrT, Alias: []string{"g"}})
	for name, text := range importedSamples {
		t, ignored, errs := jsonschema.Parse(text, jsonschema.Options{Name: "Imported"})
		if errs != nil || ignored != nil {
			panic(name + ": " + errs.Error() + ignored.Error())
		}
		s[name] = t
	}
	s["checked"] = good(generable.Limited(generable.ListOfType(good(generable.Limited(generable.IntT, generable.Limits{
		MultipleOf: ptr(3.0), Check: &generable.Check{Says: "no number of the devil", Holds: func(v generable.Value) bool { return !generable.Equal(v, generable.IntOf(666)) }},
	}))), generable.Limits{Unique: true, MinLen: ptr(2)}))
	var many []field
	for i := range 45 {
		f := field{Name: "f" + strconv.Itoa(i), Type: generable.IntT, Optional: true, Default: generable.IntOf(int64(i))}
		if i%9 == 1 {
			f.Type, f.Default = generable.ListOfType(generable.IntT), generable.ListOf()
		}
		many = append(many, f)
	}
	s["many"] = schema("Many", "", many...)
	return s
}

// importedSamples are types that only result from schemas.
var importedSamples = map[string]string{
	"literals": `{"type": "object", "required": ["version", "size", "flag", "word", "ratio", "fixed"], "additionalProperties": false, "properties": {
		"version": {"const": 2}, "size": {"enum": [1, 2, null]}, "flag": {"const": true}, "word": {"enum": ["", "x"], "description": "A word"},
		"ratio": {"enum": [1, 2.5]}, "fixed": {"const": {"a": [1]}}}}`,
	"tuple": `{"type": "object", "required": ["pair", "row"], "additionalProperties": false, "properties": {
		"pair": {"prefixItems": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "integer"}}], "items": false, "minItems": 2},
		"row": {"prefixItems": [{"type": "string"}, {"type": "integer", "minimum": 1}], "items": {"type": "boolean"}, "minItems": 1}}}`,
	"omitted": `{"type": "object", "required": ["name", "nick"], "additionalProperties": false, "properties": {
		"name": {"type": "string"}, "nick": {"type": ["string", "null"]}, "age": {"type": "integer", "minimum": 0}, "tags": {"type": "array", "items": {"type": "string"}}, "extra": {}}}`,
	"json":  `{"$ref": "#/$defs/JSON", "$defs": {"JSON": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/JSON"}}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/JSON"}}]}}}`,
	"items": `{"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "string", "pattern": "^[a-z]+$", "maxLength": 5}, {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}]}}`,
}
