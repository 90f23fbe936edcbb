package generable

import "sync/atomic"

// artefacts are the texts that a type has yielded, made when first asked for. They are kept
// only once every reference inside the type is bound.
type artefacts struct {
	description, fragment, schemaText atomic.Pointer[string]
	schema                            atomic.Pointer[Value]
	names                             atomic.Pointer[*nameTable]
	values                            atomic.Pointer[map[string]bool]
}

// kept returns what slot holds, or makes it. Two branches may make it at the same time; both
// make the same.
func kept[T any](t *Type, slot *atomic.Pointer[T], build func() T) T {
	if p := slot.Load(); p != nil {
		return *p
	}
	made := build()
	if len(Refs(t)) == 0 {
		slot.CompareAndSwap(nil, &made)
	}
	return made
}
