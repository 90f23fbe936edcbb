//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// asProbe makes the test binary the client that the protocol's conformance suite judges.
const asProbe = "AGENTSCRIPT_MCP_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(asProbe) != "" {
		if err := probe(os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_SCENARIO")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv("AGENTSCRIPT_STORE", "off") // no test stores runs in the user's home
	os.Exit(m.Run())
}

// probe does what a scenario of the suite requires from a client.
func probe(url, scenario string) error {
	c := mcp.New(mcp.WithAllow(func(capability.Use) error { return nil }),
		mcp.WithApprovals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) { return engine.Approve(), nil }))
	defer c.Close()
	if strings.HasPrefix(scenario, "auth/") {
		return probeAuth(url, scenario, os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	}
	spec := &remote.Server{Name: "suite", URL: url, Transport: remote.TransportHTTP}
	if out := c.Do(context.Background(), &engine.Effect{Kind: engine.EffectMCP, Name: "suite", Req: &remote.ListRequest{Server: spec}}, nil); out.Err != nil {
		return out.Err
	}
	call, ok := map[string][2]string{
		"tools_call":                          {"add_numbers", `{"a": 5, "b": 3}`},
		"elicitation-sep1034-client-defaults": {"test_client_elicitation_defaults", `{}`},
		"sse-retry":                           {"test_reconnection", `{}`},
	}[scenario]
	if !ok {
		return nil
	}
	args := lenient.Decode(generable.AnyT, call[1], generable.Options{}).Value
	out := c.Do(context.Background(), &engine.Effect{Kind: engine.EffectTool, Name: "suite." + call[0], Req: &engine.ToolRequest{Args: args, Server: spec, Tool: call[0]}}, nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}

// The protocol's own suite for clients; its scenarios of OAuth are in another test.
func TestMCPConformanceOfClient(t *testing.T) {
	node, suite := mcpSuite(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scenarios := []string{"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry"}
	for _, scenario := range scenarios {
		judge(t, node, suite, exe, scenario)
	}
	listed, err := exec.Command(node, suite, "list", "--client").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\s+- (\S+)`).FindAllStringSubmatch(string(listed), -1)
	if len(found) < len(scenarios) {
		t.Errorf("the suite lists\n%s", listed)
	}
	for _, m := range found {
		if !strings.HasPrefix(m[1], "auth/") && !slices.Contains(scenarios, m[1]) {
			t.Errorf("the suite has a scenario that nobody has looked at: %s", m[1])
		}
	}
}

// mcpSuite returns the suite, and the node that it needs.
func mcpSuite(t *testing.T) (node, suite string) {
	t.Helper()
	return installed(t, "suite", "node_modules", "node", "bin", "node"), installed(t, "suite", "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
}

// judge lets the suite judge one scenario.
func judge(t *testing.T, node, suite, exe, scenario string) {
	t.Helper()
	cmd := exec.Command(node, suite, "client", "--command", exe, "--scenario", scenario)
	cmd.Env = append(os.Environ(), asProbe+"=1")
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "0 failed") {
		t.Errorf("%s: %v\n%s", scenario, err, out)
	} else {
		t.Logf("%s: %s", scenario, strings.TrimSpace(string(out[max(0, len(out)-200):])))
	}
}
