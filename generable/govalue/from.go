package govalue

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// maxDepth bounds the nesting of Go values, which may lead back to themselves.
const maxDepth = 1000

// From makes a value of a Go value, as encoding/json would: by the json tags of structs, the
// methods MarshalJSON and MarshalText, byte slices in base64, maps with sorted keys. Integers
// are exact; a nil slice or map is an empty one. Structs become dicts: [generable.Type.Convert] makes
// instances of them. Where [Variants] tells of an interface, the tag comes first.
//
// NaN, infinities, invalid UTF-8, functions, channels and values that lead back to themselves
// are errors that name the path.
func From(v any, opts ...Option) (generable.Value, error) {
	c := newCodec(opts)
	rv := reflect.ValueOf(v)
	out, err := c.from(rv, nil)
	if err != nil {
		return generable.Value{}, err
	}
	return out, nil
}

func fault(at *message.Path, want, got, hint string) error {
	return in.Error(at.String(), want, got, hint)
}

func (c *codec) from(v reflect.Value, at *message.Path) (generable.Value, error) {
	if !v.IsValid() {
		return generable.Value{}, nil
	}
	if c.depth++; c.depth > maxDepth {
		c.depth--
		return generable.Value{}, fault(nil, "a value nested at most "+strconv.Itoa(maxDepth)+" deep", "a deeper one", "it may lead back to itself")
	}
	defer func() { c.depth-- }()
	t := v.Type()
	if u := c.unions[t]; u != nil && !v.IsNil() {
		return c.fromVariant(u, v.Elem(), at)
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return generable.Value{}, nil
		}
	}
	if t == valueType {
		return v.Interface().(generable.Value), nil
	}
	if out, ok, err := c.marshaled(v, at); ok {
		return out, err
	}
	if c.duration(t) {
		return generable.StrOf(time.Duration(v.Int()).String()), nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		return c.from(v.Elem(), at)
	case reflect.Bool:
		return generable.BoolOf(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return generable.IntOf(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return generable.BigOf(new(big.Int).SetUint64(v.Uint())), nil
	case reflect.Float32:
		// The shortest digits are those of the float32, not of what it widens to.
		f, _ := strconv.ParseFloat(strconv.FormatFloat(v.Float(), 'g', -1, 32), 64)
		return c.float(f, at)
	case reflect.Float64:
		return c.float(v.Float(), at)
	case reflect.String:
		return c.text(v.String(), at)
	case reflect.Slice:
		if isBytes(t) {
			return generable.StrOf(base64.StdEncoding.EncodeToString(v.Bytes())), nil
		}
		fallthrough
	case reflect.Array:
		items := make([]generable.Value, v.Len())
		step := message.Path{Up: at, Is: message.InList}
		for i := range items {
			step.Idx = i
			item, err := c.from(v.Index(i), &step)
			if err != nil {
				return generable.Value{}, err
			}
			items[i] = item
		}
		return generable.NewList(items).Value(), nil
	case reflect.Map:
		return c.fromMap(v, at)
	case reflect.Struct:
		m := generable.NewMap(0)
		err := c.fromStruct(m, v, "", at)
		return m.Value(), err
	}
	return generable.Value{}, fault(at, "a value with a JSON form", "a "+t.String(), `leave the field out with json:"-"`)
}

func (c *codec) float(f float64, at *message.Path) (generable.Value, error) {
	out, ok := generable.FloatOf(f)
	if !ok {
		return out, fault(at, "a finite number", strconv.FormatFloat(f, 'g', -1, 64), "JSON has no such number")
	}
	return out, nil
}

func (c *codec) text(s string, at *message.Path) (generable.Value, error) {
	if !utf8.ValidString(s) {
		return generable.Value{}, fault(at, "valid UTF-8", strconv.QuoteToASCII(text.Cut(s, 2*message.MaxShown)), "bytes that are no text belong into a []byte")
	}
	return generable.StrOf(s), nil
}

// marshaled makes the value of what has a form of its own.
func (c *codec) marshaled(v reflect.Value, at *message.Path) (out generable.Value, ok bool, err error) {
	t := v.Type()
	if !v.CanInterface() {
		return out, false, nil
	}
	if t == bigIntType || t.Kind() == reflect.Pointer && t.Elem() == bigIntType {
		var i big.Int
		if t == bigIntType {
			i = v.Interface().(big.Int)
		} else {
			i = *v.Interface().(*big.Int)
		}
		return generable.BigOf(new(big.Int).Set(&i)), true, nil
	}
	if isNumberText(t) {
		s := v.String()
		if s == "" {
			s = "0" // as encoding/json has it
		}
		out, err = c.json(s, at)
		return out, true, err
	}
	x := v.Interface()
	if v.CanAddr() && t.Kind() != reflect.Pointer { // methods of the pointer serve as well
		if has[jsonMarshaler](t) || has[textMarshaler](t) {
			x = v.Addr().Interface()
		}
	}
	var text []byte
	switch m := x.(type) {
	case jsonMarshaler:
		if text, err = guarded(m.MarshalJSON); err == nil {
			out, err = c.json(string(text), at)
			return out, true, err
		}
	case textMarshaler:
		if text, err = guarded(m.MarshalText); err == nil {
			out, err = c.text(string(text), at)
			return out, true, err
		}
	default:
		return out, false, nil
	}
	return out, true, withCause(fault(at, "a value with a JSON form", "a "+t.String()+" that refuses", ""), err)
}

// guarded calls a method of the host's values, whose panics are errors of this value.
func guarded(f func() ([]byte, error)) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("making it panicked: %v", p)
		}
	}()
	return f()
}

func withCause(err, cause error) error { return fmt.Errorf("%w: %w", err, cause) }

// json reads what a host's method wrote.
func (c *codec) json(s string, at *message.Path) (generable.Value, error) {
	r := lenient.Decode(generable.AnyT, s, generable.Options{Level: generable.Strict})
	if !r.OK || len(r.Repairs) > 0 {
		return generable.Value{}, fault(at, "JSON from its own method", message.Quote(s), "")
	}
	return r.Value, nil
}

func (c *codec) fromMap(v reflect.Value, at *message.Path) (generable.Value, error) {
	type entry struct {
		key string
		val reflect.Value
	}
	var entries []entry
	for iter := v.MapRange(); iter.Next(); {
		key, err := c.key(iter.Key(), at)
		if err != nil {
			return generable.Value{}, err
		}
		entries = append(entries, entry{key, iter.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	m := generable.NewMap(len(entries))
	step := message.Path{Up: at}
	for _, e := range entries {
		step.Name = e.key
		w, err := c.from(e.val, &step)
		if err != nil {
			return generable.Value{}, err
		}
		m.Set(e.key, w)
	}
	return m.Value(), nil
}

func (c *codec) key(k reflect.Value, at *message.Path) (string, error) {
	if k.Kind() != reflect.String {
		if m, ok := k.Interface().(textMarshaler); ok {
			text, err := guarded(m.MarshalText)
			if err != nil {
				return "", withCause(fault(at, "a key", "a "+k.Type().String()+" that refuses", ""), err)
			}
			return string(text), nil
		}
	}
	switch {
	case k.Kind() == reflect.String:
		s, err := c.text(k.String(), at)
		text, _ := s.AsStr()
		return text, err
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10), nil
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", fault(at, "keys that are texts", "keys of type "+k.Type().String(), "")
}

// fromStruct adds the fields of a struct to m, but the one of that name.
func (c *codec) fromStruct(m *generable.Map, v reflect.Value, skip string, at *message.Path) error {
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
		w, err := c.from(f, &step)
		if err != nil {
			return err
		}
		if g.asText && w.Kind() >= generable.Bool && w.Kind() <= generable.Float {
			w = generable.StrOf(generable.JSON(w, nil))
		}
		m.Set(g.name, w)
	}
	return nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	}
	return v.IsZero()
}

func (c *codec) fromVariant(u *union, v reflect.Value, at *message.Path) (generable.Value, error) {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || !slices.ContainsFunc(u.variants, func(t reflect.Type) bool { return deref(t) == v.Type() }) {
		return generable.Value{}, fault(at, "one of the variants "+message.OneOf(u.names()), "a "+v.Type().String(), "name it among the Variants of the interface")
	}
	m := generable.NewMap(1)
	m.Set(u.tag, generable.StrOf(nameOf(v.Type())))
	err := c.fromStruct(m, v, u.tag, at)
	return m.Value(), err
}

func (u *union) names() []string {
	names := make([]string, len(u.variants))
	for i, t := range u.variants {
		names[i] = nameOf(deref(t))
	}
	return names
}
