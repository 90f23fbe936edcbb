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

	size, height atomic.Int32 // how far it reaches; zero before somebody asks
}

var (
	_ starlark.HasAttrs   = (*Record)(nil)
	_ starlark.Mapping    = (*Record)(nil)
	_ starlark.Comparable = (*Record)(nil)
)

// FromRecord gives the form of an instance in the script, the same each time.
func FromRecord(r *generable.Record) starlark.Value {
	if v, ok := r.Host().(*Record); ok {
		return v
	}
	v := &Record{Record: r}
	r.SetHost(v)
	return v
}

// Type is the name of the schema, so that type(x) == "Approved" holds.
func (v *Record) Type() string { return v.Record.Type().String() }

// String writes the instance as the script would make it.
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

// Get serves fields whose names are reserved words: x["from"].
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

// dict gives the fields as a dict.
func (v *Record) dict() starlark.Value {
	d := starlark.NewDict(len(v.Record.Type().Fields))
	for i, f := range v.Record.Type().Fields {
		d.SetKey(starlark.String(f.Name), FromData(v.Record.At(i))) // a fresh dict takes every str
	}
	return d
}

// hashOf agrees with [generable.Equal]: equal numbers hash the same whatever their kind, and
// the entries of a map in any order.
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
