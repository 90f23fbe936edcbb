// Package coerce turns a tape into values of a type, and repairs values that do not fit the type as they are.
//
// [Coercer.Decode] makes the value at a node. It uses an explicit stack, so nesting needs no goroutine stack. It
// remembers its attempts at the branches of inline unions, so nested unions cost no more than the sum of their
// branches. Each type has a file: what it reads, and what it may be read from at which level.
package coerce

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
