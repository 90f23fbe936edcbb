// Package jsonschema makes types of JSON Schemas: draft 2020-12, and what tools still write of older drafts
// and of OpenAPI.
//
// [Parse] reads the text of a schema, [Import] one that is a value already. What a type cannot say is an
// error that names its place, or left out and reported with [Options].Lenient:
//
//	typ, ignored, errs := jsonschema.Parse(text, jsonschema.Options{Name: "Forecast", Lenient: true})
//
// The other way is [generable.Type.JSONSchema]. docs/decoding.md describes how each keyword is read.
package jsonschema

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
