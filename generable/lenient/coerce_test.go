package lenient

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// seedTypes are the types that the acceptance rows refer to.
type seedTypes struct {
	Score, Args, Profile, Tagged, Shape, Note, Level *generable.Type
}

func newSeedTypes(t testing.TB) seedTypes {
	m := gentest.Must(t)
	var s seedTypes
	s.Score = m(generable.NewSchema("ScoreResult", "", []generable.Field{{Name: "score", Type: generable.FloatT}, {Name: "verdict", Type: generable.StrT}}))
	s.Args = m(generable.NewSchema("StrictArgs", "", []generable.Field{{Name: "name", Type: generable.StrT}, {Name: "count", Type: generable.IntT, Optional: true, Default: generable.IntOf(0)}}))
	address := m(generable.NewSchema("Address", "", []generable.Field{{Name: "street", Type: generable.StrT}, {Name: "zip", Type: generable.IntT}}))
	s.Profile = m(generable.NewSchema("Profile", "", []generable.Field{{Name: "name", Type: generable.StrT}, {Name: "address", Type: address}, {Name: "aliases", Type: generable.ListOfType(generable.StrT)}}))
	s.Tagged = m(generable.NewSchema("Tagged", "", []generable.Field{{Name: "tags", Type: generable.ListOfType(generable.StrT)}, {Name: "count", Type: generable.IntT}}))
	circle := m(generable.NewSchema("Circle", "", []generable.Field{{Name: "radius", Type: generable.FloatT}}))
	square := m(generable.NewSchema("Square", "", []generable.Field{{Name: "side", Type: generable.FloatT}}))
	point := m(generable.NewSchema("Point", "", nil))
	s.Shape = m(generable.NewUnion("Shape", "", "", []*generable.Type{circle, square, point}))
	s.Level = m(generable.NewEnum("Level", "", []string{"low", "normal", "very high"}))
	s.Note = m(generable.NewSchema("Note", "", []generable.Field{
		{Name: "level", Type: s.Level},
		{Name: "text", Type: generable.OneOf(generable.StrT, generable.NoneT), Alias: []string{"body"}},
		{Name: "shape", Type: generable.OneOf(s.Shape, generable.NoneT)},
		{Name: "extra", Type: generable.DictOfType(generable.FloatT), Optional: true, Default: generable.NewMap(0).Value()},
	}))
	return s
}

// typedRow is a text decoded into a type. An empty want requires an error that contains fails.
type typedRow struct {
	name    string
	typ     *generable.Type
	text    string
	o       generable.Options
	want    string
	repairs string
	fails   string
}

func (row typedRow) check(t *testing.T) {
	t.Helper()
	r := Decode(row.typ, row.text, row.o)
	if row.want == "" {
		if r.OK {
			t.Fatalf("got %s, want an error", generable.JSON(r.Value, row.typ))
		}
		if !strings.Contains(r.Errors.Error(), row.fails) {
			t.Errorf("error %q, want %q in it", r.Errors.Error(), row.fails)
		}
		return
	}
	if !r.OK {
		t.Fatalf("error: %v", r.Errors)
	}
	if got := generable.JSON(r.Value, row.typ); got != row.want {
		t.Errorf("got  %s\nwant %s", got, row.want)
	}
	if errs := row.typ.Conforms(r.Value); len(errs) > 0 && row.o.OnBadItem != generable.ItemKeep {
		t.Errorf("the value does not have its type: %v", errs)
	}
	if got := kinds(r); got != row.repairs {
		t.Errorf("repairs %q, want %q", got, row.repairs)
	}
}

// TestDecodeTyped covers the acceptance rows GE and SB.
func TestDecodeTyped(t *testing.T) {
	s := newSeedTypes(t)
	list, ints, floats := generable.ListOfType(generable.AnyT), generable.ListOfType(generable.IntT), generable.ListOfType(generable.FloatT)
	rows := []typedRow{
		{name: "GE1 object", typ: s.Score, text: `{"score":0.9,"verdict":"pass"}`, want: `{"score":0.9,"verdict":"pass"}`},
		{name: "GE2 int for float", typ: s.Score, text: `{"score":1,"verdict":"pass"}`, want: `{"score":1.0,"verdict":"pass"}`, repairs: "int-to-float"},
		{name: "GE3 fence", typ: s.Score, text: "```json\n{\"score\":0.9,\"verdict\":\"pass\",}\n```\nHope it helps!", want: `{"score":0.9,"verdict":"pass"}`, repairs: "fence prose trailing-comma"},
		{name: "GE4 no JSON", typ: s.Score, text: `I cannot do that.`, fails: "want ScoreResult as JSON, got text without JSON"},
		{name: "GE5 list field", typ: s.Tagged, text: `{"tags":["a","b"],"count":2}`, want: `{"tags":["a","b"],"count":2}`},
		{name: "GE5 nested", typ: s.Profile, text: `{"name":"B","address":{"street":"S","zip":1},"aliases":[]}`, want: `{"name":"B","address":{"street":"S","zip":1},"aliases":[]}`},
		{name: "GE7 extra key", typ: s.Score, text: `{"score":1.5,"verdict":"x","extra":[1,{"a":2}]}`, want: `{"score":1.5,"verdict":"x"}`, repairs: "extra-key"},
		{name: "GE7 extra key at strict", typ: s.Score, text: `{"score":1.5,"verdict":"x","extra":1}`, o: generable.Options{Level: generable.Strict}, fails: "extra: want no key but score, verdict"},
		{name: "GE7 extra key refused", typ: s.Score, text: `{"score":1.5,"verdict":"x","extra":1}`, o: generable.Options{ExtraKeys: generable.ExtraError}, fails: `got "extra"`},
		{name: "GE8 default given", typ: s.Args, text: `{"name":"n","count":3}`, want: `{"name":"n","count":3}`},
		{name: "GE8 default taken", typ: s.Args, text: `{"name":"n"}`, want: `{"name":"n","count":0}`},
		{name: "GE9 foreign type key", typ: s.Args, text: `{"name":"n","type":"Other"}`, fails: `type: want "StrictArgs", got "Other"`},
		{name: "GE9 own type key", typ: s.Args, text: `{"name":"n","type":"StrictArgs"}`, want: `{"name":"n","count":0}`},
		{name: "GE10 whole floats", typ: ints, text: `[2147483647.0, -2147483648.0, 1e6]`, want: `[2147483647,-2147483648,1000000]`, repairs: "float-to-int"},
		{name: "GE10 fraction", typ: ints, text: `[3.5]`, fails: "[0]: want int, got 3.5"},
		{name: "GE11 long", typ: ints, text: `[1e15]`, want: `[1000000000000000]`, repairs: "float-to-int"},
		{name: "GE11 beyond long", typ: ints, text: `[1e20]`, want: `[100000000000000000000]`, repairs: "float-to-int"},
		{name: "GE11 digits beyond long", typ: ints, text: `[100000000000000000000]`, want: `[100000000000000000000]`},
		{name: "GE12 float from int", typ: floats, text: `[42]`, want: `[42.0]`, repairs: "int-to-float"},
		{name: "GE12 float from text", typ: floats, text: `["42.0", "3.14"]`, want: `[42.0,3.14]`, repairs: "string-to-number"},
		{name: "GE12 float from text at strict", typ: floats, text: `["42.0"]`, o: generable.Options{Level: generable.Strict}, fails: `want float, got "42.0"`},
		{name: "GE13 mixed list", typ: list, text: `["a",1,true,null]`, want: `["a",1,true,null]`},
		{name: "GE13 no list", typ: list, text: `some text`, fails: "want list[any] as JSON"},
		{name: "GE13 empty list", typ: list, text: `[]`, want: `[]`},
		{name: "GE14 JSON in strings", typ: s.Profile, text: `{"name":"B","address":"{\"street\":\"S\",\"zip\":1}","aliases":"[\"x\"]"}`, want: `{"name":"B","address":{"street":"S","zip":1},"aliases":["x"]}`, repairs: "stringified"},
		{name: "GE15 text like JSON", typ: s.Args, text: `{"name":"{\"a\":1}"}`, want: `{"name":"{\"a\":1}","count":0}`},
		{name: "GE16 text for object", typ: s.Profile, text: `{"name":"B","address":"Main St","aliases":[]}`, fails: `address: want Address, got "Main St"`},
		{name: "GE17 variant in a string", typ: s.Note, text: `{"level":"low","text":null,"shape":"{\"type\":\"Circle\",\"radius\":2}"}`, want: `{"level":"low","text":null,"shape":{"type":"Circle","radius":2.0},"extra":{}}`, repairs: "stringified int-to-float"},
		{name: "GE18 number for text", typ: s.Args, text: `{"name":5}`, want: `{"name":"5","count":0}`, repairs: "to-string"},
		{name: "GE20 wrong type for default", typ: s.Args, text: `{"name":"n","count":"many"}`, fails: `count: want int, got "many"`},
		{name: "GE20 wrong type for default at loose", typ: s.Args, text: `{"name":"n","count":"many"}`, o: generable.Options{Level: generable.Loose}, want: `{"name":"n","count":0}`, repairs: "bad-to-default"},
		{name: "GE21 enum", typ: s.Level, text: `"normal"`, want: `"normal"`},
		{name: "GE21 enum folded", typ: generable.ListOfType(s.Level), text: `["Normal", "VERY_HIGH", "low."]`, want: `["normal","very high","low"]`, repairs: "enum-fold"},
		{name: "GE22 dict", typ: generable.DictOfType(generable.FloatT), text: `{"a":1.5,"b":2.5}`, want: `{"a":1.5,"b":2.5}`},

		{name: "SB1 tag", typ: s.Shape, text: `{"type":"Circle","radius":1.5}`, want: `{"type":"Circle","radius":1.5}`},
		{name: "SB1 late tag", typ: s.Shape, text: `{"side":1.5,"type":"Square"}`, want: `{"type":"Square","side":1.5}`},
		{name: "SB2 unknown tag", typ: s.Shape, text: `{"type":"Circel","radius":1.5}`, fails: `type: want one of Circle, Square, Point, got "Circel"`},
		{name: "SB2 no tag", typ: s.Shape, text: `{"radius":1.5}`, fails: `want "type": one of Circle, Square, Point, got an object without type`},
		{name: "SB3 contradiction", typ: s.Shape.Variants[0], text: `{"type":"Square","radius":1.5}`, fails: `want "Circle", got "Square"`},
		{name: "SB3 body of another variant", typ: s.Shape, text: `{"type":"Circle","side":1.5}`, fails: `radius: want float, got nothing`},
		{name: "SB3 right type", typ: s.Shape.Variants[0], text: `{"type":"Circle","radius":1.5}`, want: `{"radius":1.5}`},
		{name: "SB3 without type", typ: s.Shape.Variants[0], text: `{"radius":1.5}`, want: `{"radius":1.5}`},
	}
	for _, row := range rows {
		t.Run(row.name, row.check)
	}
}

// TestCoercions covers the rules beyond the acceptance rows, level by level.
func TestCoercions(t *testing.T) {
	s := newSeedTypes(t)
	m := gentest.Must(t)
	loose, strict := generable.Options{Level: generable.Loose}, generable.Options{Level: generable.Strict}
	a := m(generable.NewSchema("A", "", []generable.Field{{Name: "x", Type: generable.IntT}}))
	b := m(generable.NewSchema("B", "", []generable.Field{{Name: "x", Type: generable.IntT}, {Name: "y", Type: generable.IntT, Optional: true, Default: generable.IntOf(9)}}))
	a2 := m(generable.NewSchema("A2", "", []generable.Field{{Name: "x", Type: generable.IntT}}))
	items := m(generable.NewSchema("Items", "", []generable.Field{{Name: "items", Type: generable.ListOfType(a)}}))
	rows := []typedRow{
		{name: "tag folded", typ: s.Shape, text: `{"Type":"circle","radius":1.5}`, want: `{"type":"Circle","radius":1.5}`, repairs: "tag-fold key-fold"},
		{name: "variant as the key", typ: s.Shape, text: `{"Circle":{"radius":1.5}}`, want: `{"type":"Circle","radius":1.5}`, repairs: "outer-tag"},
		{name: "variant without fields by name", typ: s.Shape, text: `"point"`, want: `{"type":"Point"}`, repairs: "tag-fold"},
		{name: "tag missing at loose", typ: s.Shape, text: `{"side":1.5}`, o: loose, want: `{"type":"Square","side":1.5}`, repairs: "missing-tag"},
		{name: "tag missing in a list", typ: generable.ListOfType(s.Shape), text: `[{"side":1.5},{"type":"Point"}]`, fails: `[0]: want "type"`},

		{name: "keys folded", typ: s.Profile, text: `{"Name":"B","ADDRESS":{"Street":"S","z-i-p":1},"Aliases":[]}`, want: `{"name":"B","address":{"street":"S","zip":1},"aliases":[]}`, repairs: "key-fold"},
		{name: "keys not folded at strict", typ: s.Args, text: `{"Name":"B"}`, o: strict, fails: "did you mean name?"},
		{name: "alias", typ: s.Note, text: `{"level":"low","body":"hi"}`, want: `{"level":"low","text":"hi","shape":null,"extra":{}}`, repairs: "alias"},
		{name: "exact key before folded", typ: s.Args, text: `{"name":"a","NAME":"b"}`, want: `{"name":"a","count":0}`, repairs: "extra-key"},
		{name: "null for default", typ: s.Args, text: `{"name":"n","count":null}`, want: `{"name":"n","count":0}`, repairs: "null-to-default"},
		{name: "null for a number", typ: generable.ListOfType(generable.IntT), text: `[null]`, fails: "[0]: want int, got null"},
		{name: "wrapped in a key", typ: s.Args, text: `{"result":{"name":"n"}}`, want: `{"name":"n","count":0}`, repairs: "unwrap"},
		{name: "wrapped in a list", typ: s.Args, text: `[{"name":"n"}]`, want: `{"name":"n","count":0}`, repairs: "list-to-single"},
		{name: "list wrapped in a key", typ: generable.ListOfType(a), text: `{"items":[{"x":1}]}`, want: `[{"x":1}]`, repairs: "unwrap"},
		{name: "single for list", typ: items, text: `{"items":{"x":1}}`, want: `{"items":[{"x":1}]}`, repairs: "single-to-list"},
		{name: "single for list at strict", typ: items, text: `{"items":{"x":1}}`, o: strict, fails: "items: want list[A], got {\"x\":1}"},
		{name: "null for list", typ: items, text: `{"items":null}`, fails: "items: want list[A], got null"},
		{name: "null for list at loose", typ: items, text: `{"items":null}`, o: loose, want: `{"items":[]}`, repairs: "missing-to-empty"},
		{name: "list missing", typ: items, text: `{}`, fails: "items: want list[A], got nothing"},
		{name: "list missing at loose", typ: items, text: `{}`, o: loose, want: `{"items":[]}`, repairs: "missing-to-empty"},
		{name: "bad items", typ: items, text: `{"items":[{"x":1},{"x":"?"},5]}`, fails: `items[1].x: want int, got "?"`},
		{name: "bad items dropped", typ: items, text: `{"items":[{"x":1},{"x":"?"},5]}`, o: generable.Options{OnBadItem: generable.ItemDrop}, want: `{"items":[{"x":1}]}`, repairs: "drop-item"},
		{name: "bad items kept", typ: items, text: `{"items":[{"x":1},{"x":"?"},5]}`, o: generable.Options{OnBadItem: generable.ItemKeep}, want: `{"items":[{"x":1},{"x":"?"},5]}`, repairs: "keep-item"},

		{name: "yes and no", typ: generable.ListOfType(generable.BoolT), text: `["yes","No","TRUE",0]`, want: `[true,false,true,false]`, repairs: "to-bool"},
		{name: "not true", typ: generable.BoolT, text: `not true`, fails: "want bool"},
		{name: "not true at loose", typ: generable.BoolT, text: `not true`, o: loose, fails: "want bool"},
		{name: "true in a sentence", typ: generable.BoolT, text: `Yes, that is true.`, o: loose, want: `true`, repairs: "to-bool"},
		{name: "yes with a word", typ: generable.BoolT, text: `Yes, sure`, o: loose, want: `true`, repairs: "to-bool"},
		{name: "true with a comma", typ: generable.BoolT, text: `True, it is`, o: loose, want: `true`, repairs: "to-bool"},
		{name: "yes with a comma alone", typ: generable.BoolT, text: `Yes,`, o: loose, fails: "want bool"},
		{name: "yes behind many blanks", typ: generable.BoolT, text: `"` + strings.Repeat(" ", 80) + `yes"`, o: loose, fails: "want bool"},
		{name: "not high", typ: s.Level, text: `not very high`, o: loose, fails: "want one of low, normal, very high"},
		{name: "value in a sentence", typ: s.Level, text: `The level is Very High today`, o: loose, want: `"very high"`, repairs: "enum-find"},
		{name: "value in a sentence at safe", typ: s.Level, text: `The level is low`, fails: "want one of low"},
		{name: "two values in a sentence", typ: s.Level, text: `low or normal`, o: loose, fails: "it names low and normal"},
		{name: "emphasis", typ: s.Level, text: "**Low**", want: `"low"`, repairs: "enum-fold"},
		{name: "thousands", typ: generable.IntT, text: `"12,345"`, want: `12345`, repairs: "string-to-number"},
		{name: "decimal comma", typ: generable.FloatT, text: `"1,5"`, fails: "want float"},
		{name: "rounding at safe", typ: generable.IntT, text: `3.7`, fails: "want int, got 3.7"},
		{name: "rounding at loose", typ: generable.IntT, text: `3.7`, o: loose, want: `4`, repairs: "round"},
		{name: "percent at loose", typ: generable.IntT, text: `Save up to 20 %`, o: loose, want: `20`, repairs: "found-in-text"},
		{name: "two numbers", typ: generable.IntT, text: `between 3 and 5`, o: loose, fails: "want int"},
		{name: "scalar in a fence", typ: generable.IntT, text: "```\n42\n```", want: `42`, repairs: "fence"},
		{name: "scalar behind reasoning", typ: generable.IntT, text: "<think>7</think>\n42", want: `42`, repairs: "reasoning"},
		{name: "huge integer", typ: generable.IntT, text: `12345678901234567890`, want: `12345678901234567890`},
		{name: "text", typ: generable.StrT, text: `Here is {"a":1}`, want: `"Here is {\"a\":1}"`},
		{name: "quoted text", typ: generable.StrT, text: `"str"`, want: `"str"`},

		{name: "int of int or text", typ: generable.OneOf(generable.IntT, generable.StrT), text: `5`, want: `5`},
		{name: "text of int or text", typ: generable.ListOfType(generable.OneOf(generable.IntT, generable.StrT)), text: `["5"]`, want: `["5"]`},
		{name: "enum of enum or text", typ: generable.ListOfType(generable.OneOf(generable.StrT, s.Level)), text: `["low","other"]`, want: `["low","other"]`},
		{name: "int before float", typ: generable.ListOfType(generable.OneOf(generable.FloatT, generable.IntT)), text: `[1,1.5]`, want: `[1,1.5]`},
		{name: "optional object", typ: generable.OneOf(a, generable.NoneT), text: `null`, want: `null`},
		{name: "branch by members", typ: generable.OneOf(a, b), text: `{"x":1,"y":2}`, want: `{"x":1,"y":2}`},
		{name: "branch with least defaults", typ: generable.OneOf(b, a), text: `{"x":1}`, want: `{"x":1}`},
		{name: "branch by type key", typ: generable.OneOf(a, a2), text: `{"type":"A2","x":1}`, want: `{"x":1}`},
		{name: "ambiguous branches", typ: generable.OneOf(a, a2), text: `{"x":1}`, fails: "one that fits A and A2"},
		{name: "empty list of several list types", typ: generable.OneOf(generable.ListOfType(a), generable.ListOfType(b)), text: `[]`, want: `[]`},
		{name: "no branch", typ: generable.OneOf(a, b), text: `{"z":1}`, fails: "x: want int, got nothing"},

		{name: "members without braces", typ: s.Args, text: "name: Bob\ncount: 3", want: `{"name":"Bob","count":3}`, repairs: "unquoted missing-comma unquoted missing-brackets"},
		{name: "numbers without brackets", typ: generable.ListOfType(generable.IntT), text: "1, 2", want: `[1,2]`, repairs: "missing-brackets"},
		{name: "prose with a colon", typ: s.Args, text: "Note: this", fails: "text without JSON"},
		{name: "lines as list", typ: generable.ListOfType(a), text: "{\"x\":1}\n{\"x\":2}", want: `[{"x":1},{"x":2}]`, repairs: "sequence"},
		{name: "lines as list, first", typ: generable.ListOfType(a), text: "{\"x\":1}\n{\"x\":2}", o: generable.Options{Pick: generable.PickFirst}, want: `[{"x":1},{"x":2}]`, repairs: "sequence"},
		{name: "lines as list, the only one", typ: generable.ListOfType(a), text: "{\"x\":1}\n{\"x\":2}", o: generable.Options{Pick: generable.PickError}, want: `[{"x":1},{"x":2}]`, repairs: "sequence"},
		{name: "lists of which the last counts", typ: generable.ListOfType(a), text: "[{\"x\":1}]\n[{\"x\":2}]", want: `[{"x":2}]`, repairs: "not-chosen"},
		{name: "fitting candidate", typ: a, text: `{"y":1} then {"x":2} then {"z":3}`, want: `{"x":2}`, repairs: "prose not-chosen"},
		{name: "first", typ: a, text: `{"x":1} or {"x":2}`, o: generable.Options{Pick: generable.PickFirst}, want: `{"x":1}`, repairs: "prose"},
		{name: "last", typ: a, text: `{"x":1} or {"x":"2"}`, o: generable.Options{Pick: generable.PickLast}, want: `{"x":2}`, repairs: "prose not-chosen string-to-number"},
		{name: "several", typ: a, text: `{"x":1} or {"x":2}`, o: generable.Options{Pick: generable.PickError}, fails: "want one value, got 2 values that fit"},
		{name: "broken at strict", typ: a, text: `{"x":1,}`, o: strict, fails: "want valid JSON, got trailing comma"},
		{name: "too costly", typ: a, text: `{"x" 1,}`, o: generable.Options{MaxCost: 2}, fails: "repairs that cost at most 2"},
	}
	for _, row := range rows {
		t.Run(row.name, row.check)
	}
}

// TestLimitsAreChecked decodes values that break the limits of their fields.
func TestLimitsAreChecked(t *testing.T) {
	r := Decode(sampleType(t, "Finding"), "{\n  \"severity\": \"high\",\n  \"line\": 0,\n  \"tags\": []\n}", generable.Options{})
	want := "line: want at least 1, got 0 at line 3, column 11\ntags: want at least 1 item, got 0 items at line 4, column 11"
	if got := r.Errors.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestErrorsAtOnce requires all errors of an answer, each with its place, and a text for the model.
func TestErrorsAtOnce(t *testing.T) {
	text := "```json\n{\"author\": \"me@x.org\", \"findings\": [{\"severity\": \"hihg\", \"tags\": [\"é\", {}]}],\n \"by_file\": {\"a b\": 1}, \"verdict\": {\"type\": \"Maybe\"}, \"id\": 3}\n```"
	r := Decode(sampleType(t, "Report"), text, generable.Options{})
	if r.OK {
		t.Fatal("this must not decode")
	}
	want := `findings[0].severity: want one of low, medium, high, got "hihg" at line 2, column 50; did you mean high?
findings[0].tags[1]: want str, got {} at line 2, column 72
by_file["a b"]: want list[Finding], got 1 at line 3, column 21
verdict.type: want one of Approved, Rejected, got "Maybe" at line 3, column 45`
	if got := r.Errors.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, part := range []string{"Your answer does not fit:\n", "\n- verdict.type: expected one of Approved, Rejected, got \"Maybe\"\n", "Answer again"} {
		if !strings.Contains(r.Complaint(), part) {
			t.Errorf("complaint lacks %q:\n%s", part, r.Complaint())
		}
	}
	if c := Decode(sampleType(t, "Measurement"), `{"distance":1.5,"label":"x"}`, generable.Options{}).Complaint(); c != "" {
		t.Errorf("complaint about a good answer: %q", c)
	}
}

// TestNestedUnions requires that the branches of nested inline unions are tried once per value: trying all
// combinations would not end.
func TestNestedUnions(t *testing.T) {
	m := gentest.Must(t)
	ra, rb := generable.RefTo("A"), generable.RefTo("B")
	child := generable.OneOf(ra, rb, generable.NoneT)
	a := m(generable.NewSchema("A", "", []generable.Field{{Name: "next", Type: child}, {Name: "x", Type: generable.OneOf(generable.IntT, generable.NoneT)}}))
	b := m(generable.NewSchema("B", "", []generable.Field{{Name: "next", Type: child}, {Name: "x", Type: generable.OneOf(generable.StrT, generable.NoneT)}}))
	ra.Bind(a)
	rb.Bind(b)
	const depth = 200
	text := strings.Repeat(`{"x":1,"next":{"x":"s","next":`, depth) + "null" + strings.Repeat("}}", depth)
	r := Decode(generable.OneOf(a, b), text, generable.Options{})
	if !r.OK {
		t.Fatal(r.Errors)
	}
	if got := generable.JSON(r.Value, nil); len(got) != len(text) {
		t.Errorf("%d bytes of JSON, want %d", len(got), len(text))
	}
	rec, _ := r.Value.AsRecord()
	if rec.Type() != a {
		t.Errorf("the root is %s", rec.Type())
	}
}
