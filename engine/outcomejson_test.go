package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// The schemas of the outcomes below, one nested in the other, with fields of every kind.
var (
	pointT   = &generable.Type{Kind: generable.RecordType, Name: "Point", Fields: []generable.Field{{Name: "x", Type: generable.IntT}, generable.OmittedField(generable.Field{Name: "note", Type: generable.StrT})}}
	outlineT = &generable.Type{Kind: generable.RecordType, Name: "Outline", Fields: []generable.Field{{Name: "at", Type: pointT}, {Name: "all", Type: generable.ListOfType(pointT)}, generable.OmittedField(generable.Field{Name: "any", Type: generable.AnyT})}}
	known    = engine.TypesOf(generable.ListOfType(outlineT))
)

// randomValue returns a value of any kind, including nested records.
func randomValue(r *rand.Rand, depth int) generable.Value {
	kinds := 9
	if depth == 0 {
		kinds = 6
	}
	point := func() generable.Value {
		fields := generable.NewMap(0)
		fields.Set("x", generable.IntOf(r.Int64()))
		if r.IntN(2) == 0 {
			fields.Set("note", generable.StrOf(randomText(r)))
		}
		made, errs := pointT.Construct(fields)
		if errs != nil {
			panic(errs)
		}
		return made.Value()
	}
	switch r.IntN(kinds) {
	case 0:
		return generable.Value{}
	case 1:
		return generable.BoolOf(r.IntN(2) == 0)
	case 2:
		return generable.IntOf(r.Int64() >> r.IntN(64))
	case 3:
		return generable.BigOf(new(big.Int).Lsh(big.NewInt(r.Int64()), uint(r.IntN(200))))
	case 4:
		v, _ := generable.FloatOf(math.Trunc(r.NormFloat64()*100) * math.Pow10(r.IntN(40)-20))
		return v
	case 5:
		return generable.StrOf(randomText(r))
	case 6:
		items := make([]generable.Value, r.IntN(4))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return generable.NewList(items).Value()
	case 7:
		m := generable.NewMap(0)
		for range r.IntN(4) {
			m.Set(randomText(r), randomValue(r, depth-1))
		}
		return m.Value()
	}
	if r.IntN(2) == 0 {
		return point()
	}
	fields := generable.NewMap(0)
	fields.Set("at", point())
	fields.Set("all", generable.ListOf(point(), point()))
	if r.IntN(2) == 0 {
		fields.Set("any", randomValue(r, depth-1))
	}
	made, errs := outlineT.Construct(fields)
	if errs != nil {
		panic(errs)
	}
	return made.Value()
}

func randomText(r *rand.Rand) string {
	return []string{"", "a", "$record", "$map", "$", "é\u2028<\"\\", "1.0", "😀\n", "null"}[r.IntN(9)]
}

// same compares values including their schemas and the kinds of their numbers.
func same(a, b generable.Value) bool {
	if a.Kind() != b.Kind() || !generable.Equal(a, b) || generable.JSON(a, nil) != generable.JSON(b, nil) {
		return false
	}
	if x, ok := a.AsList(); ok {
		y, _ := b.AsList()
		for i, v := range x.Items() {
			if !same(v, y.At(i)) {
				return false
			}
		}
	}
	if x, ok := a.AsMap(); ok {
		y, _ := b.AsMap()
		for i := range x.Len() {
			k, v := x.At(i)
			other, w := y.At(i)
			if k != other || !same(v, w) {
				return false
			}
		}
	}
	if x, ok := a.AsRecord(); ok {
		y, _ := b.AsRecord()
		if !generable.Same(x.Type(), y.Type()) {
			return false
		}
		for i := range x.Type().Fields {
			if !same(x.At(i), y.At(i)) {
				return false
			}
		}
	}
	return true
}

// Promise 25.7 (packages): an outcome that is encoded for a journal or another process is decoded completely, with its
// value, the value's schemas and its error. An outcome that cannot be encoded completely is an error.
func TestPromise_25_7_Outcomes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		out := engine.Outcome{Value: randomValue(r, 3), Attempt: r.IntN(4), Usage: model.Usage{In: r.IntN(9), CostUSD: r.Float64(), Estimated: true}}
		if i%2 == 0 {
			out.Err = &engine.Error{Kind: engine.KindSchema, Code: "AS701", Message: "m", Raw: "raw", Partial: randomValue(r, 3), Usage: out.Usage, OfRun: true,
				Verdict: &engine.Verdict{Escalate: true, Reason: "r"}, Cause: fmt.Errorf("outer: %w", io.EOF)}
		}
		if i%3 == 0 {
			out.Response = &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: model.PartText, Text: randomText(r)}, {Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "t", Args: "{}"}}}, Usage: out.Usage}
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		back, err := engine.DecodeOutcome(text, known)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !same(out.Value, back.Value) || back.Usage != out.Usage || back.Attempt != out.Attempt || !reflect.DeepEqual(back.Response, out.Response) {
			t.Fatalf("%+v comes back as %+v by\n%s", out, back, text)
		}
		if out.Err == nil {
			if back.Err != nil {
				t.Fatalf("an error came from %s", text)
			}
			continue
		}
		if !same(out.Err.Partial, back.Err.Partial) || *back.Err.Verdict != *out.Err.Verdict || back.Err.Error() != out.Err.Error() || !back.Err.OfRun || !errors.Is(back.Err, io.EOF) {
			t.Fatalf("%+v comes back as %+v by\n%s", out.Err, back.Err, text)
		}
	}
}

// An outcome that cannot be encoded completely is not encoded.
func TestOutcomesThatAreNotEncoded(t *testing.T) {
	deep := generable.Value{}
	for range 600 {
		deep = generable.ListOf(deep)
	}
	for name, out := range map[string]engine.Outcome{
		"a text":    {Value: generable.ListOf(generable.StrOf("\xff"))},
		"an error":  {Err: &engine.Error{Partial: generable.StrOf("\xff")}},
		"depth":     {Value: deep},
		"usage":     {Usage: model.Usage{CostUSD: math.NaN()}},
		"an answer": {Response: &model.Response{Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{Args: "\xff"}}}}},
	} {
		if text, err := json.Marshal(out); err == nil {
			t.Errorf("%s: encoded as %s", name, text)
		}
	}
}

// A value at the maximum nesting comes back; one that is nested deeper is not encoded.
func TestTheDeepestOutcome(t *testing.T) {
	deepest := generable.IntOf(1)
	for range 500 {
		deepest = generable.ListOf(deepest)
	}
	text, err := json.Marshal(engine.Outcome{Value: deepest})
	if err != nil {
		t.Fatal(err)
	}
	back, err := engine.DecodeOutcome(text, nil)
	if err != nil || !generable.Equal(back.Value, deepest) {
		t.Errorf("it does not come back: %v", err)
	}
	if _, err := json.Marshal(engine.Outcome{Value: generable.ListOf(deepest)}); err == nil {
		t.Error("what is nested one deeper is encoded")
	}
}

// An integer with the maximum number of digits comes back, and a longer one is not encoded; in a cause of an error, a
// text says that instead.
func TestTheLongestIntegerOfAnOutcome(t *testing.T) {
	longest := new(big.Int).Exp(big.NewInt(10), big.NewInt(4299), nil)
	longer := generable.BigOf(new(big.Int).Mul(longest, big.NewInt(10)))
	text, err := json.Marshal(engine.Outcome{Value: generable.BigOf(longest)})
	if err != nil {
		t.Fatal(err)
	}
	back, err := engine.DecodeOutcome(text, nil)
	if err != nil || !generable.Equal(back.Value, generable.BigOf(longest)) {
		t.Errorf("it does not come back: %v", err)
	}
	if _, err := json.Marshal(engine.Outcome{Value: generable.ListOf(longer)}); err == nil || !strings.Contains(err.Error(), "more than 4300 digits") {
		t.Errorf("a longer one: %v", err)
	}
	text, err = json.Marshal(engine.Outcome{Err: &engine.Error{Kind: engine.KindTool, Cause: &engine.Error{Kind: engine.KindSchema, Partial: longer}}})
	if err != nil {
		t.Fatal(err)
	}
	back, err = engine.DecodeOutcome(text, nil)
	if err != nil || !strings.Contains(fmt.Sprint(back.Err.Cause.(*engine.Error).Notes), "is left out") {
		t.Errorf("a longer one of a cause: %+v, %v", back.Err, err)
	}
}

// An outcome that is not completely understood is not read.
func TestOutcomesThatAreNotRead(t *testing.T) {
	id := pointT.ID()
	for text, want := range map[string]string{
		`{"value":{"$record":"Circle#0","$fields":{}}}`:                           "the schema Circle#0 is not known",
		`{"value":{"$record":"` + id + `","$fields":{}}}`:                         "the field x of a Point is missing",
		`{"value":{"$record":"` + id + `","$fields":{"x":"1"}}}`:                  "the field x of a Point",
		`{"value":{"$record":"` + id + `","$fields":{"x":1,"y":2}}}`:              "a Point has a field that its schema lacks",
		`{"value":{"$record":"` + id + `","$fields":{"x":1},"z":1}}`:              `"$record" is no key of a map`,
		`{"value":{"a":1,"$map":{}}}`:                                             `"$map" is no key of a map`,
		`{"value":{"$map":1}}`:                                                    `"$map" is no key of a map`,
		`{"value":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`: "nesting",
		`{"usage":{"in":-1}}`:                                                     "a usage below 0",
		`{"usage":{"cost_usd":-1}}`:                                               "a usage below 0",
		`{"response":{"usage":{"out":-1}}}`:                                       "a usage below 0",
		`{"error":{"kind":"tool","usage":{"in":-1}}}`:                             "a usage below 0",
		`{"attempt":-1}`: "an attempt below 0",
		`{"response":{"parts":[{"kind":"call"}]}}`:   "a part of kind call that holds none",
		`{"response":{"parts":[{"kind":"result"}]}}`: "a part of kind result that holds none",
		`{"response":{"parts":[{"kind":"image"}]}}`:  "a part of kind image that holds none",
		`{"partial":1}`:   "without",
		`{"attempt":1} 2`: "after top-level value",
		`[]`:              "a recorded outcome",
	} {
		if out, err := engine.DecodeOutcome([]byte(text), known); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: read as %+v, %v, want %s", text, out, err, want)
		}
	}
	for text, want := range map[string]string{ // of newer versions
		`{"later":1,"value":7}`:                                         "7",
		`{"error":{"kind":"tool","later":1}}`:                           "null",
		`{"error":{"cause":{"error":{"later":1}}}}`:                     "null",
		`{"error":{"cause":{"text":"x","later":1}},"value":null}`:       "null",
		`{"value":{"$record":"` + id + `","$fields":{"x":1}},"new":{}}`: `{"x":1}`,
	} {
		if out, err := engine.DecodeOutcome([]byte(text), known); err != nil || generable.JSON(out.Value, nil) != want {
			t.Errorf("%.80s: read as %s, %v", text, generable.JSON(out.Value, nil), err)
		}
	}
	var plain engine.Outcome
	if err := json.Unmarshal([]byte(`{"value":{"a":[1,2.0]},"usage":{"in":0,"out":0},"attempt":1}`), &plain); err != nil || generable.JSON(plain.Value, nil) != `{"a":[1,2.0]}` {
		t.Errorf("plain data needs no schema: %+v, %v", plain, err)
	}
	if err := json.Unmarshal([]byte(`{"value":{"$record":"`+id+`","$fields":{"x":1}}}`), &plain); err == nil {
		t.Error("a record was read without its schema")
	}
}

// A schema with another ID, or one that is incomplete, counts as none: the result of types is checked.
func TestOutcomesOfSchemasThatAreNone(t *testing.T) {
	one := func(of *generable.Type) *generable.Type {
		return &generable.Type{Kind: generable.RecordType, Name: "Point", Fields: []generable.Field{{Name: "x", Type: of}}}
	}
	for name, schema := range map[string]*generable.Type{
		"another": outlineT, "renamed": {Kind: generable.RecordType, Name: "Other", Fields: pointT.Fields}, "no record": generable.IntT,
		"a field without a type": one(nil), "a list of nothing": one(&generable.Type{Kind: generable.ListType}),
		"a union with nothing": one(&generable.Type{Kind: generable.OneOfType, Variants: []*generable.Type{nil}}), "a name that nothing declares": one(generable.RefTo("q")),
	} {
		out, err := engine.DecodeOutcome([]byte(`{"value":[{"$record":"`+pointT.ID()+`","$fields":{"x":1}}]}`), func(string) *generable.Type { return schema })
		if err == nil || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("%s: read as %+v, %v", name, out, err)
		}
	}
}

// If a host's function panics over a schema, that is an error of the reading.
func TestOutcomesOfTypesThatPanic(t *testing.T) {
	text := []byte(`{"value":{"$record":"` + pointT.ID() + `","$fields":{"x":1}}}`)
	out, err := engine.DecodeOutcome(text, func(string) *generable.Type { panic("boom") })
	if !errors.Is(err, &engine.Error{Kind: engine.KindPanic}) || !strings.Contains(err.Error(), "boom") {
		t.Errorf("read as %+v, %v", out, err)
	}
}

// Whatever is read as an outcome is written again as it was read.
func FuzzDecodeOutcome(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `{"value":null}`, `{"value":{"$map":{"$map":{}}},"attempt":2}`, `{"value":[1,-0.0,1e400,1e-7,123456789012345678901234567890]}`,
		`{"value":{"$record":"` + pointT.ID() + `","$fields":{"x":1,"note":"n"}}}`, `{"error":{"kind":"tool","partial":{"a":1}},"partial":{"$map":{"$":1}}}`,
		`{"response":{"parts":[{"kind":"text","text":"\ud800"}],"finish":"stop","usage":{"in":1,"out":1}}}`, `{"value":{"a":1,"a":2}}`, `{"error":{"cause":{"error":{}}},"verdict":{"Escalate":true}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := engine.DecodeOutcome(text, known)
		if err != nil {
			return
		}
		once, err := json.Marshal(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := engine.DecodeOutcome(once, known)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(twice) != string(once) || !same(out.Value, again.Value) {
			t.Fatalf("%v\n%s\nis written again as\n%s", err, once, twice)
		}
	})
}
