// Package dialect writes a type as the JSON Schema that a provider decodes under, and reads
// back what the provider writes.
//
// Providers hold a model to subsets of JSON Schema that differ: one wants every property
// required, one knows no open objects, one no recursion, one counts optional properties. A
// type that a provider cannot take as it is gets another form on the wire: a dict becomes a
// list of keys and values, an optional field a nullable one. [Wire] is that form: the schema,
// the rewrites that led to it, what it uses of the provider's budgets, and the way back. The
// way back is exact, and [Wire.Decode] takes the natural form as well,
// since not every route honours a schema.
//
// What a schema of the provider cannot say is in its descriptions and in [Wire.Prompt]; the
// decoder checks all of it. A type is refused only when no rewrite is left.
//
// The targets differ by a table of [Rules] alone.
package dialect

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
