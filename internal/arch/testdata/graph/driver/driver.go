// Package driver is what middle must not know.
package driver

import "encoding/json"

var Valid = json.Valid
