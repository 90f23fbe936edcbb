package govalue

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// maxIntoDepth bounds the nesting of values that are read into Go values.
const maxIntoDepth = 10_000

// To reads a value into a new Go value; see [Into].
func To[T any](v generable.Value, opts ...Option) (T, error) {
	var out T
	err := Into(v, &out, opts...)
	return out, err
}

// Into reads a value into what dst, a pointer, points to: by the json tags of structs and the methods UnmarshalJSON
// and UnmarshalText, as encoding/json would read the value's JSON. Keys without a field are left out, and None leaves
// the destination unchanged.
//
// Nothing is lost without an error: a number must fit exactly, an array must have the same number of items. An
// interface becomes nil, bool, int64, *big.Int, float64, string, []any or map[string]any, or the variant that
// [Variants] lists. All errors are returned at once, as [generable.FieldErrors] with their paths.
func Into(v generable.Value, dst any, opts ...Option) error {
	rv := reflect.ValueOf(dst)
	if rv.Kind() != reflect.Pointer || rv.IsNil() {
		return in.Error("", "a pointer to read into", fmt.Sprintf("%T", dst), "")
	}
	c := newCodec(opts)
	c.into(v, rv.Elem(), nil)
	return c.errs.Err()
}

func (c *codec) into(v generable.Value, dst reflect.Value, at *message.Path) {
	t := dst.Type()
	if t == valueType {
		dst.Set(reflect.ValueOf(v))
		return
	}
	if c.depth++; c.depth > maxIntoDepth {
		c.depth--
		c.bad(at, "a value nested at most "+strconv.Itoa(maxIntoDepth)+" deep", "a deeper one", "")
		return
	}
	defer func() { c.depth-- }()
	if v.IsNull() {
		switch t.Kind() {
		case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
			dst.SetZero()
		}
		return
	}
	if t.Kind() == reflect.Pointer {
		if dst.IsNil() {
			dst.Set(reflect.New(t.Elem()))
		}
		c.into(v, dst.Elem(), at)
		return
	}
	if t == bigIntType {
		if i, ok := wholeNumber(v).AsBig(); ok {
			dst.Addr().Interface().(*big.Int).Set(i)
			return
		}
		c.mismatch(v, "int", at)
		return
	}
	if c.unmarshaled(v, dst, at) {
		return
	}
	if c.duration(t) {
		c.intoDuration(v, dst, at)
		return
	}
	switch t.Kind() {
	case reflect.Interface:
		c.intoInterface(v, dst, at)
	case reflect.Bool:
		if b, ok := v.AsBool(); ok {
			dst.SetBool(b)
			return
		}
		c.mismatch(v, "bool", at)
	case reflect.String:
		if s, ok := v.AsStr(); ok {
			dst.SetString(s)
			return
		}
		c.mismatch(v, "str", at)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if i, ok := wholeNumber(v).AsInt(); ok && !dst.OverflowInt(i) {
			dst.SetInt(i)
			return
		}
		c.mismatch(v, "an integer that a Go "+t.String()+" can hold", at)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if i, ok := wholeNumber(v).AsBig(); ok && i.IsUint64() && !dst.OverflowUint(i.Uint64()) {
			dst.SetUint(i.Uint64())
			return
		}
		c.mismatch(v, "an integer that a Go "+t.String()+" can hold", at)
	case reflect.Float32, reflect.Float64:
		c.intoFloat(v, dst, at)
	case reflect.Slice, reflect.Array:
		c.intoList(v, dst, at)
	case reflect.Map:
		c.intoMap(v, dst, at)
	case reflect.Struct:
		c.intoStruct(v, dst, at)
	default:
		c.bad(at, "a Go type with a JSON form", "a "+t.String(), "")
	}
}

func wholeNumber(v generable.Value) generable.Value {
	if w, ok := in.Whole(v); ok {
		return w
	}
	return v
}

func (c *codec) mismatch(v generable.Value, want string, at *message.Path) {
	got := v.TypeName()
	if v.Kind() >= generable.Bool && v.Kind() <= generable.Float {
		got += " " + message.Shorten(generable.JSON(v, nil))
	}
	c.bad(at, want, got, "")
}

func (c *codec) intoFloat(v generable.Value, dst reflect.Value, at *message.Path) {
	w, ok := v, v.Kind() == generable.Float
	if !ok {
		w, ok = in.ExactFloat(v)
	}
	f, _ := w.AsFloat()
	if !ok || dst.OverflowFloat(f) {
		c.mismatch(v, "a number that a Go "+dst.Type().String()+" can hold", at)
		return
	}
	dst.SetFloat(f)
}

// unmarshaled reads a value into a destination with a method for that.
func (c *codec) unmarshaled(v generable.Value, dst reflect.Value, at *message.Path) bool {
	if isNumberText(dst.Type()) {
		switch s, isStr := v.AsStr(); {
		case v.Kind() == generable.Int, v.Kind() == generable.Big, v.Kind() == generable.Float:
			dst.SetString(generable.JSON(v, nil))
		case isStr && numberText(s):
			dst.SetString(s)
		default:
			c.mismatch(v, "a number", at)
		}
		return true
	}
	if !dst.CanAddr() || dst.Kind() == reflect.Interface {
		return false
	}
	var err error
	call := func(f func([]byte) error, text []byte) {
		_, err = guarded(func() ([]byte, error) { return nil, f(text) })
	}
	switch u := dst.Addr().Interface().(type) {
	case jsonUnmarshaler:
		call(u.UnmarshalJSON, generable.AppendJSON(nil, v, nil))
	case textUnmarshaler:
		s, ok := v.AsStr()
		if !ok {
			c.mismatch(v, "str", at)
			return true
		}
		call(u.UnmarshalText, []byte(s))
	default:
		return false
	}
	if err != nil {
		c.bad(at, "what a Go "+dst.Type().String()+" takes", message.Shorten(generable.JSON(v, nil)), err.Error())
	}
	return true
}

// numberText reports whether s is a JSON number.
func numberText(s string) bool {
	r := lenient.Decode(generable.AnyT, s, generable.Options{Level: generable.Strict})
	return r.OK && r.Value.Kind() >= generable.Int && r.Value.Kind() <= generable.Float && strings.TrimSpace(s) == s
}

func (c *codec) intoList(v generable.Value, dst reflect.Value, at *message.Path) {
	t := dst.Type()
	if s, ok := v.AsStr(); ok && isBytes(t) {
		data, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			c.bad(at, "text in base64", message.Quote(s), "")
			return
		}
		dst.SetBytes(data)
		return
	}
	list, ok := v.AsList()
	if !ok {
		c.mismatch(v, "list", at)
		return
	}
	n := list.Len()
	if t.Kind() == reflect.Array {
		if n != t.Len() {
			c.bad(at, text.Count(t.Len(), "item"), text.Count(n, "item"), "")
			return
		}
	} else {
		dst.Set(reflect.MakeSlice(t, n, n))
	}
	step := message.Path{Up: at, Is: message.InList}
	for i := range n {
		step.Idx = i
		c.into(list.At(i), dst.Index(i), &step)
	}
}

// members calls f for each member of a dict or record.
func members(v generable.Value, f func(key string, v generable.Value)) bool {
	if m, ok := v.AsMap(); ok {
		for key, v := range m.All() {
			f(key, v)
		}
		return true
	}
	r, ok := v.AsRecord()
	if ok {
		for i := range r.Type().Fields {
			if v := r.At(i); !in.IsAbsent(v) {
				f(r.Type().Fields[i].Name, v)
			}
		}
	}
	return ok
}

func (c *codec) intoMap(v generable.Value, dst reflect.Value, at *message.Path) {
	t := dst.Type()
	out := reflect.MakeMap(t)
	step := message.Path{Up: at}
	ok := members(v, func(key string, v generable.Value) {
		step.Name = key
		k := reflect.New(t.Key()).Elem()
		if !c.intoKey(key, k, &step) {
			return
		}
		if out.MapIndex(k).IsValid() {
			c.bad(&step, "keys that a Go "+t.Key().String()+" distinguishes", "a second one for "+message.Shorten(fmt.Sprint(k)), "")
			return
		}
		item := reflect.New(t.Elem()).Elem()
		c.into(v, item, &step)
		out.SetMapIndex(k, item)
	})
	if !ok {
		c.mismatch(v, "dict", at)
		return
	}
	dst.Set(out)
}

func (c *codec) intoKey(key string, dst reflect.Value, at *message.Path) bool {
	if u, ok := dst.Addr().Interface().(textUnmarshaler); ok && dst.Kind() != reflect.String {
		if _, err := guarded(func() ([]byte, error) { return nil, u.UnmarshalText([]byte(key)) }); err != nil {
			c.bad(at, "a key that a Go "+dst.Type().String()+" takes", message.Quote(key), err.Error())
			return false
		}
		return true
	}
	switch {
	case dst.Kind() == reflect.String:
		dst.SetString(key)
		return true
	case dst.CanInt():
		if i, err := strconv.ParseInt(key, 10, 64); err == nil && !dst.OverflowInt(i) {
			dst.SetInt(i)
			return true
		}
	case dst.CanUint():
		if i, err := strconv.ParseUint(key, 10, 64); err == nil && !dst.OverflowUint(i) {
			dst.SetUint(i)
			return true
		}
	}
	c.bad(at, "a key that a Go "+dst.Type().String()+" can hold", message.Quote(key), "")
	return false
}

func (c *codec) intoStruct(v generable.Value, dst reflect.Value, at *message.Path) {
	s := structOf(dst.Type())
	step := message.Path{Up: at}
	ok := members(v, func(key string, v generable.Value) {
		i, has := s.field(key)
		if !has {
			return
		}
		g := &s.fields[i]
		step.Name = g.name
		f := dst
		for _, at := range g.index {
			if f.Kind() == reflect.Pointer {
				if f.IsNil() {
					if !f.CanSet() {
						c.bad(&step, "a field that can be reached", "one behind a nil "+f.Type().String(),
							"an embedded pointer to a struct that is not exported has to be set before")
						return
					}
					f.Set(reflect.New(f.Type().Elem()))
				}
				f = f.Elem()
			}
			f = f.Field(at)
		}
		if text, isStr := v.AsStr(); g.asText && isStr && deref(f.Type()).Kind() != reflect.String {
			if r := lenient.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict}); r.OK {
				v = r.Value
			}
		}
		c.into(v, f, &step)
	})
	if !ok {
		c.mismatch(v, "dict", at)
	}
}

func (c *codec) intoInterface(v generable.Value, dst reflect.Value, at *message.Path) {
	t := dst.Type()
	if u := c.unions[t]; u != nil {
		name := ""
		if r, ok := v.AsRecord(); ok {
			name = r.Type().Name
		} else if m, ok := v.AsMap(); ok {
			tag, _ := m.Get(u.tag)
			name, _ = tag.AsStr()
		}
		i := slices.Index(u.names(), name)
		if i < 0 {
			c.bad(&message.Path{Up: at, Name: u.tag}, message.OneOf(u.names()), message.Quote(name), message.DidYouMean(name, u.names()))
			return
		}
		out := reflect.New(u.variants[i]).Elem()
		c.into(v, out, at)
		dst.Set(out)
		return
	}
	if t.NumMethod() > 0 {
		c.bad(at, "an interface whose types are known", "a "+t.String(), "register them with Variants")
		return
	}
	if x := plainGo(v); x != nil {
		dst.Set(reflect.ValueOf(x))
	}
}

// plainGo returns a value as the Go types that represent JSON.
func plainGo(v generable.Value) any {
	switch v.Kind() {
	case generable.Bool:
		b, _ := v.AsBool()
		return b
	case generable.Int:
		i, _ := v.AsInt()
		return i
	case generable.Big:
		i, _ := v.AsBig()
		return new(big.Int).Set(i)
	case generable.Float:
		f, _ := v.AsFloat()
		return f
	case generable.Str:
		s, _ := v.AsStr()
		return s
	case generable.ListKind:
		list, _ := v.AsList()
		out := make([]any, list.Len())
		for i, item := range list.Items() {
			out[i] = plainGo(item)
		}
		return out
	case generable.MapKind, generable.RecordKind:
		out := make(map[string]any)
		members(v, func(key string, v generable.Value) { out[key] = plainGo(v) })
		return out
	}
	return nil
}
