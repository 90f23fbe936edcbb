//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// listing returns a server that lists these tools to clients that have the token.
func listing(t *testing.T, tools string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		switch {
		case r.Header.Get("Authorization") != "Bearer a-token-of-many-characters":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case json.NewDecoder(r.Body).Decode(&m) != nil:
			w.WriteHeader(http.StatusBadRequest)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			result := `"error":{"code":-32601,"message":"unknown method"}`
			switch m.Method {
			case "initialize":
				result = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
			case "tools/list":
				result = `"result":{"tools":[` + tools + `]}`
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, result)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Promise 24.65 (MCP): `agentscript mcp tools` lists a server's tools by the names under which models call them, with
// signatures, and says which tools are renamed, undescribed, or cannot be offered.
func TestPromise_24_65_ListedTools(t *testing.T) {
	url := listing(t, `{"name":"two words","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"how":{"enum":["fast","slow"]}},"required":["n"]},"outputSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}},
{"name":"far","description":"Goes far\\u001b[2J","inputSchema":{"type":"object","properties":{"x":{"$ref":"https://example.com/s.json"}}}},
{"name":"wrong","inputSchema":{"type":"string"}}`)
	user := func(s *term.Process) {
		s.LookupEnv = func(name string) (string, bool) { return "a-token-of-many-characters", name == "MCP_TOKEN" }
	}
	code, stdout, stderr := inProcess(t, user, "mcp", "tools", "--transport", "http", "--token-env", "MCP_TOKEN", url)
	if code != term.ExitFailed || !strings.Contains(stderr, "AS765") || !strings.Contains(stderr, "!wrong") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		`two_words(how?: "fast" | "slow", n: int) -> {ok: bool}` + "\n", `warning: the server calls it "two words"`, "warning: it has no description",
		"far(", "warning: no type expresses its whole input schema", "wrong\n  error: AS765",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the list lacks %q:\n%s", want, stdout)
		}
	}
	if strings.ContainsRune(stdout, 0x1b) {
		t.Error("a server moves the terminal's cursor")
	}
	code, stdout, _ = inProcess(t, user, "mcp", "tools", "--transport", "http", "--token-env", "MCP_TOKEN", "--tool", "far", "--format", "json", url)
	var doc struct{ Tools []toolRow }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != 0 || len(doc.Tools) != 1 || doc.Tools[0].Remote != "far" || len(doc.Tools[0].Warnings) != 1 || !strings.Contains(string(doc.Tools[0].Input), "example.com") {
		t.Errorf("exit %d, %v:\n%s", code, err, stdout)
	}
	if code, _, stderr := inProcess(t, user, "mcp", "tools", "--transport", "http", url); code == 0 || !strings.Contains(stderr, "401") && !strings.Contains(stderr, "AS7") {
		t.Errorf("without the token: exit %d, %s", code, stderr)
	}
}
