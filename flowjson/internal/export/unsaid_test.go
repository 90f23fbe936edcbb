package export_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/export"
)

// unsaid are scripts that use one feature that the format cannot express, by a name of it.
var unsaid = map[string]string{
	"each":                 `main = agent("a", output = list[str], task = "x") >> each(agent("b", task = "y"))`,
	"fallback":             `main = fallback(agent("a", task = "x"), agent("b", task = "y"))`,
	"race":                 `main = race(agent("a", task = "x"), agent("b", task = "y"))`,
	"retry":                `main = retry(agent("a", task = "x"), max = 2)`,
	"vote":                 `main = vote(agent("a", task = "x"), agent("b", task = "y"), agent("c", task = "z"))`,
	"forum":                `main = agent("a", task = "x") * agent("b", task = "y")`,
	"attempt":              `main = attempt(agent("a", task = "x"))`,
	"wrap":                 `main = wrap(agent("a", task = "x"), agent("b", task = "y"))`,
	"handoff":              `main = handoff(agent("a", output = bool, task = "x"), {True: agent("b", input = bool, task = "y"), False: agent("c", input = bool, task = "z")})`,
	"approval":             `main = agent("a", task = "x") >> approval("Sure?")`,
	"bounded":              `main = bounded(agent("a", task = "x"), budget(model_calls = 3))`,
	"fn":                   `main = agent("a", task = "x") >> fn(lambda s: s + "!", input = str, output = str)`,
	"fn of two":            `main = agent("a", task = "x") >> fn(lambda s, t = "": s, input = str, output = str)`,
	"fn of another":        "t = \"u\"\nmain = agent(\"a\", task = \"x\") >> fn(lambda s: t, input = str, output = str)",
	"fn that computes":     "def f(s):\n    if s:\n        return s\n    return s\n\nmain = agent(\"a\", task = \"x\") >> fn(f, input = str, output = str)",
	"fn of a builtin":      `main = agent("a", task = "x") >> fn(len, input = str, output = int)`,
	"template":             `main = template("Hello {{input}}", input = str) >> agent("a", task = "x")`,
	"loop by next":         `main = loop(agent("a", task = "x"), lambda s: None)`,
	"loop max":             `main = loop(verify(name = "v", task = "x"), until = eq("success", True), repair = pick("feedback"), max = 3)`,
	"until function":       `main = loop(verify(name = "v", task = "x"), until = lambda c: c.success, repair = pick("feedback"))`,
	"max_steps":            "a = agent(task = \"x\")\nb = agent(task = \"y\")\nmain = graph(a, [edge(a, FINISH)], max_steps = 3) >> b",
	"max_steps of flows":   "a = agent(\"a\", task = \"x\") >> agent(\"b\", task = \"y\")\nmain = graph(a, [edge(a, FINISH)], max_steps = 3)",
	"on_no_match":          "a = agent(task = \"x\")\nmain = graph(a, [edge(a, FINISH, when = eq(\"y\"))], on_no_match = \"error\")",
	"map":                  "a = agent(task = \"x\")\nmain = graph(a, [edge(a, FINISH, map = fn(lambda s: s + \"!\", input = str, output = str))])",
	"pick":                 `main = verify(name = "v", task = "x") >> pick("input")`,
	"par limit":            `main = par(agent("a", task = "x"), agent("b", task = "y"), limit = 1)`,
	"par on_error":         `main = par(agent("a", task = "x"), agent("b", task = "y"), on_error = "drop")`,
	"par merge":            `main = par(agent("a", task = "x"), agent("b", task = "y"), merge = fn(lambda l: l[0] + l[1], input = list[str], output = str))`,
	"par of flows":         `main = par(agent("a", task = "x") >> agent("b", task = "y"), agent("c", task = "z"))`,
	"run":                  `main = agent("a", run = lambda s: s)`,
	"skills":               `main = agent("a", skills = [skill("s", "does it")])`,
	"prompt template":      `main = agent("a", prompt = template("Do {{input}}."))`,
	"task template":        `main = agent("a", task = template("Do {{input}}."))`,
	"verify template":      `main = verify(name = "a", task = template("Judge {{input}}."))`,
	"fallback models":      `main = agent("a", task = "x", model = ["openai/gpt-4o", "openai/gpt-5"])`,
	"seed":                 `main = agent("a", task = "x", seed = 7)`,
	"stop":                 `main = agent("a", task = "x", stop = ["END"])`,
	"effort":               `main = agent("a", task = "x", effort = "low")`,
	"reasoning_tokens":     `main = agent("a", task = "x", reasoning_tokens = 100)`,
	"cache":                `main = agent("a", task = "x", cache = True)`,
	"parallel calls":       `main = agent("a", task = "x", parallel_tool_calls = False)`,
	"extra":                `main = agent("a", task = "x", extra = {"user": "me"})`,
	"structured":           `main = agent("a", task = "x", structured = "guided")`,
	"enough":               "S = schema(\"S\", {\"n\": int})\nmain = agent(\"a\", output = S, task = \"x\", enough = has(\"n\"))",
	"budget":               `main = agent("a", task = "x", budget = budget(turns = 3, tool_calls = 4, wall = "5s"))`,
	"on_bad_output":        `main = agent("a", task = "x", on_bad_output = lambda s: s)`,
	"on_token":             `main = agent("a", task = "x", on_token = lambda t: None)`,
	"repairs":              `main = agent("a", task = "x", repairs = 3)`,
	"on_tool_error":        `main = agent("a", task = "x", tools = [mcp("s", name = "s")], on_tool_error = again())`,
	"tools_at_once":        `main = agent("a", task = "x", tools_at_once = 2)`,
	"policy":               `main = agent("a", task = "x", tools = [mcp("s", name = "s")], policy = policy(ask = ["@once"]))`,
	"hooks":                `main = agent("a", task = "x", hooks = hooks(before_model = lambda r: None))`,
	"memory":               `main = agent("a", task = "x", memory = memory("notes"))`,
	"compress":             `main = agent("a", task = "x", history = compress(keep = 4))`,
	"agent as tool":        `main = agent("a", task = "x", tools = [as_tool(agent("b", task = "y"), "ask", "asks b")])`,
	"escalate":             `main = agent("a", task = "x", tools = [escalate])`,
	"tool on_error":        "def f(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [tool(f, on_error = again())])",
	"tool timeout":         "def f(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [tool(f, timeout = \"5s\")])",
	"tool rule":            "def f(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [tool(f, max = 2)])",
	"secret header":        `main = agent("a", task = "x", tools = [mcp(url = "https://example.com", name = "web", headers = {"Authorization": secret("KEY", prefix = "Bearer ")})])`,
	"literal secret":       `main = agent("a", task = "x", tools = [mcp(url = "https://example.com", name = "web", headers = {"Authorization": "Bearer abc123def456"}, untrusted = True)])`,
	"secret variable":      `main = agent("a", task = "x", tools = [mcp("s", name = "s", env = {"API_KEY": secret("KEY")})])`,
	"auth":                 `main = agent("a", task = "x", tools = [mcp(url = "https://example.com", name = "web", auth = oauth())])`,
	"server settings":      `main = agent("a", task = "x", tools = [mcp("s", name = "s", timeout = "9s", call_timeout = "8s", effect = "read", untrusted = True)])`,
	"globs":                `main = agent("a", task = "x", tools = [mcp("s", name = "s", tools = ["read_*", "!read_media"])])`,
	"one of two":           `main = agent("a", task = "x", tools = [mcp("s", name = "s")]) >> agent("b", task = "y", tools = [mcp("t", name = "t")])`,
	"function or all":      "def f(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [mcp(\"s\", name = \"s\")]) >> agent(\"b\", task = \"y\", tools = [f])",
	"two servers":          `main = agent("a", task = "x", tools = [mcp("s", name = "s")]) >> agent("b", task = "y", tools = [mcp("t", name = "s")])`,
	"same tool twice":      `main = agent("a", task = "x", tools = [mcp("s", name = "s", tools = ["read"])]) >> agent("b", task = "y", tools = [mcp("t", name = "t", tools = ["read"])])`,
	"two functions":        "def f(k = str):\n    return k\n\ndef g(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [f]) >> agent(\"b\", task = \"y\", tools = [tool(g, name = \"f\")])",
	"server function":      "def f(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [f, mcp(\"s\", name = \"f\", tools = [\"read\"])])",
	"agents twice":         `main = agent("a", task = "x") >> agent("a", task = "y")`,
	"name of the end":      `main = agent("__finish__", task = "x")`,
	"input":                `main = agent("a", input = int, task = "x")`,
	"int by halves":        `main = branch(agent("a", output = int, task = "x"), [when(ge(80.5), agent("b", input = int, task = "y"))], otherwise = agent("c", input = int, task = "z"))`,
	"enum with notes":      "E = enum(\"p\", \"q\", _doc = \"what it is\")\nmain = branch(agent(\"a\", output = E, task = \"x\"), {\"p\": agent(\"b\", input = E, task = \"y\"), \"q\": agent(\"c\", input = E, task = \"z\")})",
	"output of one inside": `main = par(agent("a", output = int, task = "x"), agent("b", output = int, task = "y"))`,
	"bool of one inside":   `main = par(agent("a", output = bool, task = "x"), agent("b", output = bool, task = "y"))`,
	"enum of one inside":   "E = enum(\"p\", \"q\")\nmain = par(agent(\"a\", output = E, task = \"x\"), agent(\"b\", output = E, task = \"y\"))",
	"output schema":        "S = schema(\"S\", {\"n\": int})\nmain = agent(\"a\", output = S, task = \"x\")",
	"matches":              `main = branch(agent("a", task = "x"), [when(matches("^y"), agent("b", task = "y"))], otherwise = agent("c", task = "z"))`,
	"has":                  `main = branch(verify(name = "v", task = "x"), [when(has("feedback", "y"), agent("b", input = Critique[str], task = "y"))], otherwise = agent("c", input = Critique[str], task = "z"))`,
	"and":                  `main = branch(agent("a", task = "x"), [when(ne("p") & ge("m", fold = True), agent("b", task = "y"))], otherwise = agent("c", task = "z"))`,
	"when function":        `main = branch(agent("a", task = "x"), [when(lambda s: s == "y", agent("b", task = "y"))], otherwise = agent("c", task = "z"))`,
	"order of texts":       `main = branch(agent("a", task = "x"), [when(ge("m"), agent("b", task = "y"))], otherwise = agent("c", task = "z"))`,
	"folded equality":      `main = branch(agent("a", task = "x"), [when(eq("m", fold = True), agent("b", task = "y"))], otherwise = agent("c", task = "z"))`,
	"exact":                `main = branch(agent("a", output = float, task = "x"), [when(eq(4.0, exact = True), agent("b", input = float, task = "y"))], otherwise = agent("c", input = float, task = "z"))`,
	"field":                `main = branch(verify(name = "v", task = "x"), [when(eq("input", "y"), agent("b", input = Critique[str], task = "y"))], otherwise = agent("c", input = Critique[str], task = "z"))`,
	"large number":         `main = branch(agent("a", output = int, task = "x"), [when(ge(9007199254740993), agent("b", input = int, task = "y"))], otherwise = agent("c", input = int, task = "z"))`,
	"type":                 `main = branch(agent("a", output = int | str, task = "x"), {int: agent("b", input = int, task = "y"), str: agent("c", task = "z")})`,
	"twice chosen": `main = branch(branch(verify(name = "v", task = "x"), [when(eq("success", True), fn(lambda c: c, input = Critique[str], output = Critique[str]))],
        otherwise = agent("o", input = Critique[str], task = "z") >> verify(name = "w", task = "x")),
    [when(eq("feedback", "") & eq("success", True) | eq("feedback", "no") & eq("success", False), agent("b", input = Critique[str], task = "y"))], otherwise = agent("c", input = Critique[str], task = "z"))`,
	"chosen on both sides": `v = verify(task = "x")
again = branch(fn(lambda c: c, input = Critique[str], output = Critique[str]), [when(eq("feedback", "p"), pick("feedback"))], otherwise = agent("o", input = Critique[str], task = "z"))
main = branch(loop(v, until = eq("success", True), repair = again), [when(eq("feedback", "q"), agent("b", input = Critique[str], task = "y"))], otherwise = agent("c", input = Critique[str], task = "z"))`,
	"map by an agent":      "a = agent(task = \"x\")\nmain = graph(a, [edge(a, FINISH, map = agent(\"b\", task = \"y\", seed = 7))])",
	"merge by an agent":    `main = par(agent("a", task = "x"), agent("b", task = "y"), merge = agent("c", input = list[str], task = "z", seed = 7))`,
	"chosen by a part":     "v = verify(task = \"x\")\ng = graph(v, [edge(v, FINISH, map = pick(\"feedback\"))])\nmain = branch(g, [when(eq(\"y\"), agent(\"b\", task = \"y\"))], otherwise = agent(\"c\", task = \"z\"))",
	"verdict passed on":    "v = verify(task = \"x\")\np = fn(lambda c: c, input = Critique[str], output = Critique[str])\na = agent(input = Critique[str], task = \"y\")\nmain = graph(v, [edge(v, p), edge(p, a, when = eq(\"success\", True)), edge(p, FINISH)], output = str | Critique[str])",
	"whole verdict":        "v = verify(task = \"x\")\nmain = branch(v, {Critique[str]: agent(\"a\", input = Critique[str], task = \"y\", seed = 1)})",
	"edges to any other":   "a = agent(task = \"x\", seed = 7)\nb = agent(task = \"y\", seed = 7)\nmain = graph(a, [edge(a, FINISH, when = eq(\"x\"))], on_no_match = b)",
	"clash with functions": "def read(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [read]) >> agent(\"b\", task = \"y\", tools = [mcp(\"t\", name = \"t\", tools = [\"read\"])])",
	"several":              `main = agent("a", task = "x", seed = 7, stop = ["END"]) >> retry(agent("b", task = "y", cache = True)) >> agent("c", output = list[int], task = "z")`,
}

// TestUnsaid checks that what the format cannot express is reported with a position, what it is and a remedy, and that
// nothing is written.
func TestUnsaid(t *testing.T) {
	var b strings.Builder
	for _, name := range sortedKeys(unsaid) {
		text, found := export.Write(load(t, "f.star", unsaid[name]+"\n"), export.Options{})
		if text != nil || !found.HasErrors() {
			t.Errorf("%s: is written\n%s", name, text)
		}
		for _, d := range found {
			if d.Code != diag.FlowExport || !d.Span.IsValid() || d.Message == "" || len(d.Help) == 0 || d.Help[0] == "" {
				t.Errorf("%s: %+v has no place, message or remedy", name, d)
			}
		}
		fmt.Fprintf(&b, "# %s\n%s", name, shown(found))
	}
	golden(t, "testdata/unsaid.golden", []byte(b.String()))
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestWarned checks the warnings about what is written, but needs something where it runs or does more there.
func TestWarned(t *testing.T) {
	var b strings.Builder
	scripts := map[string]string{
		"conversation": `main = agent("a", task = "x") >> agent("b", task = "y")`,
		"secret":       `main = agent("a", task = "x", tools = [mcp(url = "https://example.com", name = "web", headers = {"Authorization": "Bearer abc123def456"})])`,
		"max_steps":    "a = agent(task = \"x\")\nmain = conversation(graph(a, [edge(a, FINISH)], max_steps = 3))",
		"function":     "def f(k = str):\n    return k\n\nmain = agent(\"a\", task = \"x\", tools = [f])",
	}
	for _, name := range sortedKeys(scripts) {
		text, found := export.Write(load(t, "f.star", scripts[name]+"\n"), export.Options{})
		if found.HasErrors() {
			t.Fatal(found)
		}
		sound(t, string(text))
		fmt.Fprintf(&b, "# %s\n%s", name, shown(found))
	}
	golden(t, "testdata/warned.golden", []byte(b.String()))
}
