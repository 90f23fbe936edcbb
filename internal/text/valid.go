package text

import (
	"reflect"
	"unicode/utf8"
)

// AllValid reports whether every text in v, a tree of structs, lists, maps and pointers, is valid UTF-8. encoding/json
// replaces invalid bytes without an error. Byte slices are not checked.
func AllValid(v any) bool { return allValid(reflect.ValueOf(v)) }

func allValid(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || allValid(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range v.Len() {
			if !allValid(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !allValid(it.Key()) || !allValid(it.Value()) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !allValid(v.Field(i)) {
				return false
			}
		}
	}
	return true
}
