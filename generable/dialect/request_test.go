package dialect_test

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

func optionals(n int) *generable.Type {
	t := &generable.Type{Kind: generable.RecordType, Name: "Options"}
	for i := range n {
		t.Fields = append(t.Fields, generable.Field{Name: fmt.Sprintf("f%d", i), Type: generable.StrT, Optional: true, Default: generable.StrOf("")})
	}
	return t
}

// The budgets that a target applies to a whole request are spent schema by schema. A schema that exceeds the rest
// takes nothing, so that a smaller one after it may still fit.
func TestRequestBudgets(t *testing.T) {
	for _, row := range []struct {
		target string
		answer int // optional properties of the answer's schema, -1 for none
		tools  []int
		want   []bool
	}{
		{"anthropic", -1, []int{10, 10, 10, 4, 1}, []bool{true, true, false, true, false}},
		{"anthropic", 20, []int{5, 4, 1}, []bool{false, true, false}},
		{"anthropic", 24, []int{1, 0}, []bool{false, true}},
		{"openai", 24, []int{30, 30}, []bool{true, true}},
	} {
		request, err := dialect.NewRequest(row.target)
		if err != nil {
			t.Fatal(err)
		}
		compiled := func(n int) *dialect.Wire {
			w, err := dialect.Compile(optionals(n), row.target)
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		if row.answer >= 0 {
			request.Answer(compiled(row.answer))
		}
		for i, n := range row.tools {
			if got := request.Tool(compiled(n)); got != row.want[i] {
				t.Errorf("%s with %d in the answer: tool %d of %v fits: %v", row.target, row.answer, i, row.tools, got)
			}
		}
	}
	if _, err := dialect.NewRequest("klingon"); err == nil {
		t.Error("no error for a target that nobody knows")
	}
}
