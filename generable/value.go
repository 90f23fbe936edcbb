package generable

import (
	"math"
	"math/big"
	"sync/atomic"
	"unsafe"
)

// Kind is the kind of datum that a [Value] holds.
type Kind uint8

// The kinds of values. The zero Value is Null.
const (
	Null Kind = iota
	Bool
	Int   // fits int64
	Big   // an integer beyond int64
	Float // never NaN, never infinite
	Str   // valid UTF-8
	ListKind
	MapKind
	RecordKind
)

var kindNames = [...]string{"None", "bool", "int", "int", "float", "str", "list", "dict", "record"}

// String returns the kind's name in the script language.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Value is one immutable datum: null, bool, integer, float, string, list, ordered map or
// record. It is 24 bytes and holds scalars and string headers inline.
//
// Compare values with [Equal], never with ==.
type Value struct {
	p    unsafe.Pointer // string data, *List, *Map, *Record or *big.Int
	n    uint64         // bool, int64 bits, float64 bits or string length
	kind Kind
}

// BoolOf returns a bool value.
func BoolOf(b bool) Value {
	v := Value{kind: Bool}
	if b {
		v.n = 1
	}
	return v
}

// IntOf returns an integer value.
func IntOf(i int64) Value { return Value{n: uint64(i), kind: Int} }

// BigOf returns an integer value of any size. It normalises: an integer that fits int64 becomes an Int. The caller
// must not change i afterwards.
func BigOf(i *big.Int) Value {
	if i.IsInt64() {
		return IntOf(i.Int64())
	}
	return Value{p: unsafe.Pointer(i), kind: Big}
}

// FloatOf returns a float value. NaN and infinities have no JSON form and are not values:
// FloatOf reports false for them.
func FloatOf(f float64) (Value, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, false
	}
	return Value{n: math.Float64bits(f), kind: Float}, true
}

// StrOf returns a string value. The caller guarantees that s is valid UTF-8; the boundaries of the engine check it.
func StrOf(s string) Value {
	return Value{p: unsafe.Pointer(unsafe.StringData(s)), n: uint64(len(s)), kind: Str}
}

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == Null }

// AsBool returns the bool that v holds.
func (v Value) AsBool() (b, ok bool) { return v.n != 0, v.kind == Bool }

// AsInt returns the integer that v holds when it fits int64.
func (v Value) AsInt() (int64, bool) { return int64(v.n), v.kind == Int }

// AsBig returns the integer that v holds, of any size. The caller must not change the result.
func (v Value) AsBig() (*big.Int, bool) {
	switch v.kind {
	case Int:
		return big.NewInt(int64(v.n)), true
	case Big:
		return (*big.Int)(v.p), true
	}
	return nil, false
}

// AsFloat returns the float that v holds. An integer is not a float.
func (v Value) AsFloat() (float64, bool) { return math.Float64frombits(v.n), v.kind == Float }

// AsNumber returns any number as float64, with the usual loss for large integers.
func (v Value) AsNumber() (float64, bool) {
	switch v.kind {
	case Int:
		return float64(int64(v.n)), true
	case Float:
		return math.Float64frombits(v.n), true
	case Big:
		f, _ := new(big.Float).SetInt((*big.Int)(v.p)).Float64()
		return f, true
	}
	return 0, false
}

// AsStr returns the string that v holds.
func (v Value) AsStr() (string, bool) {
	if v.kind != Str {
		return "", false
	}
	return unsafe.String((*byte)(v.p), int(v.n)), true
}

// AsList returns the list that v holds.
func (v Value) AsList() (*List, bool) {
	if v.kind != ListKind {
		return nil, false
	}
	return (*List)(v.p), true
}

// AsMap returns the map that v holds.
func (v Value) AsMap() (*Map, bool) {
	if v.kind != MapKind {
		return nil, false
	}
	return (*Map)(v.p), true
}

// AsRecord returns the record that v holds.
func (v Value) AsRecord() (*Record, bool) {
	if v.kind != RecordKind {
		return nil, false
	}
	return (*Record)(v.p), true
}

// TypeName returns the script language's name for the type of v; for a record, the name of its schema.
func (v Value) TypeName() string {
	if r, ok := v.AsRecord(); ok {
		return r.typ.String()
	}
	return v.kind.String()
}

// hostCache caches the form that a host language made of a value, so that an unchanged value crosses back at no cost.
// The first form stored stays.
type hostCache struct{ form atomic.Pointer[any] }

// Host returns the cached host form, or nil.
func (c *hostCache) Host() any {
	if p := c.form.Load(); p != nil {
		return *p
	}
	return nil
}

// SetHost caches a host form. The form must be frozen, because several branches read it.
func (c *hostCache) SetHost(form any) { c.form.CompareAndSwap(nil, &form) }

const (
	minInt64AsFloat = -9223372036854775808.0 // exact
	maxInt64Bound   = 9223372036854775808.0  // one past the largest int64
)

// compareToFloat compares a number with f exactly, without rounding a large integer first.
// It reports false when v is not a number.
func compareToFloat(v Value, f float64) (int, bool) {
	switch v.kind {
	case Float:
		x := math.Float64frombits(v.n)
		switch {
		case x < f:
			return -1, true
		case x > f:
			return 1, true
		}
		return 0, true
	case Int:
		return compareIntFloat(int64(v.n), f), true
	case Big:
		return new(big.Float).SetInt((*big.Int)(v.p)).Cmp(big.NewFloat(f)), true
	}
	return 0, false
}

func compareIntFloat(i int64, f float64) int {
	if f >= maxInt64Bound {
		return -1
	}
	if f < minInt64AsFloat {
		return 1
	}
	whole := math.Floor(f)
	switch w := int64(whole); {
	case i < w || (i == w && f > whole):
		return -1
	case i > w:
		return 1
	}
	return 0
}

// exactFloat returns an integer as a float if no digit is lost.
func exactFloat(v Value) (Value, bool) {
	switch v.kind {
	case Int:
		f := float64(int64(v.n))
		if compareIntFloat(int64(v.n), f) != 0 {
			return Value{}, false
		}
		return FloatOf(f)
	case Big:
		f, acc := new(big.Float).SetInt((*big.Int)(v.p)).Float64()
		if acc != big.Exact {
			return Value{}, false
		}
		return FloatOf(f)
	}
	return Value{}, false
}

// exactInt returns a whole float as an integer. Beyond 64 bits a float no longer counts single units, so it is not an
// integer.
func exactInt(v Value) (Value, bool) {
	f, ok := v.AsFloat()
	if !ok || f != math.Trunc(f) || f < minInt64AsFloat || f >= maxInt64Bound {
		return Value{}, false
	}
	return IntOf(int64(f)), true
}
