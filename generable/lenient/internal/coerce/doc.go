// Package coerce turns a tape into values of a type, and repairs what is not a value of it as it is.
//
// [Coercer.Decode] makes the value at a node. It works on an explicit stack, so that nesting costs no
// goroutine stack, and tries the branches of inline unions with a memory, so that nested unions cost no
// more than the sum of their branches. Each type has a file: what it reads, and what it may be read from
// at which level.
package coerce

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
