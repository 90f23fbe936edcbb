// Package govalue converts between Go types and values and those of package generable.
//
// [TypeFor] makes a type from a Go type and its struct tags, [To] reads a value into Go, and [From] makes a value
// from a Go value. Names and forms are those of encoding/json, but nothing is lost without an error:
//
//	typ, err := govalue.TypeFor[Ticket]()
//	r := lenient.Decode(typ, answer, generable.Options{})
//	ticket, err := govalue.To[Ticket](r.Value)
//
// An interface needs [Variants], which lists the structs that its values can be.
package govalue

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
