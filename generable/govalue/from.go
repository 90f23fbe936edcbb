package govalue

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// maxDepth bounds the nesting of Go values, which may be cyclic.
const maxDepth = 1000

// From makes a value from a Go value, as encoding/json would: by the json tags of structs, the methods MarshalJSON
// and MarshalText, byte slices in base64, maps with sorted keys. Integers are exact; a nil slice or map becomes an
// empty one. Structs become dicts: [generable.Type.Convert] makes instances of them. For an interface in [Variants],
// the tag comes first.
//
// NaN, infinities, invalid UTF-8, functions, channels and cyclic values are errors that name the path.
func From(v any, opts ...Option) (generable.Value, error) {
	c := newCodec(opts)
	out := c.from(reflect.ValueOf(v), nil)
	if c.err != nil {
		return generable.Value{}, c.err
	}
	return out, nil
}

// fault ends the conversion.
func (c *codec) fault(at *message.Path, want, got, hint string) generable.Value {
	if c.err == nil {
		c.err = in.Error(at.String(), want, got, hint)
	}
	return generable.Value{}
}

func (c *codec) from(v reflect.Value, at *message.Path) generable.Value {
	if !v.IsValid() || c.err != nil {
		return generable.Value{}
	}
	if c.depth++; c.depth > maxDepth {
		return c.fault(nil, "a value nested at most "+strconv.Itoa(maxDepth)+" deep", "a deeper one", "it may lead back to itself")
	}
	defer func() { c.depth-- }()
	t := v.Type()
	if u := c.unions[t]; u != nil && !v.IsNil() {
		return c.fromVariant(u, v.Elem(), at)
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return generable.Value{}
		}
	}
	if t == valueType {
		return v.Interface().(generable.Value)
	}
	if out, ok := c.marshaled(v, at); ok {
		return out
	}
	if c.duration(t) {
		return generable.StrOf(time.Duration(v.Int()).String())
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		return c.from(v.Elem(), at)
	case reflect.Bool:
		return generable.BoolOf(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return generable.IntOf(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return generable.BigOf(new(big.Int).SetUint64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		// The shortest digits of a float32 are its own, not those of the float64 that it widens to.
		digits := strconv.FormatFloat(v.Float(), 'g', -1, t.Bits())
		f, _ := strconv.ParseFloat(digits, 64)
		out, ok := generable.FloatOf(f)
		if !ok {
			return c.fault(at, "a finite number", digits, "JSON has no such number")
		}
		return out
	case reflect.String:
		return c.text(v.String(), at)
	case reflect.Slice, reflect.Array:
		if isBytes(t) {
			return generable.StrOf(base64.StdEncoding.EncodeToString(v.Bytes()))
		}
		items := make([]generable.Value, v.Len())
		step := message.Path{Up: at, Is: message.InList}
		for i := range items {
			step.Idx = i
			items[i] = c.from(v.Index(i), &step)
		}
		return generable.NewList(items).Value()
	case reflect.Map:
		return c.fromMap(v, at)
	case reflect.Struct:
		m := generable.NewMap(0)
		c.fromStruct(m, v, "", at)
		return m.Value()
	}
	return c.fault(at, "a value with a JSON form", "a "+t.String(), `leave the field out with json:"-"`)
}

func (c *codec) text(s string, at *message.Path) generable.Value {
	if !utf8.ValidString(s) {
		return c.fault(at, "valid UTF-8", strconv.QuoteToASCII(text.Cut(s, 2*message.MaxShown)), "bytes that are no text belong into a []byte")
	}
	return generable.StrOf(s)
}

// marshaled makes the value of a Go value that has its own JSON form.
func (c *codec) marshaled(v reflect.Value, at *message.Path) (out generable.Value, ok bool) {
	t := v.Type()
	if !v.CanInterface() {
		return out, false
	}
	if t == bigIntType || t.Kind() == reflect.Pointer && t.Elem() == bigIntType {
		i := reflect.Indirect(v).Interface().(big.Int)
		return generable.BigOf(new(big.Int).Set(&i)), true
	}
	if isNumberText(t) {
		return c.json(cmp.Or(v.String(), "0"), at), true // empty is zero, as in encoding/json
	}
	x := v.Interface()
	if v.CanAddr() && t.Kind() != reflect.Pointer { // methods of the pointer count, too
		if has[jsonMarshaler](t) || has[textMarshaler](t) {
			x = v.Addr().Interface()
		}
	}
	var text []byte
	var err error
	read := c.text
	switch m := x.(type) {
	case jsonMarshaler:
		text, err = guarded(m.MarshalJSON)
		read = c.json
	case textMarshaler:
		text, err = guarded(m.MarshalText)
	default:
		return out, false
	}
	if err != nil {
		c.refused(at, "a value with a JSON form", t, err)
		return generable.Value{}, true
	}
	return read(string(text), at), true
}

// guarded calls a method of a host's value. A panic becomes an error of this value.
func guarded(f func() ([]byte, error)) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("making it panicked: %v", p)
		}
	}()
	return f()
}

// refused records the error of a host's method.
func (c *codec) refused(at *message.Path, want string, t reflect.Type, cause error) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %w", in.Error(at.String(), want, "a "+t.String()+" that refuses", ""), cause)
	}
}

// json reads what a host's method wrote.
func (c *codec) json(s string, at *message.Path) generable.Value {
	r := lenient.Decode(generable.AnyT, s, generable.Options{Level: generable.Strict})
	if !r.OK || len(r.Repairs) > 0 {
		return c.fault(at, "JSON from its own method", message.Quote(s), "")
	}
	return r.Value
}

func (c *codec) fromMap(v reflect.Value, at *message.Path) generable.Value {
	entries := make(map[string]reflect.Value, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		entries[c.key(iter.Key(), at)] = iter.Value()
	}
	m := generable.NewMap(len(entries))
	step := message.Path{Up: at}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		step.Name = key
		m.Set(key, c.from(entries[key], &step))
	}
	return m.Value()
}

func (c *codec) key(k reflect.Value, at *message.Path) string {
	if k.Kind() != reflect.String {
		if m, ok := k.Interface().(textMarshaler); ok {
			text, err := guarded(m.MarshalText)
			if err != nil {
				c.refused(at, "a key", k.Type(), err)
			}
			return string(text)
		}
	}
	switch {
	case k.Kind() == reflect.String:
		key, _ := c.text(k.String(), at).AsStr()
		return key
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10)
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10)
	}
	c.fault(at, "keys that are texts", "keys of type "+k.Type().String(), "")
	return ""
}

// fromStruct adds the fields of a struct to m, except for the field named skip.
func (c *codec) fromStruct(m *generable.Map, v reflect.Value, skip string, at *message.Path) {
	s := structOf(v.Type())
	step := message.Path{Up: at}
	for i := range s.fields {
		g := &s.fields[i]
		f, err := v.FieldByIndexErr(g.index)
		if err != nil || g.name == skip && skip != "" { // an embedded pointer is nil
			continue
		}
		if g.omitEmpty && isEmpty(f) {
			continue
		}
		step.Name = g.name
		w := c.from(f, &step)
		if g.asText && w.Kind() >= generable.Bool && w.Kind() <= generable.Float {
			w = generable.StrOf(generable.JSON(w, nil))
		}
		m.Set(g.name, w)
	}
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func (c *codec) fromVariant(u *union, v reflect.Value, at *message.Path) generable.Value {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || !slices.ContainsFunc(u.variants, func(t reflect.Type) bool { return deref(t) == v.Type() }) {
		return c.fault(at, "one of the variants "+message.OneOf(u.names()), "a "+v.Type().String(), "name it among the Variants of the interface")
	}
	m := in.Object(u.tag, generable.StrOf(nameOf(v.Type())))
	c.fromStruct(m, v, u.tag, at)
	return m.Value()
}

func (u *union) names() []string {
	return text.Each(u.variants, func(t reflect.Type) string { return nameOf(deref(t)) })
}
