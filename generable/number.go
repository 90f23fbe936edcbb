package generable

import (
	"math"
	"math/big"
)

const (
	minInt64AsFloat = -9223372036854775808.0 // exact
	maxInt64Bound   = 9223372036854775808.0  // one past the largest int64
)

// compareToFloat compares a number with f exactly, without rounding a large integer first.
// It reports false when v is no number.
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

// exactFloat returns an integer as a float when no digit is lost.
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

// exactInt returns a whole float as an integer. Beyond 64 bits a float has long stopped to
// count single units, so that such a one is no integer.
func exactInt(v Value) (Value, bool) {
	f, ok := v.AsFloat()
	if !ok || f != math.Trunc(f) || f < minInt64AsFloat || f >= maxInt64Bound {
		return Value{}, false
	}
	return IntOf(int64(f)), true
}
