package agenttest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/agenttest"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/internal/hang"
)

const flow = `
Draft = schema("A draft", title = str, text = str)

def search(q = str):
    """Searches."""
    return "found " + q

write = agent(output = Draft, prompt = "Write.", tools = [search])
judge = agent(input = Draft, output = bool, prompt = "Is it good?")

def main(topic = str):
    """Writes, and has it judged."""
    d = write(topic)
    if not judge(d):
        fail("not good:", d.title)
    return d.title
`

func load(t *testing.T) *agentscript.Module {
	t.Helper()
	mod, err := agentscript.New().Load(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(flow)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// A Go test prepares what a script's test prepares, and checks what was called.
func TestNew(t *testing.T) {
	mod := load(t)
	w := agenttest.New(t, mod)
	w.Reply("write",
		agenttest.Failure{Kind: engine.KindRateLimit, RetryAfter: 30 * time.Second}, // no time passes
		agenttest.ToolCall{Name: "search", Args: map[string]any{"q": "tea"}},
		struct {
			Title string `json:"title"`
			Text  string `json:"text"`
		}{"Tea", "Hot."})
	w.Reply("judge", agenttest.Answer{Value: true, When: "Tea", Repeat: true})
	w.Tool("search", func(args map[string]any) (any, error) { return "about " + args["q"].(string), nil })
	res, err := mod.Start(t.Context(), w.Options(agentscript.Args(map[string]any{"topic": "tea"}))...).Wait()
	if err != nil || res.Text() != "Tea" {
		t.Fatalf("%q, %v", res.Text(), err)
	}
	w.Order("write", "search", "judge")
	w.Called("judge", 1)
	w.Never("http.get")
	calls := w.Calls("write")
	if last := calls[len(calls)-1]; last.Messages[len(last.Messages)-1] != (agenttest.Message{Role: "tool", Text: "about tea"}) || last.Error != nil {
		t.Errorf("%+v", last)
	}
	if found := w.Calls("search")[0]; found.Answer != "about tea" || found.Args["q"] != "tea" {
		t.Errorf("%+v", found)
	}
}

// Failures of tools and denials are prepared like results.
func TestFailures(t *testing.T) {
	mod := load(t)
	w := agenttest.New(t, mod)
	w.Tool("search", errors.New("no network"))
	w.Reply("write", agenttest.ToolCall{Name: "search", Args: map[string]any{"q": "tea"}}, map[string]any{"title": "T", "text": "t"})
	w.Reply("judge", false)
	_, err := mod.Start(t.Context(), w.Options(agentscript.Args(map[string]any{"topic": "tea"}))...).Wait()
	if e, ok := errors.AsType[*engine.Error](err); !ok || !strings.Contains(e.Message, "not good: T") {
		t.Error(err)
	}
	if found := w.Calls("search")[0]; found.Error == nil || !strings.Contains(*found.Error, "no network") {
		t.Errorf("%+v", found)
	}
}

// A call that nobody answers fails.
func TestNothingOutside(t *testing.T) {
	mod := load(t)
	w := agenttest.New(t, mod)
	_, err := mod.Start(t.Context(), w.Options(agentscript.Args(map[string]any{"topic": "tea"}))...).Wait()
	if e, ok := errors.AsType[*engine.Error](err); !ok || e.Code != diag.Unanswered {
		t.Error(err)
	}
}

var files = fstest.MapFS{
	"flows/flow.star": {Data: []byte(`
guide = agent(prompt = "Guide.", tools = [weather])
`)},
	"flows/good_test.star": {Data: []byte(`
load("flow.star", "guide")

def test_tool_of_the_host(t):
    t.reply("guide", t.call("weather", city = "Bergen"), "Take an umbrella.")
    t.tool("weather", "rain")
    t.eq(guide("Bergen?"), "Take an umbrella.")

def test_rows(t):
    def row(t, r):
        t.eq(r, r)

    t.each({"a": 1, "b": 2}, row)

def test_skipped(t):
    t.skip("no reason")

def todo_later(t):
    pass
`)},
	"flows/bad_test.star": {Data: []byte(`
load("flow.star", "guide")

def test_fails(t):
    print("before it fails")
    t.eq([1, 2], [1, 3], "the parts")

def test_unanswered(t):
    guide("x")
`)},
	"suite/flow.star": {Data: []byte(`
left = agent(prompt = "Left.", model = "openai/gpt-5-mini")
right = agent(prompt = "Right.", model = "openai/gpt-5-mini")
both = left / right
trusting = agent("judge", prompt = "Judge.") >> fn(lambda s: "ship" if s == "one" else "stay", input = str, output = str)

def look(dir = str):
    if dir == "nowhere":
        return []
    return fs.list(dir)
`)},
	"suite/flow_test.star": {Data: []byte(strings.ReplaceAll(`
load("flow.star", "both", "look", "trusting")

def test_both(t):
    t.reply("left", "one")
    t.eq(sorted(both("x")), ["one", "two"])

def test_race(t):
    t.on("*", "one", when = "y")
    t.true(len(both("y")) == 2)

def test_ship(t):
    t.reply("judge", "one")
    t.eq(trusting("x"), "ship")

def test_look(t):
    t.true(len(look("DIR")) > 0)

def test_skipped(t):
    t.skip("later")
`, "DIR", filepath.ToSlash(os.TempDir())))},
	"race/race_test.star": {Data: []byte(`
both = agent("left", prompt = "Left.") / agent("right", prompt = "Right.")

def test_race(t):
    t.reply("*", "one", "two")
    t.eq(both("x"), ["one", "two"])
`)},
	"broken/broken_test.star": {Data: []byte("def f(:\n")},
}

func weather(context.Context, struct {
	City string `json:"city"`
}) (string, error) {
	return "", errors.New("a test called the tool of the host")
}

func host(t *testing.T) agentscript.Option {
	t.Helper()
	tool, err := agentscript.ToolFunc("weather", "Tells the weather", weather)
	if err != nil {
		t.Fatal(err)
	}
	return agentscript.WithTool(tool)
}

// Test files are subtests, with the tools of the host.
func TestRun(t *testing.T) { agenttest.Run(t, files, "flows/good_test.star", host(t)) }

// TestChild is what the process of TestPromise_27_42_Agenttest runs.
func TestChild(t *testing.T) {
	pattern := os.Getenv("AGENTTEST_PATTERN")
	if pattern == "" {
		t.Skip("only in a process of its own")
	}
	if pattern == "unused" {
		w := agenttest.New(t, load(t))
		w.Reply("judge", true, agenttest.Answer{Value: false})
		return
	}
	if pattern == "typo" {
		agenttest.New(t, load(t)).Reply("judgee", true)
		return
	}
	if suite, of := strings.CutPrefix(pattern, "suite:"); of {
		suites(t)[suite].Run(t, files, map[bool]string{true: "race", false: "suite"}[suite == "repeat"]+"/*_test.star")
		return
	}
	agenttest.Run(t, files, pattern, host(t))
}

// suites returns suites, each of which has something to complain about.
func suites(t *testing.T) map[string]agenttest.Suite {
	t.Helper()
	one, two := "one", "two"
	live := scripted.New([]scripted.Row{{Agent: "left", Text: &one, Repeat: true}, {Agent: "right", Text: &two, Repeat: true}})
	grants, err := grant.New(grant.FS(os.TempDir(), grant.ReadOnly))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]agenttest.Suite{
		"alone":     {Threshold: "lines=1"},
		"live":      {Models: live, Grants: grants, Repeat: 1},
		"threshold": {Models: live, Grants: grants, Threshold: "lines=100,agents=100"},
		"mutations": {Models: live, Grants: grants, Threshold: "mutations=100"},
		"repeat":    {Repeat: 50, Seed: 5},
		"limits":    {Models: live, Grants: grants, Each: []agentscript.RunOption{agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(1)})}},
		"wrong":     {Threshold: "lnes=3"},
	}
}

// A suite opens what tests do not answer, repeats tests with several seeds, and applies thresholds.
func TestSuite(t *testing.T) {
	for name, want := range map[string][]string{
		"alone":     {"AS802", "fs.list"},
		"live":      {"ok"},
		"threshold": {"coverage of lines: 87.5% is below 100%", "flow.star: not run: line"},
		"mutations": {"mutations: ", "is below 100%", "judge"},
		"repeat":    {"AS807", "--seed "},
		"limits":    {"AS7"},
		"wrong":     {`nothing is called "lnes"; did you mean "lines"?`},
	} {
		out, err := child(t, "suite:"+name)
		if (err == nil) != (name == "live") {
			t.Errorf("%s ended with %v", name, err)
		}
		for _, line := range want {
			if !strings.Contains(out, line) {
				t.Errorf("%s: no %q in\n%s", name, line, out)
			}
		}
	}
}

// child runs TestChild with a pattern in a separate process.
func child(t *testing.T, pattern string) (string, error) {
	cmd := hang.Command(t, os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), "AGENTTEST_PATTERN="+pattern)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Promise 27.42 (desk): package agenttest runs `*_test.star` files as subtests of `go test`, and provides the same
// answers and assertions to Go tests.
func TestPromise_27_42_Agenttest(t *testing.T) {
	for pattern, want := range map[string][]string{
		"flows/*_test.star": {"--- PASS: TestChild/flows/good_test/test_rows/a", "--- SKIP: TestChild/flows/good_test/test_skipped", "--- SKIP: TestChild/flows/good_test/todo_later",
			"--- FAIL: TestChild/flows/bad_test/test_fails", "before it fails", "error[AS801]: the parts: got [1, 2], want [1, 3]", `6 |     t.eq([1, 2], [1, 3], "the parts")`,
			"AS802", `no scripted answer for agent "guide"`},
		"broken/*":     {"broken/broken_test.star:1:7"},
		"flows/*.star": {"--- PASS: TestChild/flows/good_test"},
		"nothing/*":    {`no file of tests matches "nothing/*"`},
		"[":            {"syntax error in pattern"},
		"unused":       {"error[AS803]: 2 of the answers that the test prepares were not used", "agenttest_test.go:"},
		"typo":         {`there is no agent "judgee"`, `did you mean "judge"?`},
	} {
		out, err := child(t, pattern)
		if err == nil {
			t.Errorf("%s passed", pattern)
		}
		for _, line := range want {
			if !strings.Contains(out, line) {
				t.Errorf("%s: no %q in\n%s", pattern, line, out)
			}
		}
	}
}
