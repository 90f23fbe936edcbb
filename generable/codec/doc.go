// Package codec writes types, and values with their schemas, for another process, and reads them back as the same.
//
// [Encode] and [Decode] are for one type. An [Encoder] writes several types and values into one table, so that what they
// share is written once; a [Decoder] reads that table.
//
// A table lists each type once, its parts before it: a part is an index of an earlier type. Only a reference, which is
// how types recurse, may lead to a later one. A value is JSON: scalars and lists are themselves, and of the objects
//
//	{"map": ["key", value, …]}
//	{"schema": 3, "fields": [value, …]}
//	{"absent": true}
//
// the first keeps the order of its keys, the second is a record, and the third is the value of a field that was not
// given. Numbers with a point or an exponent are floats.
//
// A [generable.Check] keeps what it says and the function is left behind: it holds for every value in the other process.
// Decoding expects that anybody may have written the data: what no constructor would have made is an error.
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

// Decode returns the type that [Encode] wrote. Of the known types, those that are in it are used themselves in place of an
// equal one: for types that a program compares by their pointers. Keys that this version does not know are skipped.
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

// version numbers the form. A newer one that this program cannot read has a greater number.
const version = 1

// document is one type by itself.
type document struct {
	Version int             `json:"v"`
	Root    int             `json:"root"`
	Types   json.RawMessage `json:"types"`
}

// maxTypes bounds a table, and maxNested how deep a value is nested and types hold each other's values: what checks
// them takes time and room.
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

// scalars are the types that are the same wherever they stand.
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
	To          *int                   `json:"to,omitempty"`       // of a reference
	Tagged      *int                   `json:"taggedBy,omitempty"` // the union that its instances show they are of
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
	Check      string          `json:"check,omitempty"` // what it says
}

type note struct {
	Doc   string   `json:"doc,omitempty"`
	Alias []string `json:"alias,omitempty"`
}
