package codec_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/codec"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/internal/gentest"
)

// travels encodes and decodes a type, and compares everything visible of both.
func travels(t *testing.T, typ *generable.Type) *generable.Type {
	t.Helper()
	data, err := codec.Encode(typ)
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	got, err := codec.Decode(data)
	if err != nil {
		t.Fatalf("%s: %v\n%s", typ, err, data)
	}
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Fatalf("%s of %s: %s, want %s\n%s", what, typ, got, want, data)
		}
	}
	same("ID", got.ID(), typ.ID())
	same("JSONSchema", got.JSONSchema(), typ.JSONSchema())
	same("PromptFragment", got.PromptFragment(), typ.PromptFragment())
	same("LLMDescription", got.LLMDescription(), typ.LLMDescription())
	same("String", got.String(), typ.String())
	again, err := codec.Encode(got)
	if err != nil || !bytes.Equal(again, data) {
		t.Fatalf("%s is encoded as\n%s\nand then as\n%s (%v)", typ, data, again, err)
	}
	return got
}

func TestRandomTypesTravel(t *testing.T) {
	g := gentest.NewGenerator(11)
	g.Any = true
	for range gentest.Rounds() {
		typ := g.Typ(4)
		got := travels(t, typ)

		e := codec.NewEncoder()
		v := g.Value(typ, 4)
		data, err := e.Value(v)
		if err != nil {
			t.Fatal(err)
		}
		table, err := e.Table()
		if err != nil {
			t.Fatal(err)
		}
		d, err := codec.NewDecoder(table)
		if err != nil {
			t.Fatal(err)
		}
		back, err := d.Value(data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if a, b := generable.AppendCanon(nil, v), generable.AppendCanon(nil, back); !bytes.Equal(a, b) {
			t.Fatalf("the value %s came back as %s", a, b)
		}
		if a, b := generable.JSON(v, nil), generable.JSON(back, nil); a != b {
			t.Fatalf("the JSON %s came back as %s", a, b)
		}
		if errs := got.Conforms(back); (errs == nil) != (typ.Conforms(v) == nil) {
			t.Fatalf("%s does not conform: %v", b(back), errs)
		}
	}
}

func b(v generable.Value) string { return generable.JSON(v, nil) }

func must(t testing.TB, typ *generable.Type, errs generable.FieldErrors) *generable.Type {
	t.Helper()
	if errs != nil {
		t.Fatal(errs)
	}
	return typ
}

// everything is a schema with an example of everything that a type can hold.
func everything(t testing.TB) *generable.Type {
	t.Helper()
	enum, errs := generable.NewNotedEnum("Level", "how much", []string{"low", "high"}, []generable.ValueNote{{}, {Doc: "a lot <&>", Alias: []string{"max"}}})
	must(t, enum, errs)
	self := generable.RefTo("Node")
	point, errs := generable.NewSchema("Point", "", []generable.Field{{Name: "x", Type: generable.FloatT}})
	must(t, point, errs)
	other, errs := generable.NewSchema("Line", "", []generable.Field{{Name: "n", Type: generable.IntT}, {Name: "next", Type: generable.OneOf(self, generable.NoneT)}})
	must(t, other, errs)
	shape, errs := generable.NewUnion("Shape", "a shape", "kind", []*generable.Type{point, other})
	must(t, shape, errs).TagVariants()
	limited, errs := generable.Limited(generable.StrT, generable.Limits{Pattern: "^a+$", Only: generable.NewList([]generable.Value{generable.StrOf("a"), generable.StrOf("aa")})})
	must(t, limited, errs)
	tuple := generable.TupleType([]*generable.Type{generable.IntT, limited}, generable.BoolT)
	even := &generable.Check{Says: "an even number", Holds: func(generable.Value) bool { return true }}
	origin := generable.NewRecord(point, []generable.Value{gentest.Float(1)}).Value()
	entries := generable.NewMap(2)
	entries.Set("z", generable.IntOf(1))
	entries.Set("a", gentest.Float(-0.5))
	node, errs := generable.NewSchema("Node", "a node", []generable.Field{
		{Name: "level", Type: enum, Optional: true, Default: generable.StrOf("low"), Stream: generable.StreamAtomic},
		{Name: "children", Type: generable.ListOfType(self), Limits: &generable.Limits{MinLen: gentest.Ptr(0), MaxLen: gentest.Ptr(9), Unique: true}},
		{Name: "size", Type: generable.IntT, Guide: "how large", Limits: &generable.Limits{Ge: gentest.Ptr(0.0), Lt: gentest.Ptr(1e21), MultipleOf: gentest.Ptr(0.5), Check: even}},
		{Name: "at", Type: shape, Optional: true, Default: origin, Examples: []generable.Value{origin}},
		{Name: "name", Type: generable.StrT, Alias: []string{"title", "label"}, AliasOnly: true, Dedent: true, Limits: &generable.Limits{Format: "email"}},
		{Name: "pair", Type: tuple},
		{Name: "note", Type: generable.OneOf(generable.StrT, generable.NoneT), Explicit: true},
		{Name: "more", Type: generable.DictOfType(generable.AnyT), Optional: true, Default: entries.Value()},
		generable.OmittedField(generable.Field{Name: "left", Type: generable.IntT}),
	})
	must(t, node, errs)
	node.Description = "verbatim"
	node.Stream = generable.StreamState
	if !self.Bind(node) {
		t.Fatal("not bound")
	}
	return node
}

func TestEverythingTravels(t *testing.T) {
	got := travels(t, everything(t))
	if errs := got.Verify(); errs != nil {
		t.Error(errs)
	}
	if f := got.Fields[0]; f.Stream != generable.StreamAtomic || got.Stream != generable.StreamState {
		t.Error("the ways of streaming are lost")
	}
	if v := got.Fields[3].Default; generable.JSON(v, nil) != `{"kind":"Point","x":1.0}` {
		t.Errorf("the default is %s: its union is lost", b(v))
	}
	if c := got.Fields[2].Limits.Check; c.Says != "an even number" || !c.Holds(generable.IntOf(3)) {
		t.Error("a check says what it said, and holds")
	}
	if errs := generable.CheckLimits(&got.Fields[2], generable.IntOf(-1)); errs == nil {
		t.Error("the limits are lost")
	}
	if v := got.Fields[8].Default; !v.IsNull() {
		t.Error("an omitted field has no default")
	}
}

func TestForeignTypesTravel(t *testing.T) {
	typ, _, errs := jsonschema.Parse(`{"type":"object","title":"T","properties":{"":{"type":"string","description":"x"},"me":{"$ref":"#"},"l":{"$ref":"#/$defs/l"}},
		"$defs":{"l":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/l"}}]}}}`, jsonschema.Options{})
	must(t, typ, errs)
	travels(t, typ)
}

func TestDeepTypes(t *testing.T) {
	typ := generable.IntT
	for range generable.MaxTypeDepth {
		typ = generable.ListOfType(typ)
	}
	travels(t, typ)
	if _, err := codec.Encode(generable.ListOfType(typ)); err == nil {
		t.Error("a type that is too deep is encoded")
	}
	ladder := generable.IntT
	for range 100 {
		ladder = generable.TupleType([]*generable.Type{ladder, ladder}, nil)
	}
	data, err := codec.Encode(ladder)
	if err != nil || len(data) > 20_000 {
		t.Errorf("what parts share is written more than once: %d bytes, %v", len(data), err)
	}
	if _, err := codec.Decode(data); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotTravel(t *testing.T) {
	loop := &generable.Type{Kind: generable.ListType}
	loop.Elem = loop
	for what, typ := range map[string]*generable.Type{
		"none": nil, "hollow": {Kind: generable.RecordType, Fields: []generable.Field{{Name: "x"}}},
		"unbound": generable.RefTo("X"), "a loop": loop, "not UTF-8": {Kind: generable.StrType, Doc: "\xff"},
	} {
		if data, err := codec.Encode(typ); err == nil {
			t.Errorf("%s is encoded as %s", what, data)
		}
	}
}

func TestKnownTypesAreUsed(t *testing.T) {
	known, errs := generable.NewSchema("Known", "", []generable.Field{{Name: "x", Type: generable.IntT}})
	must(t, known, errs)
	data, err := codec.Encode(generable.ListOfType(known))
	if err != nil {
		t.Fatal(err)
	}
	got, err := codec.Decode(data, known)
	if err != nil || got.Elem != known {
		t.Errorf("%v, %v", got, err)
	}
}

func TestHostileTypes(t *testing.T) {
	deep := `{"v":1,"root":0,"types":[{"kind":"any"}`
	for i := range 300 {
		deep += fmt.Sprintf(`,{"kind":"list","elem":%d}`, i)
	}
	deep += `]}`
	for _, data := range []string{
		``, `null`, `{}`, `[]`, deep,
		`{"v":2,"root":0,"types":[{"kind":"int"}]}`,
		`{"v":1,"root":1,"types":[{"kind":"int"}]}`,
		`{"v":1,"root":-1,"types":[{"kind":"int"}]}`,
		`{"v":1,"root":0,"types":[{"kind":"tuple"}]}`,
		`{"v":1,"root":0,"types":[{"kind":"list"}]}`,
		`{"v":1,"root":0,"types":[{"kind":"list","elem":0}]}`,
		`{"v":1,"root":0,"types":[{"kind":"list","elem":1},{"kind":"int"}]}`,
		`{"v":1,"root":0,"types":[{"kind":"ref","name":"x","to":0}]}`,
		`{"v":1,"root":0,"types":[{"kind":"ref","name":"x","to":1},{"kind":"oneof","variants":[0]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"str"},{"kind":"oneof","variants":[]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"oneof"},{"kind":"schema","name":"S","fields":[{"name":"a","type":0,"default":"x"}]}]}`,
		`{"v":1,"root":0,"types":[{"kind":"ref","name":"x","to":7}]}`,
		`{"v":1,"root":0,"types":[{"kind":"enum","name":"E","values":["a","a"]}]}`,
		`{"v":1,"root":0,"types":[{"kind":"enum","name":"E"}]}`,
		`{"v":1,"root":1,"types":[{"kind":"int"},{"kind":"union","name":"U","tag":"type","variants":[0]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"int"},{"kind":"schema","name":"S","fields":[{"name":"x","type":0},{"name":"x","type":0}]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"int"},{"kind":"schema","name":"S","fields":[{"name":"x","type":0,"aliasOnly":true}]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"int"},{"kind":"schema","name":"S","fields":[{"name":"x","type":0,"optional":true,"default":"no"}]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"int"},{"kind":"schema","name":"S","fields":[{"name":"x","type":0,"optional":true,"default":{"schema":1,"fields":[{"absent":true}]}}]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"str"},{"kind":"schema","name":"S","fields":[{"name":"x","type":0,"limits":{"pattern":"("}}]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"ref","name":"S","to":1},{"kind":"schema","name":"S","fields":[{"name":"x","type":0}]}]}`,
		`{"v":1,"root":1,"types":[{"kind":"str"},{"kind":"limit","elem":0,"limits":{"ge":1}}]}`,
	} {
		if got, err := codec.Decode([]byte(data)); err == nil {
			t.Errorf("%.200s is read as %s", data, got)
		}
	}
}

func TestUnknownKeysAreSkipped(t *testing.T) {
	got, err := codec.Decode([]byte(`{"v":1,"new":[],"root":1,"types":[{"kind":"int","later":1},{"kind":"list","elem":0}]}`))
	if err != nil || got.String() != "list[int]" {
		t.Errorf("%v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := codec.Encode(everything(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	g := gentest.NewGenerator(5)
	for range 30 {
		if data, err := codec.Encode(g.Typ(3)); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		typ, err := codec.Decode(data)
		if err != nil {
			return
		}
		travels(t, typ)
	})
}
