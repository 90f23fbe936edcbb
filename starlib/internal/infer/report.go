package infer

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	wording "github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/possible"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/thread"
)

// finding is a mistake at one place, as of the last pass through it.
type finding struct {
	diag.Diagnostic
	at syntax.Node
}

// says and help are not inlined, to keep the code at each call small.
//
//go:noinline
func (f *finding) says(format string, args ...any) { f.Message = fmt.Sprintf(format, args...) }

//go:noinline
func (f *finding) help(format string, args ...any) {
	f.Help = append(f.Help, fmt.Sprintf(format, args...))
}

// failure records the verdict on an operation; a later pass replaces an earlier verdict.
func (b *body) failure(at syntax.Node, code diag.Code, which verdict, on *possible.Mark, build func(f *finding)) {
	in := b.in
	if in.quiet > 0 {
		return
	}
	p := place{at, code}
	if which == works {
		if in.found[p] != nil {
			in.found[p] = nil
		}
		return
	}
	f := &finding{at: at}
	f.Code = code
	if which == onPath {
		f.Severity = diag.Warning
		f.Notes = in.path(on.Steps)
	}
	if _, ok := in.found[p]; !ok {
		in.order = append(in.order, p)
	}
	put(&in.found, p, f)
	if len(in.order) > mostWorded { // too many to read: a message that takes long to work out is left out
		f.says("this fails, as others like it do")
		return
	}
	build(f)
}

// mostWorded bounds the findings of a function that have a detailed message.
const mostWorded = 1000

// path returns notes that show a path.
func (in *Inference) path(steps []possible.Step) []diag.Note {
	var notes []diag.Note
	for _, s := range steps {
		if s.Says != "" {
			notes = append(notes, diag.Note{Message: "this happens " + s.Says + ",", Pos: in.pos(s.At)})
		}
	}
	return notes
}

func (in *Inference) pos(p syntax.Position) diag.Pos {
	return diag.Pos{File: in.u.Shown, Line: int(p.Line), Col: int(p.Col)}
}

// report reports the findings.
func (in *Inference) report() {
	if in.Silent {
		return
	}
	for _, p := range in.order {
		if f := in.found[p]; f != nil {
			if f.Span.Line == 0 {
				at := p.at
				if role, ok := at.(used); ok {
					at = role.Node
				}
				f.Span = in.u.File.SpanOf(at)
			}
			in.c.Session.Report(&f.Diagnostic)
		}
	}
}

// shown returns an expression as the script writes it.
func (in *Inference) shown(e syntax.Node) string { return in.u.File.Brief(e) }

// Reported reports whether there is a finding with a code at a node of the function analysed last.
func (in *Inference) Reported(at syntax.Node, code diag.Code) bool {
	return in.found[place{at, code}] != nil
}

// failing returns the alternatives of a value for which an operation fails.
//
//go:noinline
func failing(v *possible.Value, m *possible.Mark, fails func(a *possible.Alt) bool) *possible.Value {
	out := &possible.Value{}
	for _, a := range v.Alts {
		if (m == nil || a.Mark == m) && fails(&a) {
			out.Alts = append(out.Alts, a)
		}
	}
	if len(out.Alts) == 0 {
		return v
	}
	return out
}

// unassigned handles a read of a name that may have no value. If an earlier read certainly fails, it adds nothing.
func (b *body) unassigned(id *syntax.Ident, which verdict, m *possible.Mark) {
	first, _ := source.Local(id)
	for p, f := range b.in.found {
		earlier, ok := p.at.(*syntax.Ident)
		if !ok || earlier == id || f == nil || f.Code != diag.Unassigned || f.Severity != diag.Error {
			continue
		}
		if of, _ := source.Local(earlier); of == first && possible.ComparePos(earlier.NamePos, id.NamePos) < 0 {
			which = works
		}
	}
	b.failure(id, diag.Unassigned, which, m, func(f *finding) {
		f.says("`%s` has no value here", id.Name)
		if which == onPath {
			f.says("`%s` may have no value here", id.Name)
			f.help("give it a value before, or on every path")
			return
		}
		if b.in.u.Globals[id.Name] != nil {
			f.says("`%s` is a name of this function, and has no value here", id.Name)
			f.Notes = append(f.Notes, diag.Note{Message: "the function assigns it, so it is not the one of the top level"})
			if name := b.helper(); name != "" {
				f.help("what the file defines does not change in a run: pass `%s` to `%s` as an argument, return the new value, and assign that where it is called", id.Name, name)
				return
			}
			f.help("what the file defines does not change in a run: write `%s = %s` before it in this function, and return the new value", id.Name, b.in.start(id.Name))
			return
		}
		for outer := range b.in.names.Binds {
			if outer.Name == id.Name && outer != first {
				f.says("`%s` is a name of this function, and has no value here", id.Name)
				f.Notes = append(f.Notes, diag.Note{Message: "the function assigns it, so it is not the one of the function around it"})
				f.help("return the new value of `%s`, and assign it where the function is called", id.Name)
				return
			}
		}
		f.help("assign it before")
	})
}

// start returns a top-level name's value as a script writes it, or "..." if that is long.
func (in *Inference) start(name string) string {
	switch v := in.u.Globals[name].(type) {
	case starlark.Int, starlark.Float, starlark.Bool, starlark.String, *starlark.List, *starlark.Dict:
		if s := v.String(); len(s) < 20 {
			return s
		}
	}
	return "..."
}

func (in *Inference) passed(id *syntax.Ident) {
	if p := (place{id, diag.Unassigned}); in.quiet == 0 && in.found[p] != nil {
		in.found[p] = nil
	}
}

// texted lists the kinds of values that str converts to a text.
var texted = []possible.Kind{possible.Integer, possible.Float, possible.Boolean, possible.List, possible.Dict, possible.Tuple, possible.Record, possible.Set}

// operands words the message about an operator that does not accept its operands.
func (b *body) operands(f *finding, op syntax.Token, v, w *possible.Value, left, right syntax.Expr, m *possible.Mark) {
	if m != nil { // one operand has this value only on the path
		pick := func(side *possible.Value) *possible.Value {
			return failing(side, nil, func(a *possible.Alt) bool { return a.Mark == m })
		}
		v, w = pick(v), pick(w)
	}
	f.says("`%s` cannot join these", op)
	switch op {
	case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		f.says("`%s` cannot compare these", op)
	case syntax.IN, syntax.NOT_IN:
		f.says("`%s` cannot look into this", op)
	}
	f.Label = fmt.Sprintf("`%s` is %s, `%s` is %s", b.in.shown(left), v.Words(), b.in.shown(right), w.Words())
	is := func(side *possible.Value, k ...possible.Kind) bool {
		return possible.All(side, func(a *possible.Alt) bool { return slices.Contains(k, a.Kind) })
	}
	// asText returns how to make a str of an operand, and a further note; "" if no way is known.
	asText := func(side *possible.Value, e syntax.Expr) (written, note string) {
		shown := b.in.shown(e)
		switch field := textField(side); {
		case failed(side):
			return shown + ".message", ""
		case field != "":
			return shown + "." + field, fmt.Sprintf("; `str(%s)` is all of its fields", unparen(shown))
		case is(side, texted...):
			return "str(" + unparen(shown) + ")", ""
		}
		return "", ""
	}
	leftText, ofLeft := asText(v, left)
	rightText, ofRight := asText(w, right)
	switch {
	case op == syntax.PLUS && is(v, possible.Text) && rightText != "":
		f.help("write `%s + %s`%s", b.in.shown(left), rightText, ofRight)
	case op == syntax.PLUS && is(w, possible.Text) && leftText != "":
		f.help("write `%s + %s`%s", leftText, b.in.shown(right), ofLeft)
	case op == syntax.PLUS && is(v, possible.List) && !is(w, possible.List, possible.Thing):
		f.help("write `%s + [%s]` to add one item", b.in.shown(left), b.in.shown(right))
	case is(v, possible.Text) && is(w, possible.Integer) && op != syntax.IN && op != syntax.NOT_IN:
		f.help("convert one of them: `int(%s)` or `str(%s)`", b.in.shown(left), b.in.shown(right))
	case is(v, possible.Integer) && is(w, possible.Text) && op != syntax.IN && op != syntax.NOT_IN:
		f.help("convert one of them: `str(%s)` or `int(%s)`", b.in.shown(left), b.in.shown(right))
	case op == syntax.IN && is(w, possible.Record):
		f.help("`hasattr(%s, ...)` reports whether it has a field", b.in.shown(right))
	case b.uncalled(f, left, v), b.uncalled(f, right, w):
	case is(v, possible.None) && (m != nil || startree.NameOrField(left)):
		b.testBefore(f, left)
	case is(w, possible.None) && (m != nil || startree.NameOrField(right)):
		b.testBefore(f, right)
	case nothingGiven(v, left):
		f.help("`%s` returns None: let its function return a value", b.in.shown(left))
	case nothingGiven(w, right):
		f.help("`%s` returns None: let its function return a value", b.in.shown(right))
	default:
		f.help("convert one of them to the type of the other, or test it before")
	}
}

// failed reports whether a value is a Failure, whose text is in its message.
func failed(v *possible.Value) bool {
	t := v.Type()
	return t != nil && t.Kind == generable.RecordType && t.Name == "Failure"
}

// textField returns the first field of a record that is a text, or "" if there is none.
func textField(v *possible.Value) string {
	t := v.Type()
	if t == nil || t.Kind != generable.RecordType {
		return ""
	}
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Type.Deref().Kind == generable.StrType && !f.Optional {
			return f.Name
		}
	}
	return ""
}

// testBefore adds the remedy for an expression that may be None: to test it first.
func (b *body) testBefore(f *finding, e syntax.Expr) {
	if startree.NameOrField(e) {
		f.help("test it before: `if %s != None:`", b.in.shown(e))
	} else {
		f.help("keep it in a name, and test that before: `if x != None:`")
	}
}

// nothingGiven reports whether an operand is a call that returns None.
func nothingGiven(v *possible.Value, e syntax.Expr) bool {
	a, certain := v.Certain()
	_, call := startree.Unparen(e).(*syntax.CallExpr)
	return certain && call && a.Kind == possible.None
}

func unparen(s string) string {
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") && strings.Count(s, "(") == 1 {
		return s[1 : len(s)-1]
	}
	return s
}

// Own returns a lookup of the parts of x.name as the file writes them: x, and the arguments if called is the call of
// x.name.
func Own(file *source.File, dot *syntax.DotExpr, called *syntax.CallExpr) thread.Own {
	return func(part string) string {
		switch {
		case part == "of":
			return file.Shown(dot.X)
		case (part == "arg" || part == "rest") && called != nil && called.Fn == dot:
			return file.ExprAt(called.Lparen, part)
		}
		return ""
	}
}

// noAttribute words the message about a missing attribute x.name.
func (b *body) noAttribute(f *finding, x *syntax.DotExpr, on *possible.Value, which verdict, fails func(a *possible.Alt) bool) {
	name := x.Name.Name
	f.Span = script.NameSpan(x.Name)
	variants := len(on.Alts)
	if which == onPath {
		on = on.Only(fails)
	}
	word := on.Words()
	f.says("%s has no .%s", word, name)
	var names, fields []string
	records := 0
	for i := range on.Alts {
		a := &on.Alts[i]
		own, _ := a.Attributes()
		if a.Kind == possible.Record {
			records++
			fields = append(fields, own...)
		} else if a.Kind != possible.None {
			names = append(names, own...)
		}
	}
	names = append(fields, names...)
	a := &on.Alts[0]
	switch help := thread.Instead(word, name, Own(b.in.u.File, x, b.called)); {
	case help != "":
		f.Diagnostic.Help = []string{help}
	case b.uncalled(f, x.X, on):
	case b.in.c.Meant(&f.Diagnostic, name, names):
	case records > 0 && variants > 1 && which == onPath:
		f.help("not every variant has it: match(v, {Variant: f, ...}) distinguishes them")
	case records == 1 && len(names) == len(fields) && len(fields) > 0:
		f.help("its fields are %s", script.Joined(fields))
	case len(on.Alts) > 1 && records > 0:
		f.help("not every variant has it: match(v, {Variant: f, ...}) distinguishes them")
	case a.Kind == possible.None:
		b.testBefore(f, x.X)
	case len(names) == 0:
		f.help("a value of this type has no fields and no methods")
	case a.Kind == possible.Dict:
		f.help("an entry of a dict is %s[%q]", b.in.shown(x.X), name)
	case a.Kind == possible.List && a.Elem != nil && possible.HasField(a.Elem, name):
		f.help("its items have it: `[x.%s for x in %s]`", name, b.in.shown(x.X))
	default:
		f.help("its methods are %s", script.Joined(names))
	}
}

// emptyLike returns the empty value to start from when values like x are added up.
func emptyLike(x syntax.Expr) string {
	switch x := startree.Unparen(x).(type) {
	case *syntax.ListExpr, *syntax.Comprehension:
		return "[]"
	case *syntax.Literal:
		if x.Token == syntax.STRING {
			return `""`
		}
	}
	return "0"
}

func (b *body) badIndex(f *finding, x *syntax.IndexExpr, on, key *possible.Value, which verdict) {
	shown, k := b.in.shown(x.X), b.in.shown(x.Y)
	a, certain := on.Certain()
	if !certain && which == onPath && len(on.Alts) > 0 {
		a = on.Alts[0]
	}
	name, isText := starlark.AsString(possible.OrNone(key.Exactly()))
	switch {
	case a.Kind == possible.Dict && a.Shape != nil && possible.KeyOf(key.Exactly()) != nil:
		f.says("`%s` has no key %s", shown, k)
		if which == onPath {
			f.says("`%s` may have no key %s", shown, k)
		}
		var names []string
		for _, e := range a.Shape.Keys {
			if s, ok := starlark.AsString(e.Key); ok {
				names = append(names, s)
			}
		}
		if isText && which == always && b.in.c.Meant(&f.Diagnostic, name, names) {
			break
		}
		if which == always && len(names) > 0 {
			f.help("its keys are %s", script.Joined(names))
		}
		if b.changed != nil && startree.Unparen(b.changed.LHS) == syntax.Expr(x) {
			f.help("write `%s[%s] = %s.get(%s, %s) %s %s`", shown, k, shown, k, emptyLike(b.changed.RHS), strings.TrimSuffix(b.changed.Op.String(), "="), b.in.shown(b.changed.RHS))
			break
		}
		f.help("`%s.get(%s)` returns None if it is missing", shown, k)
	case a.Kind == possible.Record && isText:
		f.says("%s has no field %s", a.Word(), name)
		if !b.in.c.Meant(&f.Diagnostic, name, a.Typ.FieldNames()) {
			f.help("its fields are %s", script.Joined(a.Typ.FieldNames()))
		}
	case a.Items != nil && key.Exactly() != nil && key.Exactly().Type() == "int":
		f.says("`%s` has %s, and no number %s", shown, wording.CountInWords(len(a.Items), "item"), k)
		if len(a.Items) == 0 {
			f.help("put an item into it before")
		} else {
			f.help("the first is `%s[0]`, the last `%s[-1]`", shown, shown)
		}
	case a.Kind == possible.List || a.Kind == possible.Text || a.Kind == possible.Ranged || a.Kind == possible.Tuple:
		f.says("an item of a %s is reached by its number, and `%s` is %s", a.Word(), k, key.Words())
		if a.Kind == possible.List && a.Elem != nil && isText && possible.HasField(a.Elem, name) {
			f.help("its items have it: `[x.%s for x in %s]`", name, shown)
		} else if a.Kind == possible.Text {
			f.help("write `%s[0]`, or `%s[0:10]`", shown, shown)
		} else {
			f.help("write `%s[0]`, or iterate over the items: `for x in %s:`", shown, shown)
		}
	default:
		f.says("`%s` is %s, which has no items", shown, on.Words())
		if !b.uncalled(f, x.X, on) {
			f.help("test it before, or use another value")
		}
	}
}

func (b *body) notIterable(f *finding, e syntax.Expr, v *possible.Value) {
	v = failing(v, nil, func(a *possible.Alt) bool { _, ok := a.Each(); return !ok })
	shown := b.in.shown(e)
	f.says("`%s` is %s, which has no items to iterate over", shown, v.Words())
	f.helpItems(b, e, v)
}

// helpItems adds help on how to get items.
func (f *finding) helpItems(b *body, e syntax.Expr, v *possible.Value) {
	shown := b.in.shown(e)
	a := v.Alts[0]
	call, isCall := startree.Unparen(e).(*syntax.CallExpr)
	switch {
	case b.uncalled(f, e, v):
	case a.Kind == possible.Text && isCall && strings.HasSuffix(b.in.shown(call.Fn), "fs.read"):
		f.help("iterate over its lines: `%s.splitlines()`", shown)
	case a.Kind == possible.Text:
		f.help("iterate over its characters: `%s.codepoints()`; its lines: `%s.splitlines()`; its words: `%s.split()`", shown, shown, shown)
	case a.Kind == possible.Integer:
		f.help("count up to it: `range(%s)`", shown)
	case a.Kind == possible.None:
		b.testBefore(f, e)
	case a.Kind == possible.Record:
		for i := range a.Typ.Fields {
			if a.Typ.Fields[i].Type.Deref().Kind == generable.ListType {
				f.help("iterate over one of its fields: `%s.%s`", shown, a.Typ.Fields[i].Name)
				return
			}
		}
		f.help("put it into a list: `[%s]`", shown)
	default:
		f.help("put it into a list: `[%s]`", shown)
	}
}

func (b *body) badUnpack(f *finding, e syntax.Expr, v *possible.Value, n int) {
	if a, ok := v.Certain(); ok && a.Items != nil {
		f.says("`%s` has %d parts, and %d names are to take them", b.in.shown(e), len(a.Items), n)
		f.help("write as many names as there are parts")
		return
	}
	over, certain := b.in.vals[startree.Unparen(e)].Certain()
	if _, items := over.Each(); certain && items && !slices.ContainsFunc(v.Alts, func(a possible.Alt) bool { return a.Kind == over.Kind }) { // in a loop
		f.says("an item of `%s` is %s, which has no parts for %d names", b.in.shown(e), v.Words(), n)
		switch {
		case over.Kind == possible.Dict:
			f.help("iterate over its keys and values: `%s.items()`", b.in.shown(e))
		case n == 2:
			f.help("count them: `enumerate(%s)`", b.in.shown(e))
		default:
			f.help("assign it to one name")
		}
		return
	}
	f.says("`%s` is %s, which has no parts for %d names", b.in.shown(e), v.Words(), n)
	f.help("assign it to one name")
}
