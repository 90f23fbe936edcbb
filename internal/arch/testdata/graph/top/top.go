// Package top knows both.
package top

import (
	"example.test/app/driver"
	"example.test/app/middle"
)

var Upper, Valid = middle.Upper, driver.Valid
