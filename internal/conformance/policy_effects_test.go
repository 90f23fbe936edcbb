package conformance

import (
	"strings"
	"testing"
)

// touching is a script whose tools use capabilities in ways that are not obvious.
const touching = `
run = sh.run
m = http
OPS = {"sort": lambda x: run(["sort", x])}

def through(x = str):
    """Sorts by a helper in a dict."""
    return str(OPS["sort"](x).code)

def put(x = str):
    """Puts."""
    return http.request("PUT", "https://a.example/").text

def any_method(x = str):
    """Asks by an alias."""
    return m.request("PUT", "https://a.example/").text

def made():
    def inner(x = str):
        """Posts inside a closure."""
        return str(attempt(http.post, "https://a.example/"))
    return inner

def look(x = str):
    """Reads."""
    return fs.read(x)

def drop(x = str):
    """Removes."""
    return str(fs.remove(x))

def pure(x = str):
    """Touches nothing."""
    return x

def step(x = str):
    return sh.run(["sort", x]).stdout

main = agent(prompt = "Work.", tools = [through, put, any_method, look, drop, pure, tool(made(), name = "inner"),
    as_tool(fn(step) >> agent(name = "teller", prompt = "Tell."), "flow", "Sorts and tells."),
    tool(pure, name = "mended", on_error = fix(lambda f: sh.run(["sort"]).stdout))])
`

// Promise 21.16 (policy): a tool of a script has the effect class of what its function may do to the world, including
// through helpers, aliases, closures, flows and the functions that repair its calls. Rules by effect apply to it, the
// manifest reports it, and a script cannot declare a weaker one.
func TestPromise_21_16_EffectsOfScriptTools(t *testing.T) {
	flow := file(t, "work.star", touching)
	manifest := func(flow, tools string) {
		t.Helper()
		if o := offline(t, "check", "--manifest", flow); o.code != 0 || !strings.Contains(o.stdout, "  tools   "+tools+"\n") {
			t.Errorf("exit %d, want the tools %s in\n%s%s", o.code, tools, o.stdout, o.stderr)
		}
	}
	manifest(flow, "main.any_method: once, main.drop: idempotent, main.flow: once, main.inner: once, main.look: read, "+
		"main.mended: once, main.pure: read, main.put: idempotent, main.through: once")
	answers := file(t, "work.jsonl", `{"agent": "main", "calls": [{"name": "through", "args": {"x": "--version"}}]}`+"\n"+
		`{"agent": "main", "calls": [{"name": "pure", "args": {"x": "p"}}]}`+"\n"+`{"agent": "main", "text": "done"}`+"\n")
	run := func(more ...string) output {
		return offline(t, append([]string{"run", flow, "x", "--scripted", answers, "--allow-exec", "sort", "--allow-net", "a.example", "--allow-fs", ".:rw"}, more...)...)
	}
	prints(t, run(), "done")
	prints(t, run("--ask", "@once", "--yes"), "done")
	stops(t, run("--ask", "@once"), 5, "AS746", "through")
	if o := run("--deny", "@once"); o.code != 0 || strings.Count(o.stderr, "AS745") != 1 || !strings.Contains(o.stderr, "through") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	prints(t, run("--ask", "@idempotent"), "done")

	less := file(t, "less.star", "def log(x = str):\n    \"\"\"Logs.\"\"\"\n    return sh.run([\"sort\", x]).stdout\n\nmain = agent(prompt = \"x\", tools = [tool(log, effect = \"read\")])\n")
	stops(t, offline(t, "check", "--strict", "--allow-exec", "sort", less), 3, "AS204", `the tool "log" is declared with effect read`, "once")
	manifest(less, "main.log: once")
}
