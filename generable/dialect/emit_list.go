package dialect

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

// list writes a list or, where the target knows them, a tuple.
func (e *emitter) list(s *shape, at spot) *generable.Map {
	e.container(at.level)
	m := typed("array")
	if len(s.parts) > 0 {
		first := make([]generable.Value, len(s.parts))
		for i, p := range s.parts {
			first[i] = e.described(p, at.down("["+strconv.Itoa(i)+"]", 1)).Value()
		}
		m.Set("prefixItems", generable.NewList(first).Value())
	}
	if s.items != nil {
		m.Set("items", e.described(s.items, at.down("[]", 1)).Value())
	}
	if n := len(s.nat.Variants); n > 0 && len(s.parts) == 0 {
		for i, v := range s.nat.Variants {
			e.say("tuple-as-list", at, "item "+strconv.Itoa(i)+" is "+article(v.String()))
		}
	}
	e.items(m, at)
	return m
}

// tuple writes a tuple as an object whose keys are the places.
func (e *emitter) tuple(s *shape, at spot) *generable.Map {
	e.rewrite("tuple-as-object", at, s.nat.String(), `{"0": …}`, "an object whose keys are the positions in the list, from \"0\"")
	e.container(at.level)
	if at.limits != nil {
		e.sayUnique(at, at.limits)
	}
	props := make([]property, len(s.parts))
	for i, p := range s.parts {
		props[i] = property{strconv.Itoa(i), e.described(p, at.down("["+strconv.Itoa(i)+"]", 1)), true}
	}
	return e.object(props)
}
