package starlib_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/starlib"
)

// TestPartsHaveNoAttributesAndItems checks that a function that reads an attribute or item of a part of an agent is
// reported before it runs.
func TestPartsHaveNoAttributesAndItems(t *testing.T) {
	const part = "s = skill(\"look\", \"Looks.\", run = lambda x: x)\n"
	for read, want := range map[string]string{
		"s.name": `AS209 the result of skill("look") has no .name`,
		"s[0]":   `AS213 skill("look") has no items`,
	} {
		_, found := load(part + "def main(x = str):\n    return " + read + "\n")
		if len(found) != 1 || string(found[0].Code)+" "+found[0].Message != want {
			t.Errorf("%s: %v, want %s", read, found, want)
		}
	}
}

// TestClassOfWhatAnAgentCalls checks that the effect class of a tool includes the functions of the nodes that it calls.
func TestClassOfWhatAnAgentCalls(t *testing.T) {
	for call, want := range map[string]engine.Class{"http.post": engine.ClassOnce, "http.get": engine.ClassRead} {
		_, found := loadWith(starlib.Options{Ungranted: true}, `
sender = agent(input = str, output = str, run = lambda x: `+call+`("https://example.com/").text)
def send(text = str):
    "Sends a text."
    return sender(text)
main = agent(prompt = "Send it.", tools = [tool(send, effect = "read")])
`)
		warned := len(found) == 1 && strings.Contains(found[0].Message, "may have effect "+string(want))
		if warned != (want != engine.ClassRead) {
			t.Errorf("%s: %v", call, found)
		}
	}
}
