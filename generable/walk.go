package generable

import "sync/atomic"

// artefacts are the texts that a type has yielded, made when first asked for. They are kept
// only once every reference inside the type is bound.
type artefacts struct {
	description, fragment, schemaText atomic.Pointer[string]
	schema                            atomic.Pointer[Value]
}
