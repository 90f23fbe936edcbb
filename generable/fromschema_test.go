package generable

import (
	"testing"
)

// A type's own schema gives a type that has the same schema and reads the same values alike.
func TestFromSchemaOfType(t *testing.T) {
	for seed := range int64(rounds) {
		g := newGenerator(seed)
		g.wire = true
		typ := g.typ(4)
		want := typ.JSONSchema()
		back, ignored, errs := FromJSONSchemaText(want, SchemaOptions{})
		if errs != nil || ignored != nil {
			t.Fatalf("seed %d: %v %v\n%s", seed, errs, ignored, want)
		}
		if got := back.JSONSchema(); got != want {
			t.Fatalf("seed %d:\n--- want\n%s\n--- got\n%s", seed, want, got)
		}
		v := g.value(typ, 5)
		text := JSON(v, typ)
		r := Decode(back, text, Options{Level: Strict})
		if !r.OK || JSON(r.Value, back) != text {
			t.Fatalf("seed %d: %s: %v\n%s\n%s", seed, text, r.Errors, JSON(r.Value, back), want)
		}
	}
}
