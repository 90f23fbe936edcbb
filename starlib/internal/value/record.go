package value

import (
	"fmt"
	"math"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Record is an instance of a schema as the script sees it: x.field, x["field"],
// compared by value, immutable.
type Record struct {
	Plain
	Record *generable.Record

	size, height atomic.Int32 // its extent; zero until computed
}

var (
	_ starlark.HasAttrs   = (*Record)(nil)
	_ starlark.Mapping    = (*Record)(nil)
	_ starlark.Comparable = (*Record)(nil)
)

// FromRecord returns an instance as a script value, the same one each time.
func FromRecord(r *generable.Record) starlark.Value {
	if v, ok := r.Host().(*Record); ok {
		return v
	}
	v := &Record{Record: r}
	r.SetHost(v)
	return v
}

// Type returns the name of the schema, so that type(x) == "Approved" holds.
func (v *Record) Type() string { return v.Record.Type().String() }

// String returns the instance as the script would construct it.
func (v *Record) String() string {
	var fields []string
	for i, f := range v.Record.Type().Fields {
		fields = append(fields, f.Name+" = "+FromData(v.Record.At(i)).String())
	}
	return v.Type() + "(" + script.Joined(fields) + ")"
}

func (v *Record) Attr(name string) (starlark.Value, error) {
	if f, ok := v.Record.Get(name); ok {
		return FromData(f), nil
	}
	return nil, NoAttribute(v.Type(), name, v.AttrNames())
}

func (v *Record) AttrNames() []string { return v.Record.Type().FieldNames() }

// Get supports fields whose names are reserved words: x["from"].
func (v *Record) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := key.(starlark.String)
	if !ok {
		return nil, false, fmt.Errorf("the fields of %s have names, got %s", v.Type(), Describe(key))
	}
	if f, ok := v.Record.Get(string(name)); ok {
		return FromData(f), true, nil
	}
	return nil, false, NoAttribute(v.Type(), string(name), v.AttrNames())
}

// CompareSameType compares by value.
func (v *Record) CompareSameType(op syntax.Token, other starlark.Value, _ int) (bool, error) {
	o, ok := other.(*Record)
	return compared(op, ok && generable.Equal(v.Record.Value(), o.Record.Value()), "instances of %s have no order", v.Type())
}

func (v *Record) Hash() (uint32, error) {
	return uint32(hashOf(v.Record.Value())), nil
}

// dict returns the fields as a dict.
func (v *Record) dict() starlark.Value {
	d := starlark.NewDict(len(v.Record.Type().Fields))
	for i, f := range v.Record.Type().Fields {
		d.SetKey(starlark.String(f.Name), FromData(v.Record.At(i))) // a new dict accepts every str
	}
	return d
}

// hashOf agrees with [generable.Equal]: equal numbers have the same hash whatever their kind, and the order of a map's
// entries does not matter.
func hashOf(v generable.Value) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * prime }
	if f, ok := v.AsNumber(); ok {
		if f == 0 {
			f = 0 // negative zero equals zero
		}
		mix(math.Float64bits(f))
		return h
	}
	if b, ok := v.AsBool(); ok {
		if b {
			mix(1)
		}
		return h
	}
	text := func(s string) {
		for i := range len(s) {
			mix(uint64(s[i]))
		}
	}
	if s, ok := v.AsStr(); ok {
		text(s)
		return h
	}
	if l, ok := v.AsList(); ok {
		for _, item := range l.Items() {
			mix(hashOf(item))
		}
		return h
	}
	if m, ok := v.AsMap(); ok {
		var sum uint64
		for i := range m.Len() {
			key, item := m.At(i)
			sum += hashOf(generable.StrOf(key)) ^ hashOf(item)*prime
		}
		mix(sum)
		return h
	}
	if r, ok := v.AsRecord(); ok {
		text(r.Type().Name)
		for i := range r.Type().Fields {
			mix(hashOf(r.At(i)))
		}
	}
	return h
}

// The schemas of values that builtins return or pass to functions.
var (
	RepairType = schemaOf("Repair", "One change that the decoder made",
		member("kind", generable.StrT, "unquoted, truncated, enum-fold and others: docs/decoding.md lists them"),
		member("path", generable.StrT, "the place in the value: .plan.steps[2]"),
		member("before", generable.StrT, "what was written"),
		member("after", generable.StrT, "what was read"))
	FieldErrorType = schemaOf("FieldError", "One thing that does not fit a type",
		member("path", generable.StrT, "the place in the value: .plan.steps[2]"),
		member("expected", generable.StrT, "what the type wants"),
		member("got", generable.StrT, "what was written"),
		member("hint", generable.StrT, "what to do about it; may be empty"),
		member("message", generable.StrT, "all of this as one sentence"))
	DecodedType = schemaOf("Decoded", "The result of decoding a model's text, as T.decode and stream.close return it",
		member("ok", generable.BoolT, "whether a value that fits was read"),
		member("value", generable.AnyT, "the value; None if none fits"),
		member("repairs", generable.ListOfType(RepairType), "what was changed to read the value"),
		member("errors", generable.ListOfType(FieldErrorType), "what does not fit"),
		member("cost", generable.IntT, "the total cost of the repairs"),
		member("partial", generable.AnyT, "what is known of a value that does not fit"),
		member("complaint", generable.StrT, "the text to ask the model again with; empty if ok"))
	StreamEventType = schemaOf("StreamEvent", "An event of a text that arrives in pieces; stream.feed returns a list of them",
		member("kind", generable.StrT, "text, field, item, variant, repair or reset"),
		member("path", generable.StrT, "the place in the value"),
		member("text", generable.StrT, "the text that arrived; for kind variant its name, for kind repair the kind of the repair, for kind reset the reason"),
		member("value", generable.AnyT, "for kinds field and item, the complete value"))
	TokenType = schemaOf("Token", "A piece of an answer, as agent(on_token = ...) receives it",
		member("kind", generable.StrT, "text, reasoning or call"),
		member("text", generable.StrT, "the piece"),
		member("tool", generable.OneOf(generable.StrT, generable.NoneT), "for kind call, the tool's name once it is known"),
		member("attempt", generable.IntT, "which attempt of the call it belongs to, from 1"))
)

func schemaOf(name, doc string, members ...generable.Field) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: name, Doc: doc, Fields: members}
}

func member(name string, t *generable.Type, guide string) generable.Field {
	return generable.Field{Name: name, Type: t, Guide: guide}
}

// InstanceOf returns an instance of a schema from its members in order.
func InstanceOf(t *generable.Type, members ...generable.Value) generable.Value {
	return generable.NewRecord(t, members).Value()
}
