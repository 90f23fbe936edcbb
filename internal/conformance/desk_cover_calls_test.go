package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/starlib"
)

// Calls of attempt, retry, fallback, race, parallel and stream in functions have the same ways as the nodes of these
// names.
func TestCoveredCalls(t *testing.T) {
	const lib = `
def flaky(x):
    if x == 7:
        fail("seven")
    return x

one = agent("one", input = int, output = int, run = flaky)
two = agent("two", input = int, output = int, run = lambda n: n)
def safe(f, x):
    return attempt(f, x).ok
`
	for _, tt := range []struct {
		name, src string
		inputs    []int  // each is a run
		want      string // counted by hand
	}{
		{name: "attempt", src: `
def main(x = int):
    return attempt(one, x).ok
`, inputs: []int{1, 7, 7}, want: `
3:12 attempt: ok 1
3:12 attempt: failed 2`},

		{name: "retry", src: `
def main(x = int):
    return attempt(lambda: retry(one, x, max = 3)).ok and retry(one, x, max = 1)
`, inputs: []int{1, 7}, want: `
3:12 attempt: ok 1
3:12 attempt: failed 1
3:28 retry: again 2`},

		{name: "retry until", src: `
def main(x = int):
    n = [0]
    def next():
        n[0] += 1
        return n[0]
    return retry(next, until = ge(x), max = 4, on_limit = "last")
`, inputs: []int{1, 3, 9}, want: `
7:12 retry: again 5`},

		{name: "fallback", src: `
def main(x = int):
    return fallback([one, lambda n: flaky(n), (two)], x)
`, inputs: []int{1, 7}, want: `
3:22 fallback: 1: one 2
3:27 fallback: 2: lambda 1
3:47 fallback: 3: two 1`},

		{name: "fallback of calls", src: `
def main(x = int):
    return fallback([(one, x), lambda: retry(one, x, max = 2), (two, 3)])
`, inputs: []int{1, 7}, want: `
3:22 fallback: 1: one 2
3:32 fallback: 2: lambda 1
3:40 retry: again 1
3:64 fallback: 3: two 1`},

		{name: "alternatives that are computed", src: `
def main(x = int):
    all = [one, two, two]
    return fallback(all, x) + race([two for _ in range(2)], x)
`, inputs: []int{1, 7}, want: `
4:12 fallback: the first 2
4:12 fallback: a later one 1
4:31 race: the first wins 2
4:31 race: a later one wins 0`},

		{name: "race", src: `
def main(x = int):
    return race([one, two], x)
`, inputs: []int{1, 7, 7}, want: `
3:18 race: 1: one wins 1
3:23 race: 2: two wins 2`},

		{name: "parallel and stream", src: `
def main(x = int):
    parallel(one, [1, 2])
    stream([1, 2], one, on_error = "raise")
    return len(parallel(one, [1, x, x], on_error = "keep")) + len(stream([x, 1], two, one, on_error = "drop"))
`, inputs: []int{1, 7}, want: `
5:16 parallel: a branch fails 2
5:67 stream: a branch fails 1`},

		{name: "a failure that is raised again ends the attempt around", src: `
def inner(x):
    return attempt(one, x).value or fail("no")
def main(x = int):
    return [attempt(inner, n).ok for n in [x, 1]][1]
`, inputs: []int{7}, want: `
3:12 attempt: ok 1
3:12 attempt: failed 1
5:13 attempt: ok 1
5:13 attempt: failed 1`},

		{name: "recursion", src: `
def main(x = int):
    if x == 0:
        return 0
    return fallback([lambda: main(x - 1), lambda: 0])
`, inputs: []int{3}, want: `
5:22 fallback: 1: lambda 3
5:43 fallback: 2: lambda 0`},

		{name: "names of the script's own", src: `
def main(x = int, parallel = int | None):
    def attempt_(f):
        return [retry(f) for retry in [lambda f: f(1)]][0]
    again = attempt
    return again(one, x).ok and attempt_(lambda n: n) == 1
`, inputs: []int{7}, want: ``},

		{name: "calls in a loaded file", src: `
def main(x = int):
    return [safe(one, x), safe(two, x)]
`, inputs: []int{7}, want: `
lib.star 10:12 attempt: ok 1
lib.star 10:12 attempt: failed 1`},

		{name: "functions that compose nodes", src: `
def patient(f):
    return retry(f, max = 2)
tried = attempt(patient(one))
def both(f):
    return attempt(f)
def main(x = int):
    return tried(x).ok
`, inputs: []int{7}, want: `
6:12 attempt: ok 0
6:12 attempt: failed 0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mod := loaded(t, agentscript.New(agentscript.WithCoverage()), `load("lib.star", "flaky", "one", "safe", "two")`+tt.src, "lib.star", lib)
			for _, in := range tt.inputs {
				if _, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"x": in}), agentscript.VirtualTime()).Wait(); err != nil {
					t.Fatal(err)
				}
			}
			var got strings.Builder
			for _, p := range mod.Coverage() {
				if p.Kind != starlib.WayPlace || p.File == "lib.star" && !strings.Contains(tt.want, p.File) {
					continue
				}
				where := ""
				if p.File == "lib.star" {
					where = "lib.star "
				}
				fmt.Fprintf(&got, "\n%s%d:%d %s %d", where, p.Line, p.Col, p.Name, p.Count)
			}
			if got.String() != tt.want {
				t.Errorf("%s\nwant%s", got.String(), tt.want)
			}
		})
	}
}
