package generable_test

import (
	"math"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// texts of errors, one per line.
func wantErrors(t *testing.T, errs generable.FieldErrors, want ...string) {
	t.Helper()
	if got := errs.Error(); got != strings.Join(want, "\n") {
		t.Errorf("errors\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestNewSchemaErrors(t *testing.T) {
	low := gentest.Must(t)(generable.NewEnum("Level", "", []string{"low", "high"}))
	for name, tc := range map[string]struct {
		fields []generable.Field
		want   []string
	}{
		"duplicate name": {
			[]generable.Field{{Name: "a", Type: generable.IntT}, {Name: "a", Type: generable.StrT}},
			[]string{"a: want a different name for each field, got this name twice"}},
		"empty name": {
			[]generable.Field{{Name: "", Type: generable.IntT}},
			[]string{`[0]: want a name for the field, got ""`}},
		"no type": {
			[]generable.Field{{Name: "a"}},
			[]string{"a: want a type, got nothing"}},
		"default of another type": {
			[]generable.Field{{Name: "a", Type: generable.IntT, Optional: true, Default: generable.StrOf("x")}},
			[]string{"a: want int, got str; the default must be a value of the field"}},
		"None as the default": {
			[]generable.Field{{Name: "a", Type: generable.IntT, Optional: true}, {Name: "b", Type: generable.ListOfType(generable.StrT), Optional: true, Limits: &generable.Limits{Ge: gentest.Ptr(1.0)}}},
			[]string{
				"a: want int, got None; write the type as int | None",
				"b: want a number type for ge and le, got list[str]; limit how much it holds with min_len and max_len",
				"b: want list[str], got None; write the type as list[str] | None",
			}},
		"default inside a list": {
			[]generable.Field{{Name: "a", Type: generable.ListOfType(low), Optional: true, Default: generable.ListOf(generable.StrOf("low"), generable.StrOf("hihg"))}},
			[]string{`a[1]: want one of low, high, got "hihg"; the default must be a value of the field; did you mean high?`}},
		"default beyond the limits": {
			[]generable.Field{{Name: "a", Type: generable.FloatT, Optional: true, Default: gentest.Float(1.5), Limits: &generable.Limits{Le: gentest.Ptr(1.0)}}},
			[]string{"a: want at most 1, got 1.5; the default must be a value of the field"}},
		"example beyond the limits": {
			[]generable.Field{{Name: "a", Type: generable.StrT, Examples: []generable.Value{generable.StrOf("ab"), generable.StrOf("")}, Limits: &generable.Limits{MinLen: gentest.Ptr(1)}}},
			[]string{"a: want at least 1 character, got 0 characters; an example must be a value of the field"}},
		"ge over le": {
			[]generable.Field{{Name: "a", Type: generable.IntT, Limits: &generable.Limits{Ge: gentest.Ptr(5.0), Le: gentest.Ptr(3.5)}}},
			[]string{"a: want ge no greater than le, got ge 5, le 3.5"}},
		"bound that is no number": {
			[]generable.Field{{Name: "a", Type: generable.IntT, Limits: &generable.Limits{Ge: gentest.Ptr(math.NaN()), Le: gentest.Ptr(math.Inf(1))}}},
			[]string{"a: want a finite number for ge and le, got NaN", "a: want a finite number for ge and le, got +Inf"}},
		"min_len over max_len": {
			[]generable.Field{{Name: "a", Type: generable.StrT, Limits: &generable.Limits{MinLen: gentest.Ptr(3), MaxLen: gentest.Ptr(2)}}},
			[]string{"a: want min_len no greater than max_len, got min_len 3, max_len 2"}},
		"negative length": {
			[]generable.Field{{Name: "a", Type: generable.StrT, Limits: &generable.Limits{MaxLen: gentest.Ptr(-1)}}},
			[]string{"a: want a length of at least 0, got -1"}},
		"limits of another type": {
			[]generable.Field{
				{Name: "a", Type: generable.StrT, Limits: &generable.Limits{Ge: gentest.Ptr(0.0)}},
				{Name: "b", Type: generable.IntT, Limits: &generable.Limits{MinLen: gentest.Ptr(1)}},
				{Name: "c", Type: generable.ListOfType(generable.StrT), Limits: &generable.Limits{Pattern: "x", Format: "date"}},
				{Name: "d", Type: generable.AnyT, Limits: &generable.Limits{Ge: gentest.Ptr(0.0)}},
			},
			[]string{
				"a: want a number type for ge and le, got str; limit the length of a text with min_len and max_len",
				"b: want str, list or dict for min_len and max_len, got int; limit a number with ge and le",
				"c: want str for pattern and format, got list[str]",
				"d: want a number type for ge and le, got any; limit the length of a text with min_len and max_len",
			}},
		"bad pattern": {
			[]generable.Field{{Name: "a", Type: generable.StrT, Limits: &generable.Limits{Pattern: "(?<x"}}},
			[]string{"a: want a regular expression as the pattern, got error parsing regexp: invalid named capture: `(?<x`; look-around and back-references are not supported"}},
		"unknown format": {
			[]generable.Field{{Name: "a", Type: generable.StrT, Limits: &generable.Limits{Format: "datetime"}}},
			[]string{`a: want one of the formats date, date-time, duration, email, hostname, ipv4, ipv6, time, uri, uuid, got "datetime"; did you mean date-time?`}},
		"alias taken": {
			[]generable.Field{{Name: "a", Type: generable.IntT, Alias: []string{"b", "c", ""}}, {Name: "b", Type: generable.IntT, Alias: []string{"c"}}},
			[]string{
				`a: want an alias that no other field uses, got "b"`,
				`a: want an alias that no other field uses, got ""`,
				`b: want an alias that no other field uses, got "c"`,
			}},
		"several at once": {
			[]generable.Field{{Name: "", Type: generable.IntT}, {Name: "a", Type: generable.IntT, Optional: true, Default: generable.BoolOf(true), Limits: &generable.Limits{Format: "date"}}},
			[]string{
				`[0]: want a name for the field, got ""`,
				"a: want str for pattern and format, got int",
				"a: want int, got bool; the default must be a value of the field",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			typ, errs := generable.NewSchema("S", "", tc.fields)
			wantErrors(t, errs, tc.want...)
			// The type still works without its faulty parts.
			artefactText(typ)
			if typ.Kind != generable.RecordType {
				t.Errorf("got a %v", typ)
			}
		})
	}
}

func TestNewSchemaKeepsWhatItIsGiven(t *testing.T) {
	limits := &generable.Limits{Ge: gentest.Ptr(0.0), Pattern: "^a$"}
	fields := []generable.Field{
		{Name: "f", Type: generable.FloatT, Optional: true, Default: generable.IntOf(1), Limits: &generable.Limits{Ge: gentest.Ptr(0.0)}},
		{Name: "either", Type: generable.OneOf(generable.IntT, generable.StrT), Limits: limits, Alias: []string{"other"}},
	}
	typ := gentest.Must(t)(generable.NewSchema("S", "doc", fields))
	if d := typ.Fields[0].Default; d.Kind() != generable.Float {
		t.Errorf("the default was not converted: %s", d.Kind())
	}
	if fields[0].Default.Kind() != generable.Int {
		t.Error("the declaration changed what the caller holds")
	}
	fields[1].Alias[0] = "changed"
	if typ.Fields[1].Alias[0] != "other" {
		t.Error("the alias is shared with the caller")
	}
}

func TestNewUnionErrors(t *testing.T) {
	s := newSamples(t)
	m := gentest.Must(t)
	unnamed := m(generable.NewSchema("", "", nil))
	typed := m(generable.NewSchema("Typed", "", []generable.Field{{Name: "type", Type: generable.StrT}}))
	aliased := m(generable.NewSchema("Aliased", "", []generable.Field{{Name: "kind", Type: generable.StrT, Alias: []string{"type"}}}))
	other := m(generable.NewSchema("Approved", "another of the name", nil))
	for name, tc := range map[string]struct {
		union    string
		tag      string
		variants []*generable.Type
		want     []string
		left     int
	}{
		"good":          {"U", "", []*generable.Type{s.Approved, s.Rejected}, nil, 2},
		"one variant":   {"U", "", []*generable.Type{s.Approved}, nil, 1},
		"other tag":     {"U", "kind", []*generable.Type{typed}, nil, 1},
		"reference":     {"U", "", []*generable.Type{s.Approved, generable.RefTo("Later")}, nil, 2},
		"failed before": {"U", "", []*generable.Type{s.Approved, generable.ErrorT}, nil, 2},
		"no name": {"", "", []*generable.Type{s.Approved},
			[]string{"want a name for the union, got none; assign it to a variable or name it with _name"}, 1},
		"none": {"U", "", nil, []string{"want at least one variant, got none"}, 0},
		"no schema": {"U", "", []*generable.Type{s.Approved, generable.StrT, nil, s.Decision}, []string{
			"[1]: want a schema, got str; a union holds schemas; write str into a schema's field, or join types with |",
			"[2]: want a schema, got nothing",
			"[3]: want a schema, got Decision; a union holds schemas; write Decision into a schema's field, or join types with |",
		}, 1},
		"unnamed": {"U", "", []*generable.Type{unnamed, s.Approved},
			[]string{"[0]: want a named schema, got one without name; assign it to a variable or name it with _name"}, 1},
		"field under the tag": {"U", "", []*generable.Type{typed, aliased, s.Approved}, []string{
			`[0].type: want no field under the union's tag "type", got Typed.type; rename the field, or give the union another _tag`,
			`[1].kind: want no field under the union's tag "type", got Aliased.kind; rename the field, or give the union another _tag`,
		}, 1},
		"same name": {"U", "", []*generable.Type{s.Approved, other}, []string{"[1]: want each variant once, got a second Approved"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			typ, errs := generable.NewUnion(tc.union, "", tc.tag, tc.variants)
			wantErrors(t, errs, tc.want...)
			if tc.left == 0 {
				if typ.Kind != generable.ErrorType {
					t.Errorf("got %v, want the error type", typ)
				}
			} else if len(typ.Variants) != tc.left {
				t.Errorf("%d variants are left, want %d", len(typ.Variants), tc.left)
			}
			artefactText(typ)
		})
	}
}

func TestNewEnumErrors(t *testing.T) {
	typ, errs := generable.NewEnum("E", "", []string{"a", "", "b", "a", "\xff"})
	wantErrors(t, errs,
		`[1]: want a text that is not empty, got ""`,
		`[3]: want each value once, got a second "a"`,
		"[4]: want a text that is not empty, got \"\ufffd\"")
	if strings.Join(typ.Values, ",") != "a,b" {
		t.Errorf("values left: %q", typ.Values)
	}
	typ, errs = generable.NewEnum("E", "", nil)
	wantErrors(t, errs, "want at least one value, got none")
	if typ.Kind != generable.ErrorType {
		t.Errorf("got %v, want the error type", typ)
	}
}

func TestDeclarationsRefuseEndlessNesting(t *testing.T) {
	deep := generable.StrT
	for !deep.TooDeep() {
		deep = generable.ListOfType(generable.OneOf(generable.DictOfType(deep), generable.NoneT))
	}
	_, errs := generable.NewSchema("S", "", []generable.Field{{Name: "a", Type: deep}})
	wantErrors(t, errs, "a: want a type nested at most 249 deep, got a deeper one")

	typ := gentest.Must(t)(generable.NewSchema("S0", "", nil))
	made := 0
	for ; made < 1000; made++ {
		next, errs := generable.NewSchema("S", "", []generable.Field{{Name: "a", Type: typ}})
		if errs != nil {
			break
		}
		typ = next
	}
	if made != generable.MaxTypeDepth {
		t.Errorf("%d schemas one inside the other", made)
	}
	artefactText(typ)
	_, errs = generable.NewUnion("U", "", "", []*generable.Type{typ})
	wantErrors(t, errs, "[0]: want a schema nested at most 249 deep, got a deeper one")
}

func TestVerify(t *testing.T) {
	m := gentest.Must(t)
	schema := func(name string, fields ...generable.Field) *generable.Type {
		return m(generable.NewSchema(name, "", fields))
	}

	if errs := newSamples(t).Report.Verify(); errs != nil {
		t.Errorf("a good type: %v", errs)
	}
	if errs := newSamples(t).Expr.Verify(); errs != nil {
		t.Errorf("a recursive union with a way out: %v", errs)
	}

	unbound := schema("A", generable.Field{Name: "x", Type: generable.ListOfType(generable.RefTo("Missing"))}, generable.Field{Name: "y", Type: generable.RefTo("Missing")})
	errs := unbound.Verify()
	if len(errs) == 0 || errs[0].Error() != "Missing: want a type declared under this name, got none" {
		t.Errorf("unbound: %v", errs)
	}
	if refs := generable.Refs(unbound); len(refs) != 2 || refs[0].Name != "Missing" {
		t.Errorf("refs: %v", refs)
	}

	leaf := schema("Leaf")
	late := map[string]*generable.Type{
		"Level": m(generable.NewEnum("Level", "", []string{"a"})),
		"Typed": schema("Typed", generable.Field{Name: "type", Type: generable.StrT}),
		"Other": leaf,
	}
	level, typed, again := generable.RefTo("Level"), generable.RefTo("Typed"), generable.RefTo("Other")
	union := m(generable.NewUnion("U", "", "", []*generable.Type{leaf, level, typed, again}))
	for _, r := range []*generable.Type{level, typed, again} {
		if !r.Bind(late[r.Name]) {
			t.Fatalf("cannot bind %s", r.Name)
		}
	}
	wantErrors(t, union.Verify(),
		"U: want a schema, got Level; a union holds schemas; write Level into a schema's field, or join types with |",
		`U.type: want no field under the union's tag "type", got Typed.type; rename the field, or give the union another _tag`,
		"U: want each variant once, got a second Leaf")

	self := generable.RefTo("Endless")
	endless := schema("Endless", generable.Field{Name: "next", Type: self}, generable.Field{Name: "name", Type: generable.StrT})
	self.Bind(endless)
	outer := schema("Outer", generable.Field{Name: "inner", Type: endless})
	wantErrors(t, outer.Verify(),
		"Outer.inner: want a type that a finite value can have, got Endless, which leads back to itself; make it Endless | None, a list, or give it a default",
		"Endless.next: want a type that a finite value can have, got Endless, which leads back to itself; make it Endless | None, a list, or give it a default")
}

// A union that contains itself by reference is an error, and nothing may loop forever on it.
func TestUnionOfItself(t *testing.T) {
	self := generable.RefTo("U")
	leaf := gentest.Must(t)(generable.NewSchema("Leaf", "", nil))
	u, _ := generable.NewUnion("U", "", "", []*generable.Type{self, leaf})
	self.Bind(u)
	if u.Verify() == nil {
		t.Error("no error")
	}
	artefactText(u)
	generable.SkillDescription("s", "", u, u, nil)
	if generable.Assignable(generable.StrT, u) == nil || generable.Assignable(u, generable.StrT) == nil || generable.Unchecked(u, generable.StrT) || u.Conforms(generable.IntOf(1)) == nil {
		t.Error("it fits everything")
	}
	if generable.Assignable(leaf, u) != nil {
		t.Error("its variant does not fit")
	}
	_, errs := u.Convert(dict("type", "U").Value())
	if errs == nil {
		t.Error("a value of no variant converts")
	}
}
