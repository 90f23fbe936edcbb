//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/internal/cli/term"
)

var servedFiles = map[string]string{
	"news.star": `
Article = schema("An article", title = field(str, "the title"), words = field(int, default = 100, ge = 1))
Text = schema("A text", text = str)
writer = agent(input = Article, output = Text, prompt = "Write.")
grave = agent(input = str, output = str, prompt = "Never answered.")
def main(topic = field(str, "about what"), n = 2):
    """Writes about a topic."""
    print("on", topic)
    return [writer(Article(title = topic)).text for i in range(n)]
`,
	"answers.jsonl": `{"agent": "writer", "json": {"text": "hello"}, "repeat": true}
{"agent": "grave", "text": "late", "delay": 600}
`,
}

// checkServed lists and calls what the served script offers.
func checkServed(t *testing.T, to sdk.Transport) {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), to, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, row := range []struct {
		name, want string
		args       map[string]any
		fails      bool
	}{
		{"news", `["hello","hello","hello"]`, map[string]any{"topic": "x", "n": 3}, false},
		{"writer", `{"text":"hello"}`, map[string]any{"title": "x"}, false},
		{"writer", "words", map[string]any{"title": "x", "words": 0}, true},
		{"writer", "title", map[string]any{"titel": "x"}, true},
		{"news", "topic", nil, true},
	} {
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: row.name, Arguments: row.args})
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Content[0].(*sdk.TextContent).Text; res.IsError != row.fails || !strings.Contains(text, row.want) {
			t.Errorf("%s %v gives %v %q, want %q", row.name, row.args, res.IsError, text, row.want)
		}
	}
}

// Promise 24.30 (MCP): `agentscript serve mcp` offers a script's main and everything else that is named as tools with
// typed arguments and results, to a client that starts it and closes its end.
func TestPromise_24_30_ServedOverStdio(t *testing.T) {
	cmd := process(t, servedFiles, nil, "serve", "mcp", "news.star", "--expose", "main=news", "--expose", "writer", "--expose", "grave", "--scripted", "answers.jsonl")
	var said bytes.Buffer
	cmd.Stderr = &said
	checkServed(t, &sdk.CommandTransport{Command: cmd})
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"call   news  run ", "log    news  on x\n", "done   writer  "} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("stderr lacks %q:\n%s", want, said.String())
		}
	}
}

// Promise 24.31 (MCP): with --http it serves any number of clients until it is interrupted, and refuses clients without
// its token.
func TestPromise_24_31_ServedOverHTTP(t *testing.T) {
	const token = "TOKEN=0123456789abcdef"
	cmd := process(t, servedFiles, []string{token}, "serve", "mcp", "--http", "127.0.0.1:0", "--token-env", "TOKEN", "--linger", "0s", "news.star", "--expose", "main=news", "--expose", "writer", "--expose", "grave", "--scripted", "answers.jsonl")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	url := ""
	for url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("%q, %v", line, err)
		}
		if address, serves := strings.CutPrefix(line, "serving "); serves {
			url = strings.TrimSpace(address)
		}
	}
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Fatalf("it serves %s", url)
	}
	client := &http.Client{Transport: authorized{}}
	checkServed(t, &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client})
	if res, err := http.Post(url, "application/json", strings.NewReader("{}")); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %v, %v", res, err)
	}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { // it stays open until the server ends
		_, _ = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "grave", Arguments: map[string]any{"input": "x"}})
	}()
	all := ""
	for !strings.Contains(all, "call   grave") {
		line, err := lines.ReadString('\n')
		if all += line; err != nil {
			t.Fatalf("%v\n%s", err, all)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines) // everything until it ends
	all += string(rest)
	if err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, all)
	}
	if strings.Contains(all, strings.TrimPrefix(token, "TOKEN=")) {
		t.Error("stderr shows the token")
	}
}

// Promise 24.63 (MCP): requests that are piped into the command, also between lines that are no requests, are answered
// before it ends, and it exits with 0. A call that takes longer than --linger is ended.
func TestPromise_24_63_PipedRequests(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n"
	const call = `{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":{%q:"x"}}}` + "\n"
	for name, row := range map[string]struct {
		say, linger string
		want        []string
	}{
		"all":      {hello + "garbage\n" + fmt.Sprintf(call, "a", "news", "topic") + "\x00\n" + fmt.Sprintf(call, "b", "writer", "title") + `{"half`, "1m", []string{`"id":"a","result"`, `"id":"b","result"`, "-32700"}},
		"too long": {hello + fmt.Sprintf(call, "a", "grave", "input"), "0s", nil}, // otherwise the test takes ten minutes
	} {
		t.Run(name, func(t *testing.T) {
			cmd := process(t, servedFiles, nil, "serve", "mcp", "news.star", "--linger", row.linger, "--expose", "main=news", "--expose", "writer", "--expose", "grave", "--scripted", "answers.jsonl")
			cmd.Stdin = strings.NewReader(row.say)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range row.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("answered\n%swhich lacks %s", out, want)
				}
			}
		})
	}
}

type authorized struct{}

func (authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer 0123456789abcdef")
	return http.DefaultTransport.RoundTrip(r)
}

func TestServeMisuse(t *testing.T) {
	news := written(t, "news.star", servedFiles["news.star"])
	none := written(t, "none.star", "a = agent(prompt = \"A.\")\n")
	for want, args := range map[string][]string{
		"the only kind is mcp":               {"serve", "http", news},
		"needs a FILE":                       {"serve", "mcp"},
		"there is no such file":              {"serve", "mcp", "nosuch.star"},
		"has no main":                        {"serve", "mcp", none},
		`did you mean "writer"`:              {"serve", "mcp", news, "--expose", "writter", "--scripted", os.DevNull},
		"cannot be offered":                  {"serve", "mcp", news, "--expose", "writer=a b", "--scripted", os.DevNull},
		"two tools have that name":           {"serve", "mcp", news, "--expose", "writer=x", "--expose", "main=x", "--scripted", os.DevNull},
		"can be reached from other machines": {"serve", "mcp", news, "--http", "0.0.0.0:0"},
		"is no address":                      {"serve", "mcp", news, "--http", "8000"},
		"holds no token":                     {"serve", "mcp", news, "--http", "127.0.0.1:0", "--token-env", "NOSUCH"},
		"is for clients over HTTP":           {"serve", "mcp", news, "--token-env", "NOSUCH"},
		"must not be negative":               {"serve", "mcp", news, "--linger", "-1s"},
		"at least 1":                         {"serve", "mcp", news, "--at-once", "0"},
		"there is no flag --input-json":      {"serve", "mcp", news, "--input-json", "1"},
	} {
		code, stdout, stderr := inProcess(t, nil, args...)
		if !strings.Contains(stderr, want) || code != term.ExitUsage && code != term.ExitCheck || stdout != "" {
			t.Errorf("%v: exit %d, stdout %q, stderr %q, want %q", args, code, stdout, stderr, want)
		}
	}
}

func TestToolName(t *testing.T) {
	for file, want := range map[string]string{"dir/aZz09_-.star": "aZz09_-", "ü b.star": "__b", "A{[`@:.star": "A_____"} {
		if got := toolName(file); got != want {
			t.Errorf("%q is offered as %q, want %q", file, got, want)
		}
	}
}
