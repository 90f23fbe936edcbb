package setup

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

func TestParseEnv(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     map[string]string
	}{
		{"empty", "", map[string]string{}},
		{"plain", "A=1\nB = two words \n", map[string]string{"A": "1", "B": "two words"}},
		{"comments", "# c\n\n  # d\nA=x # why\nB=x#y\nC=#\nD= # none\n", map[string]string{"A": "x", "B": "x#y", "C": "", "D": ""}},
		{"export", "export A=1\nexport\tB=2\nexported=3\n", map[string]string{"A": "1", "B": "2", "exported": "3"}},
		{"single quotes", `A='a "b" \n # $x'` + "\n", map[string]string{"A": `a "b" \n # $x`}},
		{"double quotes", `A="a 'b' \n\t\"\\\$ \q # x" # c` + "\n", map[string]string{"A": "a 'b' \n\t\"\\$ \\q # x"}},
		{"equals signs", "A=b=c==\n", map[string]string{"A": "b=c=="}},
		{"the last one counts", "A=1\nA=2\n", map[string]string{"A": "2"}},
		{"line ends and mark", "\ufeffA=1\r\nB=2\r\n", map[string]string{"A": "1", "B": "2"}},
		{"no line end", "A=1", map[string]string{"A": "1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, found := parseEnv("x.env", tt.in)
			if len(found) > 0 {
				t.Fatal(found)
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseEnvErrors(t *testing.T) {
	_, found := parseEnv("x.env", "A=1\nsecret\n=secret\nB C=secret\nD='secret\nE=\"secret\\\"\nF=\"secret\" secret\nexport\n")
	var lines []int
	for _, d := range found {
		lines = append(lines, d.Span.Line)
		if strings.Contains(d.Error(), "secret") {
			t.Errorf("shows a value: %v", d)
		}
	}
	if want := []int{2, 3, 4, 5, 6, 7, 8}; len(lines) != len(want) {
		t.Errorf("errors in lines %v, want %v", lines, want)
	}
}

func FuzzParseEnv(f *testing.F) {
	for _, seed := range []string{"A=1\n", "export A='x' # y\n", "A=\"\\\"\n", "A='\n", "\ufeff=\r\n", "A=\"\\"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vars, found := parseEnv("x.env", text)
		for name := range vars {
			if !envName().MatchString(name) {
				t.Errorf("%q is no name", name)
			}
		}
		for _, d := range found {
			if d.Severity != diag.Error || d.Span.Line > strings.Count(text, "\n")+1 {
				t.Errorf("strange finding %v", d)
			}
		}
	})
}
