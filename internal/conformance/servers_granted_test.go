package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/mcp"
)

// Promise 24.40 (MCP): when a script is loaded, the command, the host and the secrets of a server that the script
// writes out are checked against the grants: `run`, `serve`, and `check` with grants refuse the server and name the
// flag that grants it, and accept it with that flag. If the host configures how servers are reached, that configuration
// decides instead of its grants.
func TestPromise_24_40_ServersCheckedAtLoad(t *testing.T) {
	const uses = "\nmain = agent(model = \"ollama/x\", prompt = \"P.\", tools = [s])\n"
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	exe = filepath.ToSlash(exe)
	for declared, flags := range map[string][]string{
		`s = mcp("` + exe + `", args = ["-y", "x"])`:                                                         {"--allow-exec", exe},
		`s = mcp(url = "https://a.example/mcp")`:                                                             {"--allow-net", "a.example"},
		`s = mcp(url = "http://127.0.0.1:8000/mcp", headers = {"A": secret("A_TOKEN", prefix = "Bearer ")})`: {"--allow-net", "127.0.0.1:8000", "--allow-env", "A_TOKEN"},
	} {
		flow := file(t, "flow.star", declared+uses)
		for _, line := range [][]string{{"run", "-q", flow, "go"}, {"serve", "mcp", flow}, {"check", "--allow-exec", "go", flow}} {
			wants := []string{"AS620"}
			for i := 0; i < len(flags); i += 2 {
				wants = append(wants, "run or check it with "+flags[i]+" "+flags[i+1])
			}
			stops(t, offline(t, line...), 3, wants...)
		}
		for _, line := range [][]string{append(append([]string{"check"}, flags...), flow), {"check", flow}, {"check", "--manifest", flow}, {"graph", flow}} {
			if out := offline(t, line...); out.code != 0 || strings.Contains(out.stderr, "AS") {
				t.Errorf("%s: exit code %d\n%s", line, out.code, out.stderr)
			}
		}
	}
	if out := offline(t, "check", "--format", "json", file(t, "flow.star", `s = mcp("npx")`+uses)); out.code != 0 || !strings.Contains(out.stdout, "--allow-exec npx") {
		t.Errorf("exit code %d\n%s", out.code, out.stdout)
	}

	src := `s = mcp(url = "https://a.example/mcp")` + uses
	_, granting := grants(t, grant.Net("a.example"))
	none := mcp.New()
	all := mcp.New(mcp.WithAllow(func(capability.Use) error { return nil }))
	for _, c := range []struct {
		name  string
		opts  []agentscript.Option
		codes string
	}{
		{"nothing", nil, string(diag.NotGranted)},
		{"grants", []agentscript.Option{agentscript.WithGrants(granting)}, ""},
		{"a client that allows nothing, beside grants", []agentscript.Option{agentscript.WithGrants(granting), agentscript.WithMCP(none)}, string(diag.NotGranted)},
		{"a client that allows all", []agentscript.Option{agentscript.WithMCP(all)}, ""},
		{"a handler that does not say", []agentscript.Option{agentscript.WithMCP(engine.HandlerFunc(all.Do))}, ""},
		{"a script that is only looked at", []agentscript.Option{agentscript.WithUngranted()}, ""},
	} {
		if found, shown := checkedBy(agentscript.New(c.opts...), src); codes(found) != c.codes {
			t.Errorf("%s: %q\n%s", c.name, codes(found), shown)
		}
	}
	if found, shown := checked("HOST = \"https://a.example\"\ns = mcp(url = HOST + \"/mcp\")" + uses); len(found) != 0 {
		t.Errorf("what is not written out is found at load:\n%s", shown)
	}
}
