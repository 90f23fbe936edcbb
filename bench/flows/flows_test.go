package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// small are the sizes at which every program is run in tests, in addition to the smallest one that is measured.
var small = map[string]int{"loop": 7, "fan-out": 10, "waiting": 10, "check": 100}

// Every engine must return the same result, node by node, so that all figures are for the same work.
func TestEveryProgramComesToTheSame(t *testing.T) {
	for _, s := range shapes {
		size := small[s.name]
		if size == 0 {
			size = 3
		}
		want := ""
		for _, p := range s.programs {
			t.Run(s.name+"/"+p.engine, func(t *testing.T) {
				body := s.step(size)
				body.marks = true
				run, err := p.make(size, body)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // a program can be run more than once
					got, err := run()
					if err != nil {
						t.Fatal(err)
					}
					text := shown(t, got)
					if want == "" {
						want = text
					}
					if text != want {
						t.Errorf("%s\nwant %s", text, want)
					}
				}
			})
		}
		t.Logf("%s of %d: %s", s.name, size, want)
		for node := range expected(s.name, size) {
			if !strings.Contains(want, fmt.Sprint(".", node)) {
				t.Errorf("%s: node %d does not show in %s", s.name, node, want)
			}
		}
	}
}

// expected yields nodes of a shape that its result must mention.
func expected(shape string, size int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range size {
			switch shape {
			case "chain", "fan-out", "waiting", "build":
				yield(i)
			case "branch":
				yield(asks(i))
			}
		}
	}
}

// shown returns a result as text, whatever type an engine uses for it.
func shown(t *testing.T, got any) string {
	t.Helper()
	switch v := got.(type) {
	case generable.Value:
		return generable.JSON(v, nil)
	case map[string]any: // eino's fan-out
		var in []any
		for _, k := range slices.Sorted(maps.Keys(v)) {
			in = append(in, v[k])
		}
		got = in
	case []map[string]any: // langchaingo's
		var in []any
		for _, m := range v {
			in = append(in, m[keyOut])
		}
		got = in
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A branch must take both ways, or else only one of them is measured.
func TestBranchTakesBothWays(t *testing.T) {
	run, err := plainBranch(3, step{marks: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := run()
	if err != nil {
		t.Fatal(err)
	}
	left, right := 0, 0
	for i := range 3 {
		left += strings.Count(got.(string), fmt.Sprintf(".%d", ifOdd(i)))
		right += strings.Count(got.(string), fmt.Sprintf(".%d", ifEven(i)))
	}
	if left == 0 || right == 0 || left+right != 3 {
		t.Errorf("%v: %d and %d", got, left, right)
	}
}

// The first request of an agent has at most 2 KB, its answer at most 500 bytes.
func TestSizesOfAConversation(t *testing.T) {
	if n := len(prompt) + len(question); n < 1000 || n > 1500 {
		t.Errorf("the prompt has %d bytes, and the schema and the tool some 500", n)
	}
	if len(answer) > 500 {
		t.Errorf("the answer has %d bytes", len(answer))
	}
}

// TestRun makes a small complete run.
func TestRun(t *testing.T) {
	for _, markdown := range []string{"-markdown=false", "-markdown"} {
		var out, log bytes.Buffer
		if err := measureAll([]string{"-time", "1ms", "-rounds", "1", "-only", "^(chain|agent)$", markdown}, &out, &log); err != nil {
			t.Fatal(err)
		}
		for _, has := range []string{"in a chain of 100", "eino, react", "allocations of 20"} {
			if !strings.Contains(out.String(), has) {
				t.Errorf("no %q in\n%s", has, &out)
			}
		}
	}
	if err := measureAll([]string{"-rounds", "0"}, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
		t.Error("no error for 0 rounds")
	}
}
