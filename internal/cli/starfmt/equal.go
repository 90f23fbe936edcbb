package starfmt

import (
	"reflect"

	"go.starlark.net/syntax"
)

var positionType = reflect.TypeFor[syntax.Position]()

// skipped are the fields that describe how something was written, not what it is, and those that a resolver fills in.
var skipped = map[string]bool{"Raw": true, "Binding": true, "Function": true, "Module": true, "Comments": true}

// equal reports whether two parts of trees are the same except for positions, comments, parentheses and the spelling of
// literals.
func equal(a, b reflect.Value) bool {
	a, b = bare(a), bare(b)
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() || a.Kind() == reflect.Slice && a.Len() != b.Len() {
		return false
	}
	switch {
	case a.Type() == positionType:
		return true
	case a.Kind() == reflect.Slice:
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() && !skipped[f.Name] && !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}

// bare follows pointers and interfaces and removes parentheses.
func bare(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		if v.IsNil() {
			return reflect.Value{}
		}
		if p, ok := v.Interface().(*syntax.ParenExpr); ok {
			v = reflect.ValueOf(&p.X).Elem()
			continue
		}
		v = v.Elem()
	}
	return v
}
