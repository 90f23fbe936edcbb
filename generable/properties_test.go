package generable_test

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/gentest"
)

// checkValueOfType checks what must be true for every value of every type.
func checkValueOfType(g *gentest.Generator) error {
	typ := g.Typ(4)
	v := g.Value(typ, 5)
	if errs := typ.Conforms(v); errs != nil {
		return fmt.Errorf("%s: own value does not conform: %v", typ, errs)
	}
	same, errs := typ.Convert(v)
	if errs != nil || v != same {
		return fmt.Errorf("%s: converting its own value changes it: %v", typ, errs)
	}
	wire := generable.Plain(v, typ)
	if generable.JSON(wire, nil) != generable.JSON(v, typ) {
		return fmt.Errorf("%s: plain form and JSON differ: %s, %s", typ, generable.JSON(wire, nil), generable.JSON(v, typ))
	}
	back, errs := typ.Convert(wire)
	if errs != nil {
		return fmt.Errorf("%s: plain form does not convert back: %s: %v", typ, generable.JSON(wire, nil), errs)
	}
	if !generable.Equal(v, back) {
		return fmt.Errorf("%s: %s came back as %s", typ, generable.JSON(v, typ), generable.JSON(back, typ))
	}
	return nil
}

// checkAnyInput checks what must be true when a type receives something else.
func checkAnyInput(g *gentest.Generator) error {
	typ := g.Typ(4)
	v := g.Mutate(generable.Plain(g.Value(typ, 4), typ))
	out, errs := typ.Convert(v)
	if errs != nil {
		for _, e := range errs {
			if e.Expected == "" || e.Got == "" || e.Offset != -1 {
				return fmt.Errorf("%s: incomplete error %+v", typ, e)
			}
		}
		if typ.Conforms(v) == nil {
			return fmt.Errorf("%s: %s conforms but does not convert: %v", typ, generable.JSON(v, nil), errs)
		}
		return nil
	}
	if bad := typ.Conforms(out); bad != nil {
		return fmt.Errorf("%s: %s converted to something that does not conform: %v", typ, generable.JSON(v, nil), bad)
	}
	again, errs := typ.Convert(out)
	if errs != nil || out != again {
		return fmt.Errorf("%s: converting %s twice changes it: %v", typ, generable.JSON(v, nil), errs)
	}
	return nil
}

func TestConvertRoundTrip(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		if err := checkValueOfType(g); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestConvertAnything(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Any = seed%2 == 0
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
		g := gentest.NewGenerator(seed)
		g.Wire = true
		if err := checkValueOfType(g); err != nil {
			t.Fatal(err)
		}
		if err := checkAnyInput(gentest.NewGenerator(seed)); err != nil {
			t.Fatal(err)
		}
	})
}

// The schema of a type for other programs and the type itself must judge data alike.
func TestSchemaAgreesWithConvert(t *testing.T) {
	judged := map[bool]int{}
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		typ := g.Typ(4)
		schema := parseJSON(t, typ.JSONSchema()).(map[string]any)
		v := generable.Plain(g.Value(typ, 5), typ)
		for i := range 4 {
			if i > 0 {
				v = g.Mutate(v)
			}
			text := generable.JSON(v, nil)
			want := validator{schema}.valid(schema, parseJSON(t, text))
			_, errs := typ.Convert(v)
			if got := errs == nil; got != want {
				t.Fatalf("seed %d: %s: schema says %t, type says %t (%v)\n%s\n%s", seed, typ, want, got, errs, text, typ.JSONSchema())
			}
			judged[want]++
		}
	}
	if judged[true] < gentest.Rounds()/2 || judged[false] < gentest.Rounds()/2 {
		t.Errorf("the data are one-sided: %v", judged)
	}
}
