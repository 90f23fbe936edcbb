package jsonschema

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/gentest"
)

// A type's own schema results in a type that has the same schema and reads the same values alike.
func TestFromSchemaOfType(t *testing.T) {
	for seed := range int64(gentest.Rounds()) {
		g := gentest.NewGenerator(seed)
		g.Wire = true
		typ := g.Typ(4)
		want := typ.JSONSchema()
		back, ignored, errs := Parse(want, Options{})
		if errs != nil || ignored != nil {
			t.Fatalf("seed %d: %v %v\n%s", seed, errs, ignored, want)
		}
		if got := back.JSONSchema(); got != want {
			t.Fatalf("seed %d:\n--- want\n%s\n--- got\n%s", seed, want, got)
		}
		v := g.Value(typ, 5)
		text := generable.JSON(v, typ)
		r := lenient.Decode(back, text, generable.Options{Level: generable.Strict})
		if !r.OK || generable.JSON(r.Value, back) != text {
			t.Fatalf("seed %d: %s: %v\n%s\n%s", seed, text, r.Errors, generable.JSON(r.Value, back), want)
		}
	}
}
