package testrun

import (
	"cmp"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// result returns the result that the test prepared for a call, converted to its type if it is known.
func (w *world) result(name string, args generable.Value, t *generable.Type) (engine.Outcome, bool) {
	w.mu.Lock()
	q := w.tools[name]
	if q == nil {
		w.mu.Unlock()
		return engine.Outcome{}, false
	}
	r := q.take()
	w.mu.Unlock()
	v, err := r.Value, error(nil)
	switch {
	case r.Fail != nil:
		return engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "%s", cmp.Or(r.Fail.Message, name+" failed"))), true
	case r.Func != nil:
		v, err = r.Func(asMap(args))
	}
	if err == nil && t != nil {
		v, err = fitted(name, v, t)
	}
	if err != nil {
		return engine.Failed(engine.AsError(err)), true
	}
	return engine.Outcome{Value: v, Attempt: 1}, true
}

// asMap returns the arguments of a tool as a map.
func asMap(args generable.Value) generable.Value {
	r, ok := args.AsRecord()
	if !ok {
		return args
	}
	m := generable.NewMap(len(r.Type().Fields))
	for i, f := range r.Type().Fields {
		m.Set(f.Name, r.At(i))
	}
	return m.Value()
}

// fitted converts a prepared result to the type of an operation. A single text is the first text of a record: the
// output of a command, the body of a response. Fields that a dict leaves out have their zero values.
func fitted(name string, v generable.Value, t *generable.Type) (generable.Value, error) {
	if t.Kind == generable.RecordType {
		if s, ok := v.AsStr(); ok {
			m := generable.NewMap(1)
			m.Set(textOf(t), generable.StrOf(s))
			v = m.Value()
		}
		if m, ok := v.AsMap(); ok {
			v = filled(m, t)
		}
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return out, engine.Errorf(engine.KindTest, diag.BadTest, "the result that the test has for %s does not fit: %w", name, errs).WithHelp("%s returns %s", name, t)
	}
	return out, nil
}

// textOf returns the name of the first text of a record, or "" if it has none.
func textOf(t *generable.Type) string {
	for _, f := range t.Fields {
		if f.Type.Kind == generable.StrType {
			return f.Name
		}
	}
	return ""
}

// filled returns a record as a dict that has every field of a type. Other entries are kept.
func filled(m *generable.Map, t *generable.Type) generable.Value {
	whole := generable.NewMap(len(t.Fields))
	for _, f := range t.Fields {
		whole.Set(f.Name, zero(f))
	}
	for name, v := range m.All() {
		whole.Set(name, v)
	}
	return whole.Value()
}

func zero(f generable.Field) generable.Value {
	switch {
	case f.Name == "status":
		return generable.IntOf(200)
	case f.Type.Kind == generable.StrType:
		return generable.StrOf("")
	case f.Type.Kind == generable.IntType:
		return generable.IntOf(0)
	case f.Type.Kind == generable.BoolType:
		return generable.BoolOf(false)
	case f.Type.Kind == generable.EnumType:
		return generable.StrOf(f.Type.Values[0])
	case f.Type.Kind == generable.DictType:
		return generable.NewMap(0).Value()
	}
	return generable.Value{}
}
