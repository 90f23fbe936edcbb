// Package bottom stands on the standard library.
package bottom

import "strings"

var Upper = strings.ToUpper
