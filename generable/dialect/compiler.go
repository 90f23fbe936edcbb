package dialect

import (
	"crypto/sha256"
	"sync"

	"github.com/agentscript/agentscript/generable"
)

// Compiler is [Compile] with a memory: types that are the same share one [Wire] per target.
// The zero value is ready; it may be used by several goroutines at once, and belongs to the
// host that makes it.
type Compiler struct{ kept sync.Map }

type compiled struct {
	wire *Wire
	err  error
}

type compilerKey struct {
	identity [sha256.Size]byte
	target   string
}

// Compile is the function [Compile], whose results it keeps.
func (c *Compiler) Compile(t *generable.Type, target string) (*Wire, error) {
	if len(generable.Refs(t)) > 0 { // not to be kept: what is missing may be declared yet
		return Compile(t, target)
	}
	key := compilerKey{identity(t), target}
	if have, ok := c.kept.Load(key); ok {
		r := have.(compiled)
		return r.wire, r.err
	}
	w, err := Compile(t, target)
	have, _ := c.kept.LoadOrStore(key, compiled{w, err})
	r := have.(compiled)
	return r.wire, r.err
}

// identity tells types apart that differ anywhere. A type's own ID knows what it refers to by
// name alone; two modules may each have declared that name.
func identity(t *generable.Type) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(t.ID()))
	generable.Walk(t, func(p *generable.Type) bool {
		if p != t {
			h.Write([]byte("\n" + p.ID()))
		}
		return true
	})
	return [sha256.Size]byte(h.Sum(nil))
}
