package starlib_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// TestFunctionsThatReferToThemselves freezes functions on which the interpreter's Freeze would recurse until the
// process ends. What they capture is frozen nevertheless; what cannot be frozen is reported.
func TestFunctionsThatReferToThemselves(t *testing.T) {
	m := sound(t, `
def make():
    seen = []
    def fact(n):
        if n < 0:
            seen.append(n)
        return 1 if n < 2 else n * fact(n - 1)
    return fact

fact = make()
step = fn(make(), input = int, output = int)

def pair():
    other = None
    def even(n):
        return n == 0 or not other(n - 1)
    def other(n):
        return n == 0 or even(n - 1)
    return (even, other)

even = pair()

def main(n = 3):
    def inner(n):
        return 1 if n < 2 else n * inner(n - 1)
    return [fact(n), step(n), agent(input = int, output = int, run = inner)(n), even[0](4)]
`)
	r := spec(t, m, value(t, `{"n": 4}`))
	out, _, err := everywhere(t, r)
	if err != nil || generable.JSON(out, nil) != "[24,24,24,true]" {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
	if _, err := exec(t, m, `{"n": -1}`, func(*run.Spec) {}); err == nil || !strings.Contains(err.Error(), "frozen list") {
		t.Errorf("got %v: what the function captures is not frozen", err)
	}
	m, found := load(`
def make():
    def f(n):
        return f(n)
    return {"f": f}

fs = make()
ok = [lambda: ok]
main = fn(lambda n: n)
`)
	if codes(found) != "AS213" || !strings.Contains(render(m, found), "a dict holds the function f, which refers to itself") {
		t.Errorf("got %s", render(m, found))
	}
	m = sound(t, `
def main(n = 1):
    fs = []
    def f(n):
        return fs[0](n - 1) if n > 0 else n
    fs.append(f)
    def g(n):
        return [g, fs]
    held = [g]
    return agent(input = int, output = int, run = lambda n: len(held))(n) + agent(input = int, output = int, run = f)(n)
`)
	if _, err := exec(t, m, `{}`, nil); err == nil || !strings.Contains(err.Error(), "a list holds the function g") {
		t.Errorf("got %v", err)
	}
}
