package generable_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/gentest"
	"github.com/agentscript/agentscript/internal/testenv"
)

func TestConvert(t *testing.T) {
	s := newSamples(t)
	m := gentest.Must(t)
	strictArgs := m(generable.NewSchema("StrictArgs", "", []generable.Field{
		{Name: "name", Type: generable.StrT}, {Name: "count", Type: generable.IntT, Optional: true, Default: generable.IntOf(0)},
	}))
	circle := m(generable.NewSchema("Circle", "", []generable.Field{{Name: "radius", Type: generable.FloatT}}))
	square := m(generable.NewSchema("Square", "", []generable.Field{{Name: "side", Type: generable.FloatT, Alias: []string{"edge"}}}))
	shape := m(generable.NewUnion("Shape", "", "", []*generable.Type{circle, square}))
	unit := m(generable.NewSchema("Unit", "", nil))
	point := m(generable.NewSchema("Point", "", []generable.Field{{Name: "x", Type: generable.IntT}, {Name: "y", Type: generable.IntT}}))
	pixel := m(generable.NewSchema("Pixel", "", []generable.Field{{Name: "x", Type: generable.IntT}, {Name: "y", Type: generable.IntT}, {Name: "color", Type: generable.StrT, Optional: true, Default: generable.StrOf("black")}}))
	two63 := generable.BigOf(new(big.Int).Lsh(big.NewInt(1), 63))
	circle2, _ := circle.Construct(dict("radius", 2))

	for _, tc := range []struct {
		name string
		typ  *generable.Type
		in   any
		want any    // the JSON of the result, or nil for an error
		errs string // lines
	}{
		{"int to float", generable.FloatT, 1, "1.0", ""},
		{"large int to float", generable.FloatT, 1 << 60, "1152921504606847000.0", ""},
		{"int that no float holds", generable.FloatT, 1<<53 + 1, nil, "want float, got int 9007199254740993; a float cannot hold all its digits"},
		{"largest int to float", generable.FloatT, math.MaxInt64, nil, "want float, got int 9223372036854775807; a float cannot hold all its digits"},
		{"smallest int to float", generable.FloatT, math.MinInt64, "-9223372036854776000.0", ""},
		{"big to float", generable.FloatT, two63, "9223372036854776000.0", ""},
		{"text to float", generable.FloatT, "42.0", nil, "want float, got str"},
		{"bool to float", generable.FloatT, true, nil, "want float, got bool"},
		{"whole float to int", generable.IntT, 3.0, "3", ""},
		{"whole float of 1e15", generable.IntT, 1e15, "1000000000000000", ""},
		{"smallest int64 as float", generable.IntT, -9223372036854775808.0, "-9223372036854775808", ""},
		{"2^63 as float", generable.IntT, 9223372036854775808.0, nil, "want int, got float 9223372036854776000.0"},
		{"1e20", generable.IntT, 1e20, nil, "want int, got float 100000000000000000000.0"},
		{"fraction to int", generable.IntT, 3.5, nil, "want int, got float 3.5"},
		{"big int", generable.IntT, two63, "9223372036854775808", ""},
		{"bool to int", generable.IntT, true, nil, "want int, got bool"},
		{"int to bool", generable.BoolT, 1, nil, "want bool, got int"},
		{"int to str", generable.StrT, 5, nil, "want str, got int"},
		{"None to str", generable.StrT, nil, nil, "want str, got None"},
		{"None", generable.NoneT, nil, "null", ""},
		{"int to None", generable.NoneT, 0, nil, "want None, got int"},
		{"any", generable.AnyT, []any{1, "x", nil}, `[1,"x",null]`, ""},

		{"enum", s.Severity, "low", `"low"`, ""},
		{"enum off by one", s.Severity, "hihg", nil, `want one of low, medium, high, got "hihg"; did you mean high?`},
		{"enum in another case", s.Severity, "LOW", nil, `want one of low, medium, high, got "LOW"; did you mean low?`},
		{"enum of a number", s.Severity, 1, nil, "want one of low, medium, high, got int"},

		{"list", generable.ListOfType(generable.FloatT), []any{1, 2.5}, "[1.0,2.5]", ""},
		{"list with two errors", generable.ListOfType(generable.IntT), []any{1, "a", 2, nil}, nil, "[1]: want int, got str\n[3]: want int, got None"},
		{"list of a scalar", generable.ListOfType(generable.IntT), 1, nil, "want list[int], got int"},
		{"list of any", generable.ListOfType(generable.AnyT), []any{"a", 1, true, nil}, `["a",1,true,null]`, ""},
		{"list of any from a text", generable.ListOfType(generable.AnyT), "[1]", nil, "want list[any], got str"},
		{"dict", generable.DictOfType(generable.FloatT), dict("a", 1, "b", 2.5), `{"a":1.0,"b":2.5}`, ""},
		{"dict with an error", generable.DictOfType(generable.IntT), dict("a b", "x"), nil, `["a b"]: want int, got str`},
		{"dict of a list", generable.DictOfType(generable.IntT), []any{}, nil, "want dict[str, int], got list"},

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
		{"deep path", generable.ListOfType(generable.DictOfType(s.Finding)), []any{dict("a.b", dict("severity", "low", "tags", []any{1}))}, nil,
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

		{"optional", generable.OneOf(generable.FloatT, generable.NoneT), 1, "1.0", ""},
		{"optional None", generable.OneOf(generable.FloatT, generable.NoneT), nil, "null", ""},
		{"optional wrong", generable.OneOf(generable.FloatT, generable.NoneT), "x", nil, "want float | None, got str"},
		{"optional enum wrong", generable.OneOf(s.Severity, generable.NoneT), "lo", nil, `want one of low, medium, high, got "lo"; did you mean low?`},
		{"int before float", generable.OneOf(generable.FloatT, generable.IntT), 1, "1", ""},
		{"float before int", generable.OneOf(generable.IntT, generable.FloatT), 1.0, "1.0", ""},
		{"whole float to the int", generable.OneOf(generable.IntT, generable.StrT), 1.0, "1", ""},
		{"enum or int", generable.OneOf(s.Severity, generable.IntT), "low", `"low"`, ""},
		{"inline by fit", generable.OneOf(circle, square), dict("side", 2), `{"side":2.0}`, ""},
		{"inline, schema or list", generable.OneOf(circle, generable.ListOfType(generable.IntT)), dict("radius", "x"), nil, "radius: want float, got str"},
		{"inline, no fit", generable.OneOf(circle, square, generable.StrT), dict("x", 2), nil, "want Circle | Square | str, got dict"},
		{"inline, two fit", generable.OneOf(point, pixel), dict("x", 1, "y", 2), nil,
			"want Point | Pixel, got dict that fits Point and Pixel; give the value as an instance of one of them, or declare a union, whose tag decides"},
		{"inline, two fit in a list", generable.ListOfType(generable.OneOf(point, pixel, generable.NoneT)), []any{nil, dict("x", 1, "y", 2)}, nil,
			"[1]: want Point | Pixel | None, got dict that fits Point and Pixel; give the value as an instance of one of them, or declare a union, whose tag decides"},
		{"inline with dict", generable.OneOf(circle, generable.DictOfType(generable.IntT)), dict("radius", 2), `{"radius":2}`, ""},
		{"inline with union", generable.OneOf(shape, s.Severity), dict("type", "Square", "side", 1), `{"type":"Square","side":1.0}`, ""},

		{"recursive", s.Tree, dict("name", "a", "children", []any{dict("name", "b", "children", []any{})}),
			`{"name":"a","children":[{"name":"b","children":[]}]}`, ""},
		{"recursive wrong", s.Tree, dict("name", "a", "children", []any{dict("name", 1, "children", []any{})}), nil,
			"children[0].name: want str, got int"},
		{"unbound", generable.RefTo("Later"), 1, nil, "want Later, got int; the type Later is not declared"},
		{"failed type", generable.ErrorT, 1, "1", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, errs := tc.typ.Convert(of(tc.in))
			if errs.Error() != tc.errs {
				t.Fatalf("errors\n%v\nwant\n%s", errs, tc.errs)
			}
			if want, ok := tc.want.(string); ok && generable.JSON(got, tc.typ) != want {
				t.Errorf("got %s, want %s", generable.JSON(got, tc.typ), want)
			}
		})
	}
}

// A value that needs no change is returned itself, at no cost.
func TestConvertKeepsAndAllocatesNothing(t *testing.T) {
	s := newSamples(t)
	m, errs := s.Measurement.Construct(dict("distance", 1.5, "label", "hall"))
	if errs != nil {
		t.Fatal(errs)
	}
	big := of([]any{of([]any{1, 2}), of([]any{3})})
	for typ, v := range map[*generable.Type]generable.Value{
		s.Measurement:                       m.Value(),
		generable.ListOfType(s.Measurement): generable.ListOf(m.Value(), m.Value()),
		generable.DictOfType(generable.OneOf(s.Measurement, generable.StrT)):                         dict("a", m, "b", "x").Value(),
		generable.ListOfType(generable.ListOfType(generable.OneOf(generable.IntT, generable.NoneT))): big,
		s.Severity: generable.StrOf("high"),
		generable.OneOf(generable.IntT, generable.StrT): generable.StrOf("x"),
	} {
		if n := testenv.LeastAllocs(100, func() {
			if typ.Conforms(v) != nil {
				t.Fatal("does not conform")
			}
		}); n != 0 {
			t.Errorf("%s: Conforms allocates %v times", typ, n)
		}
		if n := testenv.LeastAllocs(100, func() {
			w, errs := typ.Convert(v)
			if errs != nil || v != w {
				t.Fatal("it changed")
			}
		}); n > 1 {
			t.Errorf("%s: Convert allocates %v times", typ, n)
		}
	}
}

// Unchanged parts are shared with the input, changed ones are new.
func TestConvertCopiesOnlyWhatChanges(t *testing.T) {
	typ := generable.ListOfType(generable.ListOfType(generable.FloatT))
	in := of([]any{[]any{1.0}, []any{2}})
	out, errs := typ.Convert(in)
	if errs != nil {
		t.Fatal(errs)
	}
	a, _ := in.AsList()
	b, _ := out.AsList()
	if a.At(0) != b.At(0) || a.At(1) == b.At(1) {
		t.Error("the wrong parts were copied")
	}
	if generable.JSON(in, nil) != "[[1.0],[2]]" {
		t.Errorf("the input was changed: %s", generable.JSON(in, nil))
	}
}

// Two schemas that both fit every level must not be tried in every combination.
func TestConvertInlineUnionsStaysLinear(t *testing.T) {
	a, b := generable.RefTo("A"), generable.RefTo("B")
	next := generable.Field{Name: "next", Type: generable.OneOf(a, b, generable.NoneT)}
	m := gentest.Must(t)
	typA := m(generable.NewSchema("A", "", []generable.Field{next, {Name: "end", Type: generable.OneOf(generable.IntT, generable.NoneT)}}))
	typB := m(generable.NewSchema("B", "", []generable.Field{next, {Name: "end", Type: generable.OneOf(generable.StrT, generable.NoneT)}}))
	a.Bind(typA)
	b.Bind(typB)
	chain := func(n int) generable.Value {
		v := dict("end", true)
		for range n {
			v = dict("next", v)
		}
		return v.Value()
	}
	for _, typ := range []*generable.Type{typA, generable.OneOf(typA, typB), generable.ListOfType(generable.OneOf(typA, typB))} {
		v := chain(2000)
		if typ.Kind == generable.ListType {
			v = generable.ListOf(v)
		}
		if _, errs := typ.Convert(v); errs == nil {
			t.Errorf("%s: no error", typ)
		}
	}
}

func TestConvertDepthIsAnError(t *testing.T) {
	s := newSamples(t)
	v := dict("name", "leaf", "children", []any{})
	for range 30_000 {
		v = dict("name", "x", "children", []any{v})
	}
	_, errs := s.Tree.Convert(v.Value())
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "want a value nested at most 10000 deep, got a deeper one") {
		t.Fatalf("got %d errors", len(errs))
	}
}

func TestConvertReportsABoundedNumberOfErrors(t *testing.T) {
	items := make([]generable.Value, 1000)
	_, errs := generable.ListOfType(generable.IntT).Convert(generable.NewList(items).Value())
	if len(errs) != message.MaxErrors+1 || errs[message.MaxErrors].Error() != "want a value without errors, got 900 errors more" {
		t.Errorf("%d errors, the last: %v", len(errs), errs[len(errs)-1])
	}
	if bad := generable.ListOfType(generable.IntT).Conforms(generable.NewList(items).Value()); len(bad) != message.MaxErrors+1 {
		t.Errorf("Conforms: %d errors", len(bad))
	}
}

func TestConforms(t *testing.T) {
	s := newSamples(t)
	measure := func(distance float64) *generable.Record {
		r, errs := s.Measurement.Construct(dict("distance", distance, "label", "hall"))
		if errs != nil {
			t.Fatal(errs)
		}
		return r
	}
	other := gentest.Must(t)(generable.NewSchema("Measurement", "another", nil))
	otherRecord, _ := other.Construct(dict())
	approved, _ := s.Approved.Construct(dict("confidence", 1))
	for _, tc := range []struct {
		typ  *generable.Type
		v    any
		want string
	}{
		{generable.StrT, 5, "want str, got int"},
		{generable.FloatT, 1, "want float, got int; convert it with float()"},
		{generable.IntT, 1.0, "want int, got float"},
		{generable.BoolT, nil, "want bool, got None"},
		{s.Measurement, measure(1), ""},
		{s.Measurement, dict("distance", 1.0, "label", ""), "want Measurement, got dict; make an instance: Measurement(**value)"},
		{s.Measurement, otherRecord, "want Measurement, got Measurement; two different types are named Measurement"},
		{s.Decision, approved, ""},
		{s.Decision, measure(1), "want Decision, got Measurement"},
		{s.Severity, "low", ""},
		{s.Severity, "hig", `want one of low, medium, high, got "hig"; did you mean high?`},
		{s.Severity, 1, "want one of low, medium, high, got int"},
		{generable.ListOfType(generable.StrT), []any{"a", 1, nil}, "[1]: want str, got int\n[2]: want str, got None"},
		{generable.ListOfType(generable.DictOfType(generable.StrT)), []any{dict("k", "v"), dict("k", 1)}, "[1].k: want str, got int"},
		{generable.OneOf(generable.StrT, generable.NoneT), 1, "want str | None, got int"},
		{generable.OneOf(generable.ListOfType(generable.StrT), generable.NoneT), []any{1}, "[0]: want str, got int"},
		{generable.OneOf(generable.ListOfType(generable.StrT), generable.ListOfType(generable.IntT)), []any{1, "a"}, "want list[str] | list[int], got list"},
		{generable.OneOf(generable.ListOfType(generable.StrT), generable.ListOfType(generable.IntT)), []any{1, 2}, ""},
		{generable.OneOf(s.Decision, generable.NoneT), approved, ""},
		{generable.AnyT, measure(1), ""},
		{generable.ErrorT, 1, ""},
		{generable.RefTo("Later"), 1, "want Later, got int; the type Later is not declared"},
		{s.Tree, dict(), "want Tree, got dict; make an instance: Tree(**value)"},
	} {
		if got := tc.typ.Conforms(of(tc.v)).Error(); got != tc.want {
			t.Errorf("%s of %s: %s, want %s", tc.typ, generable.JSON(of(tc.v), nil), got, tc.want)
		}
	}
}

func TestConstructAndReplace(t *testing.T) {
	s := newSamples(t)
	r, errs := s.Measurement.Construct(dict("label", "hall", "distance", 1))
	if errs != nil || generable.JSON(r.Value(), nil) != `{"distance":1.0,"label":"hall"}` {
		t.Fatalf("got %v, %v", r, errs)
	}
	if _, errs := s.Rejected.Construct(dict("reason", 5)); errs.Error() != "reason: want str, got int" {
		t.Errorf("got %v", errs)
	}
	if _, errs := generable.StrT.Construct(dict()); errs.Error() != "want a schema to make an instance of, got str" {
		t.Errorf("got %v", errs)
	}
	ref := generable.RefTo("Measurement")
	ref.Bind(s.Measurement)
	if viaRef, errs := ref.Construct(dict("distance", 1, "label", "hall")); errs != nil || !generable.Equal(viaRef.Value(), r.Value()) {
		t.Errorf("through a reference: %v", errs)
	}

	r2, errs := generable.Replace(r, dict("distance", 2))
	if errs != nil || generable.JSON(r2.Value(), nil) != `{"distance":2.0,"label":"hall"}` {
		t.Errorf("got %v, %v", r2, errs)
	}
	if generable.JSON(r.Value(), nil) != `{"distance":1.0,"label":"hall"}` {
		t.Error("the original changed")
	}
	if same, _ := generable.Replace(r, dict("distance", 1.0)); same != r {
		t.Error("a replacement that changes nothing makes a copy")
	}
	_, errs = generable.Replace(r, dict("distance", "far", "lable", "x"))
	wantErrors(t, errs, "distance: want float, got str",
		"lable: want one of the fields distance, label, got a field that Measurement does not have; did you mean label?")
	a, _ := s.Approved.Construct(dict("confidence", 0.5))
	_, errs = generable.Replace(a, dict("confidence", 1.5))
	wantErrors(t, errs, "confidence: want at most 1, got 1.5")
}
