package repl

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/generable"
)

// earlier says which agents and functions still use a schema whose name has been rebound.
func (s *session) earlier(before *agentscript.Module, bound []string) error {
	m := s.ws.Module()
	for _, schema := range slices.Compact(slices.Sorted(slices.Values(bound))) {
		old, now := before.Type(schema), m.Type(schema)
		if old == nil || now == nil || generable.Same(old, now) {
			continue
		}
		for _, name := range m.Names() {
			does := ""
			n := m.Node(name)
			switch {
			case n == nil:
				f, err := m.Flow(name)
				if err == nil && slices.ContainsFunc(f.Params.Fields, func(p generable.Field) bool { return holds(p.Type, old) }) {
					does = "takes"
				}
			case n.Agent() == nil: // its agents are listed by their names
			case holds(n.Out(), old):
				does = "answers"
			case holds(n.In(), old):
				does = "takes"
			}
			if does == "" {
				continue
			}
			if err := s.say(fmt.Sprintf("%s still %s the earlier %s: to change that, enter the statement of %[1]s again, which ??%[1]s shows", name, does, schema)); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports whether a type is part, or contains it.
func holds(t, part *generable.Type) bool {
	seen := map[*generable.Type]bool{}
	var within func(t *generable.Type) bool
	within = func(t *generable.Type) bool {
		if t = t.Deref(); t == nil || seen[t] {
			return false
		}
		seen[t] = true
		if generable.Same(t, part) {
			return true
		}
		parts := slices.Clone(t.Variants)
		if t.Elem != nil {
			parts = append(parts, t.Elem)
		}
		for _, f := range t.Fields {
			parts = append(parts, f.Type)
		}
		return slices.ContainsFunc(parts, within)
	}
	return t != nil && within(t)
}
