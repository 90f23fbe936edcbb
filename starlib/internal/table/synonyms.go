package table

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

//go:embed synonyms.txt
var synonymTable string

var synonyms = sync.OnceValue(func() map[string]map[string]string { return text.Synonyms(synonymTable) })

// synonym returns the parameter that a name of another library means, and what to write instead, or "".
func (c *Call) synonym(name string) (param, help string) {
	b := c.Row
	meant := synonyms()[b.Name][name]
	if of := synonyms()[b.Name+" sized"][name]; of != "" && sized(value.TypeOf(c.Values[0])) {
		meant = of
	}
	if meant == "" && name == "budget" && b.Group == GroupCompose && b.Returns == "node" {
		return "", "a budget bounds a node: bounded(node, budget(...))"
	}
	for _, p := range b.Params {
		if p.Name == meant {
			if c.Refs[c.Row.index[meant]].Given() {
				return meant, "the argument is called " + meant + ", which is already passed: put all of it there"
			}
			return meant, "the argument is called " + meant
		}
	}
	return "", meant
}

// sized reports whether the values of a type, except None, have a length.
func sized(t *generable.Type) bool {
	if t == nil {
		return false
	}
	switch t = t.Deref(); t.Kind {
	case generable.StrType, generable.ListType, generable.DictType:
		return true
	case generable.OneOfType:
		return !slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return v.Kind != generable.NoneType && !sized(v) })
	}
	return false
}
