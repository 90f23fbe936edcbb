// Package jsonschema converts JSON Schemas to types: draft 2020-12, and the parts of older drafts and of OpenAPI that
// tools still write.
//
// [Parse] reads the text of a schema, [Import] a schema that is already a value. What a type cannot express is an
// error that names its place or, with [Options].Lenient, left out and reported:
//
//	typ, ignored, errs := jsonschema.Parse(text, jsonschema.Options{Name: "Forecast", Lenient: true})
//
// For the other direction see [generable.Type.JSONSchema]. docs/decoding.md describes how each keyword is read.
package jsonschema

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
