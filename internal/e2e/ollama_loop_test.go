//go:build e2e

package e2e

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// TestOllamaLoop runs an agent's loop on a real model that makes two calls at once and answers their results: it is
// informed of what went wrong, and the run continues.
func TestOllamaLoop(t *testing.T) {
	base, sent := tap(t, caller(t, "Both ", "are told."))
	for _, row := range []struct {
		name, script string
		told         []string // in the results that are sent to the model
	}{
		{"both answer", `
def lookup(word = str, deep = dict[str, any]):
    """Looks a word up."""
    return "%s: %d" % (word, len(deep["list"]))

def now():
    """The time."""
    return "noon"

main = agent(prompt = "Look it up.", tools = [lookup, now])
`, []string{"größe: 3", "noon"}},
		{"one fails", `
def lookup(word = str, deep = dict[str, any]):
    """Looks a word up."""
    fail("no shelf for " + word)

def now():
    """The time."""
    return "noon"

main = agent(prompt = "Look it up.", tools = [lookup, now])
`, []string{"no shelf for größe", "noon"}},
		{"one does not fit, and the other is no tool of the agent's, which the server passes over", `
def lookup(word = str, deep = int):
    """Looks a word up."""
    return word

main = agent(prompt = "Look it up.", tools = [lookup])
`, []string{"bad arguments: deep"}},
	} {
		for _, provider := range endpoints {
			for _, stream := range []bool{false, true} {
				t.Run(row.name+"/"+provider+map[bool]string{false: "/plain", true: "/stream"}[stream], func(t *testing.T) {
					var streamed strings.Builder
					var kinds engine.EventKind
					if stream {
						kinds = engine.EventToken
					}
					mod := flow(t, local(t, base), provider+"/talker", row.script)
					res, err := mod.Start(t.Context(), agentscript.InputText("größe"), agentscript.OnEvent(kinds, func(e engine.Event) {
						streamed.WriteString(e.Text())
					})).Wait()
					if err != nil {
						t.Fatal(err)
					}
					if res.Text() != "Both are told." || stream && !strings.HasSuffix(streamed.String(), res.Text()) {
						t.Errorf("%q, streamed %q", res.Text(), streamed.String())
					}
					bodies := sent()
					for _, want := range row.told {
						if last := string(bodies[len(bodies)-1]); !strings.Contains(last, want) {
							t.Errorf("the model is not told %q: %s", want, last)
						}
					}
				})
			}
		}
	}
}

// eager is the template of a model that calls a tool whenever it has one.
const eager = `{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}
{{- if .ToolCalls }}{{ range .ToolCalls }}<tool_call>{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}</tool_call>{{ end }}{{ end }}{{ end }}
{{- if .Tools }}<|call|>{{ else }}<|plain|>{{ end }}`

// TestOllamaLastAnswer checks that at the limit a model that calls forever is called once more, without tools.
func TestOllamaLastAnswer(t *testing.T) {
	base := talker(t, eager, []string{"<|plain|>", "With what ", "I have."}, []string{"<|call|>", `<tool_call>{"name": "now", "arguments": {}}</tool_call>`})
	for _, provider := range endpoints {
		mod := flow(t, local(t, base), provider+"/talker", `
def now():
    """The time."""
    return "noon"

main = agent(prompt = "Look.", tools = [now], budget = budget(turns = 3, same_call = 9, on_limit = "answer"))
`)
		calls := 0
		res, err := mod.Start(t.Context(), agentscript.InputText("look"), agentscript.OnEvent(engine.EventTool, func(engine.Event) { calls++ })).Wait()
		if provider == "compat" { // that endpoint cannot forbid calls while tools are declared
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindBudget || !strings.Contains(e.Error(), "last answer") {
				t.Errorf("%s: %v", provider, err)
			}
			continue
		}
		if err != nil || res.Text() != "With what I have." || calls < 2 {
			t.Errorf("%s: %q, %v after %d events of calls", provider, res.Text(), err, calls)
		}
	}
}
