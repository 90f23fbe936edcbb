package lenient

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/gentest"
)

// tokens are the parts of random texts: those of JSON, and what models put around it.
var tokens = []string{
	"{", "}", "[", "]", "(", ")", ":", ",", `"`, `""`, `"""`, "'", "`", "```", "\\", `\"`, " ", "\n", "\n\n", "+", "=", "=>", ";",
	"/", "//c\n", "/*", "*/", "#", "...", "…", "<", "</", "<think>", "</think>", "a", "b", "x", "nul", "null", "true", "1", "-", "0.", "1e",
	"“", "”", "：", "，", "{\"a\":1}", "[1,2]", `"k":`, "a:", "f(", "f(a=", "~~~", "r", "\xff", "{{", "}}", "é",
}

func randomTokens(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(14) {
		b.WriteString(tokens[rnd.IntN(len(tokens))])
	}
	return b.String()
}

// checkTape checks that the tape of each candidate is a tree: children lie within their container and match its
// count, and each key of an object has a value.
func checkTape(s *tape.Scanner) error {
	for _, c := range s.Cands {
		if end, err := checkNode(s.Tape, c.Node); err != nil || end > len(s.Tape) {
			return fmt.Errorf("candidate at %d ends at node %d of %d: %v", c.Start, end, len(s.Tape), err)
		}
	}
	return nil
}

func checkNode(t []tape.Node, at int) (end int, err error) {
	n := t[at]
	end = at + 1
	for i := range int(n.Count) {
		if n.Kind == tape.NodeObj {
			if end >= len(t) || t[end].Flags&tape.FlagKey == 0 || t[end].Span != 1 {
				return 0, fmt.Errorf("node %d: member %d has no key", at, i)
			}
			end++
		}
		if end >= len(t) || t[end].Flags&tape.FlagKey != 0 {
			return 0, fmt.Errorf("node %d: child %d is missing", at, i)
		}
		if end, err = checkNode(t, end); err != nil {
			return 0, err
		}
	}
	if end != at+int(n.Span) {
		return 0, fmt.Errorf("node %d spans %d nodes, its children end at %d", at, n.Span, end)
	}
	return end, nil
}

// checkTokens reads a random text at once and byte by byte.
func checkTokens(rnd *rand.Rand) (err error) {
	text := randomTokens(rnd)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%q: %v", text, p)
		}
	}()
	s := tape.NewScanner(0)
	s.Feed(text)
	s.Close()
	if err := checkTape(s); err != nil {
		return fmt.Errorf("%q: %v", text, err)
	}
	want := Decode(nil, text, generable.Options{})
	m := NewMachine(nil, generable.Options{})
	for i := range len(text) {
		m.Feed(text[i : i+1])
		m.Snapshot()
	}
	if got := m.Close(); render(got) != render(want) {
		return fmt.Errorf("%q in pieces:\n%s\nat once:\n%s", text, render(got), render(want))
	}
	return nil
}

// TestTape checks that every text is read as a tree, at any cut.
func TestTape(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for range 20 * gentest.Rounds() {
		if err := checkTokens(rnd); err != nil {
			t.Fatal(err)
		}
	}
}
