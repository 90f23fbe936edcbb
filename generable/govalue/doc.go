// Package govalue connects types and values with those of Go.
//
// [TypeFor] makes a type of a Go type by its struct tags, [To] reads a value into Go, and [From] makes a
// value of a Go value. Names and forms are those that encoding/json would use; unlike there, nothing is
// lost without an error:
//
//	typ, err := govalue.TypeFor[Ticket]()
//	r := lenient.Decode(typ, answer, generable.Options{})
//	ticket, err := govalue.To[Ticket](r.Value)
//
// An interface needs [Variants], which says which structs its values are.
package govalue

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
