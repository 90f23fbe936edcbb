package starlib_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// manyBranches uses every kind of callback, on many branches, and shares what it can.
const manyBranches = `
Word = schema("A word", text = str, size = int)
Long = schema("Long", text = str)
Short = schema("Short", text = str)
Kind = union("A kind", Long, Short)
WORDS = {"a": [1, 2], "b": [3]}

def measure(s):
    sizes = [n for ns in WORDS.values() for n in ns]
    return Word(text = s, size = len(s) + sum_of(sizes) - 6)

def sum_of(ns):
    total = 0
    for n in ns:
        total += n
    return total

def member(i):
    seen = [i]
    return agent(name = "m%d" % i, run = lambda s: "%s.%d" % (s, seen[0]))

grow = fn(lambda s: s + "x", input = str, output = str).loop(lambda s: None if len(s) > 8 else s)
kind = agent(output = Kind, run = lambda s: Long(text = s) if len(s) > 3 else Short(text = s))
routed = kind.branch({Long: pick("text") >> grow, Short: template("<{{text}}>")})
words = fn(lambda s: s.split(" "), input = str, output = list[str])
discuss = member(1) * member(2) * agent(name = "captain", run = lambda s, t: "+".join([x["output"] for x in t]))

def main(text = str, n = 3):
    parts = each_part(text)
    for i in range(n):
        parts.append(discuss(parts[i % len(parts)]))
    return {"parts": parts, "words": WORDS["a"], "measured": [measured(p) for p in parts]}

measured = agent(output = Word, run = measure)
branches = words >> each(par(routed, member(3), member(4)))

def each_part(text):
    return [p for triple in branches(text) for p in triple]
`

func TestConcurrentRuns(t *testing.T) {
	m := sound(t, manyBranches)
	want, _, err := everywhere(t, spec(t, m, value(t, `{"text": "ab cdef ghijk", "n": 4}`)))
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for range 100 {
		done.Add(1)
		go func() {
			defer done.Done()
			r := spec(t, m, value(t, `{"text": "ab cdef ghijk", "n": 4}`))
			got, err := run.Exec(sched.NewGoSched(context.Background()), &r)
			if err != nil || !generable.Equal(got, want) {
				t.Errorf("got %s, %v", generable.JSON(got, nil), err)
			}
		}()
	}
	done.Wait()
}

// TestGlobalsAreFrozen checks that branches that try to share a list get an error, not a race.
func TestGlobalsAreFrozen(t *testing.T) {
	m := sound(t, `
SEEN = []
def note(s):
    (json.decode("null") or SEEN).append(s)
    return s
def counter():
    count = [0]
    def step(s):
        count[0] += 1
        return s
    return step
a = fn(note, input = str, output = str)
b = fn(counter(), input = str, output = str)
main = a
other = b
`)
	for _, name := range []string{"main", "other"} {
		_, err := run.Exec(sched.NewGoSched(context.Background()), &run.Spec{Node: m.Node(name), Input: generable.StrOf("x")})
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, "frozen list") || !strings.Contains(e.Help, "list(x)") {
			t.Errorf("%s: got %v, help %q", name, err, e.Help)
		}
	}
}

// exec runs main on goroutines.
func exec(t *testing.T, m *starlib.Module, input string, change func(*run.Spec)) (generable.Value, error) {
	t.Helper()
	r := spec(t, m, value(t, input))
	r.Handler, r.Model = answers(nil), "test/model"
	if change != nil {
		change(&r)
	}
	return run.Exec(sched.NewGoSched(context.Background()), &r)
}

func failure(t *testing.T, err error) *engine.Error {
	t.Helper()
	var e *engine.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an engine error", err)
	}
	return e
}

// TestCallbackErrorsAreLocated checks code, node path, Starlark position, trace and cause.
func TestCallbackErrorsAreLocated(t *testing.T) {
	m := sound(t, `
def inner(s):
    s = json.decode("null") or s
    return s["x"]

def outer(s):
    return inner(s)

bad = agent(run = outer)
main = fn(lambda s: s, input = str, output = str) >> bad
`)
	_, err := exec(t, m, `"text"`, nil)
	e := failure(t, err)
	if e.Code != diag.CallbackFailed || e.Kind != engine.KindScript {
		t.Errorf("code %s, kind %s", e.Code, e.Kind)
	}
	if e.Path != "main/then:main#0/agent:bad#0" {
		t.Errorf("path %q", e.Path)
	}
	if e.Pos.String() != "main.star:4:13" {
		t.Errorf("position %s", e.Pos)
	}
	var trace []string
	for _, p := range e.Trace {
		trace = append(trace, p.Pos.String())
	}
	if got := strings.Join(trace, " "); got != "main.star:7:17 main.star:4:13" {
		t.Errorf("trace %s", got)
	}
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		t.Error("the interpreter's error is not in the chain")
	}
}

var errHost = errors.New("the host's own error")

// TestCausesAreKept checks that an error of a host's builtin is found through nodes that call nodes.
func TestCausesAreKept(t *testing.T) {
	broken := starlib.Builtin{Name: "broken", Doc: "Fails.", Returns: "str", Effect: starlib.Pure,
		Func: func(*starlib.Call) (starlark.Value, error) { return nil, fmt.Errorf("no luck: %w", errHost) }}
	m, found := loadWith(starlib.Options{Builtins: []starlib.Builtin{broken}}, `
inner = agent(run = lambda s: broken())
middle = agent(run = lambda s: inner(s))
def main(s = str):
    return middle(s)
`)
	if found != nil {
		t.Fatal(render(m, found))
	}
	_, err := exec(t, m, `{"s": "x"}`, nil)
	e := failure(t, err)
	if !errors.Is(err, errHost) {
		t.Errorf("the cause is lost: %v", err)
	}
	if e.Path != "main/agent:middle#0/agent:inner#0" || e.Code != diag.CallbackFailed || e.Message != "no luck: the host's own error" {
		t.Errorf("got %s at %s: %s", e.Code, e.Path, e.Message)
	}
}

// TestPanicsAreErrors checks panics of a host's builtin, in a callback and while loading.
func TestPanicsAreErrors(t *testing.T) {
	wild := starlib.Builtin{Name: "wild", Doc: "Panics.", Returns: "str", Effect: starlib.Pure,
		Func: func(*starlib.Call) (starlark.Value, error) { panic("boom") }}
	o := starlib.Options{Builtins: []starlib.Builtin{wild}}
	m, found := loadWith(o, "main = agent(run = lambda s: wild())\nok = fn(lambda s: s)\n")
	if found != nil {
		t.Fatal(render(m, found))
	}
	_, err := exec(t, m, `"x"`, nil)
	if e := failure(t, err); e.Code != diag.Panic || e.Kind != engine.KindPanic {
		t.Errorf("got %v", err)
	}
	m, found = loadWith(o, "x = wild()\n")
	if codes(found) != "AS715" {
		t.Errorf("got %s", render(m, found))
	}
}

// TestStepBudget checks that an endless loop stops when the run's steps are used up, however deeply its node is nested.
func TestStepBudget(t *testing.T) {
	m := sound(t, `
def spin(s):
    n = 0
    while True:
        n += 1

deep = agent(run = spin)
main = fn(lambda s: s, input = str, output = str) / fn(lambda s: deep(s), input = str, output = str)
`)
	_, err := exec(t, m, `"x"`, func(r *run.Spec) { r.Limits.Steps = engine.AtMost(200_000) })
	e := failure(t, err)
	if e.Code != diag.StepLimit || !errors.Is(err, engine.ErrBudget) {
		t.Errorf("got %v", err)
	}
	if e.Pos.Line < 2 || e.Pos.Line > 5 {
		t.Errorf("position %s, want spin", e.Pos)
	}
}

// TestCancel checks that a computing run ends when its context does, and says why.
func TestCancel(t *testing.T) {
	m := sound(t, `
def main(n = 0):
    while True:
        n += 1
`)
	why := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	r := spec(t, m, value(t, `{}`))
	_, err := run.Exec(sched.NewGoSched(ctx), &r)
	if e := failure(t, err); e.Code != diag.Cancelled || !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// TestSiblingsAreStopped checks that when one branch fails, another one that computes endlessly ends, and that the
// error is that of the first.
func TestSiblingsAreStopped(t *testing.T) {
	m := sound(t, `
def spin(s):
    while True:
        s += ""
a = fn(spin, input = str, output = str)
b = fn(lambda s: fail("b failed"), input = str, output = str)
main = a / b
`)
	_, err := exec(t, m, `"x"`, nil)
	if e := failure(t, err); e.Message != "b failed" {
		t.Errorf("got %v", err)
	}
}
