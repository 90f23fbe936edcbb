// Package codec writes types, and values with their schemas, for another process, which reads back the same types and
// values.
//
// [Encode] and [Decode] handle one type. An [Encoder] writes several types and values into one table, so that shared
// parts are written once; a [Decoder] reads that table.
//
// A table lists each type once, after its parts: a part is the index of an earlier type. Only a reference, which is
// how types recurse, may lead to a later one. A value is JSON: scalars and lists are themselves. Objects have these
// forms:
//
//	{"map": ["key", value, …]}
//	{"schema": 3, "fields": [value, …]}
//	{"absent": true}
//
// The first keeps the order of its keys, the second is a record, and the third is the value of a field that was not
// given. Numbers with a point or an exponent are floats.
//
// A [generable.Check] keeps its text but not its function: in the other process it holds for every value. Decoding
// does not trust the data: anything that no constructor would have made is an error.
package codec

import (
	"encoding/json"
	"fmt"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})

// Encode returns the type as JSON, the same bytes each time. References in it must be bound.
func Encode(t *generable.Type) ([]byte, error) {
	e := NewEncoder()
	root, err := e.Type(t)
	if err != nil {
		return nil, err
	}
	list, err := e.Table()
	if err != nil {
		return nil, err
	}
	return json.Marshal(document{Version: version, Root: root, Types: list})
}

// Decode returns the type that [Encode] wrote. A known type replaces an equal one in the data; this is for types that
// a program compares by their pointers. Keys that this version does not know are skipped.
func Decode(data []byte, known ...*generable.Type) (*generable.Type, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("a type: %w", err)
	}
	if doc.Version != version {
		return nil, fmt.Errorf("a type is in form %d, and this program reads form %d: it takes a newer one", doc.Version, version)
	}
	d, err := NewDecoder(doc.Types, known...)
	if err != nil {
		return nil, err
	}
	return d.Type(doc.Root)
}

// version numbers the format. A newer format that this program cannot read has a greater number.
const version = 1

// document is one type by itself.
type document struct {
	Version int             `json:"v"`
	Root    int             `json:"root"`
	Types   json.RawMessage `json:"types"`
}

// maxTypes bounds a table. maxNested bounds how deep a value is nested and how deep types hold each other's values:
// checking them takes time and memory.
const (
	maxTypes  = 10_000
	maxNested = 500
)

// kinds are the words for the kinds of types.
var kinds = [...]string{
	generable.AnyType: "any", generable.NoneType: "none", generable.BoolType: "bool", generable.IntType: "int",
	generable.FloatType: "float", generable.StrType: "str", generable.ListType: "list", generable.DictType: "dict",
	generable.RecordType: "schema", generable.EnumType: "enum", generable.UnionType: "union", generable.OneOfType: "oneof",
	generable.RefType: "ref", generable.LimitType: "limit", generable.ErrorType: "error",
}

// scalars are the types that do not depend on their place.
var scalars = map[string]*generable.Type{
	"any": generable.AnyT, "none": generable.NoneT, "bool": generable.BoolT, "int": generable.IntT,
	"float": generable.FloatT, "str": generable.StrT, "error": generable.ErrorT,
}

// entry is a type of a table.
type entry struct {
	Kind        string                 `json:"kind"`
	Name        string                 `json:"name,omitempty"`
	Doc         string                 `json:"doc,omitempty"`
	Description string                 `json:"description,omitempty"`
	Fields      []field                `json:"fields,omitempty"`
	Elem        *int                   `json:"elem,omitempty"`
	Variants    []int                  `json:"variants,omitempty"`
	Limits      *limits                `json:"limits,omitempty"`
	Tag         string                 `json:"tag,omitempty"`
	Values      []string               `json:"values,omitempty"`
	Notes       []note                 `json:"notes,omitempty"`
	Stream      generable.StreamPolicy `json:"stream,omitempty"`
	Foreign     bool                   `json:"foreign,omitempty"`
	Open        bool                   `json:"open,omitempty"`
	To          *int                   `json:"to,omitempty"`       // the target of a reference
	Tagged      *int                   `json:"taggedBy,omitempty"` // the union whose tag its instances show
}

type field struct {
	Name      string                 `json:"name"`
	Type      int                    `json:"type"`
	Guide     string                 `json:"guide,omitempty"`
	Default   json.RawMessage        `json:"default,omitempty"`
	Optional  bool                   `json:"optional,omitempty"`
	Omit      bool                   `json:"omit,omitempty"`
	Explicit  bool                   `json:"explicit,omitempty"`
	Alias     []string               `json:"alias,omitempty"`
	AliasOnly bool                   `json:"aliasOnly,omitempty"`
	Dedent    bool                   `json:"dedent,omitempty"`
	Limits    *limits                `json:"limits,omitempty"`
	Examples  []json.RawMessage      `json:"examples,omitempty"`
	Stream    generable.StreamPolicy `json:"stream,omitempty"`
}

type limits struct {
	Ge         *float64        `json:"ge,omitempty"`
	Le         *float64        `json:"le,omitempty"`
	Gt         *float64        `json:"gt,omitempty"`
	Lt         *float64        `json:"lt,omitempty"`
	MinLen     *int            `json:"minLen,omitempty"`
	MaxLen     *int            `json:"maxLen,omitempty"`
	MultipleOf *float64        `json:"multipleOf,omitempty"`
	Unique     bool            `json:"unique,omitempty"`
	Only       json.RawMessage `json:"only,omitempty"`
	Pattern    string          `json:"pattern,omitempty"`
	Format     string          `json:"format,omitempty"`
	Check      string          `json:"check,omitempty"` // its text
}

type note struct {
	Doc   string   `json:"doc,omitempty"`
	Alias []string `json:"alias,omitempty"`
}
