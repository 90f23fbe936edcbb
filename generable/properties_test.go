package generable

import (
	"fmt"
	"testing"
)

// rounds is how many random types a property is held against.
const rounds = 3000

// checkValueOfType holds what must be true for every value of every type.
func checkValueOfType(g *generator) error {
	typ := g.typ(4)
	v := g.value(typ, 5)
	if errs := typ.Conforms(v); errs != nil {
		return fmt.Errorf("%s: own value does not conform: %v", typ, errs)
	}
	same, errs := typ.Convert(v)
	if errs != nil || changed(v, same) {
		return fmt.Errorf("%s: converting its own value changes it: %v", typ, errs)
	}
	wire := Plain(v, typ)
	if JSON(wire, nil) != JSON(v, typ) {
		return fmt.Errorf("%s: plain form and JSON differ: %s, %s", typ, JSON(wire, nil), JSON(v, typ))
	}
	back, errs := typ.Convert(wire)
	if errs != nil {
		return fmt.Errorf("%s: plain form does not convert back: %s: %v", typ, JSON(wire, nil), errs)
	}
	if !Equal(v, back) {
		return fmt.Errorf("%s: %s came back as %s", typ, JSON(v, typ), JSON(back, typ))
	}
	return nil
}

// checkAnyInput holds what must be true when a type is given something else.
func checkAnyInput(g *generator) error {
	typ := g.typ(4)
	v := g.mutate(Plain(g.value(typ, 4), typ))
	out, errs := typ.Convert(v)
	if errs != nil {
		for _, e := range errs {
			if e.Expected == "" || e.Got == "" || e.Offset != -1 {
				return fmt.Errorf("%s: incomplete error %+v", typ, e)
			}
		}
		if typ.Conforms(v) == nil {
			return fmt.Errorf("%s: %s conforms but does not convert: %v", typ, JSON(v, nil), errs)
		}
		return nil
	}
	if bad := typ.Conforms(out); bad != nil {
		return fmt.Errorf("%s: %s converted to something that does not conform: %v", typ, JSON(v, nil), bad)
	}
	again, errs := typ.Convert(out)
	if errs != nil || changed(out, again) {
		return fmt.Errorf("%s: converting %s twice changes it: %v", typ, JSON(v, nil), errs)
	}
	return nil
}

func TestConvertRoundTrip(t *testing.T) {
	for seed := range int64(rounds) {
		g := newGenerator(seed)
		g.wire = true
		if err := checkValueOfType(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestConvertAnything(t *testing.T) {
	for seed := range int64(rounds) {
		g := newGenerator(seed)
		g.any = seed%2 == 0
		if err := checkAnyInput(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for seed := range int64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		g := newGenerator(seed)
		g.wire = true
		if err := checkValueOfType(g); err != nil {
			t.Fatal(err)
		}
		if err := checkAnyInput(newGenerator(seed)); err != nil {
			t.Fatal(err)
		}
	})
}

// The schema that a type gives to others and the type itself must judge data alike.
func TestSchemaAgreesWithConvert(t *testing.T) {
	judged := map[bool]int{}
	for seed := range int64(rounds) {
		g := newGenerator(seed)
		g.wire = true
		typ := g.typ(4)
		schema := parseStd(t, typ.JSONSchema()).(map[string]any)
		v := Plain(g.value(typ, 5), typ)
		for i := range 4 {
			if i > 0 {
				v = g.mutate(v)
			}
			text := JSON(v, nil)
			want := validator{schema}.valid(schema, parseStd(t, text))
			_, errs := typ.Convert(v)
			if got := errs == nil; got != want {
				t.Fatalf("seed %d: %s: schema says %t, type says %t (%v)\n%s\n%s", seed, typ, want, got, errs, text, typ.JSONSchema())
			}
			judged[want]++
		}
	}
	if judged[true] < rounds/2 || judged[false] < rounds/2 {
		t.Errorf("the data are one-sided: %v", judged)
	}
}
