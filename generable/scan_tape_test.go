package generable

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// tokens are what random texts are made of: what JSON is made of, and what models put around it.
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

// checkTape holds that the tape of each candidate is a tree: children lie within their
// container and are as many as it says, and each key of an object has a value.
func checkTape(s *scanner) error {
	for _, c := range s.cands {
		if end, err := checkNode(s.tape, c.node); err != nil || end > len(s.tape) {
			return fmt.Errorf("candidate at %d ends at node %d of %d: %v", c.start, end, len(s.tape), err)
		}
	}
	return nil
}

func checkNode(tape []node, at int) (end int, err error) {
	n := tape[at]
	end = at + 1
	for i := range int(n.count) {
		if n.kind == nodeObj {
			if end >= len(tape) || tape[end].flags&flagKey == 0 || tape[end].span != 1 {
				return 0, fmt.Errorf("node %d: member %d has no key", at, i)
			}
			end++
		}
		if end >= len(tape) || tape[end].flags&flagKey != 0 {
			return 0, fmt.Errorf("node %d: child %d is missing", at, i)
		}
		if end, err = checkNode(tape, end); err != nil {
			return 0, err
		}
	}
	if end != at+int(n.span) {
		return 0, fmt.Errorf("node %d spans %d nodes, its children end at %d", at, n.span, end)
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
	s := newScanner(0)
	s.feed(text)
	s.close()
	if err := checkTape(s); err != nil {
		return fmt.Errorf("%q: %v", text, err)
	}
	want := Decode(nil, text, Options{})
	m := NewMachine(nil, Options{})
	for i := range len(text) {
		m.Feed(text[i : i+1])
		m.Snapshot()
	}
	if got := m.Close(); render(got) != render(want) {
		return fmt.Errorf("%q in pieces:\n%s\nat once:\n%s", text, render(got), render(want))
	}
	return nil
}

// TestTape holds that whatever is read makes a tree, at any cut.
func TestTape(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for range 20 * rounds {
		if err := checkTokens(rnd); err != nil {
			t.Fatal(err)
		}
	}
}
