package agentscript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
)

// manifestOf returns the manifest of a script whose agents have servers.
func manifestOf(t *testing.T, script string) agentscript.Manifest {
	t.Helper()
	mod, err := agentscript.New(agentscript.WithUngranted()).Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(script)}}, "main.star")
	if err != nil {
		t.Fatal(err)
	}
	return mod.Manifest()
}

// Promise 24.64 (MCP): the manifest says for each server how it is reached, with its variables and headers, and which
// of its tools each agent gets. A comparison reports what widens that, not what narrows it.
func TestPromise_24_64_ServersInManifest(t *testing.T) {
	m := manifestOf(t, `
files = mcp("npx", args = ["-y", "server-files"], env = {"MODE": "ro", "KEY": secret("FILES_KEY")}, tools = ["read_*", "list all", "!read_media"], effect = "read")
web = mcp(url = "https://mcp.example.com:8443/mcp", headers = {"X-Readonly": "true", "X-Api-Key": "written-out-1", "Authorization": secret("TOKEN", prefix = "Bearer ")})
main = agent(name = "first", prompt = "x", tools = [files, web]) >> agent(name = "second", prompt = "x", tools = [web])
`)
	for name, row := range map[string][2][]string{
		"tools": {m.Tools, {`first.files[read_* list\x20all !read_media]: read`, "first.web[*]: once", "second.web[*]: once"}},
		"mcp": {m.MCP, {`files: MODE="ro" KEY="<secret FILES_KEY>" npx -y server-files`,
			`web: https://mcp.example.com:8443/mcp X-Readonly="true" X-Api-Key="[redacted]" Authorization="Bearer <secret TOKEN>"`}},
		"exec": {m.Exec, {"npx"}}, "net": {m.Net, {"mcp.example.com:8443"}}, "env": {m.Env, {"FILES_KEY", "TOKEN"}},
	} {
		if !slices.Equal(row[0], row[1]) {
			t.Errorf("%s: %q, want %q", name, row[0], row[1])
		}
	}
	for _, row := range []struct {
		before, now string
		wider       bool
	}{
		{``, ``, false},
		{``, `tools = ["read"]`, false},
		{``, `tools = ["!write"]`, false},
		{`tools = ["read"]`, ``, true},
		{`tools = ["read"]`, `tools = ["read", "write"]`, true},
		{`tools = ["read", "write"]`, `tools = ["read"]`, false},
		{`tools = ["read", "write"]`, `tools = ["write"]`, false},
		{`tools = ["read", "write"]`, `tools = ["write", "read"]`, true}, // not seen through
		{`tools = ["read"]`, `tools = ["*"]`, true},
		{`tools = ["read_*"]`, `tools = ["read_*", "!read_media"]`, false},
		{`tools = ["read_*", "!read_media"]`, `tools = ["read_*"]`, true},
		{`tools = ["read_*", "!read_media"]`, `tools = ["!read_media", "read_*"]`, true},
		{`tools = ["read_*", "!read_media"]`, `tools = ["!read_media"]`, true}, // all others now
		{`tools = ["!write"]`, `tools = ["!write", "!remove"]`, false},
		{`tools = ["!write"]`, `tools = ["!remove"]`, true},
		{`effect = "once"`, `tools = ["read"], effect = "read"`, false},
		{`effect = "read"`, `effect = "once"`, true},
		{`env = {"MODE": "ro"}`, `env = {"MODE": "rw"}`, true},
		{`args = ["-y", "a"]`, `args = ["-y", "b"]`, true},
	} {
		script := func(more string) string {
			return fmt.Sprintf("s = mcp(\"npx\", %s)\nmain = agent(prompt = \"x\", tools = [s])\n", more)
		}
		found := manifestOf(t, script(row.now)).Widened(manifestOf(t, script(row.before)))
		if wider := len(found) > 0; wider != row.wider || wider && (found[0].Code != "AS623" || found[0].Span.Pos.Line != 1) {
			t.Errorf("from (%s) to (%s): %v", row.before, row.now, found)
		}
	}
	second := manifestOf(t, `
s = mcp("npx")
main = agent(prompt = "x", tools = [s]) >> agent(name = "second", prompt = "x", tools = [s])`)
	first := manifestOf(t, `
s = mcp("npx")
main = agent(prompt = "x", tools = [s]) >> agent(name = "second", prompt = "x")`)
	if found := second.Widened(first); len(found) != 1 || !strings.Contains(found[0].Message, "second.s[*]") {
		t.Errorf("an agent that gets a server: %v", found)
	}
}

// The manifest of a server with a sign-in lists the issuer and the secrets, and no command.
func TestSignInsInManifest(t *testing.T) {
	m := manifestOf(t, `
robot = mcp(url = "https://mcp.example.com/mcp", auth = oauth(id = "robot", secret = secret("ROBOT"), issuer = "https://auth.example.com:8443"))
person = mcp(url = "https://desk.example.com/mcp", auth = oauth())
local = mcp("npx")
main = agent(prompt = "x", tools = [robot, person, local])
`)
	for name, row := range map[string][2][]string{
		"net":  {m.Net, {"auth.example.com:8443", "desk.example.com", "mcp.example.com"}},
		"env":  {m.Env, {"ROBOT"}},
		"exec": {m.Exec, {"npx"}},
	} {
		if !slices.Equal(row[0], row[1]) {
			t.Errorf("%s: %q, want %q", name, row[0], row[1])
		}
	}
}
