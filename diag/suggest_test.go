package diag_test

import (
	"slices"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

func TestSuggest(t *testing.T) {
	agent := []string{"name", "input", "output", "model", "temperature", "prompt", "tools", "skills", "budget", "on_bad_output", "run"}
	builtins := []string{"str", "int", "float", "fmt", "fn", "then", "par", "pick", "each", "agent", "schema", "field", "branch", "attempt", "race", "retry"}
	tests := []struct {
		name  string
		among []string
		want  string
	}{
		// Both of these get no suggestion from the interpreter's own unpacking.
		{"modle", agent, "model"},
		{"sklls", agent, "skills"},
		{"temprature", agent, "temperature"},
		{"Prompt", agent, "prompt"},
		{"onBadOutput", agent, "on_bad_output"},
		{"temp", agent, "temperature"},
		{"tool", agent, "tools"},
		{"x", agent, ""},
		{"verbosity", agent, ""},
		{"", agent, ""},
		{"model", agent, ""}, // it exists: nothing else is meant
		{"atempt", append(builtins, "Attempt"), "attempt"},
		{"Atempt", append(builtins, "Attempt"), "Attempt"},
		{"string", builtins, ""},
		{"sor", builtins, "str"},
		{"agnet", builtins, "agent"},
		{"schmea", builtins, "schema"},
		{"fo", builtins, "fn"},
		{"pn", builtins, "fn"},
		{"qq", builtins, ""},
		{"name", []string{"ne", "eq"}, ""}, // half of it
		{"größe", []string{"grösse", "größer"}, "größer"},
		{"ba", []string{"bb", "aa"}, "bb"}, // equally far: the same first rune
		{"cd", []string{"ce", "cf"}, "ce"}, // then alphabetical order
		{"search", builtins, ""},           // not each
		{"yy", []string{"y"}, "y"},
		{"ay", []string{"y"}, ""},
		{"yyy", []string{"y"}, ""},
		{"Y", []string{"y"}, "y"},
		{"cshema", builtins, "schema"},
		{"max", nil, ""},
	}
	for _, tt := range tests {
		for range 2 {
			got, ok := diag.Suggest(tt.name, tt.among)
			if got != tt.want || ok != (tt.want != "") {
				t.Errorf("Suggest(%q, %v) = %q, %v; want %q", tt.name, tt.among, got, ok, tt.want)
			}
			tt.among = slices.Clone(tt.among)
			slices.Reverse(tt.among)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	if got, want := diag.DidYouMean("modle", []string{"model"}), `did you mean "model"?`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := diag.DidYouMean("zzz", []string{"model"}); got != "" {
		t.Errorf("got %q", got)
	}
}

func FuzzSuggest(f *testing.F) {
	f.Add("modle", "model", "modem")
	f.Fuzz(func(t *testing.T, name, a, b string) {
		one, ok1 := diag.Suggest(name, []string{a, b})
		two, ok2 := diag.Suggest(name, []string{b, a})
		if one != two || ok1 != ok2 {
			t.Errorf("the order matters: %q and %q", one, two)
		}
	})
}
