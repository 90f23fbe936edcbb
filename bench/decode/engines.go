package main

import (
	"encoding/json"
	"errors"
	"math"

	repairAlexandre "github.com/RealAlexandreAI/json-repair"
	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	repairKaptinlin "github.com/kaptinlin/jsonrepair"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// engine is a decoder. Go decoders have decode; decoders of Node are in the script.
type engine struct {
	name    string
	repairs bool // reads more than clean JSON
	own     bool // the decoder that the others are peers of
	node    bool
	stack   int                            // the limit of its stack in a separate process; 0 for no limit
	decode  func(d *document) (any, error) // returns a *catalogue, a generable.Value, or what encoding/json decodes into any
}

const (
	ownTyped = "agentscript, typed"
	ownAny   = "agentscript, any"
	ownDeep  = "agentscript, any, no depth limit"
	stdAny   = "encoding/json, any"
)

// engines lists the decoders. Each is called in its fastest way.
func engines(t *generable.Type) []*engine {
	own := func(t *generable.Type) func(d *document) (any, error) {
		return func(d *document) (any, error) {
			o := generable.Options{}
			if d.variant == broken {
				o.OnBadItem = generable.ItemDrop // the last item was cut
			}
			return ownResult(lenient.Decode(t, d.text, o))
		}
	}
	return []*engine{
		{name: ownTyped, own: true, repairs: true, decode: own(t)},
		{name: ownAny, own: true, repairs: true, decode: own(nil)},
		{name: stdAny, decode: into(func(d *document, v *any) error { return json.Unmarshal(d.raw, v) })},
		{name: "encoding/json, struct", decode: intoStruct(func(d *document, v *catalogue) error { return json.Unmarshal(d.raw, v) })},
		{name: "go-json-experiment, any", decode: into(func(d *document, v *any) error { return jsonv2.Unmarshal(d.raw, v) })},
		{name: "go-json-experiment, struct", decode: intoStruct(func(d *document, v *catalogue) error { return jsonv2.Unmarshal(d.raw, v) })},
		{name: "sonic, any", decode: into(func(d *document, v *any) error { return sonic.UnmarshalString(d.text, v) })},
		{name: "sonic, struct", decode: intoStruct(func(d *document, v *catalogue) error { return sonic.UnmarshalString(d.text, v) })},
		{name: "kaptinlin/jsonrepair + encoding/json", repairs: true, decode: repaired(repairKaptinlin.Repair)},
		{name: "RealAlexandreAI/json-repair + encoding/json", repairs: true, decode: repaired(repairAlexandre.RepairJSON)},
		{name: "npm jsonrepair + JSON.parse", repairs: true, node: true},
		{name: "npm partial-json", repairs: true, node: true},
	}
}

// deep decodes without a limit of depth, for texts of nothing but nesting.
func deep(d *document) (any, error) {
	return ownResult(lenient.Decode(nil, d.text, generable.Options{MaxDepth: math.MaxInt}))
}

func ownResult(r lenient.Result) (any, error) {
	if !r.OK {
		return nil, errors.New(r.Complaint())
	}
	return r.Value, nil
}

func into(f func(d *document, v *any) error) func(d *document) (any, error) {
	return func(d *document) (any, error) {
		var v any
		err := f(d, &v)
		return v, err
	}
}

func intoStruct(f func(d *document, v *catalogue) error) func(d *document) (any, error) {
	return func(d *document) (any, error) {
		v := new(catalogue)
		err := f(d, v)
		return v, err
	}
}

func repaired(repair func(string) (string, error)) func(d *document) (any, error) {
	return func(d *document) (any, error) {
		text, err := repair(d.text)
		if err != nil {
			return nil, err
		}
		var v any
		err = json.Unmarshal([]byte(text), &v)
		return v, err
	}
}

// catalogueType returns the schema of the documents.
func catalogueType() (*generable.Type, error) {
	var errs generable.FieldErrors
	made := func(t *generable.Type, e generable.FieldErrors) *generable.Type {
		errs = append(errs, e...)
		return t
	}
	severity := made(generable.NewEnum("Severity", "", severities))
	within := made(generable.NewSchema("Span", "", []generable.Field{
		{Name: "from", Type: generable.IntT}, {Name: "to", Type: generable.IntT},
	}))
	entry := made(generable.NewSchema("Item", "", []generable.Field{
		{Name: "id", Type: generable.IntT}, {Name: "title", Type: generable.StrT}, {Name: "severity", Type: severity},
		{Name: "score", Type: generable.FloatT}, {Name: "done", Type: generable.BoolT},
		{Name: "note", Type: generable.OneOf(generable.StrT, generable.NoneT)},
		{Name: "tags", Type: generable.ListOfType(generable.StrT)}, {Name: "span", Type: within},
	}))
	doc := made(generable.NewSchema("Catalogue", "", []generable.Field{
		{Name: "name", Type: generable.StrT}, {Name: "items", Type: generable.ListOfType(entry)},
	}))
	return doc, errs.Err()
}
