package dialect

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// undoer converts wire values back to their natural form.
type undoer struct {
	o       generable.Options
	repairs []generable.Repair // made in JSON texts
	cost    int                // of repairs
	held    int                // the part of cost that belongs to positions of tuples
	visits  int
	mixed   bool // some part was in the natural form
	first   map[undoing]*undone
	undone  []*undone
	errs    generable.FieldErrors
}

func (u *undoer) fail(at *message.Path, want, got, hint string) generable.Value {
	u.errs = append(u.errs, in.Error(at.String(), want, got, hint))
	return generable.Value{}
}

// root undoes a whole answer, which may lack the enclosing object.
func (u *undoer) root(s *shape, v generable.Value) generable.Value {
	if s.form != wrapped {
		return u.value(s, v, nil)
	}
	if r, ok := v.AsRecord(); ok && r.Type() == s.wire {
		at := (*message.Path)(nil).Key(valueKey)
		u.did(s, "wrapped", nil)
		if in.IsAbsent(r.At(0)) {
			return u.fail(at, s.nat.String(), "nothing", "")
		}
		return u.value(s.items, r.At(0), at)
	}
	return u.value(s.items, v, nil)
}

// value undoes a value that was read with the type of the shape.
func (u *undoer) value(s *shape, v generable.Value, at *message.Path) generable.Value {
	if !s.changed {
		return v
	}
	before := len(u.errs)
	out := u.restored(s, v, at)
	if s.limits != nil && len(u.errs) == before {
		for _, e := range generable.CheckLimits(&generable.Field{Limits: s.limits}, out) {
			u.fail(at, e.Expected, e.Got, e.Hint)
		}
	}
	return out
}

// restored is value for a changed shape, before its limits are checked.
func (u *undoer) restored(s *shape, v generable.Value, at *message.Path) generable.Value {
	switch s.form {
	case tupled:
		if r, ok := v.AsRecord(); ok {
			u.did(s, "tuple-as-object", at)
			items := make([]generable.Value, len(s.parts))
			for i, p := range s.parts {
				items[i] = u.value(p, r.At(i), at.Key(strconv.Itoa(i)))
			}
			return generable.NewList(items).Value()
		}
		u.mixed = true
		return u.list(s, v, at)
	case paired:
		if list, ok := v.AsList(); ok {
			return u.pairs(s, list, at)
		}
		u.mixed = true
		return u.dict(s, v, at)
	case entered:
		if r, ok := v.AsRecord(); ok {
			if list, ok := r.At(0).AsList(); ok {
				return u.pairs(s, list, at.Key(entriesKey))
			}
		}
	case encoded, digits:
		if text, ok := v.AsStr(); ok {
			u.did(s, textKind(s), at)
			return u.text(s.full, text, at)
		}
		u.mixed = true
		return v
	case boxed:
		return u.box(s, v, at)
	case slotted:
		return u.slots(s, v, at)
	}
	switch s.nat.Kind {
	case generable.ListType:
		return u.list(s, v, at)
	case generable.DictType:
		return u.dict(s, v, at)
	case generable.RecordType:
		return u.record(s, v, at)
	}
	if r, ok := v.AsRecord(); ok && s.nat.Kind == generable.UnionType {
		for _, p := range s.parts {
			if p.nat.Name == r.Type().Name {
				return u.value(p, v, at)
			}
		}
	}
	before := len(u.errs)
	var why generable.FieldErrors
	for _, p := range s.parts {
		if p.wire.Conforms(v) != nil {
			continue
		}
		out := u.value(p, v, at)
		if len(u.errs) == before {
			return out
		}
		if why == nil {
			why = slices.Clone(u.errs[before:])
		}
		u.errs = u.errs[:before]
	}
	if why != nil {
		u.errs = append(u.errs, why...)
		return generable.Value{}
	}
	return u.mismatch(s, v, at)
}

// mismatch records that v does not have the shape, which is possible for an item that was kept unchanged.
func (u *undoer) mismatch(s *shape, v generable.Value, at *message.Path) generable.Value {
	return u.fail(at, s.nat.String(), v.TypeName(), "")
}

func (u *undoer) list(s *shape, v generable.Value, at *message.Path) generable.Value {
	list, ok := v.AsList()
	if !ok {
		return u.mismatch(s, v, at)
	}
	before := len(u.errs)
	items := make([]generable.Value, list.Len())
	for i := range items {
		if of := s.item(i); of != nil {
			items[i] = u.value(of, list.At(i), at.Index(i))
		}
	}
	out := generable.NewList(items).Value()
	if len(s.parts) < len(s.nat.Variants) && len(u.errs) == before {
		return u.places(s.nat, out, at)
	}
	return out
}

// places checks the positions of a tuple, whose items were read as what any of them may be, each against its own
// type.
func (u *undoer) places(tuple *generable.Type, v generable.Value, at *message.Path) generable.Value {
	if u.o.OnBadItem == generable.ItemKeep || tuple.Conforms(v) == nil {
		return v
	}
	cost := u.cost
	out := u.read(tuple, generable.JSON(v, generable.ListOfType(tuple.Elem)), at, "")
	u.held += u.cost - cost
	return out
}

func (u *undoer) dict(s *shape, v generable.Value, at *message.Path) generable.Value {
	m, ok := v.AsMap()
	if !ok {
		return u.mismatch(s, v, at)
	}
	out := generable.NewMap(m.Len())
	for key, item := range m.All() {
		out.Set(key, u.value(s.items, item, at.Key(key)))
	}
	return out.Value()
}

func (u *undoer) pairs(s *shape, list *generable.List, at *message.Path) generable.Value {
	u.did(s, "dict-as-pairs", at)
	out := generable.NewMap(list.Len())
	for i, item := range list.Items() {
		p, ok := item.AsRecord()
		if !ok {
			u.fail(at.Index(i), "a key and a value", item.TypeName(), "")
			continue
		}
		key, _ := p.At(0).AsStr()
		if _, twice := out.Get(key); twice {
			u.fail(at.Index(i).Key(pairKey), "each key once", "a second "+text.Quote(key), "")
			continue
		}
		out.Set(key, u.value(s.items, p.At(1), at.Index(i).Key(valueKey)))
	}
	return out.Value()
}

func (u *undoer) record(s *shape, v generable.Value, at *message.Path) generable.Value {
	r, ok := v.AsRecord()
	if !ok {
		return u.mismatch(s, v, at)
	}
	vals := make([]generable.Value, len(s.fields))
	for i := range s.fields {
		f := &s.fields[i]
		step := at.Key(f.name)
		before := len(u.errs)
		if f.name != f.nat.Name {
			u.did(f.shape, "renamed", step)
		}
		vals[i] = u.field(f, r.At(i), step)
		if len(u.errs) > before || !f.changed && f.presence.same() {
			continue
		}
		if vals[i].IsNull() {
			continue
		}
		for _, e := range generable.CheckLimits(f.nat, vals[i]) {
			u.fail(step, e.Expected, e.Got, e.Hint)
		}
	}
	return generable.NewRecord(s.nat, vals).Value()
}

// field undoes the form of a field that may be left out.
func (u *undoer) field(f *member, v generable.Value, at *message.Path) generable.Value {
	if in.IsAbsent(v) || v.IsNull() && in.NullMeansAbsent(f.nat) {
		return f.nat.Default
	}
	if v.IsNull() && (f.presence == nullable || f.presence == listed || f.presence == blank || !f.nat.Type.AcceptsNone()) {
		u.did(f.shape, "required-null", at)
		return f.nat.Default
	}
	switch f.presence {
	case markedAbsent:
		if isAbsentMark(v) {
			u.did(f.shape, "absent-mark", at)
			return f.nat.Default
		}
	case listed:
		list, ok := v.AsList()
		switch {
		case !ok:
			u.mixed = true
		case list.Len() == 0:
			u.did(f.shape, "list-of-one", at)
			return f.nat.Default
		case list.Len() > 1:
			return u.fail(at, "at most 1 item", strconv.Itoa(list.Len())+" items", "")
		default:
			u.did(f.shape, "list-of-one", at)
			return u.value(f.shape, list.At(0), at.Index(0))
		}
	case blank:
		text, ok := v.AsStr()
		switch {
		case ok && text == "":
			u.did(f.shape, "text-or-blank", at)
			return f.nat.Default
		case ok:
			u.did(f.shape, "text-or-blank", at)
			return u.text(f.nat.Type, text, at)
		}
		u.mixed = true
		return v
	}
	return u.value(f.shape, v, at)
}

func isAbsentMark(v generable.Value) bool {
	if r, ok := v.AsRecord(); ok {
		return r.Type() == absentType
	}
	m, ok := v.AsMap()
	if !ok || m.Len() != 1 {
		return false
	}
	mark, has := m.Get(absentKey)
	yes, isBool := mark.AsBool()
	return has && isBool && yes
}

// text reads a JSON text in a string.
func (u *undoer) text(t *generable.Type, text string, at *message.Path) generable.Value {
	return u.read(t, text, at, "the string holds JSON text")
}

// read reads a JSON text as leniently as the answer itself.
func (u *undoer) read(t *generable.Type, text string, at *message.Path, hint string) generable.Value {
	res := lenient.Decode(t, text, u.o)
	u.visits += res.Visits
	if !res.OK {
		for _, e := range res.Errors {
			u.errs = append(u.errs, in.Error(at.String()+e.Path, e.Expected, e.Got, message.Hints(e.Hint, hint)))
		}
		return generable.Value{}
	}
	u.cost += res.Cost
	for _, r := range res.Repairs {
		r.Path, r.Offset = at.String()+r.Path, -1
		u.repairs = append(u.repairs, r)
	}
	return res.Value
}

// box undoes JSON text in an object. Any value may also appear without that object; an object that only looks like
// the box is such a value.
func (u *undoer) box(s *shape, v generable.Value, at *message.Path) generable.Value {
	if s.nat.Kind != generable.AnyType {
		r, ok := v.AsRecord()
		if !ok {
			return u.mismatch(s, v, at)
		}
		text, _ := r.At(0).AsStr()
		u.did(s, textKind(s), at)
		return u.text(s.full, text, at.Key(jsonKey))
	}
	if m, ok := v.AsMap(); ok && m.Len() == 1 {
		inner, has := m.Get(jsonKey)
		if text, isText := inner.AsStr(); has && isText {
			before := len(u.errs)
			if out := u.text(s.full, text, at.Key(jsonKey)); len(u.errs) == before {
				u.did(s, textKind(s), at)
				return out
			}
			u.errs = u.errs[:before]
		}
	}
	u.mixed = true
	return v
}

func (u *undoer) slots(s *shape, v generable.Value, at *message.Path) generable.Value {
	r, ok := v.AsRecord()
	if !ok {
		return u.mismatch(s, v, at)
	}
	u.did(s, "union-as-lists", at)
	var out generable.Value
	n := 0
	for i, p := range s.parts {
		list, ok := r.At(i).AsList()
		if !ok {
			return u.mismatch(s, v, at)
		}
		for k, item := range list.Items() {
			if n++; n == 1 {
				out = u.value(p, item, at.Key(slotName(s, i)).Index(k))
			}
		}
	}
	if n != 1 {
		return u.fail(at, "one item in one of the lists", strconv.Itoa(n)+" items", "one variant of "+s.nat.String()+" applies")
	}
	return out
}

// undone counts what was undone. One record covers all places that share a shape: a list of a thousand dicts has one
// record.
type undone struct {
	repair generable.Repair
	times  int
}

type undoing struct {
	s    *shape
	kind string
}

// did records that a part was converted back to its natural form. Such records cost nothing, since the answer has the
// requested form.
func (u *undoer) did(s *shape, kind string, at *message.Path) {
	key := undoing{s, kind}
	if n := u.first[key]; n != nil {
		n.times++
		return
	}
	n := &undone{generable.Repair{Kind: kind, Path: at.String(), Offset: -1, Before: writtenAs[kind], After: s.nat.String()}, 1}
	u.first[key] = n
	u.undone = append(u.undone, n)
}

func (u *undoer) records() []generable.Repair {
	out := u.repairs
	for _, n := range u.undone {
		if n.times > 1 {
			n.repair.After += " (" + strconv.Itoa(n.times) + " times)"
		}
		out = append(out, n.repair)
	}
	return out
}

// writtenAs shows each form that is undone.
var writtenAs = map[string]string{
	"wrapped":           `{"value": …}`,
	"dict-as-pairs":     `[{"key": …, "value": …}]`,
	"json-text":         "JSON text",
	"recursion-as-text": "JSON text",
	"union-as-lists":    "lists of variants",
	"integer-as-text":   "digits",
	"tuple-as-object":   `{"0": …}`,
	"renamed":           "another key",
	"required-null":     "null",
	"absent-mark":       `{"absent": true}`,
	"list-of-one":       "a list of at most one item",
	"text-or-blank":     "JSON text or nothing",
}

func textKind(s *shape) string {
	switch {
	case s.form == digits:
		return "integer-as-text"
	case s.ends:
		return "recursion-as-text"
	}
	return "json-text"
}
