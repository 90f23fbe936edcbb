package starfmt

import (
	"fmt"
	"reflect"

	"go.starlark.net/syntax"
)

// equal compares two trees but for positions, comments, parentheses and the spelling of
// literals. It says where they differ.
func equal(a, b *syntax.File) (where string, same bool) {
	c := &comparison{}
	c.values(reflect.ValueOf(a.Stmts), reflect.ValueOf(b.Stmts))
	return c.where, c.where == ""
}

type comparison struct {
	line  int32 // of the statement or expression at hand
	where string
}

func (c *comparison) differ(format string, args ...any) {
	if c.where == "" {
		c.where = fmt.Sprintf("line %d, ", c.line) + fmt.Sprintf(format, args...)
	}
}

var (
	positionType = reflect.TypeFor[syntax.Position]()
	commentsType = reflect.TypeFor[*syntax.Comments]()
)

// skipped are the fields that say how something was written, not what it is; and what a
// resolver fills in.
var skipped = map[string]bool{"Raw": true, "Binding": true, "Function": true, "Module": true, "Comments": true, "commentsRef": true}

func (c *comparison) values(a, b reflect.Value) {
	if c.where != "" {
		return
	}
	a, b = bare(a), bare(b)
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		c.differ("%s became %s", kindOf(a), kindOf(b))
		return
	}
	if !a.IsValid() || a.Type() == positionType || a.Type() == commentsType {
		return
	}
	switch a.Kind() {
	case reflect.Slice:
		if a.Len() != b.Len() {
			c.differ("%d parts became %d", a.Len(), b.Len())
			return
		}
		for i := range a.Len() {
			c.values(a.Index(i), b.Index(i))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() && !skipped[f.Name] {
				c.values(a.Field(i), b.Field(i))
			}
		}
	default:
		if x, y := a.Interface(), b.Interface(); !reflect.DeepEqual(x, y) {
			c.differ("%v became %v", x, y)
		}
	}
}

// bare follows pointers and interfaces and takes parentheses off.
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

func kindOf(v reflect.Value) string {
	if !v.IsValid() {
		return "nothing"
	}
	return v.Type().Name()
}
