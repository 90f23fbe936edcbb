package jsonschema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// wordy makes random types that use everything that types can express.
type wordy struct {
	*rand.Rand
	t     testing.TB
	names int
	open  []*generable.Type
}

func oneIn[T any](w *wordy, list ...T) T { return list[w.IntN(len(list))] }

func (w *wordy) name(prefix string) string {
	w.names++
	return fmt.Sprint(prefix, w.names)
}

func checkOf(says string) *generable.Check {
	return &generable.Check{Says: says, Holds: func(generable.Value) bool { return true }}
}

func (w *wordy) typ(depth int) *generable.Type {
	must := gentest.Must(w.t)
	scalars := []*generable.Type{generable.AnyT, generable.NoneT, generable.BoolT, generable.IntT, generable.FloatT, generable.StrT}
	if depth == 0 {
		return oneIn(w, scalars...)
	}
	depth--
	switch w.IntN(14) {
	case 0:
		return generable.ListOfType(w.typ(depth))
	case 1:
		return generable.DictOfType(w.typ(depth))
	case 2, 3:
		return w.enum()
	case 4:
		return generable.OneOf(w.typ(depth), w.typ(depth), generable.NoneT)
	case 5:
		return w.union(depth)
	case 6:
		return must(generable.Limited(generable.StrT, generable.Limits{MinLen: gentest.Ptr(1), Pattern: "^[a-z]"}))
	case 7:
		return must(generable.Limited(oneIn(w, generable.StrT, w.enum(), w.schema(depth), generable.OneOf(w.schema(depth), w.enum())), generable.Limits{Check: checkOf("what the host likes")}))
	case 8:
		return must(generable.Limited(generable.ListOfType(w.typ(depth)), generable.Limits{Unique: true, Check: checkOf("a good list")}))
	case 9:
		return generable.TupleType([]*generable.Type{w.typ(depth), w.typ(depth)}, oneIn(w, nil, generable.IntT))
	case 10:
		return oneIn(w, scalars...)
	}
	return w.schema(depth)
}

func (w *wordy) enum() *generable.Type {
	values := []string{"low", "so so", "é", "x/y~z"}[:1+w.IntN(4)]
	notes := make([]generable.ValueNote, len(values))
	for i := range notes {
		notes[i].Doc = oneIn(w, "", "can wait", "now")
		if w.IntN(3) == 0 {
			notes[i].Alias = []string{fmt.Sprint("other ", i), fmt.Sprint("alias", i)}[:1+w.IntN(2)]
		}
	}
	t := gentest.Must(w.t)(generable.NewNotedEnum(w.name("Enum"), oneIn(w, "", "How much"), values, notes))
	t.Description = oneIn(w, "", "", "Choose well.")
	return t
}

func (w *wordy) union(depth int) *generable.Type {
	self := generable.RefTo(w.name("Union"))
	w.open = append(w.open, self)
	variants := []*generable.Type{w.schema(depth), w.schema(depth)}[:1+w.IntN(2)]
	w.open = w.open[:len(w.open)-1]
	t := gentest.Must(w.t)(generable.NewUnion(self.Name, oneIn(w, "", "One of them"), oneIn(w, "type", "kind"), variants))
	t.Description = oneIn(w, "", "", "Take one.")
	self.Bind(t)
	return t
}

func (w *wordy) schema(depth int) *generable.Type {
	self := generable.RefTo(w.name("Schema"))
	w.open = append(w.open, self)
	var fields []generable.Field
	for i := range w.IntN(5) {
		fields = append(fields, w.field(fmt.Sprint("f", i), depth))
	}
	w.open = w.open[:len(w.open)-1]
	t := gentest.Must(w.t)(generable.NewSchema(self.Name, oneIn(w, "", "A thing"), fields))
	t.Description = oneIn(w, "", "", "Describe it.")
	self.Bind(t)
	return t
}

func (w *wordy) field(name string, depth int) generable.Field {
	f := generable.Field{Name: name, Type: w.typ(depth), Guide: oneIn(w, "", "what to put there")}
	if w.IntN(6) == 0 {
		back := oneIn(w, w.open...)
		f.Type = oneIn(w, generable.ListOfType(back), generable.OneOf(back, generable.NoneT), generable.DictOfType(back))
	}
	if w.IntN(2) == 0 {
		f.Alias = []string{name + " alias", name + "'"}[:1+w.IntN(2)]
		f.AliasOnly = w.IntN(2) == 0
	}
	f.Dedent = f.Type.AcceptsText() && w.IntN(2) == 0
	f.Stream = generable.StreamPolicy(w.IntN(8))
	switch {
	case f.Type.Kind == generable.IntType && w.IntN(2) == 0:
		f.Limits = oneIn(w, &generable.Limits{Ge: gentest.Ptr(1.0)}, &generable.Limits{Lt: gentest.Ptr(9.0), Check: checkOf("an even number")}, &generable.Limits{Check: checkOf("prime")})
		f.Optional, f.Default = true, generable.IntOf(4)
		f.Examples = []generable.Value{generable.IntOf(2)}
	case f.Type.AcceptsNone() && w.IntN(3) == 0:
		f.Explicit = true
	case f.Type.Kind != generable.AnyType && f.Type.Kind != generable.NoneType && w.IntN(4) == 0:
		f = generable.OmittedField(f)
	}
	return f
}

// differ returns where two types differ: in themselves or in their parts, recursive or not.
func differ(a, b *generable.Type, at string, seen map[[2]*generable.Type]bool) string {
	a, b = in.Resolved(a), in.Resolved(b)
	if seen[[2]*generable.Type{a, b}] {
		return ""
	}
	seen[[2]*generable.Type{a, b}] = true
	own := func(t *generable.Type) string {
		s := fmt.Sprintf("%d %q %q %q %q %q %q", t.Kind, t.Name, t.Doc, t.Description, t.Tag, t.Values, t.Notes)
		return s + limitsOf(t.Limits)
	}
	if own(a) != own(b) {
		return at + ": " + own(a) + "\n" + own(b)
	}
	if len(a.Fields) != len(b.Fields) || len(a.Variants) != len(b.Variants) || (a.Elem == nil) != (b.Elem == nil) {
		return at + ": other parts"
	}
	for i := range a.Fields {
		f, g := a.Fields[i], b.Fields[i]
		for _, f := range []*generable.Field{&f, &g} { // limits of a field's type belong to the field
			if f.Limits == nil {
				f.Type, f.Limits = in.Unlimited(f.Type)
			}
		}
		says := func(f generable.Field) string {
			if f.Optional && !f.Omit && f.Default.IsNull() && f.Type.Deref().Kind == generable.AnyType {
				f.Optional = false // it has no value when it is left out, in both cases
			}
			return fmt.Sprintf("%q %q %s %v %v %v %q %v %v %v %s", f.Name, f.Guide, generable.JSON(f.Default, nil), f.Optional, f.Omit, f.Explicit, f.Alias, f.AliasOnly, f.Dedent, f.Stream,
				generable.JSON(generable.ListOf(f.Examples...), nil)) + limitsOf(f.Limits)
		}
		if says(f) != says(g) {
			return at + "." + f.Name + ":\n" + says(f) + "\n" + says(g)
		}
		if d := differ(f.Type, g.Type, at+"."+f.Name, seen); d != "" {
			return d
		}
	}
	for i := range a.Variants {
		if d := differ(a.Variants[i], b.Variants[i], fmt.Sprintf("%s|%d", at, i), seen); d != "" {
			return d
		}
	}
	if a.Elem == nil {
		return ""
	}
	return differ(a.Elem, b.Elem, at+"[]", seen)
}

func limitsOf(l *generable.Limits) string {
	if l == nil {
		return ""
	}
	show := func(f *float64) string {
		if f == nil {
			return "-"
		}
		return fmt.Sprint(*f)
	}
	s := fmt.Sprint(" ", show(l.Ge), show(l.Le), show(l.Gt), show(l.Lt), show(l.MultipleOf), l.Unique, l.Pattern, l.Format)
	for _, n := range []*int{l.MinLen, l.MaxLen} {
		if n != nil {
			s += fmt.Sprint(" len ", *n)
		}
	}
	if l.Check != nil {
		s += " check " + l.Check.Says
	}
	return s
}

// The output of Export is read as the same type, and its extra keywords are in no schema that models receive.
func TestExportedTypes(t *testing.T) {
	for seed := range uint64(gentest.Rounds()) {
		w := &wordy{Rand: rand.New(rand.NewPCG(seed, 28)), t: t}
		typ := w.schema(3)
		text := generable.JSON(Export(typ), nil)
		back, ignored, errs := Parse(text, Options{Check: checkOf})
		if errs != nil || ignored != nil {
			t.Fatalf("seed %d: %v %v\n%s", seed, errs, ignored, text)
		}
		if d := differ(typ, back, "", map[[2]*generable.Type]bool{}); d != "" {
			t.Fatalf("seed %d: %s\n%s", seed, d, text)
		}
		if again := generable.JSON(Export(back), nil); len(again) == 0 {
			t.Fatalf("seed %d: %s", seed, again)
		}
		if sent := typ.JSONSchema(); strings.Contains(sent, `"x-`) {
			t.Fatalf("seed %d: %s", seed, sent)
		}
	}
}

func TestWords(t *testing.T) {
	const schema = `{"type": "object", "title": "Ticket", "properties": {
		"title": {"type": "string", "x-alias": "headline", "x-alias-only": true, "x-stream": "not_null"},
		"code": {"type": "string", "x-dedent": true, "x-stream": ["done", "state"]},
		"level": {"enum": ["low", "high"], "x-alias": {"low": "minor"}, "x-enum": {"high": {"description": "now", "alias": ["urgent"]}, "low": "can wait"}},
		"n": {"type": "integer", "x-constraints": "even"}}, "required": ["title"]}`
	typ, ignored, errs := Parse(schema, Options{})
	if errs != nil || len(ignored) != 1 || !strings.Contains(ignored[0].Error(), `#/properties/n/x-constraints: want a check that is known, got "even"; it is not checked`) {
		t.Fatal(errs, ignored)
	}
	f := typ.Fields
	if f[0].Key() != "headline" || f[0].Stream != generable.StreamFirst || !f[1].Dedent || f[1].Stream != generable.StreamAtomic|generable.StreamState {
		t.Errorf("%+v", f)
	}
	level := in.NonNone(f[2].Type)
	if n := level.Note(0); n.Doc != "can wait" || !slices.Equal(n.Alias, []string{"minor"}) {
		t.Errorf("%+v", n)
	}
	if n := level.Note(1); n.Doc != "now" || !slices.Equal(n.Alias, []string{"urgent"}) {
		t.Errorf("%+v", n)
	}
}

func TestMisusedWords(t *testing.T) {
	for _, row := range []struct{ property, want string }{
		{`"type": "string", "x-alias-only": true`, "want an alias, which rules the name out, got none; .a; give the field an alias"},
		{`"type": "string", "x-alias": 7`, "#/properties/a/x-alias: want a text or a list of texts, got int"},
		{`"type": "string", "x-alias": ["b", 7]`, "#/properties/a/x-alias/1: want a text or a list of texts, got int"},
		{`"type": "string", "x-alias": "b", "x-alias-only": "yes"`, "#/properties/a/x-alias-only: want true or false, got str"},
		{`"type": "string", "x-stream": "atomc"`, `#/properties/a/x-stream: want one of atomic, first, state, done, not_null, with_state, got "atomc"; did you mean atomic?`},
		{`"type": "integer", "x-dedent": true`, "want a type of text to dedent, got int"},
		{`"enum": ["low"], "x-enum": ["low"]`, "#/properties/a/x-enum: want an object with the values of the enum as keys, got list"},
		{`"enum": ["low"], "x-enum": {"loww": "x"}`, `#/properties/a/x-enum/loww: want a value of the enum, got "loww"; did you mean low?`},
		{`"enum": ["low"], "x-enum": {"low": {"alais": "x"}}`, `#/properties/a/x-enum/low/alais: want description or alias, got "alais"; did you mean alias?`},
		{`"enum": ["low"], "x-enum": {"low": 7}`, "#/properties/a/x-enum/low: want a text, or an object with a description and an alias, got int"},
		{`"enum": ["low", "high"], "x-alias": {"low": "minor", "high": "minor"}`, `want an alias that no other value uses, got "minor"`},
	} {
		schema := `{"type": "object", "properties": {"a": {` + row.property + `}}, "required": ["a"]}`
		if _, _, errs := Parse(schema, Options{}); len(errs) == 0 || !strings.Contains(errs.Error(), row.want) {
			t.Errorf("%s:\n%v, want\n%s", row.property, errs, row.want)
		}
	}
}
