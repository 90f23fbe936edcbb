package value

import (
	"strconv"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// The bounds on values that cross between the script and the engine.
const (
	maxDepth = 10_000     // nesting; the engine has the same bound
	maxSize  = 20_000_000 // items, counted as often as they are reached
)

// FromData returns a value as a script value. Lists, dicts and instances are frozen and made once per value.
func FromData(v generable.Value) starlark.Value {
	switch v.Kind() {
	case generable.Null:
		return starlark.None
	case generable.Bool:
		b, _ := v.AsBool()
		return starlark.Bool(b)
	case generable.Int:
		i, _ := v.AsInt()
		return starlark.MakeInt64(i)
	case generable.Big:
		i, _ := v.AsBig()
		return starlark.MakeBigInt(i)
	case generable.Float:
		f, _ := v.AsFloat()
		return starlark.Float(f)
	case generable.Str:
		s, _ := v.AsStr()
		return starlark.String(s)
	case generable.RecordKind:
		r, _ := v.AsRecord()
		return FromRecord(r)
	case generable.ListKind:
		l, _ := v.AsList()
		if form, ok := l.Host().(*starlark.List); ok {
			return form
		}
		items := make([]starlark.Value, l.Len())
		for i, item := range l.Items() {
			items[i] = FromData(item)
		}
		form := starlark.NewList(items)
		form.Freeze()
		l.SetHost(form)
		return form
	case generable.MapKind:
		m, _ := v.AsMap()
		if form, ok := m.Host().(*starlark.Dict); ok {
			return form
		}
		form := starlark.NewDict(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			form.SetKey(starlark.String(key), FromData(item)) // a new dict accepts every str
		}
		form.Freeze()
		m.SetHost(form)
		return form
	}
	return starlark.None
}

// Texts returns a list of texts.
func Texts(texts []string) *starlark.List {
	return starlark.NewList(text.Each(texts, func(s string) starlark.Value { return starlark.String(s) }))
}

// ToData converts a script value to data. It does not freeze: see [Freeze]. Functions, types and nodes, NaN and
// infinities, sets, keys that are not str and text that is not UTF-8 have no form outside the script; the error says
// where they are.
func ToData(v starlark.Value) (generable.Value, error) {
	if out, ok := Scalar(v); ok {
		return out, nil
	}
	x := crossing{}
	out, _, err := x.value(v, nil, 0)
	return out, err
}

// Freeze makes a value immutable because it left for a node or another branch. It records the value as the script value
// of out, so that converting out back costs nothing.
func Freeze(v starlark.Value, out generable.Value) {
	switch v := v.(type) {
	case *starlark.List:
		v.Freeze()
		if l, ok := out.AsList(); ok && sameForm(v, out) {
			l.SetHost(v)
		}
	case *starlark.Dict:
		v.Freeze()
		if m, ok := out.AsMap(); ok && sameForm(v, out) {
			m.SetHost(v)
		}
	case starlark.Tuple:
		v.Freeze()
	}
}

// sameForm reports whether v is what [FromData] would return for its value, regardless of its origin: a tuple inside
// always comes back as a list.
func sameForm(v starlark.Value, out generable.Value) bool {
	switch v := v.(type) {
	case *starlark.List:
		l, ok := out.AsList()
		if !ok || l.Len() != v.Len() {
			return false
		}
		if l.Host() == starlark.Value(v) {
			return true
		}
		for i := range v.Len() {
			if !sameForm(v.Index(i), l.At(i)) {
				return false
			}
		}
		return true
	case *starlark.Dict:
		m, ok := out.AsMap()
		if !ok || m.Len() != v.Len() {
			return false
		}
		if m.Host() == starlark.Value(v) {
			return true
		}
		i := 0
		for _, item := range v.Entries() {
			_, have := m.At(i)
			if !sameForm(item, have) {
				return false
			}
			i++
		}
		return true
	case starlark.Tuple:
		return false
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String, *Record:
		return true
	}
	return false
}

// Scalar converts a value that has no parts. It returns false for any other value.
func Scalar(v starlark.Value) (generable.Value, bool) {
	switch v := v.(type) {
	case starlark.NoneType:
		return generable.Value{}, true
	case starlark.Bool:
		return generable.BoolOf(bool(v)), true
	case starlark.Int:
		if i, ok := v.Int64(); ok {
			return generable.IntOf(i), true
		}
		return generable.BigOf(v.BigInt()), true
	case starlark.Float:
		return generable.FloatOf(float64(v))
	case starlark.String:
		if !utf8.ValidString(string(v)) {
			return generable.Value{}, false
		}
		return generable.StrOf(string(v)), true
	case *Record:
		return v.Record.Value(), v.bounded()
	}
	return generable.Value{}, false
}

// crossing is the state of one conversion. Containers that are reached twice are converted once, so that shared
// structure costs only its own size.
type crossing struct {
	seen int
	done map[starlark.Value]crossed
}

type crossed struct {
	v    generable.Value
	size int
}

// where is the path to a part of a value.
type where struct {
	up  *where
	key string // ".name" or "[i]"
	in  starlark.Value
}

func (w *where) String() string {
	if w == nil {
		return ""
	}
	return w.up.String() + w.key
}

func (x *crossing) value(v starlark.Value, at *where, depth int) (generable.Value, int, error) {
	if out, ok := Scalar(v); ok {
		return out, 1, nil
	}
	if depth > maxDepth {
		for up := at; up != nil; up = up.up {
			if up.in == v {
				return generable.Value{}, 0, cannot(nil, "the %s contains itself", v.Type())
			}
		}
		return generable.Value{}, 0, cannot(nil, "the value is nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case *starlark.List:
		return x.once(v, func() (generable.Value, int, error) { return x.items(v, at, depth) })
	case *starlark.Dict:
		return x.once(v, func() (generable.Value, int, error) { return x.entries(v, at, depth) })
	case starlark.Tuple:
		return x.items(v, at, depth)
	case *Record:
		if v.extent().size > maxSize {
			return generable.Value{}, 0, tooLarge()
		}
		return generable.Value{}, 0, cannot(at, "the value is nested more than %d deep", maxDepth)
	case starlark.Sequence:
		if v.Type() == "range" {
			return x.items(v, at, depth)
		}
	}
	return generable.Value{}, 0, unfit(v, at)
}

func (x *crossing) once(v starlark.Value, convert func() (generable.Value, int, error)) (generable.Value, int, error) {
	const worth = 16 // smaller values are converted without being remembered
	if out, ok := x.done[v]; ok {
		return out.v, out.size, nil
	}
	x.seen++
	out, size, err := convert()
	if err == nil && x.seen > worth {
		if x.done == nil {
			x.done = map[starlark.Value]crossed{}
		}
		x.done[v] = crossed{out, size}
	}
	return out, size, err
}

func (x *crossing) items(seq starlark.Sequence, at *where, depth int) (generable.Value, int, error) {
	items := make([]generable.Value, 0, seq.Len())
	size, i := 1, 0
	step := &where{up: at, in: seq}
	for item := range starlark.Elements(seq) {
		out, ok := Scalar(item)
		n := 1
		if !ok {
			step.key = "[" + strconv.Itoa(i) + "]"
			var err error
			if out, n, err = x.value(item, step, depth+1); err != nil {
				return out, 0, err
			}
		}
		items = append(items, out)
		if size += n; size > maxSize {
			return generable.Value{}, 0, tooLarge()
		}
		i++
	}
	return generable.NewList(items).Value(), size, nil
}

func (x *crossing) entries(d *starlark.Dict, at *where, depth int) (generable.Value, int, error) {
	m := generable.NewMap(d.Len())
	size := 1
	step := &where{up: at, in: d}
	for key, item := range d.Entries() {
		name, ok := key.(starlark.String)
		if !ok {
			return generable.Value{}, 0, cannot(at, "a dict has the key %s: the keys of a dict are str here", Describe(key)).
				WithHelp("convert it: str(%s)", key)
		}
		step.key = "." + string(name)
		if !utf8.ValidString(string(name)) {
			return generable.Value{}, 0, unfit(name, at)
		}
		out, n, err := x.value(item, step, depth+1)
		if err != nil {
			return out, 0, err
		}
		m.Set(string(name), out)
		if size += n; size > maxSize {
			return generable.Value{}, 0, tooLarge()
		}
	}
	return m.Value(), size, nil
}

func tooLarge() error {
	return cannot(nil, "the value has more than %d items", maxSize)
}
