package lenient

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// TestCostIsTheSumOfTheRepairs decodes texts with more repairs than are recorded separately.
func TestCostIsTheSumOfTheRepairs(t *testing.T) {
	texts := map[string]bool{ // whether records are left out
		"[" + strings.Repeat("a,", 100) + "1]":      false,
		"[" + strings.Repeat("a,", 5000) + "1]":     true,
		"[" + strings.Repeat("'a',", 2000) + "1]":   false,
		"[" + strings.Repeat("\"1\",", 3000) + "1]": true, // only by the coercion
	}
	for text, more := range texts {
		typ := generable.AnyT
		if strings.HasPrefix(text, "[\"") {
			typ = generable.ListOfType(generable.IntT)
		}
		r := Decode(typ, text, generable.Options{})
		if !r.OK {
			t.Fatal(r.Errors)
		}
		sum, last := 0, r.Repairs[len(r.Repairs)-1]
		for _, k := range r.Repairs {
			sum += k.Cost
		}
		if sum != r.Cost {
			t.Errorf("%.9s…: the repairs cost %d, the result says %d", text, sum, r.Cost)
		}
		if got := last.Kind == "more-repairs"; got != more {
			t.Errorf("%.9s…: the last of %d records is %v", text, len(r.Repairs), last)
		}
	}
}
