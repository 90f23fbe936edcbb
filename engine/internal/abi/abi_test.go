package abi_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

func TestPosition(t *testing.T) {
	if got := abi.Position("main/agent:a#0/llm0"); got != "main/agent:a#0/llm0" {
		t.Errorf("a short path is changed: %q", got)
	}
	seen := map[string]string{}
	for _, unit := range []string{"x", "é", "€", "\U0001F600", "\x80"} {
		for n := range 12 {
			for _, end := range []string{"/llm0", "/llm1"} {
				path := "main/" + strings.Repeat("y", n) + strings.Repeat(unit, 2000) + end
				got := abi.Position(path)
				if len(got) > 220 || !strings.HasSuffix(got, end) || unit != "\x80" && !utf8.ValidString(got) {
					t.Errorf("%q × 2000 after %d: %q", unit, n, got)
				}
				if other, ok := seen[got]; ok && other != path {
					t.Errorf("two paths share the position %q", got)
				}
				seen[got] = path
			}
		}
	}
}

// The recipe is fixed: what was recorded under a version is found under it.
func TestRecipe(t *testing.T) {
	if got := abi.Position("main/" + strings.Repeat("x", 1000) + "/llm0"); got != "~413a921051e1f42a~"+strings.Repeat("x", 195)+"/llm0" || abi.Version != 1 {
		t.Errorf("version %d gives %q", abi.Version, got)
	}
}
