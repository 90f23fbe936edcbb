//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

// TestOllamaLargeSchema checks that the server makes a grammar of a schema within the budgets, however large, and that
// one beyond them is rejected before it is sent. Beyond some size the server cuts its own grammar, and then holds the
// model to nothing.
func TestOllamaLargeSchema(t *testing.T) {
	base := randomModel(t)
	d := declared(t)
	r := local(t, base)
	optional := func(n int, typ func(i int) *generable.Type) *generable.Type {
		fields := make([]generable.Field, n)
		for i := range fields {
			fields[i] = generable.OmittedField(generable.Field{Name: fmt.Sprintf("field_number_%d", i), Type: typ(i)})
		}
		return d(generable.NewSchema("Large", "", fields))
	}
	enum := func(n, values int) *generable.Type {
		words := make([]string, values)
		for i := range words {
			words[i] = fmt.Sprintf("value %d of %d", i, n)
		}
		return d(generable.NewEnum(fmt.Sprintf("Enum%d", n), "", words))
	}
	variants := make([]*generable.Type, 100)
	for i := range variants {
		variants[i] = d(generable.NewSchema(fmt.Sprintf("Variant%d", i), "", []generable.Field{{Name: "n", Type: generable.IntT}}))
	}
	limited := func(typ *generable.Type, l generable.Limits) *generable.Type { return d(generable.Limited(typ, l)) }
	rows := map[string]*generable.Type{
		"a text of 2000":      limited(generable.StrT, generable.Limits{MaxLen: some(2000)}),
		"a text of a million": limited(generable.StrT, generable.Limits{MaxLen: some(1_000_000)}),
		"a list of 2000":      limited(generable.ListOfType(generable.BoolT), generable.Limits{MaxLen: some(2000)}),
		"a list of a million": limited(generable.ListOfType(generable.IntT), generable.Limits{MaxLen: some(1_000_000)}),
		"lists of lists": limited(generable.ListOfType(limited(generable.ListOfType(limited(generable.StrT, generable.Limits{MaxLen: some(1000)})),
			generable.Limits{MaxLen: some(1000)})), generable.Limits{MaxLen: some(1000)}),
		"an enum of 2000": enum(0, 2000),
		"100 variants":    d(generable.NewUnion("Wide", "", "type", variants)),
	}
	for _, n := range []int{30, 100, 300, 1000} {
		rows[fmt.Sprintf("%d fields", n)] = optional(n, func(int) *generable.Type { return generable.BoolT })
		if n > 100 {
			rows[fmt.Sprintf("%d enums", n)] = optional(n, func(i int) *generable.Type { return enum(i, 20) })
			continue // 300 texts with a maximum length each end the server's runner
		}
		rows[fmt.Sprintf("%d texts", n)] = optional(n, func(int) *generable.Type { return limited(generable.StrT, generable.Limits{MaxLen: some(100)}) })
		rows[fmt.Sprintf("%d enums", n)] = optional(n, func(i int) *generable.Type { return enum(i, 20) })
	}
	for name, typ := range rows {
		t.Run(name, func(t *testing.T) {
			for _, provider := range endpoints {
				_, refused := dialect.Compile(typ, provider)
				for seed := range 3 {
					req := seeded(seed)
					req.Output = &model.Output{Type: typ, Structured: model.StructuredConstrained}
					out, _ := ask(t, r, provider+"/random", req, seed == 0)
					switch {
					case refused != nil && (out.Err == nil || out.Err.Kind != engine.KindUnsupported):
						t.Errorf("%s: %v, though %v", provider, out.Err, refused)
					case refused != nil:
					case out.Err != nil:
						t.Errorf("%s: %v", provider, out.Err)
					case out.Response.Finish == model.FinishLength: // possible with so many fields
					case !decoded(t, typ, out.Response).OK:
						t.Errorf("%s: %.300q: %v", provider, out.Response.Text(), decoded(t, typ, out.Response).Errors)
					}
				}
				t.Logf("%s: refused %v", provider, refused)
			}
		})
	}
}
