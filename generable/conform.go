package generable

// Conforms tells how v, as it stands, is no value of type t; nothing when it is one. Nothing
// is converted. It is the check of a composition boundary: it allocates nothing for a value
// that fits, and trusts records, which were checked when they were made.
func (t *Type) Conforms(v Value) FieldErrors {
	if fits(v, t) {
		return nil
	}
	var c converter // for the recording of errors only
	c.misfits(v, t, nil)
	return c.result()
}

// fits reports whether v is a value of t as it stands. It ends on every type: recursion goes
// through records, and those are compared by their schema.
func fits(v Value, t *Type) bool {
	t = t.resolved()
	switch t.Kind {
	case LimitType:
		return fits(v, t.Elem) && len(t.Limits.check(v, nil, nil)) == 0
	case AnyType, ErrorType:
		return true
	case NoneType:
		return v.kind == Null
	case BoolType:
		return v.kind == Bool
	case IntType:
		return v.kind == Int || v.kind == Big
	case FloatType:
		return v.kind == Float
	case StrType:
		return v.kind == Str
	case EnumType:
		s, ok := v.AsStr()
		return ok && t.hasValue(s)
	case ListType:
		if v.kind != ListKind {
			return false
		}
		for i, item := range (*List)(v.p).Items() {
			if !fits(item, t.item(i)) {
				return false
			}
		}
		return true
	case DictType:
		if v.kind != MapKind {
			return false
		}
		for _, item := range (*Map)(v.p).values() {
			if !fits(item, t.Elem) {
				return false
			}
		}
		return true
	case RecordType:
		r, ok := v.AsRecord()
		return ok && Same(r.typ, t)
	case UnionType:
		r, ok := v.AsRecord()
		if !ok {
			return false
		}
		for _, m := range t.Variants {
			if m = m.Deref(); m.Kind == ErrorType || Same(m, r.typ) {
				return true
			}
		}
		return false
	case OneOfType:
		for _, m := range t.Variants {
			if fits(v, m) {
				return true
			}
		}
	}
	return false
}

// misfits records why v, which does not fit t, does not.
func (c *converter) misfits(v Value, t *Type, at *path) {
	t = t.resolved()
	switch {
	case t.Kind == LimitType:
		if !fits(v, t.Elem) {
			c.misfits(v, t.Elem, at)
			return
		}
		for _, e := range t.Limits.check(v, at, nil) {
			c.fail(at, e.Expected, e.Got, e.Hint)
		}
		return
	case t.Kind == ListType && v.kind == ListKind:
		for i, item := range (*List)(v.p).Items() {
			if !fits(item, t.item(i)) {
				c.misfits(item, t.item(i), &path{up: at, idx: i, is: pathIndex})
			}
		}
		return
	case t.Kind == DictType && v.kind == MapKind:
		m := (*Map)(v.p)
		for i, key := range m.keys {
			if !fits(m.val(i), t.Elem) {
				c.misfits(m.val(i), t.Elem, &path{up: at, name: key})
			}
		}
		return
	case t.Kind == OneOfType:
		if near := onlyCollection(v, t); near != nil {
			c.misfits(v, near, at)
			return
		}
	case t.Kind == EnumType && v.kind == Str:
		s, _ := v.AsStr()
		c.fail(at, oneOfTexts(t.Values), quoteShort(s), didYouMean(s, t.Values))
		return
	}
	want, hint := wanted(t)
	switch {
	case hint != "":
	case v.kind == MapKind && t.Kind == RecordType:
		hint = "make an instance: " + t.String() + "(**value)"
	case v.kind == Int && t.Kind == FloatType:
		hint = "convert it with float()"
	case v.kind == RecordKind && t.IsNominal() && v.TypeName() == t.Name:
		hint = "two different types are named " + t.Name
	}
	c.fail(at, want, v.TypeName(), hint)
}

// onlyCollection finds the one list or dict type in an inline union that v, a list or dict,
// must have been meant for.
func onlyCollection(v Value, t *Type) *Type {
	var near *Type
	for _, m := range t.Variants {
		m = m.Deref()
		if (m.Kind == ListType && v.kind == ListKind) || (m.Kind == DictType && v.kind == MapKind) {
			if near != nil {
				return nil
			}
			near = m
		}
	}
	return near
}
