package engine

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// EarlyStop reads an answer while it arrives, until there is enough of it. It is for handlers of
// models: one that can end a request early asks it after each piece of text, and answers with
// what it has. A EarlyStop is not safe for concurrent use.
type EarlyStop struct {
	enough   *predicate.Predicate
	subjects []string
	stream   *lenient.Stream
	met      bool
}

// Watch returns the watch of one answer, nil when all of it is wanted.
func (o *Output) Watch() *EarlyStop {
	if o == nil || o.Enough == nil || o.Type == nil {
		return nil
	}
	w := &EarlyStop{enough: o.Enough, subjects: o.Enough.Subjects()}
	w.stream = lenient.NewStream(o.Type, lenient.StreamOptions{Stop: func(e *lenient.StreamEvent) bool {
		switch e.Kind {
		case lenient.StreamField, lenient.StreamItem, lenient.StreamVariant:
			w.met = w.met || w.holds()
		}
		return w.met
	}})
	return w
}

// holds asks only about what has arrived whole: a text that still grows may become another.
func (w *EarlyStop) holds() bool {
	for _, s := range w.subjects {
		if s == "" || w.stream.State("."+s) != lenient.Complete {
			return false
		}
	}
	return w.enough.Holds(w.stream.Snapshot())
}

// Feed takes a piece of the answer's text and reports whether more is wanted.
func (w *EarlyStop) Feed(text string) bool { return w.stream.Feed(text) && !w.met }

// Met reports whether there is enough.
func (w *EarlyStop) Met() bool { return w.met }

// Answer is what had arrived whole, as JSON: what was half written is left out.
func (w *EarlyStop) Answer() string {
	v := w.stream.Snapshot()
	m, ok := v.AsMap()
	if !ok { // a record, when the last field has just come
		return generable.JSON(v, nil)
	}
	out := generable.NewMap(m.Len())
	for i := range m.Len() {
		if key, item := m.At(i); w.stream.State("."+key) == lenient.Complete {
			out.Set(key, item)
		}
	}
	return generable.JSON(out.Value(), nil)
}

// checkEnough checks what ends an agent's answers early: a condition on fields of the output, after
// which no field is required.
func (c *checker) checkEnough(a *AgentSpec) bool {
	if a.Enough == nil {
		return true
	}
	out := a.Out.Deref()
	if out.Kind == generable.UnionType && out.Tag != "" {
		return c.checkDecided(a, out)
	}
	if out.Kind != generable.RecordType {
		d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough: agent %q answers with %s, which has no fields to wait for", a.Name, a.Out)
		d.Helpf("enough ends the answer once some fields of a schema have come")
		return false
	}
	if why := a.Enough.Mismatches(out); len(why) > 0 {
		d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough can never hold: %s", strings.Join(why, "; "))
		d.Helpf("test fields of %s", a.Out)
		return false
	}
	last := -1
	for _, f := range a.Enough.Subjects() {
		name, _, _ := strings.Cut(f, ".")
		last = max(last, out.FieldIndex(name))
	}
	var missing []string
	for i := last + 1; i < len(out.Fields); i++ {
		if f := &out.Fields[i]; !f.Optional {
			missing = append(missing, f.Name)
		}
	}
	if last < 0 || len(missing) == 0 {
		return true
	}
	d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough ends the answer before %s, which %s requires", strings.Join(missing, ", "), a.Out)
	d.Helpf("give %s a default, or declare it before %s: a model writes fields in their order", missing[0], out.Fields[last].Name)
	return false
}

// checkDecided checks the condition for a union: it asks which variant the answer is, and no field
// of such a variant is required.
func (c *checker) checkDecided(a *AgentSpec, union *generable.Type) bool {
	for _, f := range a.Enough.Subjects() {
		if f == union.Tag {
			continue
		}
		d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough: of %s one can wait for the variant alone", a.Out)
		d.Helpf("write eq(%q, %q): it ends the answer once that is decided", union.Tag, union.Variants[0].Name)
		return false
	}
	can := false
	var names []string
	for _, v := range union.Variants {
		names = append(names, v.Name)
		decided := generable.NewMap(1)
		decided.Set(union.Tag, generable.StrOf(v.Name))
		if !a.Enough.Holds(decided.Value()) {
			continue
		}
		can = true
		for i := range v.Fields {
			if f := &v.Fields[i]; !f.Optional {
				d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough ends the answer before %s, which %s requires", f.Name, v)
				d.Helpf("give %s a default", f.Name)
				return false
			}
		}
	}
	if !can {
		d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough can never hold: no variant of %s is meant", a.Out)
		d.Helpf("the variants are %s", strings.Join(names, ", "))
	}
	return can
}

// appendCanon writes what an output asks for. What is added to it over time is written only when
// it is there, so that older digests stay.
func (o *Output) appendCanon(b []byte) []byte {
	b = append(append(b, 'o'), o.Type.ID()...)
	b = append(b, o.Structured...)
	if o.Enough != nil {
		b = append(append(b, 'n'), o.Enough.String()...)
	}
	return b
}
