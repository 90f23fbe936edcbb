package starlib_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// heap returns the bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRebindingGrowsNothing rebinds names again and again, and enters expressions without a name: neither the nodes nor
// the memory of the session grow.
func TestRebindingGrowsNothing(t *testing.T) {
	for i, entry := range []string{
		"a = agent(prompt = \"A %d\")\nb = agent(prompt = \"B\")\np = a >> b",
		"agent(prompt = \"A %d\") >> agent(prompt = \"B\")",
		"x = [%d]",
		"def f(x):\n    return %d",
		"r = z(\"%d\")",
		"(z / agent(prompt = \"%d\"))(\"x\")",
		"S = schema(\"S\", f%[1]d = int)\nT = schema(\"T\", g%[1]d = int)\nU = union(\"U\", S, T)\na = agent(prompt = \"A\", output = U)",
		"m = memory(\"notes\")\ne = agent(prompt = \"%d\", memory = m)",
	} {
		times := 400
		if i == 0 && !testing.Short() {
			times = 10_000
		}
		p := newPrompt(t)
		enter := func(n int) {
			for i := range n {
				if _, found := p.enter(fmt.Sprintf(entry, i)); found.HasErrors() {
					t.Fatalf("%s: %s", entry, found[0].Message)
				}
			}
		}
		if _, found := p.enter("z = agent(prompt = \"Z\")"); found.HasErrors() {
			t.Fatal(found[0].Message)
		}
		enter(50)
		nodes, before := len(p.Module().Nodes()), heap()
		enter(times)
		if now := len(p.Module().Nodes()); now != nodes || now > 20 {
			t.Errorf("%s: %d nodes became %d", entry, nodes, now)
		}
		if grown := heap() - before; grown > 300<<10 {
			t.Errorf("%s: %d bytes more in use after %d times", entry, grown, times)
		}
	}
}

// TestPlacesAreAlwaysGivenBack enters statements chosen by a seed: as long as no name holds a composition, each agent
// has a free place, whatever failed or ran before.
func TestPlacesAreAlwaysGivenBack(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := newPrompt(t)
		agents := []string{"a", "b", "c"}
		named := ""
		for _, name := range agents {
			p.enter(name + " = agent(prompt = \"" + name + "\")")
		}
		for step := range 60 {
			one, two := agents[r.IntN(3)], agents[r.IntN(3)]
			entry, fails := "", false
			switch r.IntN(7) {
			case 0:
				entry, fails = fmt.Sprintf("%s = agent(prompt = \"%d\")", one, step), named != ""
			case 1:
				entry, fails = one+" >> "+two, one == two || named != ""
			case 2:
				entry, fails = "p = "+one+" >> "+two, one == two
			case 3:
				entry = "p = None"
			case 4:
				entry, fails = "("+one+" / "+two+")(\"x\")", one == two || named != ""
			case 5:
				entry, fails = "q = "+one+" >> missing", true
			case 6:
				entry = "x = [" + one + "(\"x\")]\nlen(x)"
			}
			_, found := p.enter(entry)
			if found.HasErrors() && !fails {
				t.Fatalf("seed %d, step %d: %s, while p is %q: %s", seed, step, entry, named, found[0].Message)
			}
			if found.HasErrors() && found[0].Code != diag.AlreadyPlaced && found[0].Code != diag.UndefinedName {
				t.Fatalf("seed %d, step %d: %s: %s", seed, step, entry, found[0].Message)
			}
			switch {
			case entry == "p = None":
				named = ""
			case entry[0] == 'p' && !found.HasErrors():
				named = entry
			}
		}
		if _, found := p.enter("p = None\na >> b >> c\np = c >> b >> a"); found.HasErrors() {
			t.Fatalf("seed %d: %s", seed, found[0].Message)
		}
	}
}
