// Package middle stands on bottom.
package middle

import "example.test/app/bottom"

var Upper = bottom.Upper
