package starlib_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestModelSettings checks that the engine's agent has the settings that a script gives a model and its calls.
func TestModelSettings(t *testing.T) {
	m := sound(t, `
def lookup(word = str):
    "Looks a word up."
    return word

Mail = schema(spam = bool, why = field(str, default = ""))
sorter = agent(prompt = "p", output = Mail, enough = eq("spam", True))
fast = model(["a/x", "b/y"], effort = "low", reasoning_tokens = 0, cache = True, parallel_tool_calls = False, extra = {"service_tier": "flex"}, temperature = 0.0)
main = agent(prompt = "p", model = fast, effort = "high", tools = [lookup], tool_choice = "lookup")
`)
	a := m.Node("main").Agent()
	if a.Model != "a/x" || len(a.Fallbacks) != 1 || a.Fallbacks[0] != "b/y" {
		t.Errorf("models %q, %q", a.Model, a.Fallbacks)
	}
	got, err := json.Marshal(a.Params)
	if want := `{"temperature":0,"effort":"high","reasoning_tokens":0,"cache":true,"parallel_calls":false,"extra":{"service_tier":"flex"}}`; err != nil || string(got) != want {
		t.Errorf("params %s, %v; want %s", got, err, want)
	}
	if e := m.Node("sorter").Agent().Enough; e == nil || e.String() != `eq("spam", True)` {
		t.Errorf("enough %v", e)
	}
	if a.Choice.Mode != "tool" || a.Choice.Tool != "lookup" {
		t.Errorf("choice %+v", a.Choice)
	}
}

func TestModelSettingsMisused(t *testing.T) {
	for script, want := range map[string]string{
		`main = agent(prompt = "p", model = [])`:                                                        "the list names no model",
		`main = agent(prompt = "p", model = ["a/x", "a/x"])`:                                            `"a/x" is listed twice`,
		`main = agent(prompt = "p", tool_choice = "required")`:                                          "the agent has no tools",
		`main = agent(prompt = "p", reasoning_tokens = -1)`:                                             "want at least 0, got -1",
		`main = agent(prompt = "p", enough = has("x"))`:                                                 "has no fields to wait for",
		`main = agent(prompt = "p", enough = lambda x: True)`:                                           "want condition",
		"M = schema(a = int, b = int)\nmain = agent(prompt = \"p\", output = M, enough = gt(\"a\", 1))": "before b, which M requires",
		`main = agent(prompt = "p", effort = "hihg")`:                                                   `"high"`,
		`main = agent(run = lambda s: s, effort = "high", cache = True)`:                                "would do nothing",
		"def f(x = str):\n    return x\nmain = agent(prompt = \"p\", tools = [f], tool_choice = \"g\")": `no tool "g"`,
	} {
		m, found := load(script)
		if got := render(m, found); !strings.Contains(got, want) {
			t.Errorf("%s\ngot %s\nwant %s", script, got, want)
		}
	}
}
