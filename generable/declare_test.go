package generable

import (
	"math"
	"strings"
	"testing"
)

// texts of errors, one per line.
func wantErrors(t *testing.T, errs FieldErrors, want ...string) {
	t.Helper()
	if got := errs.Error(); got != strings.Join(want, "\n") {
		t.Errorf("errors\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestNewSchemaErrors(t *testing.T) {
	low := must(t)(NewEnum("Level", "", []string{"low", "high"}))
	for name, tc := range map[string]struct {
		fields []Field
		want   []string
	}{
		"duplicate name": {
			[]Field{{Name: "a", Type: IntT}, {Name: "a", Type: StrT}},
			[]string{"a: want a name of its own for each field, got this name twice"}},
		"empty name": {
			[]Field{{Name: "", Type: IntT}},
			[]string{`[0]: want a name for the field, got ""`}},
		"no type": {
			[]Field{{Name: "a"}},
			[]string{"a: want a type, got nothing"}},
		"default of another type": {
			[]Field{{Name: "a", Type: IntT, Optional: true, Default: StrOf("x")}},
			[]string{"a: want int, got str; the default must be a value of the field"}},
		"default inside a list": {
			[]Field{{Name: "a", Type: ListOfType(low), Optional: true, Default: ListOf(StrOf("low"), StrOf("hihg"))}},
			[]string{`a[1]: want one of low, high, got "hihg"; the default must be a value of the field; did you mean high?`}},
		"default beyond the limits": {
			[]Field{{Name: "a", Type: FloatT, Optional: true, Default: flt(1.5), Limits: &Limits{Le: ptr(1.0)}}},
			[]string{"a: want at most 1, got 1.5; the default must be a value of the field"}},
		"example beyond the limits": {
			[]Field{{Name: "a", Type: StrT, Examples: []Value{StrOf("ab"), StrOf("")}, Limits: &Limits{MinLen: ptr(1)}}},
			[]string{"a: want at least 1 character, got 0 characters; an example must be a value of the field"}},
		"ge over le": {
			[]Field{{Name: "a", Type: IntT, Limits: &Limits{Ge: ptr(5.0), Le: ptr(3.5)}}},
			[]string{"a: want ge no greater than le, got ge 5, le 3.5"}},
		"bound that is no number": {
			[]Field{{Name: "a", Type: IntT, Limits: &Limits{Ge: ptr(math.NaN()), Le: ptr(math.Inf(1))}}},
			[]string{"a: want a finite number for ge and le, got NaN", "a: want a finite number for ge and le, got +Inf"}},
		"min_len over max_len": {
			[]Field{{Name: "a", Type: StrT, Limits: &Limits{MinLen: ptr(3), MaxLen: ptr(2)}}},
			[]string{"a: want min_len no greater than max_len, got min_len 3, max_len 2"}},
		"negative length": {
			[]Field{{Name: "a", Type: StrT, Limits: &Limits{MaxLen: ptr(-1)}}},
			[]string{"a: want a length of at least 0, got -1"}},
		"limits of another type": {
			[]Field{
				{Name: "a", Type: StrT, Limits: &Limits{Ge: ptr(0.0)}},
				{Name: "b", Type: IntT, Limits: &Limits{MinLen: ptr(1)}},
				{Name: "c", Type: ListOfType(StrT), Limits: &Limits{Pattern: "x", Format: "date"}},
				{Name: "d", Type: AnyT, Limits: &Limits{Ge: ptr(0.0)}},
			},
			[]string{
				"a: want a number type for ge and le, got str; limit the length of a text with min_len and max_len",
				"b: want str, list or dict for min_len and max_len, got int; limit a number with ge and le",
				"c: want str for pattern and format, got list[str]",
				"d: want a number type for ge and le, got any; limit the length of a text with min_len and max_len",
			}},
		"bad pattern": {
			[]Field{{Name: "a", Type: StrT, Limits: &Limits{Pattern: "(?<x"}}},
			[]string{"a: want a regular expression as the pattern, got error parsing regexp: invalid named capture: `(?<x`; look-around and back-references are not supported"}},
		"unknown format": {
			[]Field{{Name: "a", Type: StrT, Limits: &Limits{Format: "datetime"}}},
			[]string{`a: want one of the formats date, date-time, duration, email, hostname, ipv4, ipv6, time, uri, uuid, got "datetime"; did you mean date-time?`}},
		"alias taken": {
			[]Field{{Name: "a", Type: IntT, Alias: []string{"b", "c", ""}}, {Name: "b", Type: IntT, Alias: []string{"c"}}},
			[]string{
				`a: want an alias that no other field uses, got "b"`,
				`a: want an alias that no other field uses, got ""`,
				`b: want an alias that no other field uses, got "c"`,
			}},
		"several at once": {
			[]Field{{Name: "", Type: IntT}, {Name: "a", Type: IntT, Optional: true, Default: BoolOf(true), Limits: &Limits{Format: "date"}}},
			[]string{
				`[0]: want a name for the field, got ""`,
				"a: want str for pattern and format, got int",
				"a: want int, got bool; the default must be a value of the field",
			}},
	} {
		t.Run(name, func(t *testing.T) {
			typ, errs := NewSchema("S", "", tc.fields)
			wantErrors(t, errs, tc.want...)
			// The type goes on working without what is wrong.
			artefactText(typ)
			if typ.Kind != RecordType {
				t.Errorf("got a %v", typ)
			}
		})
	}
}

func TestNewSchemaKeepsWhatItIsGiven(t *testing.T) {
	limits := &Limits{Ge: ptr(0.0), Pattern: "^a$"}
	fields := []Field{
		{Name: "f", Type: FloatT, Optional: true, Default: IntOf(1), Limits: &Limits{Ge: ptr(0.0)}},
		{Name: "either", Type: OneOf(IntT, StrT), Limits: limits, Alias: []string{"other"}},
	}
	typ := must(t)(NewSchema("S", "doc", fields))
	if d := typ.Fields[0].Default; d.Kind() != Float {
		t.Errorf("the default was not converted: %s", d.Kind())
	}
	if fields[0].Default.Kind() != Int || limits.compiled != nil {
		t.Error("the declaration changed what the caller holds")
	}
	if typ.Fields[1].Limits.compiled == nil {
		t.Error("the pattern is not compiled")
	}
	fields[1].Alias[0] = "changed"
	if typ.Fields[1].Alias[0] != "other" {
		t.Error("the alias is shared with the caller")
	}
}

func TestNewUnionErrors(t *testing.T) {
	s := newSamples(t)
	m := must(t)
	unnamed := m(NewSchema("", "", nil))
	typed := m(NewSchema("Typed", "", []Field{{Name: "type", Type: StrT}}))
	aliased := m(NewSchema("Aliased", "", []Field{{Name: "kind", Type: StrT, Alias: []string{"type"}}}))
	other := m(NewSchema("Approved", "another of the name", nil))
	for name, tc := range map[string]struct {
		union    string
		tag      string
		variants []*Type
		want     []string
		left     int
	}{
		"good":          {"U", "", []*Type{s.Approved, s.Rejected}, nil, 2},
		"one variant":   {"U", "", []*Type{s.Approved}, nil, 1},
		"other tag":     {"U", "kind", []*Type{typed}, nil, 1},
		"reference":     {"U", "", []*Type{s.Approved, RefTo("Later")}, nil, 2},
		"failed before": {"U", "", []*Type{s.Approved, ErrorT}, nil, 2},
		"no name": {"", "", []*Type{s.Approved},
			[]string{"want a name for the union, got none; assign it to a variable or name it with _name"}, 1},
		"none": {"U", "", nil, []string{"want at least one variant, got none"}, 0},
		"no schema": {"U", "", []*Type{s.Approved, StrT, nil, s.Decision}, []string{
			"[1]: want a schema, got str; a union holds schemas; write str into a schema's field, or join types with |",
			"[2]: want a schema, got nothing",
			"[3]: want a schema, got Decision; a union holds schemas; write Decision into a schema's field, or join types with |",
		}, 1},
		"unnamed": {"U", "", []*Type{unnamed, s.Approved},
			[]string{"[0]: want a named schema, got one without name; assign it to a variable or name it with _name"}, 1},
		"field under the tag": {"U", "", []*Type{typed, aliased, s.Approved}, []string{
			`[0].type: want no field under the union's tag "type", got Typed.type; rename the field, or give the union another _tag`,
			`[1].kind: want no field under the union's tag "type", got Aliased.kind; rename the field, or give the union another _tag`,
		}, 1},
		"same name": {"U", "", []*Type{s.Approved, other}, []string{"[1]: want each variant once, got a second Approved"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			typ, errs := NewUnion(tc.union, "", tc.tag, tc.variants)
			wantErrors(t, errs, tc.want...)
			if tc.left == 0 {
				if typ.Kind != ErrorType {
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
	typ, errs := NewEnum("E", "", []string{"a", "", "b", "a", "\xff"})
	wantErrors(t, errs,
		`[1]: want a text that is not empty, got ""`,
		`[3]: want each value once, got a second "a"`,
		"[4]: want a text that is not empty, got \"\ufffd\"")
	if strings.Join(typ.Values, ",") != "a,b" {
		t.Errorf("values left: %q", typ.Values)
	}
	typ, errs = NewEnum("E", "", nil)
	wantErrors(t, errs, "want at least one value, got none")
	if typ.Kind != ErrorType {
		t.Errorf("got %v, want the error type", typ)
	}
}

func TestDeclarationsRefuseEndlessNesting(t *testing.T) {
	deep := StrT
	for !deep.TooDeep() {
		deep = ListOfType(OneOf(DictOfType(deep), NoneT))
	}
	_, errs := NewSchema("S", "", []Field{{Name: "a", Type: deep}})
	wantErrors(t, errs, "a: want a type nested at most 249 deep, got a deeper one")

	typ := must(t)(NewSchema("S0", "", nil))
	made := 0
	for ; made < 1000; made++ {
		next, errs := NewSchema("S", "", []Field{{Name: "a", Type: typ}})
		if errs != nil {
			break
		}
		typ = next
	}
	if made != MaxTypeDepth {
		t.Errorf("%d schemas one inside the other", made)
	}
	artefactText(typ)
	_, errs = NewUnion("U", "", "", []*Type{typ})
	wantErrors(t, errs, "[0]: want a schema nested at most 249 deep, got a deeper one")
}

func TestVerify(t *testing.T) {
	m := must(t)
	schema := func(name string, fields ...Field) *Type { return m(NewSchema(name, "", fields)) }

	if errs := newSamples(t).Report.Verify(); errs != nil {
		t.Errorf("a good type: %v", errs)
	}
	if errs := newSamples(t).Expr.Verify(); errs != nil {
		t.Errorf("a recursive union with a way out: %v", errs)
	}

	unbound := schema("A", Field{Name: "x", Type: ListOfType(RefTo("Missing"))}, Field{Name: "y", Type: RefTo("Missing")})
	errs := unbound.Verify()
	if len(errs) == 0 || errs[0].Error() != "Missing: want a type declared under this name, got none" {
		t.Errorf("unbound: %v", errs)
	}
	if refs := Refs(unbound); len(refs) != 2 || refs[0].Name != "Missing" {
		t.Errorf("refs: %v", refs)
	}

	leaf := schema("Leaf")
	late := map[string]*Type{
		"Level": m(NewEnum("Level", "", []string{"a"})),
		"Typed": schema("Typed", Field{Name: "type", Type: StrT}),
		"Other": leaf,
	}
	level, typed, again := RefTo("Level"), RefTo("Typed"), RefTo("Other")
	union := m(NewUnion("U", "", "", []*Type{leaf, level, typed, again}))
	for _, r := range []*Type{level, typed, again} {
		if !r.Bind(late[r.Name]) {
			t.Fatalf("cannot bind %s", r.Name)
		}
	}
	wantErrors(t, union.Verify(),
		"U: want a schema, got Level; a union holds schemas; write Level into a schema's field, or join types with |",
		`U.type: want no field under the union's tag "type", got Typed.type; rename the field, or give the union another _tag`,
		"U: want each variant once, got a second Leaf")

	self := RefTo("Endless")
	endless := schema("Endless", Field{Name: "next", Type: self}, Field{Name: "name", Type: StrT})
	self.Bind(endless)
	outer := schema("Outer", Field{Name: "inner", Type: endless})
	wantErrors(t, outer.Verify(),
		"Outer.inner: want a type that a finite value can have, got Endless, which leads back to itself; make it Endless | None, a list, or give it a default",
		"Endless.next: want a type that a finite value can have, got Endless, which leads back to itself; make it Endless | None, a list, or give it a default")
}

// A union that holds itself by reference is an error, and nothing may loop for ever on it.
func TestUnionOfItself(t *testing.T) {
	self := RefTo("U")
	leaf := must(t)(NewSchema("Leaf", "", nil))
	u, _ := NewUnion("U", "", "", []*Type{self, leaf})
	self.Bind(u)
	if u.Verify() == nil {
		t.Error("no error")
	}
	artefactText(u)
	SkillDescription("s", "", u, u, nil)
	if Assignable(StrT, u) == nil || Assignable(u, StrT) == nil || Unchecked(u, StrT) || u.Conforms(IntOf(1)) == nil {
		t.Error("it fits everything")
	}
	if Assignable(leaf, u) != nil {
		t.Error("its variant does not fit")
	}
	_, errs := u.Convert(dict("type", "U").Value())
	if errs == nil {
		t.Error("a value of no variant converts")
	}
}
