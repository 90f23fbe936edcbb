//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/mcptest"
)

// everything returns the server that has all features of MCP, over a transport.
func everything(t *testing.T, transport string) *remote.Server {
	t.Helper()
	cli := installed(t, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if transport == remote.TransportStdio {
		return &remote.Server{Name: "everything", Command: "node", Args: []string{cli, "stdio"}, Transport: transport}
	}
	port := freePort(t)
	word, path := "streamableHttp", "/mcp"
	if transport == remote.TransportSSE {
		word, path = "sse", "/sse"
	}
	cmd := exec.Command("node", cli, word)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	start(t, fmt.Sprintf("http://127.0.0.1:%d/nothing", port), cmd)
	return &remote.Server{Name: "everything", URL: fmt.Sprintf("http://127.0.0.1:%d%s", port, path), Transport: transport}
}

func mcpList(t *testing.T, c *mcp.Client, spec *remote.Server) string {
	t.Helper()
	out := mcptest.List(t.Context(), c, spec)
	if out.Err != nil {
		t.Fatalf("%s: %s", out.Err.Code, out.Err.Message)
	}
	return mcptest.Text(out.Value)
}

func mcpCall(t *testing.T, c *mcp.Client, spec *remote.Server, tool, args string, sink engine.Sink) (string, *engine.Error) {
	t.Helper()
	out := mcptest.Call(t.Context(), c, spec, tool, args, sink)
	if out.Err != nil {
		return "", out.Err
	}
	return mcptest.Text(out.Value), nil
}

// The reference server over each transport, with everything it provides.
func TestMCPEverything(t *testing.T) {
	for _, transport := range []string{remote.TransportStdio, remote.TransportHTTP, remote.TransportSSE, remote.TransportAuto} {
		t.Run(transport, func(t *testing.T) {
			spec := everything(t, transport)
			dir := t.TempDir()
			asked := ""
			c := mcptest.Client(t, mcp.WithRoots(dir), mcp.WithSampling(scripted.Answers(map[string][]string{"agent": {"a sampled answer"}}), "scripted/one"),
				mcp.WithElicitation(func(_ context.Context, q mcp.Question) mcp.Reply {
					asked = q.Message
					m := generable.NewMap(1)
					m.Set("name", generable.StrOf("Ada"))
					return mcp.Reply{Accept: true, Values: m}
				}))
			tools := mcpList(t, c, spec)
			told := make(chan string, 100)
			sink := func(tok engine.Token) {
				select {
				case told <- tok.Notice:
				default:
				}
			}
			for _, tt := range []struct{ tool, args, want string }{
				{"echo", `{"message": "hello"}`, "Echo: hello"},
				{"get-sum", `{"a": 2, "b": 3.5}`, "5.5"},
				{"get-structured-content", `{"location": "New York"}`, `"temperature":`},
				{"get-tiny-image", `{}`, "data:image/png;base64,"},
				{"get-resource-links", `{"count": 2}`, "[resource "},
				{"get-annotated-message", `{"messageType": "error", "includeImage": true}`, "data:image/png"},
				{"trigger-sampling-request", `{"prompt": "p"}`, "a sampled answer"},
				{"trigger-elicitation-request", `{}`, "Ada"},
				{"get-roots-list", `{}`, "file://" + dir},
				{"trigger-long-running-operation", `{"duration": 1, "steps": 4}`, "completed"},
			} {
				if !strings.Contains(tools, `"`+tt.tool+`"`) {
					t.Errorf("the server does not list %s", tt.tool)
					continue
				}
				got, err := mcpCall(t, c, spec, tt.tool, tt.args, sink)
				if err != nil || !strings.Contains(got, tt.want) {
					t.Errorf("%s: %.300s, %v; want %s", tt.tool, got, err, tt.want)
				}
			}
			if asked == "" {
				t.Error("nobody was asked")
			}
			progress := false
			for len(told) > 0 {
				progress = strings.Contains(<-told, " of 4") || progress
			}
			if !progress {
				t.Error("no progress was told")
			}
			if _, err := mcpCall(t, c, spec, "get-sum", `{"a": "many"}`, nil); err == nil || err.Kind != engine.KindTool {
				t.Errorf("bad arguments give %v", err)
			}
			if _, err := mcpCall(t, c, spec, "no-such-tool", `{}`, nil); err == nil || err.Kind != engine.KindTool {
				t.Errorf("an unknown tool gives %v", err)
			}
		})
	}
}

// The servers for files and for memory, as users start them.
func TestMCPFilesystemAndMemory(t *testing.T) {
	for _, transport := range []string{remote.TransportHTTP, remote.TransportSSE} {
		t.Run(transport, func(t *testing.T) {
			t.Skipf("SKIPPED: the servers of files and of memory speak stdio, not %s", transport)
		})
	}
	dir := t.TempDir()
	files := &remote.Server{Name: "files", Command: "node", Transport: remote.TransportStdio,
		Args: []string{installed(t, "node_modules", "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), dir}}
	c := mcptest.Client(t)
	if tools := mcpList(t, c, files); !strings.Contains(tools, `"read_text_file"`) || !strings.Contains(tools, "output") {
		t.Errorf("the tools are %.500s", tools)
	}
	path := filepath.Join(dir, "note.txt")
	if got, err := mcpCall(t, c, files, "write_file", `{"path": "`+path+`", "content": "remember"}`, nil); err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := mcpCall(t, c, files, "read_text_file", `{"path": "`+path+`"}`, nil); err != nil || !strings.Contains(got, "remember") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := mcpCall(t, c, files, "read_text_file", `{"path": "/etc/passwd"}`, nil); err == nil || !strings.Contains(err.Message, "denied") {
		t.Errorf("outside: %v", err)
	}
	memory := &remote.Server{Name: "memory", Command: "node", Transport: remote.TransportStdio,
		Args: []string{installed(t, "node_modules", "@modelcontextprotocol", "server-memory", "dist", "index.js")},
		Env:  []remote.Setting{{Name: "MEMORY_FILE_PATH", Value: filepath.Join(dir, "memory.jsonl")}}}
	mcpList(t, c, memory)
	if got, err := mcpCall(t, c, memory, "create_entities", `{"entities": [{"name": "Ada", "entityType": "person", "observations": ["counts"]}]}`, nil); err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := mcpCall(t, c, memory, "search_nodes", `{"query": "Ada"}`, nil); err != nil || !strings.Contains(got, "counts") {
		t.Errorf("%s, %v", got, err)
	}
}
