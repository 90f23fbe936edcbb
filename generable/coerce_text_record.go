package generable

import (
	"math/bits"
	"slices"

	"github.com/agentscript/agentscript/internal/text"
)

// enterRecord begins an instance of schema t. tag is the discriminator's key when the
// instance is a variant of a declared union, and passed over.
func (c *coercer) enterRecord(at int, n *node, t *Type, tag string) bool {
	if n.kind != nodeObj {
		if c.o.Level == Loose && tag == "" && c.positional(at, n, t) {
			c.repair(repPositional, at, c.show(at), t.String())
			return c.pushFields(at, at+1, int(n.count), t)
		}
		if c.o.Level == Loose && c.impliedList(at, n, t) {
			c.repair(repImplied, at, c.show(at), t.Fields[0].Name)
			return c.pushFields(at, at, 1, t)
		}
		if c.o.Level == Loose && c.implied(n, t) && (!n.isText() || c.subdoc(at) < 0) {
			c.repair(repImplied, at, c.show(at), t.Fields[0].Name)
			return c.pushFields(at, at, 1, t)
		}
		return c.around(at, n, t)
	}
	if c.o.Level != Strict && n.count == 1 && tag == "" && c.wraps(at, t) {
		c.repair(repUnwrap, at, c.str(at+1), "")
		return c.enter(at+2, t)
	}
	if c.o.Level == Loose && tag == "" && c.impliedObject(at, t) {
		c.repair(repImplied, at, c.show(at), t.Fields[0].Name)
		return c.pushFields(at, at, 1, t)
	}
	if f := c.pushRecord(at, t); tag != "" {
		f.extra().tag = tag
	}
	return false
}

func (c *coercer) pushRecord(at int, t *Type) *coerceFrame {
	c.push(opRecord, at, t)
	f := c.stack[len(c.stack)-1]
	f.vals = c.values(len(t.Fields))
	if len(t.Fields) > 64 {
		f.extra().seen = make([]uint64, (len(t.Fields)+63)/64)
	}
	return f
}

// pushFields begins an instance whose first n fields have the n values from a place on, in the
// declared order and without keys.
func (c *coercer) pushFields(at, from, n int, t *Type) bool {
	f := c.pushRecord(at, t)
	f.keyless, f.cur, f.left = true, int32(from), int32(n)
	return false
}

// positional reports whether a list at n holds the fields of t in their order: as many items,
// none of them an object, and each of the kind of its field.
func (c *coercer) positional(at int, n *node, t *Type) bool {
	if n.kind != nodeArr || int(n.count) != len(t.Fields) || n.count < 2 {
		return false
	}
	child := at + 1
	for i := range t.Fields {
		k := &c.tape[child]
		if k.kind == nodeObj || c.affinity(k, t.Fields[i].Type) < affinityClose {
			return false
		}
		child += int(k.span)
	}
	return true
}

// implied reports whether the scalar n may stand for an instance of t: for its only field.
func (c *coercer) implied(n *node, t *Type) bool {
	if len(t.Fields) != 1 || n.kind >= nodeArr || n.kind == nodeNull {
		return false
	}
	f := t.Fields[0].Type.Deref()
	if inner := in.NonNone(f); inner != nil {
		f = inner
	}
	return isScalar(f) && c.affinity(n, f) > affinityNone
}

// impliedList reports whether the list at a node may stand for an instance of t: for its only
// field, a list, and not for a list of instances.
func (c *coercer) impliedList(at int, n *node, t *Type) bool {
	return n.kind == nodeArr && onlyField(t, ListType) != nil && !(n.count > 0 && c.hasFieldOf(at+1, t))
}

// impliedObject reports whether the object at a node may stand for an instance of t: it has
// nothing of t's only field, but something of the schema that the field or its items have.
func (c *coercer) impliedObject(at int, t *Type) bool {
	f := onlyField(t, ListType)
	if f == nil {
		f = onlyField(t, RecordType)
	} else {
		f = f.Elem.Deref()
	}
	return f != nil && f.Kind == RecordType && !c.hasFieldOf(at, t) && c.hasFieldOf(at, f)
}

// onlyField is the type of the only field of t, without None, when it is of that kind.
func onlyField(t *Type, kind TypeKind) *Type {
	if len(t.Fields) != 1 {
		return nil
	}
	f := t.Fields[0].Type.Deref()
	if inner := in.NonNone(f); inner != nil {
		f = inner
	}
	if f.Kind != kind {
		return nil
	}
	return f
}

// wraps reports whether the only member of the object at a node is not a field of t but holds
// an object that has some.
func (c *coercer) wraps(at int, t *Type) bool {
	inner := &c.tape[at+2]
	key := c.str(at + 1)
	if i, _ := c.findField(t, key); i >= 0 || inner.kind != nodeObj || inner.count == 0 {
		return false
	}
	if key == DefaultTag {
		return false
	}
	return c.hasFieldOf(at+2, t)
}

// findField finds the field that a key means: by name, by alias, or by the only name that is
// the same when both are folded. It returns -1 when there is none.
func (c *coercer) findField(t *Type, key string) (int, repairKind) {
	if i := t.FieldIndex(key); i >= 0 {
		return i, repNone
	}
	names := in.Names(t)
	if i := names.aliased(key); i >= 0 {
		return i, repAlias
	}
	if c.o.Level == Strict {
		return -1, repNone
	}
	return names.find(key), repKeyFold
}

func (f *coerceFrame) has(i int) bool {
	if i >= 64 {
		return f.more.seen[i/64]&(1<<(i%64)) != 0
	}
	return f.seen&(1<<i) != 0
}

func (f *coerceFrame) set(i int) {
	if i >= 64 {
		f.more.seen[i/64] |= 1 << (i % 64)
	} else {
		f.seen |= 1 << i
	}
}

func (c *coercer) stepRecord(f *coerceFrame) bool {
	for f.left > 0 {
		f.left--
		if f.keyless {
			f.field++
			fld := &f.typ.Fields[f.field]
			f.child, f.key, f.mark = f.cur, fld.Name, c.here()
			f.cur += int32(c.tape[f.cur].span)
			if !c.enter(int(f.child), fld.Type) {
				return false
			}
			c.takeField(f)
			continue
		}
		keyAt := int(f.cur)
		at := keyAt + 1
		f.child = int32(at)
		f.cur = int32(at) + int32(c.tape[at].span)
		f.mark = c.here()
		f.key = c.str(keyAt)

		// Keys mostly come in the declared order.
		i, rep := int(f.field)+1, repNone
		if i >= len(f.typ.Fields) || f.typ.Fields[i].Name != f.key {
			if tag := f.tag(); tag != "" && f.key == tag {
				if f.more.tagged {
					c.repair(repDuplicateKey, keyAt, f.key, "")
				}
				f.more.tagged = true
				continue
			}
			i, rep = c.findField(f.typ, f.key)
		}
		if i < 0 || (rep == repKeyFold && f.has(i)) {
			if !c.extraKey(f, keyAt) {
				c.badField(f, len(f.typ.Fields))
			}
			continue
		}
		f.field = int32(i)
		fld := &f.typ.Fields[i]
		if rep != repNone {
			c.repair(rep, keyAt, f.key, fld.Name)
			f.key = fld.Name
		}
		switch c.tape[at].kind {
		case nodeMissing:
			continue
		case nodeNull:
			if in.NullMeansAbsent(fld) && c.o.Level == Strict {
				c.mismatch(at, in.Shown(fld))
				c.takeField(f)
				continue
			}
			if fld.Optional && (in.NullMeansAbsent(fld) || !fld.Type.AcceptsNone()) && c.o.Level != Strict {
				c.repair(repNullDefault, at, "null", JSON(fld.Default, fld.Type))
				f.vals[i] = fld.Default
				f.set(i)
				continue
			}
		}
		if !c.enter(at, fld.Type) {
			return false
		}
		c.takeField(f)
	}
	return c.endRecord(f)
}

// extraKey handles a key that is no field. It reports false when that is an error.
func (c *coercer) extraKey(f *coerceFrame, keyAt int) bool {
	at := keyAt + 1
	foreign, open := in.Foreign(f.typ)
	if f.key == DefaultTag && f.tag() == "" && !foreign && c.tape[at].isText() {
		// The object says what it is. Another name than the schema's contradicts it.
		says := c.str(at)
		if !sameFolded(says, f.typ.Name) && c.o.Level != Loose {
			c.failAt(at, text.Quote(f.typ.Name), c.show(at), "the key "+DefaultTag+" tells which type an object has")
			return false
		}
		if says == f.typ.Name {
			return true
		}
	}
	mode := c.o.ExtraKeys
	if mode == ExtraByLevel && c.o.Level == Strict && !open {
		mode = ExtraError
	}
	if mode == ExtraError {
		c.failAt(keyAt, "no key but "+listNames(f.typ.FieldNames()), c.show(keyAt), c.nearest(f.key, f.typ.FieldNames()))
		return false
	}
	c.repair(repExtraKey, at, c.show(at), "")
	c.score += 16 // a branch that has the key is better
	return true
}

func (c *coercer) takeField(f *coerceFrame) {
	i := int(f.field)
	fld := &f.typ.Fields[i]
	good := c.ok
	if good && fld.Limits != nil && !c.partial && !c.keepsLimits(f, fld) {
		good = false
	} else if !good && !c.partial && c.o.Level == Loose && !fld.Required() {
		c.rollback(f.mark)
		c.repair(repBadDefault, int(f.child), c.show(int(f.child)), JSON(fld.Default, fld.Type))
		c.ret, good = fld.Default, true
	}
	switch {
	case good:
	case c.partial:
		f.bad = true // the field is left out
		return
	default:
		c.badField(f, i)
		f.set(i)
		return
	}
	if f.has(i) {
		c.repair(repDuplicateKey, int(f.child)-1, f.key, "")
		c.forgive(f, i)
	}
	f.vals[i] = c.ret
	f.set(i)
}

// fieldErrs are the errors recorded about one field of a record.
type fieldErrs struct{ field, from, to int }

// badField notes that all errors since the frame's mark concern a field.
func (c *coercer) badField(f *coerceFrame, field int) {
	f.bad = true
	more := f.extra()
	more.wrong = append(more.wrong, fieldErrs{field, int(f.mark.errs), len(c.errs)})
}

// forgive drops the errors about a field whose key came again with a value that fits.
func (c *coercer) forgive(f *coerceFrame, field int) {
	if f.more == nil {
		f.bad = false
		return
	}
	wrong := f.more.wrong
	for k := len(wrong) - 1; k >= 0; k-- {
		w := wrong[k]
		if w.field != field {
			continue
		}
		c.errs = slices.Delete(c.errs, w.from, w.to)
		wrong = slices.Delete(wrong, k, k+1)
		for l := k; l < len(wrong); l++ {
			wrong[l].from -= w.to - w.from
			wrong[l].to -= w.to - w.from
		}
	}
	f.more.wrong = wrong
	f.bad = len(wrong) > 0
}

// sortErrs brings the errors about a record into the order in which its fields are declared;
// those about other keys come last.
func (c *coercer) sortErrs(f *coerceFrame) {
	byField := func(a, b fieldErrs) int { return a.field - b.field }
	wrong := f.more.wrong
	if slices.IsSortedFunc(wrong, byField) {
		return
	}
	from := wrong[0].from
	have := slices.Clone(c.errs[from:])
	slices.SortStableFunc(wrong, byField)
	out := c.errs[:from]
	for _, w := range wrong {
		out = append(out, have[w.from-from:w.to-from]...)
	}
}

// keepsLimits checks the limits of the field whose value was completed last.
func (c *coercer) keepsLimits(f *coerceFrame, fld *Field) bool {
	errs := CheckLimits(fld, c.ret)
	for _, e := range errs {
		c.failAt(int(f.child), e.Expected, e.Got, e.Hint)
	}
	return len(errs) == 0
}

// endRecord completes a record: fields that did not come get their default.
func (c *coercer) endRecord(f *coerceFrame) bool {
	n := len(f.typ.Fields)
	if c.partial && f.isOpen || c.partial && f.bad {
		return c.pop(f.partialMap(), true)
	}
	if n <= 64 && bits.OnesCount64(f.seen) == n {
		if f.bad {
			c.sortErrs(f)
			return c.pop(Value{}, false)
		}
		return c.pop(c.record(f.typ, f.vals), true)
	}
	for i := range f.typ.Fields {
		fld := &f.typ.Fields[i]
		if f.has(i) {
			continue
		}
		switch {
		case fld.Optional:
			f.vals[i] = fld.Default
			c.score++
		case fld.Type.AcceptsNone() && (!fld.Explicit || c.o.Level == Loose):
			c.score++
		case fld.Explicit && c.o.Level == Safe && fld.Type.Deref().Kind != AnyType:
			f.key = fld.Name
			c.repair(repMissingNull, int(f.node), "", "null")
		case c.o.Level == Loose && emptyOf(fld.Type) != (Value{}):
			f.vals[i] = emptyOf(fld.Type)
			f.key = fld.Name
			c.repair(repEmptyDefault, int(f.node), "", JSON(f.vals[i], fld.Type))
		case c.partial:
			return c.pop(f.partialMap(), true)
		default:
			f.key = fld.Name
			want, hint := in.Wanted(fld.Type.Deref())
			if fld.Guide != "" && hint == "" {
				hint = fld.Guide
			}
			f.mark = c.here()
			c.failAt(int(f.node), want, "nothing", hint)
			c.badField(f, i)
		}
	}
	if f.bad {
		c.sortErrs(f)
		return c.pop(Value{}, false)
	}
	return c.pop(c.record(f.typ, f.vals), true)
}

// emptyOf is the empty list or dict of a type, the zero value for other types.
func emptyOf(t *Type) Value {
	switch t.Deref().Kind {
	case ListType:
		return ListOf()
	case DictType:
		return NewMap(0).Value()
	}
	return Value{}
}

// partialMap holds the fields that have arrived, in declared order.
func (f *coerceFrame) partialMap() Value {
	m := NewMap(len(f.typ.Fields))
	if tag := f.tag(); tag != "" {
		m.Set(tag, StrOf(f.typ.Name))
	}
	for i := range f.typ.Fields {
		if f.has(i) {
			m.Set(f.typ.Fields[i].Name, f.vals[i])
		}
	}
	return m.Value()
}
