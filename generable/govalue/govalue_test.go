package govalue

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/gentest"
)

type (
	goLevel  string
	goColour struct{ R, G, B uint8 }
	goBase   struct {
		ID      int       `json:"id"`
		Created time.Time `json:"created"`
	}
	goPage[T any] struct {
		Items []T `json:"items"`
		Next  int `json:"next,omitempty" jsonschema:"minimum=1"`
	}
	goTask struct {
		_ struct{} `doc:"Something to do"`
		goBase
		Title   string            `json:"title" doc:"what to do" jsonschema:"minLength=1,maxLength=20"`
		Level   goLevel           `json:"level" jsonschema:"description=how urgent\\, in words,enum=low,enum=high,default=low"`
		Score   *float64          `json:"score"`
		Due     *time.Time        `json:"due,omitempty"`
		Parent  *goTask           `json:"parent,omitempty"`
		Kids    []goTask          `json:"kids"`
		Labels  map[string]string `json:"labels,omitempty"`
		Raw     json.RawMessage   `json:"raw,omitempty"`
		Data    []byte            `json:"data"`
		Colour  goColour          `json:"colour"`
		Pair    [2]int            `json:"pair"`
		Big     *big.Int          `json:"big"`
		Number  json.Number       `json:"number"`
		Quoted  int               `json:"quoted,string"`
		Page    goPage[goLevel]   `json:"page"`
		Any     any               `json:"any"`
		Skipped func()            `json:"-"`
	}
)

func (c goColour) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "#%02x%02x%02x", c.R, c.G, c.B), nil
}

func (c *goColour) UnmarshalText(text []byte) error {
	_, err := fmt.Sscanf(string(text), "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return err
}

func someTask() goTask {
	score, due := 0.1, time.Date(2026, 1, 31, 12, 0, 0, 500, time.UTC)
	return goTask{
		goBase: goBase{ID: 7, Created: due}, Title: "plan", Level: "high", Score: &score, Due: &due,
		Parent: &goTask{goBase: goBase{Created: due}, Title: "all", Level: "low", Kids: []goTask{}, Data: []byte{}, Big: big.NewInt(1), Number: "1", Page: goPage[goLevel]{Items: []goLevel{}}},
		Kids:   []goTask{}, Labels: map[string]string{"b": "2", "a": "1"}, Raw: json.RawMessage(`{"x":[1,2]}`), Data: []byte("bytes\xff"),
		Colour: goColour{1, 2, 255}, Pair: [2]int{3, 4}, Big: new(big.Int).Lsh(big.NewInt(1), 100), Number: "12345678901234567890",
		Quoted: 5, Page: goPage[goLevel]{Items: []goLevel{"x"}, Next: 2}, Any: "text",
	}
}

// A Go value, its JSON by encoding/json, its type, and the reverse direction agree.
func TestGoRoundTrip(t *testing.T) {
	typ, err := TypeFor[goTask]()
	if err != nil {
		t.Fatal(err)
	}
	task := someTask()
	v, err := From(task)
	if err != nil {
		t.Fatal(err)
	}
	std, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	if got := generable.JSON(v, nil); got != string(std) {
		t.Errorf("FromGo and encoding/json differ:\n%s\n%s", got, std)
	}
	made, errs := typ.Convert(v)
	if errs != nil {
		t.Fatal(errs)
	}
	back, err := To[goTask](made)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, task) {
		t.Errorf("came back as %+v\nwant %+v", back, task)
	}
	if r := lenient.Decode(typ, string(std), generable.Options{Level: generable.Strict}); !r.OK || !generable.Equal(r.Value, made) {
		t.Errorf("decoding its JSON: %v", r.Errors)
	}
}

func TestTypeOfGo(t *testing.T) {
	typ, err := TypeFor[goTask]()
	if err != nil {
		t.Fatal(err)
	}
	gentest.Golden(t, "go_task.json", typ.JSONSchema())
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[int](), "int"},
		{reflect.TypeFor[[]*string](), "list[str | None]"},
		{reflect.TypeFor[map[int]bool](), "dict[str, bool]"},
		{reflect.TypeFor[any](), "any"},
		{reflect.TypeFor[goPage[*goColour]](), "GoPageGoColour"},
		{reflect.TypeFor[json.RawMessage](), "any"},
		{reflect.TypeFor[error](), "any"},
		{nil, "any"},
	} {
		got, err := TypeOf(c.typ)
		if err != nil || !strings.EqualFold(got.String(), c.want) {
			t.Errorf("%v: got %v, %v, want %s", c.typ, got, err, c.want)
		}
	}
}

func TestTypeOfGoErrors(t *testing.T) {
	type loop struct{ Next struct{ Loop *int } }
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[chan int](), "want a type with a JSON form, got chan int"},
		{reflect.TypeFor[struct{ F []func() }](), "F"},
		{reflect.TypeFor[map[float64]int](), "keys that are texts"},
		{reflect.TypeFor[struct {
			A int `jsonschema:"minimum=x"`
		}](), "A: want a number for minimum"},
		{reflect.TypeFor[struct {
			A int `jsonschema:"minimun=1,maximum=2"`
		}](), "did you mean minimum?"},
		{reflect.TypeFor[struct {
			A int `jsonschema:"minLength=1"`
		}](), "A: want str, list or dict"},
		{reflect.TypeFor[struct {
			A int `jsonschema:"default=x"`
		}](), "A: want int, got str"},
		{reflect.TypeFor[struct {
			A int `jsonschema:"enum=1,enum=b"`
		}](), "values of type int in the enum"},
	} {
		if _, err := TypeOf(c.typ); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %s", c.typ, err, c.want)
		}
	}
	if _, err := TypeFor[loop](); err != nil {
		t.Error(err)
	}
}

type (
	goShape  interface{ area() float64 }
	goCircle struct{ R float64 }
	goGroup  struct{ Shapes []goShape }
)

func (goCircle) area() float64 { return 0 }

func (*goGroup) area() float64 { return 0 }

func TestGoVariants(t *testing.T) {
	option := Variants[goShape]("kind", goCircle{}, &goGroup{})
	typ, err := TypeFor[goShape](option)
	if err != nil {
		t.Fatal(err)
	}
	v, err := From(struct{ S goShape }{&goGroup{Shapes: []goShape{goCircle{2}}}}, option)
	if want := `{"S":{"kind":"goGroup","Shapes":[{"kind":"goCircle","R":2.0}]}}`; err != nil || generable.JSON(v, nil) != want {
		t.Fatalf("%s, %v", generable.JSON(v, nil), err)
	}
	m, _ := v.AsMap()
	_, s := m.At(0)
	made, errs := typ.Convert(s)
	if errs != nil {
		t.Fatal(errs)
	}
	for _, v := range []generable.Value{s, made} {
		got, err := To[goShape](v, option)
		if want := goShape(&goGroup{Shapes: []goShape{goCircle{2}}}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%#v, %v", got, err)
		}
	}
	if _, err := From([]goShape{goCircle{}, nil}, option); err != nil {
		t.Error(err)
	}
	_, err = To[goShape](generable.Plain(generable.StrOf("x"), nil), option)
	if err == nil || !strings.Contains(err.Error(), "one of goCircle, goGroup") {
		t.Error(err)
	}
}

type refuses struct{}

func (refuses) MarshalJSON() ([]byte, error) { return nil, errors.New("not today") }

type panics struct{}

func (panics) MarshalText() ([]byte, error) { panic("boom") }

func TestFromGoErrors(t *testing.T) {
	type ring struct{ Next *ring }
	r := &ring{}
	r.Next = r
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]float64{1, math.NaN()}, "[1]: want a finite number, got NaN"},
		{map[string]any{"a": "\xff"}, `a: want valid UTF-8`},
		{struct{ F func() }{func() {}}, "F: want a value with a JSON form, got a func()"},
		{r, "it may lead back to itself"},
		{[]any{refuses{}}, "not today"},
		{panics{}, "boom"},
		{map[[1]int]int{{1}: 1}, "keys that are texts"},
	} {
		if _, err := From(c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestInto(t *testing.T) {
	value := func(text string) generable.Value {
		return lenient.Decode(nil, text, generable.Options{Level: generable.Strict}).Value
	}
	for _, c := range []struct {
		text string
		dst  any
		want string // fmt's %v of what dst points to, or "!" and a part of the error
	}{
		{`7`, new(int8), `7`},
		{`7.0`, new(uint), `7`},
		{`300`, new(uint8), `!want an integer that a Go uint8 can hold, got int 300`},
		{`-1`, new(uint), `!Go uint`},
		{`1.5`, new(int), `!float 1.5`},
		{`9007199254740993`, new(float64), `!a Go float64 can hold`},
		{`"x"`, new(int), `!want an integer that a Go int can hold, got str`},
		{`null`, new(int), `0`},
		{`[1, null]`, new([]*int), `!`},
		{`[1, 2, 3]`, new([2]int), `!want 2 items, got 3 items`},
		{`{"2": 1}`, new(map[int]int), `map[2:1]`},
		{`{"x": 1}`, new(map[int]int), `!x: want a key`},
		{`{"TITLE": "a", "unknown": 1}`, new(struct{ Title string }), `{a}`},
		{`{"a": [{"b": "x"}]}`, new(struct{ A []struct{ B int } }), `!A[0].B: want an integer`},
		{`"2026-13-01"`, new(time.Time), `!want what a Go time.Time takes`},
		{`"%"`, new([]byte), `!base64`},
		{`"12"`, new(json.Number), `12`},
		{`"abc"`, new(json.Number), `!want a number`},
		{`[1, 2.5, 18446744073709551616, {"a": null}]`, new(any), `[1 2.5 18446744073709551616 map[a:<nil>]]`},
		{`{}`, new(error), `!register them with Variants`},
		{`{"goBase": 1}`, new(goTask), `!`},
	} {
		err := Into(value(c.text), c.dst)
		got := fmt.Sprint(reflect.ValueOf(c.dst).Elem().Interface())
		if want, isErr := strings.CutPrefix(c.want, "!"); isErr {
			if err == nil && want != "" || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", c.text, err, want)
			}
		} else if err != nil || got != c.want {
			t.Errorf("%s: got %s, %v, want %s", c.text, got, err, c.want)
		}
	}
	for _, dst := range []any{nil, 3, (*int)(nil)} {
		if Into(generable.IntOf(1), dst) == nil {
			t.Errorf("%v is no pointer to read into", dst)
		}
	}
}

type hiddenPart struct {
	A int
	B string `json:"b,omitempty"`
}

// The fields of an embedded pointer to an unexported struct are written as encoding/json writes them, and read if the
// pointer is set.
func TestGoEmbeddedPointer(t *testing.T) {
	type whole struct {
		*hiddenPart
		C int
	}
	for _, v := range []whole{{&hiddenPart{A: 1}, 2}, {&hiddenPart{B: "x"}, 0}, {nil, 3}} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := From(v)
		if err != nil || generable.JSON(got, nil) != string(want) {
			t.Errorf("%s, %v, want %s", generable.JSON(got, nil), err, want)
		}
		back := whole{hiddenPart: &hiddenPart{}}
		if err := Into(got, &back); err != nil || back.C != v.C || v.hiddenPart != nil && *back.hiddenPart != *v.hiddenPart {
			t.Errorf("%s: %v %v", want, back, err)
		}
	}
	var none whole
	v, _ := From(whole{&hiddenPart{A: 1}, 2})
	if err := Into(v, &none); err == nil || !strings.Contains(err.Error(), "A: want a field that can be reached") || none.C != 2 {
		t.Errorf("%v %v", none, err)
	}
}

type pairKey struct{ s string }

func (k *pairKey) UnmarshalText(b []byte) error {
	k.s = strings.ToUpper(string(b))
	return nil
}

// Keys that become one key of a Go map are errors: a value would be lost.
func TestIntoMapKeys(t *testing.T) {
	read := func(text string, dst any) string {
		t.Helper()
		r := lenient.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict})
		if err := Into(r.Value, dst); err != nil {
			return err.Error()
		}
		return ""
	}
	var ints map[int]int
	if got := read(`{"1": 2, "01": 3, "+1": 4, "2": 5}`, &ints); strings.Count(got, "want keys that a Go int distinguishes, got a second one for 1") != 2 || !strings.Contains(got, `["01"]`) {
		t.Error(got)
	}
	var pairs map[pairKey]int
	if got := read(`{"a": 1, "A": 2}`, &pairs); !strings.Contains(got, "A: want keys that a Go govalue.pairKey distinguishes") {
		t.Error(got)
	}
	if got := read(`{"1": 2, "2": 3}`, &ints); got != "" || ints[1] != 2 || ints[2] != 3 {
		t.Error(got, ints)
	}
}

func TestGoDurations(t *testing.T) {
	type job struct {
		Every time.Duration   `json:"every"`
		Steps []time.Duration `json:"steps,omitempty"`
		Last  *time.Duration  `json:"last"`
	}
	typ, err := TypeFor[job](Durations())
	if err != nil {
		t.Fatal(err)
	}
	if f := typ.Fields[0]; f.Guide != durationGuide || f.Type.Deref().Kind != generable.StrType {
		t.Errorf("the field is %+v", f)
	}
	last := 1500 * time.Millisecond
	in := job{Every: time.Hour, Steps: []time.Duration{time.Second}, Last: &last}
	v, err := From(in, Durations())
	if err != nil || generable.JSON(v, nil) != `{"every":"1h0m0s","steps":["1s"],"last":"1.5s"}` {
		t.Fatal(generable.JSON(v, nil), err)
	}
	if r := lenient.Decode(typ, generable.JSON(v, nil), generable.Options{Level: generable.Strict}); !r.OK {
		t.Errorf("its own type does not take it: %v", r.Errors)
	}
	out, err := To[job](v, Durations())
	if err != nil || out.Every != in.Every || out.Steps[0] != time.Second || *out.Last != last {
		t.Errorf("got %+v, %v", out, err)
	}
	for _, text := range []string{"soon", "90", "1 h", "", "1h-1m", "-", "1.5.2s"} {
		if r := lenient.Decode(typ, `{"every": "`+text+`", "last": null}`, generable.Options{}); r.OK {
			t.Errorf("%q is taken as a duration", text)
		}
	}
	for _, text := range []string{"0", "-1h", "+2ms", "1.5h", "3µs", "1h2m3.4s"} {
		r := lenient.Decode(typ, `{"every": "`+text+`", "last": null}`, generable.Options{})
		if _, err := To[job](r.Value, Durations()); !r.OK || err != nil {
			t.Errorf("%q: %v, %v", text, r.Errors, err)
		}
	}
	if _, err := To[job](v); err == nil || !strings.Contains(err.Error(), "every") {
		t.Errorf("without the option a duration is a number: %v", err)
	}
	long, _ := From(map[string]any{"every": "9999999999999h"})
	if _, err := To[job](long, Durations()); err == nil || !strings.Contains(err.Error(), "every") {
		t.Errorf("a duration that is too long: %v", err)
	}
}
