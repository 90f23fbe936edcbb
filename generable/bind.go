package generable

// BindPart is [Type.Bind] for every kind of type: a list may be an item of itself, as the JSON
// values are, as long as a list, dict or schema lies between a reference and itself. Who makes
// such types answers for the way out of them; texts that name types by reference need the
// reference's name to be one of its own.
func (r *Type) BindPart(t *Type) bool {
	if r.Kind != RefType || t == nil || leadsTo(t, r) {
		return false
	}
	return r.target.CompareAndSwap(nil, t) || r.target.Load() == t
}
