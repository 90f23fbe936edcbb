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

// leadsTo reports whether t is the reference r again, without a list, dict or schema between.
func leadsTo(t, r *Type) bool {
	seen := make(map[*Type]bool)
	var leads func(t *Type) bool
	leads = func(t *Type) bool {
		if t == r {
			return true
		}
		if seen[t] {
			return false
		}
		seen[t] = true
		switch t.Kind {
		case RefType:
			next := t.target.Load()
			return next != nil && leads(next)
		case LimitType:
			return leads(t.Elem)
		case OneOfType:
			for _, v := range t.Variants {
				if leads(v) {
					return true
				}
			}
		}
		return false
	}
	return leads(t)
}
