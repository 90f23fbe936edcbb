package format

import (
	"math/big"
	"strconv"
)

// IsMultiple reports whether a decimal number is a multiple of another. It is exact: it uses the decimal digits of
// both as written.
func IsMultiple(decimals string, of float64) bool {
	if i, err := strconv.ParseInt(decimals, 10, 64); err == nil && of >= 1 && of < 1<<53 && of == float64(int64(of)) {
		return i%int64(of) == 0
	}
	x, ok := new(big.Rat).SetString(decimals)
	y, ok2 := new(big.Rat).SetString(strconv.FormatFloat(of, 'g', -1, 64))
	return ok && ok2 && x.Quo(x, y).IsInt()
}
