package agent

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// checkEarlyStop checks the condition that ends an agent's answers early: it tests fields of the output, after which
// no field may be required.
func (c *checker) checkEarlyStop(a *Spec) bool {
	if a.Enough == nil {
		return true
	}
	out := a.Out.Deref()
	if len(a.Enough.Subjects()) == 0 { // always, never
		d := c.Errorf(diag.WrongArgument, a.EnoughSpan, "enough waits for no field: %s is the same for every answer", a.Enough)
		d.Helpf("test a field of %s, has(\"name\"), or leave enough out", a.Out)
		return false
	}
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
	d.Helpf("set a default for %s, or declare it before %s: a model writes fields in their order", missing[0], out.Fields[last].Name)
	return false
}

// checkDecided checks the condition for a union: it may only test which variant the answer is, and such a variant
// must not have required fields.
func (c *checker) checkDecided(a *Spec, union *generable.Type) bool {
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
				d.Helpf("set a default for %s", f.Name)
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
