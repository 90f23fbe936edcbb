// Package typing answers questions about types that conditions, declarations and flows share: the cases
// of a type, its fields, and what is proven of a value before a run.
package typing

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Untyped reports whether a type says nothing about its values: it is any, or that of a node that failed.
func Untyped(t *generable.Type) bool {
	k := t.Deref().Kind
	return k == generable.AnyType || k == generable.ErrorType
}

// Proven reports whether every value of type from is one of type to, so that nothing is left
// to be checked in a run.
func Proven(from, to *generable.Type) bool {
	return generable.Assignable(from, to) == nil && !generable.Unchecked(from, to)
}

// IsNumber reports whether values of a type are numbers.
func IsNumber(t *generable.Type) bool {
	return t.Kind == generable.IntType || t.Kind == generable.FloatType
}

// Cases returns the types that a type is divided into for routing: variants, members, None.
func Cases(t *generable.Type) []*generable.Type {
	switch t = t.Deref(); t.Kind {
	case generable.OneOfType:
		var out []*generable.Type
		for _, v := range t.Variants {
			out = append(out, Cases(v)...)
		}
		return out
	case generable.UnionType:
		var out []*generable.Type
		for _, v := range t.Variants {
			// A reference in a union may stand for a union, even for itself. That is reported
			// where the type is declared.
			if v = v.Deref(); v.Kind != generable.UnionType {
				out = append(out, v)
			}
		}
		return out
	}
	return []*generable.Type{t}
}

// Values returns the values of a case as branch keys, nil when it has too many to list.
func Values(c *generable.Type) []string {
	switch c.Kind {
	case generable.BoolType:
		return []string{"True", "False"}
	case generable.EnumType:
		return text.Each(c.Values, text.Quote)
	}
	return nil
}

// Keys returns the branch keys that the given cases can have.
func Keys(cases []*generable.Type) []string {
	var keys []string
	for _, c := range cases {
		if values := Values(c); values != nil {
			keys = append(keys, values...)
		} else {
			keys = append(keys, c.String())
		}
	}
	return keys
}

// maxListed is how many cases a message lists, of which a type may have any number.
const maxListed = 12

// Listed lists cases for a message, the first of them where there are many.
func Listed(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

// Literal writes a value as scripts do.
func Literal(v generable.Value) string {
	switch v.Kind() {
	case generable.Null:
		return "None"
	case generable.Bool:
		if b, _ := v.AsBool(); b {
			return "True"
		}
		return "False"
	}
	return generable.JSON(v, nil)
}
