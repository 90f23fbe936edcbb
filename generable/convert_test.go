package generable

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	s := newSamples(t)
	m := must(t)
	strictArgs := m(NewSchema("StrictArgs", "", []Field{
		{Name: "name", Type: StrT}, {Name: "count", Type: IntT, Optional: true, Default: IntOf(0)},
	}))
	circle := m(NewSchema("Circle", "", []Field{{Name: "radius", Type: FloatT}}))
	square := m(NewSchema("Square", "", []Field{{Name: "side", Type: FloatT, Alias: []string{"edge"}}}))
	shape := m(NewUnion("Shape", "", "", []*Type{circle, square}))
	unit := m(NewSchema("Unit", "", nil))
	point := m(NewSchema("Point", "", []Field{{Name: "x", Type: IntT}, {Name: "y", Type: IntT}}))
	pixel := m(NewSchema("Pixel", "", []Field{{Name: "x", Type: IntT}, {Name: "y", Type: IntT}, {Name: "color", Type: StrT, Optional: true, Default: StrOf("black")}}))
	two63 := BigOf(new(big.Int).Lsh(big.NewInt(1), 63))
	circle2, _ := circle.Construct(dict("radius", 2))

	for _, tc := range []struct {
		name string
		typ  *Type
		in   any
		want any    // the JSON of the result, or nil for an error
		errs string // lines
	}{
		{"int to float", FloatT, 1, "1.0", ""},
		{"large int to float", FloatT, 1 << 60, "1152921504606847000.0", ""},
		{"int that no float holds", FloatT, 1<<53 + 1, nil, "want float, got int 9007199254740993; a float cannot hold all its digits"},
		{"largest int to float", FloatT, math.MaxInt64, nil, "want float, got int 9223372036854775807; a float cannot hold all its digits"},
		{"smallest int to float", FloatT, math.MinInt64, "-9223372036854776000.0", ""},
		{"big to float", FloatT, two63, "9223372036854776000.0", ""},
		{"text to float", FloatT, "42.0", nil, "want float, got str"},
		{"bool to float", FloatT, true, nil, "want float, got bool"},
		{"whole float to int", IntT, 3.0, "3", ""},
		{"whole float of 1e15", IntT, 1e15, "1000000000000000", ""},
		{"smallest int64 as float", IntT, -9223372036854775808.0, "-9223372036854775808", ""},
		{"2^63 as float", IntT, 9223372036854775808.0, nil, "want int, got float 9223372036854776000.0"},
		{"1e20", IntT, 1e20, nil, "want int, got float 100000000000000000000.0"},
		{"fraction to int", IntT, 3.5, nil, "want int, got float 3.5"},
		{"big int", IntT, two63, "9223372036854775808", ""},
		{"bool to int", IntT, true, nil, "want int, got bool"},
		{"int to bool", BoolT, 1, nil, "want bool, got int"},
		{"int to str", StrT, 5, nil, "want str, got int"},
		{"None to str", StrT, nil, nil, "want str, got None"},
		{"None", NoneT, nil, "null", ""},
		{"int to None", NoneT, 0, nil, "want None, got int"},
		{"any", AnyT, []any{1, "x", nil}, `[1,"x",null]`, ""},

		{"enum", s.Severity, "low", `"low"`, ""},
		{"enum off by one", s.Severity, "hihg", nil, `want one of low, medium, high, got "hihg"; did you mean high?`},
		{"enum in another case", s.Severity, "LOW", nil, `want one of low, medium, high, got "LOW"; did you mean low?`},
		{"enum of a number", s.Severity, 1, nil, "want one of low, medium, high, got int"},

		{"list", ListOfType(FloatT), []any{1, 2.5}, "[1.0,2.5]", ""},
		{"list with two errors", ListOfType(IntT), []any{1, "a", 2, nil}, nil, "[1]: want int, got str\n[3]: want int, got None"},
		{"list of a scalar", ListOfType(IntT), 1, nil, "want list[int], got int"},
		{"list of any", ListOfType(AnyT), []any{"a", 1, true, nil}, `["a",1,true,null]`, ""},
		{"list of any from a text", ListOfType(AnyT), "[1]", nil, "want list[any], got str"},
		{"dict", DictOfType(FloatT), dict("a", 1, "b", 2.5), `{"a":1.0,"b":2.5}`, ""},
		{"dict with an error", DictOfType(IntT), dict("a b", "x"), nil, `["a b"]: want int, got str`},
		{"dict of a list", DictOfType(IntT), []any{}, nil, "want dict[str, int], got list"},

		{"schema from a dict", strictArgs, dict("count", 2.0, "name", "a"), `{"name":"a","count":2}`, ""},
		{"default filled in", strictArgs, dict("name", "a"), `{"name":"a","count":0}`, ""},
		{"None for a default", strictArgs, dict("name", "a", "count", nil), nil, "count: want int, got None"},
		{"missing field", strictArgs, dict("count", 1), nil, "name: want str, got nothing"},
		{"type on a plain schema", strictArgs, dict("name", "a", "type", "StrictArgs"), nil,
			"type: want one of the fields name, count, got a field that StrictArgs does not have"},
		{"misspelt field", strictArgs, dict("nmae", "a"), nil,
			"name: want str, got nothing\nnmae: want one of the fields name, count, got a field that StrictArgs does not have; did you mean name?"},
		{"alias is for decoding", square, dict("edge", 1), nil,
			"side: want float, got nothing\nedge: want one of the fields side, got a field that Square does not have; did you mean side?"},
		{"all errors at once", s.Measurement, dict("distance", "far", "unit", "m", "x y", 1), nil,
			"distance: want float, got str\nlabel: want str, got nothing\n" +
				"unit: want one of the fields distance, label, got a field that Measurement does not have\n" +
				`["x y"]: want one of the fields distance, label, got a field that Measurement does not have`},
		{"schema without fields", unit, dict("a", 1), nil, "a: want no fields, got a field that Unit does not have"},
		{"empty schema", unit, dict(), "{}", ""},
		{"schema from text", strictArgs, `{"name":"a"}`, nil, "want StrictArgs, got str"},
		{"another schema", strictArgs, circle2, nil, "want StrictArgs, got Circle"},
		{"optional left out", s.Finding, dict("severity", "low", "tags", []any{"x"}), `{"severity":"low","where":null,"line":null,"tags":["x"]}`, ""},
		{"limits", s.Finding, dict("severity", "low", "line", 0, "tags", []any{}), nil,
			"line: want at least 1, got 0\ntags: want at least 1 item, got 0 items"},
		{"limit after widening", s.Approved, dict("confidence", 2), nil, "confidence: want at most 1, got 2.0"},
		{"deep path", ListOfType(DictOfType(s.Finding)), []any{dict("a.b", dict("severity", "low", "tags", []any{1}))}, nil,
			`[0]["a.b"].tags[0]: want str, got int`},

		{"variant", shape, dict("type", "Circle", "radius", 1), `{"type":"Circle","radius":1.0}`, ""},
		{"variant, tag last", shape, dict("radius", 1, "type", "Circle"), `{"type":"Circle","radius":1.0}`, ""},
		{"variant itself", shape, circle2, `{"type":"Circle","radius":2.0}`, ""},
		{"no tag", shape, dict("radius", 1), nil, "type: want one of Circle, Square, got nothing; the key type names the variant of Shape"},
		{"unknown tag", shape, dict("type", "Circel"), nil, `type: want one of Circle, Square, got "Circel"; did you mean Circle?`},
		{"tag of another kind", shape, dict("type", nil), nil, "type: want one of Circle, Square, got None"},
		{"fields of another variant", shape, dict("type", "Square", "radius", 1), nil,
			"side: want float, got nothing\nradius: want one of the fields side, got a field that Square does not have"},
		{"no variant", shape, s.Measurement.Fields[0].Guide, nil, "want Shape, got str"},

		{"optional", OneOf(FloatT, NoneT), 1, "1.0", ""},
		{"optional None", OneOf(FloatT, NoneT), nil, "null", ""},
		{"optional wrong", OneOf(FloatT, NoneT), "x", nil, "want float | None, got str"},
		{"optional enum wrong", OneOf(s.Severity, NoneT), "lo", nil, `want one of low, medium, high, got "lo"; did you mean low?`},
		{"int before float", OneOf(FloatT, IntT), 1, "1", ""},
		{"float before int", OneOf(IntT, FloatT), 1.0, "1.0", ""},
		{"whole float to the int", OneOf(IntT, StrT), 1.0, "1", ""},
		{"enum or int", OneOf(s.Severity, IntT), "low", `"low"`, ""},
		{"inline by fit", OneOf(circle, square), dict("side", 2), `{"side":2.0}`, ""},
		{"inline, schema or list", OneOf(circle, ListOfType(IntT)), dict("radius", "x"), nil, "radius: want float, got str"},
		{"inline, no fit", OneOf(circle, square, StrT), dict("x", 2), nil, "want Circle | Square | str, got dict"},
		{"inline, two fit", OneOf(point, pixel), dict("x", 1, "y", 2), nil,
			"want Point | Pixel, got dict that fits Point and Pixel; give the value as an instance of one of them, or declare a union, whose tag decides"},
		{"inline, two fit in a list", ListOfType(OneOf(point, pixel, NoneT)), []any{nil, dict("x", 1, "y", 2)}, nil,
			"[1]: want Point | Pixel | None, got dict that fits Point and Pixel; give the value as an instance of one of them, or declare a union, whose tag decides"},
		{"inline with dict", OneOf(circle, DictOfType(IntT)), dict("radius", 2), `{"radius":2}`, ""},
		{"inline with union", OneOf(shape, s.Severity), dict("type", "Square", "side", 1), `{"type":"Square","side":1.0}`, ""},

		{"recursive", s.Tree, dict("name", "a", "children", []any{dict("name", "b", "children", []any{})}),
			`{"name":"a","children":[{"name":"b","children":[]}]}`, ""},
		{"recursive wrong", s.Tree, dict("name", "a", "children", []any{dict("name", 1, "children", []any{})}), nil,
			"children[0].name: want str, got int"},
		{"unbound", RefTo("Later"), 1, nil, "want Later, got int; the type Later is not declared"},
		{"failed type", ErrorT, 1, "1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, errs := tc.typ.Convert(val(tc.in))
			if errs.Error() != tc.errs {
				t.Fatalf("errors\n%v\nwant\n%s", errs, tc.errs)
			}
			if want, ok := tc.want.(string); ok && JSON(got, tc.typ) != want {
				t.Errorf("got %s, want %s", JSON(got, tc.typ), want)
			}
		})
	}
}

// What needs no change comes back as the very same value, and costs nothing.
func TestConvertKeepsAndAllocatesNothing(t *testing.T) {
	s := newSamples(t)
	m, errs := s.Measurement.Construct(dict("distance", 1.5, "label", "hall"))
	if errs != nil {
		t.Fatal(errs)
	}
	big := val([]any{val([]any{1, 2}), val([]any{3})})
	for typ, v := range map[*Type]Value{
		s.Measurement:                              m.Value(),
		ListOfType(s.Measurement):                  ListOf(m.Value(), m.Value()),
		DictOfType(OneOf(s.Measurement, StrT)):     dict("a", m, "b", "x").Value(),
		ListOfType(ListOfType(OneOf(IntT, NoneT))): big,
		s.Severity:        StrOf("high"),
		OneOf(IntT, StrT): StrOf("x"),
	} {
		if n := testing.AllocsPerRun(100, func() {
			if typ.Conforms(v) != nil {
				t.Fatal("does not conform")
			}
		}); n != 0 {
			t.Errorf("%s: Conforms allocates %v times", typ, n)
		}
		if n := testing.AllocsPerRun(100, func() {
			w, errs := typ.Convert(v)
			if errs != nil || changed(v, w) {
				t.Fatal("it changed")
			}
		}); n > 1 {
			t.Errorf("%s: Convert allocates %v times", typ, n)
		}
	}
}

// Unchanged parts are shared with the input, changed ones are new.
func TestConvertCopiesOnlyWhatChanges(t *testing.T) {
	typ := ListOfType(ListOfType(FloatT))
	in := val([]any{[]any{1.0}, []any{2}})
	out, errs := typ.Convert(in)
	if errs != nil {
		t.Fatal(errs)
	}
	a, _ := in.AsList()
	b, _ := out.AsList()
	if changed(a.At(0), b.At(0)) || !changed(a.At(1), b.At(1)) {
		t.Error("the wrong parts were copied")
	}
	if JSON(in, nil) != "[[1.0],[2]]" {
		t.Errorf("the input was changed: %s", JSON(in, nil))
	}
}

// Two schemas that both fit every level must not be tried in every combination.
func TestConvertInlineUnionsStaysLinear(t *testing.T) {
	a, b := RefTo("A"), RefTo("B")
	next := Field{Name: "next", Type: OneOf(a, b, NoneT)}
	m := must(t)
	typA := m(NewSchema("A", "", []Field{next, {Name: "end", Type: OneOf(IntT, NoneT)}}))
	typB := m(NewSchema("B", "", []Field{next, {Name: "end", Type: OneOf(StrT, NoneT)}}))
	a.Bind(typA)
	b.Bind(typB)
	chain := func(n int) Value {
		v := dict("end", true)
		for range n {
			v = dict("next", v)
		}
		return v.Value()
	}
	for _, typ := range []*Type{typA, OneOf(typA, typB), ListOfType(OneOf(typA, typB))} {
		v := chain(2000)
		if typ.Kind == ListType {
			v = ListOf(v)
		}
		if _, errs := typ.Convert(v); errs == nil {
			t.Errorf("%s: no error", typ)
		}
	}
}

func TestConvertDepthIsAnError(t *testing.T) {
	s := newSamples(t)
	v := dict("name", "leaf", "children", []any{})
	for range 3 * maxDepth {
		v = dict("name", "x", "children", []any{v})
	}
	_, errs := s.Tree.Convert(v.Value())
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "want a value nested at most 10000 deep, got a deeper one") {
		t.Fatalf("got %d errors", len(errs))
	}
}

func TestConvertReportsABoundedNumberOfErrors(t *testing.T) {
	items := make([]Value, 1000)
	_, errs := ListOfType(IntT).Convert(NewList(items).Value())
	if len(errs) != maxErrors+1 || errs[maxErrors].Error() != "want a value without errors, got 900 errors more" {
		t.Errorf("%d errors, the last: %v", len(errs), errs[len(errs)-1])
	}
	if bad := ListOfType(IntT).Conforms(NewList(items).Value()); len(bad) != maxErrors+1 {
		t.Errorf("Conforms: %d errors", len(bad))
	}
}

func TestConforms(t *testing.T) {
	s := newSamples(t)
	measure := func(distance float64) *Record {
		r, errs := s.Measurement.Construct(dict("distance", distance, "label", "hall"))
		if errs != nil {
			t.Fatal(errs)
		}
		return r
	}
	other := must(t)(NewSchema("Measurement", "another", nil))
	otherRecord, _ := other.Construct(dict())
	approved, _ := s.Approved.Construct(dict("confidence", 1))
	for _, tc := range []struct {
		typ  *Type
		v    any
		want string
	}{
		{StrT, 5, "want str, got int"},
		{FloatT, 1, "want float, got int; convert it with float()"},
		{IntT, 1.0, "want int, got float"},
		{BoolT, nil, "want bool, got None"},
		{s.Measurement, measure(1), ""},
		{s.Measurement, dict("distance", 1.0, "label", ""), "want Measurement, got dict; make an instance: Measurement(**value)"},
		{s.Measurement, otherRecord, "want Measurement, got Measurement; two different types are named Measurement"},
		{s.Decision, approved, ""},
		{s.Decision, measure(1), "want Decision, got Measurement"},
		{s.Severity, "low", ""},
		{s.Severity, "hig", `want one of low, medium, high, got "hig"; did you mean high?`},
		{s.Severity, 1, "want one of low, medium, high, got int"},
		{ListOfType(StrT), []any{"a", 1, nil}, "[1]: want str, got int\n[2]: want str, got None"},
		{ListOfType(DictOfType(StrT)), []any{dict("k", "v"), dict("k", 1)}, "[1].k: want str, got int"},
		{OneOf(StrT, NoneT), 1, "want str | None, got int"},
		{OneOf(ListOfType(StrT), NoneT), []any{1}, "[0]: want str, got int"},
		{OneOf(ListOfType(StrT), ListOfType(IntT)), []any{1, "a"}, "want list[str] | list[int], got list"},
		{OneOf(ListOfType(StrT), ListOfType(IntT)), []any{1, 2}, ""},
		{OneOf(s.Decision, NoneT), approved, ""},
		{AnyT, measure(1), ""},
		{ErrorT, 1, ""},
		{RefTo("Later"), 1, "want Later, got int; the type Later is not declared"},
		{s.Tree, dict(), "want Tree, got dict; make an instance: Tree(**value)"},
	} {
		if got := tc.typ.Conforms(val(tc.v)).Error(); got != tc.want {
			t.Errorf("%s of %s: %s, want %s", tc.typ, JSON(val(tc.v), nil), got, tc.want)
		}
	}
}

func TestConstructAndReplace(t *testing.T) {
	s := newSamples(t)
	r, errs := s.Measurement.Construct(dict("label", "hall", "distance", 1))
	if errs != nil || JSON(r.Value(), nil) != `{"distance":1.0,"label":"hall"}` {
		t.Fatalf("got %v, %v", r, errs)
	}
	if _, errs := s.Rejected.Construct(dict("reason", 5)); errs.Error() != "reason: want str, got int" {
		t.Errorf("got %v", errs)
	}
	if _, errs := StrT.Construct(dict()); errs.Error() != "want a schema to make an instance of, got str" {
		t.Errorf("got %v", errs)
	}
	ref := RefTo("Measurement")
	ref.Bind(s.Measurement)
	if viaRef, errs := ref.Construct(dict("distance", 1, "label", "hall")); errs != nil || !Equal(viaRef.Value(), r.Value()) {
		t.Errorf("through a reference: %v", errs)
	}

	r2, errs := Replace(r, dict("distance", 2))
	if errs != nil || JSON(r2.Value(), nil) != `{"distance":2.0,"label":"hall"}` {
		t.Errorf("got %v, %v", r2, errs)
	}
	if JSON(r.Value(), nil) != `{"distance":1.0,"label":"hall"}` {
		t.Error("the original changed")
	}
	if same, _ := Replace(r, dict("distance", 1.0)); same != r {
		t.Error("a replacement that changes nothing makes a copy")
	}
	_, errs = Replace(r, dict("distance", "far", "lable", "x"))
	wantErrors(t, errs, "distance: want float, got str",
		"lable: want one of the fields distance, label, got a field that Measurement does not have; did you mean label?")
	a, _ := s.Approved.Construct(dict("confidence", 0.5))
	_, errs = Replace(a, dict("confidence", 1.5))
	wantErrors(t, errs, "confidence: want at most 1, got 1.5")
}
