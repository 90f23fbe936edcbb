//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/hang"
)

// TestPromptInXterm types at the last row of a small terminal: nothing shown is overwritten, an entry of several lines
// and a list of candidates make room for themselves, and the line stays visible above a list that is too long.
func TestPromptInXterm(t *testing.T) {
	bin, dir := command(t, nil)
	x := newXterm(t, 60, 10)
	cmd := hang.Command(t, bin, "repl")
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir}
	var entries strings.Builder
	for i := range 30 {
		fmt.Fprintf(&entries, "word_%02d = %d\r", i, i)
	}
	steps := []struct {
		typed string
		shown []string // beginnings of lines visible then
	}{
		{"", []string{">"}},
		{entries.String() + "\"written before\"\r", []string{`"written before"`, ">"}},
		{"def f(x):\r\treturn x + 1", []string{"> def f(x):", "│     return x + 1"}},
		{"\r\rf(41)\r", []string{`"written before"`, "> def f(x):", "42", ">"}},
		{"word_\t", []string{"> word_", "word_00", " 2"}},
		{"2\t", []string{"> word_2", "word_2"}},
		{"9\r", []string{"29", ">"}},
		{"\x12", []string{">", "entries"}},
		{"word_1", []string{"> ", "entries (inc-search): word_1_"}},
		{"\x03\"the end\"\r", []string{`"the end"`, ">"}},
	}
	at := 0
	err := terminalOf(t, x, cmd, func(_ int, _ func(int, int), typed io.Writer) {
		if at == len(steps) {
			return
		}
		all := strings.Split(strings.TrimSuffix(x.now.Text, "\n"), "\n")
		visible := all[max(0, len(all)-x.height):]
		for _, want := range steps[at].shown {
			if !slices.ContainsFunc(visible, func(line string) bool { return strings.HasPrefix(line, want) }) {
				return
			}
		}
		if at++; at < len(steps) {
			fmt.Fprint(typed, steps[at].typed)
		} else {
			fmt.Fprint(typed, "\x04")
		}
	})
	if err != nil || at < len(steps) {
		t.Fatalf("%v; at %q there is\n%s", err, steps[min(at, len(steps)-1)].typed, x.now.Text)
	}
	for i := range 30 {
		if entry := fmt.Sprintf("> word_%02d = %d\n", i, i); strings.Count(x.now.Text, entry) != 1 {
			t.Errorf("%q is not there once:\n%s", entry, x.now.Text)
		}
	}
}
