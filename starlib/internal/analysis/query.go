package analysis

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/starlib/internal/infer"
)

// Query is what an analysis asks of loading the entry script. Its methods take a nil Query, which asks nothing.
type Query struct {
	Names []string // that blanked statements bind: stand-ins take their place
	Guess bool     // stand-ins take the place of all names that nothing binds: the findings do not matter
}

// Lost reports whether a blanked statement binds a name.
func (q *Query) Lost(name string) bool { return q != nil && slices.Contains(q.Names, name) }

// Guesses reports whether stand-ins take the place of all names that nothing binds.
func (q *Query) Guesses() bool { return q != nil && q.Guess }

// Read receives the tree of the script before it is checked.
func (q *Query) Read(*syntax.File) {}

// Seen receives what was found out about a function.
func (q *Query) Seen(*infer.Inference) {}
