// Package dialect writes a type as the JSON Schema under which a provider decodes, and reads back what the provider
// writes.
//
// Providers hold a model to different subsets of JSON Schema: one requires every property, one has no open objects,
// one no recursion, one counts optional properties. A type that a provider cannot accept unchanged gets another form
// on the wire: a dict becomes a list of keys and values, an optional field a nullable one. [Wire] is that form: the
// schema, the rewrites that led to it, its use of the provider's budgets, and the way back. The way back is exact,
// and [Wire.Decode] also accepts the natural form, since not every route honours a schema.
//
// Constraints that a provider's schema cannot express are in its descriptions and in [Wire.Prompt]; the decoder
// checks all of them. A type is refused only if no rewrite is left.
//
// The targets differ only in a table of rules.
package dialect

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
