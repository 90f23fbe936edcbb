//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// serverScenarios are the scenarios of the suite about what `serve mcp` provides: tools.
var serverScenarios = []string{
	"server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-error", "tools-call-with-progress",
	"server-sse-multiple-streams", "dns-rebinding-protection",
}

// otherScenarios are the scenarios about what it does not provide, by subject. A scenario in neither list is an error,
// so that a new suite is examined.
var otherScenarios = map[string][]string{
	"it has no resources":                {"resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read", "resources-subscribe", "resources-unsubscribe"},
	"it has no prompts":                  {"prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image", "completion-complete"},
	"flows give text and data, no media": {"tools-call-image", "tools-call-audio", "tools-call-embedded-resource", "tools-call-mixed-content"},
	"it sends no log messages":           {"logging-set-level", "tools-call-with-logging"},
	"it asks clients for nothing":        {"tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"},
	"schemas are made of types, and have no $defs of a script's own wording": {"json-schema-2020-12"},
	"a call keeps its stream, and a client that loses it calls again":        {"server-sse-polling"},
}

// The protocol's own suite for servers, against `agentscript serve mcp --http`.
func TestMCPConformanceOfServer(t *testing.T) {
	node, suite := mcpSuite(t)
	bin := filepath.Join(t.TempDir(), "agentscript")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/agentscript/agentscript/cmd/agentscript").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	url := "http://" + address + "/mcp"
	start(t, url, exec.Command(bin, "serve", "mcp", "--http", address, "testdata/served.star", "--scripted", os.DevNull,
		"--expose", "test_simple_text", "--expose", "test_error_handling", "--expose", "test_tool_with_progress"))

	known := map[string]bool{}
	for _, scenario := range serverScenarios {
		known[scenario] = true
		t.Run(scenario, func(t *testing.T) {
			cmd := exec.Command(node, suite, "server", "--url", url, "--scenario", scenario)
			cmd.Dir = t.TempDir() // it writes its results there
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), " 0 failed") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for why, scenarios := range otherScenarios {
		for _, scenario := range scenarios {
			known[scenario] = true
			t.Run(scenario, func(t *testing.T) { t.Skipf("SKIPPED: %s is not for this server: %s", scenario, why) })
		}
	}
	list, err := exec.Command(node, suite, "list", "--server").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s+- (\S+)`).FindAllStringSubmatch(string(list), -1)
	if len(found) < len(serverScenarios) {
		t.Errorf("the suite lists\n%s", list)
	}
	for _, m := range found {
		if !known[m[1]] {
			t.Errorf("the suite has a scenario that nobody has looked at: %s", m[1])
		}
	}
}
