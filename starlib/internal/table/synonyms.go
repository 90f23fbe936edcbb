package table

import (
	_ "embed"
	"sync"

	"github.com/agentscript/agentscript/internal/text"
)

//go:embed synonyms.txt
var synonymTable string

var synonyms = sync.OnceValue(func() map[string]map[string]string { return text.Synonyms(synonymTable) })

// synonym gives the parameter that is meant by a name that another library has, and what to write
// instead; "" when it is none.
func (b *Builtin) synonym(name string) (param, help string) {
	meant := synonyms()[b.Name][name]
	if meant == "" && name == "budget" && b.Group == GroupCompose && b.Returns == "node" {
		return "", "a budget stands around a node: bounded(node, budget(...))"
	}
	for _, p := range b.Params {
		if p.Name == meant {
			return meant, "the argument is called " + meant
		}
	}
	return "", meant
}
