package coerce

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/internal/naming"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

// enterRecord begins an instance of schema t. If the instance is a variant of a declared union, tag is the
// discriminator's key, which is skipped.
func (c *Coercer) enterRecord(at int, n *tape.Node, t *generable.Type, tag string) bool {
	if n.Kind != tape.NodeObj {
		switch {
		case c.O.Level != generable.Loose:
		case tag == "" && c.positional(at, n, t):
			c.Repair(tape.RepPositional, at, c.show(at), t.String())
			return c.pushFields(at, at+1, int(n.Count), t)
		case c.impliedList(at, n, t), c.implied(n, t) && (!n.IsText() || c.subdoc(at) < 0):
			return c.pushOnlyField(at, t)
		}
		return c.around(at, n, t)
	}
	if c.O.Level != generable.Strict && n.Count == 1 && tag == "" && c.wraps(at, t) {
		c.Repair(tape.RepUnwrap, at, c.Str(at+1), "")
		return c.enter(at+2, t)
	}
	if c.O.Level == generable.Loose && tag == "" && c.impliedObject(at, t) {
		return c.pushOnlyField(at, t)
	}
	if f := c.pushRecord(at, t); tag != "" {
		f.extra().tag = tag
	}
	return false
}

func (c *Coercer) pushRecord(at int, t *generable.Type) *CoerceFrame {
	c.push(OpRecord, at, t)
	f := c.Stack[len(c.Stack)-1]
	f.Vals = c.Values(len(t.Fields))
	f.seen = append(f.seen[:0], make([]bool, len(t.Fields))...)
	return f
}

// pushFields begins an instance whose first n fields have the n values starting at index from, in declared order and
// without keys.
func (c *Coercer) pushFields(at, from, n int, t *generable.Type) bool {
	f := c.pushRecord(at, t)
	f.keyless, f.cur, f.left = true, int32(from), int32(n)
	return false
}

// pushOnlyField begins an instance whose only field has the value at index at.
func (c *Coercer) pushOnlyField(at int, t *generable.Type) bool {
	c.Repair(tape.RepImplied, at, c.show(at), t.Fields[0].Key())
	return c.pushFields(at, at, 1, t)
}

// positional reports whether a list at n holds the fields of t in their order: as many items as fields, none of them
// an object, each of the kind of its field.
func (c *Coercer) positional(at int, n *tape.Node, t *generable.Type) bool {
	if n.Kind != tape.NodeArr || int(n.Count) != len(t.Fields) || n.Count < 2 {
		return false
	}
	child := at + 1
	for i := range t.Fields {
		k := &c.Tape[child]
		if k.Kind == tape.NodeObj || c.Affinity(k, t.Fields[i].Type) < affinityClose {
			return false
		}
		child += int(k.Span)
	}
	return true
}

// implied reports whether the scalar n may stand for an instance of t, as its only field.
func (c *Coercer) implied(n *tape.Node, t *generable.Type) bool {
	f := onlyField(t)
	return f != nil && isScalar(f) && n.Kind < tape.NodeArr && n.Kind != tape.NodeNull && c.Affinity(n, f) > affinityNone
}

// impliedList reports whether the list at a node may stand for an instance of t, as its only field, a list, rather
// than being a list of instances.
func (c *Coercer) impliedList(at int, n *tape.Node, t *generable.Type) bool {
	f := onlyField(t)
	return f != nil && f.Kind == generable.ListType && n.Kind == tape.NodeArr && !(n.Count > 0 && c.hasFieldOf(at+1, t))
}

// impliedObject reports whether the object at a node may stand for an instance of t: it does not have t's only field,
// but has a field of a schema that this field or its items can have.
func (c *Coercer) impliedObject(at int, t *generable.Type) bool {
	f := onlyField(t)
	if f != nil && f.Kind == generable.ListType {
		f = f.Elem.Deref()
	}
	return f != nil && !c.hasFieldOf(at, t) && c.hasFieldOf(at, f) && !c.isPartOf(at, t)
}

// onlyField returns the type of the only field of t, without None, or nil when t has several fields.
func onlyField(t *generable.Type) *generable.Type {
	if len(t.Fields) != 1 {
		return nil
	}
	f := t.Fields[0].Type.Deref()
	if inner := in.NonNone(f); inner != nil {
		return inner
	}
	return f
}

// wraps reports whether the only member of the object at a node is not a field of t but holds an object with fields
// of t.
func (c *Coercer) wraps(at int, t *generable.Type) bool {
	inner := &c.Tape[at+2]
	key := c.Str(at + 1)
	if i, _ := c.FindField(t, key); i >= 0 || inner.Count == 0 || key == generable.DefaultTag {
		return false
	}
	return c.hasFieldOf(at+2, t)
}

// FindField finds the field that a key means: by name, by alias, or by the only name that is the same after folding
// both. It returns -1 without such a field.
func (c *Coercer) FindField(t *generable.Type, key string) (int, tape.RepairKind) {
	return FindField(t, key, c.O.Level)
}

// FindField is [Coercer.FindField] for a level.
func FindField(t *generable.Type, key string, level generable.Level) (int, tape.RepairKind) {
	if i := t.FieldIndex(key); i >= 0 && !t.Fields[i].AliasOnly {
		return i, tape.RepNone
	}
	names := in.Names(t)
	if i := names.Aliased(key); i >= 0 {
		if key == t.Fields[i].Key() {
			return i, tape.RepNone
		}
		return i, tape.RepAlias
	}
	if level == generable.Strict {
		return -1, tape.RepNone
	}
	return names.Find(key), tape.RepKeyFold
}

func (c *Coercer) stepRecord(f *CoerceFrame) bool {
	for f.left > 0 {
		if f.keyless {
			f.field++
			fld := &f.Typ.Fields[f.field]
			f.Key, f.mark = fld.Key(), c.here()
			if !c.enter(c.next(f, 0), fld.Type) {
				return false
			}
			c.takeField(f)
			continue
		}
		at := c.next(f, 1)
		keyAt := at - 1
		f.mark = c.here()
		f.Key = c.Str(keyAt)

		// Keys usually come in declared order.
		i, rep := int(f.field)+1, tape.RepNone
		if i >= len(f.Typ.Fields) || f.Typ.Fields[i].Key() != f.Key {
			if tag := f.tag(); tag != "" && f.Key == tag {
				if f.More.tagged {
					c.Repair(tape.RepDuplicateKey, keyAt, f.Key, "")
				}
				f.More.tagged = true
				continue
			}
			i, rep = c.FindField(f.Typ, f.Key)
		}
		if i < 0 || (rep == tape.RepKeyFold && f.seen[i]) {
			if !c.extraKey(f, keyAt) {
				c.badField(f, len(f.Typ.Fields))
			}
			continue
		}
		f.field = int32(i)
		fld := &f.Typ.Fields[i]
		if rep != tape.RepNone {
			c.Repair(rep, keyAt, f.Key, fld.Key())
			f.Key = fld.Key()
		}
		switch c.Tape[at].Kind {
		case tape.NodeMissing:
			continue
		case tape.NodeNull:
			if in.NullMeansAbsent(fld) && c.O.Level == generable.Strict {
				c.mismatch(at, in.Shown(fld))
				c.takeField(f)
				continue
			}
			if fld.Optional && (in.NullMeansAbsent(fld) || !fld.Type.AcceptsNone()) && c.O.Level != generable.Strict {
				c.Repair(tape.RepNullDefault, at, "null", generable.JSON(fld.Default, fld.Type))
				f.Vals[i] = fld.Default
				f.seen[i] = true
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

// extraKey handles a key that is not a field. It reports false if the key is an error.
func (c *Coercer) extraKey(f *CoerceFrame, keyAt int) bool {
	at := keyAt + 1
	foreign, open := in.Foreign(f.Typ)
	if f.Key == generable.DefaultTag && f.tag() == "" && !foreign && c.Tape[at].IsText() {
		// The object names its type. A name other than the schema's contradicts it.
		says := c.Str(at)
		if !naming.Same(says, f.Typ.Name) && c.O.Level != generable.Loose {
			c.failAt(at, text.Quote(f.Typ.Name), c.show(at), "the key "+generable.DefaultTag+" tells which type an object has")
			return false
		}
		if says == f.Typ.Name {
			return true
		}
	}
	mode := c.O.ExtraKeys
	if mode == generable.ExtraByLevel && c.O.Level == generable.Strict && !open {
		mode = generable.ExtraError
	}
	if mode == generable.ExtraError {
		names, want := text.Each(f.Typ.Fields, func(f generable.Field) string { return f.Key() }), "no key"
		if len(names) > 0 {
			want += " but " + message.List(names)
		}
		c.failAt(keyAt, want, c.show(keyAt), c.nearest(f.Key, names))
		return false
	}
	c.Repair(tape.RepExtraKey, at, c.show(at), "")
	c.Score += 16 // a branch that has the key is better
	return true
}

func (c *Coercer) takeField(f *CoerceFrame) {
	i := int(f.field)
	fld := &f.Typ.Fields[i]
	if c.ok && fld.Dedent {
		c.ret = c.Dedented(int(f.child), c.ret)
	}
	good := c.ok
	if good && fld.Limits != nil && !c.keeps(int(f.child), fld.Limits, c.ret) {
		good = false
	} else if !good && c.O.Level == generable.Loose && !fld.Required() {
		c.rollback(f.mark)
		c.Repair(tape.RepBadDefault, int(f.child), c.show(int(f.child)), generable.JSON(fld.Default, fld.Type))
		c.ret, good = fld.Default, true
	}
	if !good {
		c.badField(f, i)
		f.seen[i] = true
		return
	}
	if f.seen[i] {
		c.Repair(tape.RepDuplicateKey, int(f.child)-1, f.Key, "")
		c.forgive(f, i)
	}
	f.Vals[i] = c.ret
	f.seen[i] = true
}

// fieldErrs are the errors recorded about one field of a record.
type fieldErrs struct{ field, from, to int }

// badField notes that all errors since the frame's mark concern a field.
func (c *Coercer) badField(f *CoerceFrame, field int) {
	f.bad = true
	more := f.extra()
	more.wrong = append(more.wrong, fieldErrs{field, int(f.mark.errs), len(c.Errs)})
}

// forgive drops the errors about a field whose key occurred again with a value that fits.
func (c *Coercer) forgive(f *CoerceFrame, field int) {
	if f.More == nil {
		f.bad = false
		return
	}
	wrong := f.More.wrong
	for k := len(wrong) - 1; k >= 0; k-- {
		w := wrong[k]
		if w.field != field {
			continue
		}
		c.Errs = slices.Delete(c.Errs, w.from, w.to)
		wrong = slices.Delete(wrong, k, k+1)
		for l := k; l < len(wrong); l++ {
			wrong[l].from -= w.to - w.from
			wrong[l].to -= w.to - w.from
		}
	}
	f.More.wrong = wrong
	f.bad = len(wrong) > 0
}

// sortErrs sorts the errors about a record by the declared order of its fields; those about other keys come last.
func (c *Coercer) sortErrs(f *CoerceFrame) {
	byField := func(a, b fieldErrs) int { return a.field - b.field }
	wrong := f.More.wrong
	from := wrong[0].from
	have := slices.Clone(c.Errs[from:])
	sorting.By(wrong, byField)
	out := c.Errs[:from]
	for _, w := range wrong {
		out = append(out, have[w.from-from:w.to-from]...)
	}
}

// endRecord completes a record: missing fields get their default.
func (c *Coercer) endRecord(f *CoerceFrame) bool {
	for i := range f.Typ.Fields {
		fld := &f.Typ.Fields[i]
		if f.seen[i] {
			continue
		}
		switch {
		case fld.Optional:
			f.Vals[i] = fld.Default
			c.Score++
		case fld.Type.AcceptsNone() && (!fld.Explicit || c.O.Level == generable.Loose):
			c.Score++
		case fld.Explicit && c.O.Level == generable.Safe && fld.Type.Deref().Kind != generable.AnyType:
			f.Key = fld.Key()
			c.Repair(tape.RepMissingNull, int(f.node), "", "null")
		case c.O.Level == generable.Loose && emptyOf(fld) != (generable.Value{}):
			f.Vals[i] = emptyOf(fld)
			f.Key = fld.Key()
			c.Repair(tape.RepEmptyDefault, int(f.node), "", generable.JSON(f.Vals[i], fld.Type))
		default:
			f.Key = fld.Key()
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
		return c.pop(generable.Value{}, false)
	}
	return c.pop(c.Record(f.Typ, f.Vals), true)
}

// emptyOf returns the empty list or dict for a field of that type, and the zero value for others.
func emptyOf(f *generable.Field) generable.Value {
	var v generable.Value
	switch f.Type.Deref().Kind {
	case generable.ListType:
		v = generable.ListOf()
	case generable.DictType:
		v = generable.NewMap(0).Value()
	default:
		return v
	}
	if f.Type.Conforms(v) != nil || generable.CheckLimits(f, v) != nil {
		return generable.Value{}
	}
	return v
}
