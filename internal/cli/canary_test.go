package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// keyVariables returns the variables of all providers, and those of providers that other programs know.
func keyVariables() []string {
	names := []string{"ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "OPENAI_ORGANIZATION", "GROQ_API_KEY"}
	for _, p := range llm.New().Providers() {
		names = append(names, p.Keys...)
	}
	return names
}

// keyHeaders are the headers of providers that do not take their key as Authorization.
var keyHeaders = map[string]string{"anthropic": "X-Api-Key", "google": "X-Goog-Api-Key"}

func canary(variable string) string { return "canary-" + variable + "-9f3a" }

// No key appears in a result, an event, a diagnostic or a trace, in good and bad runs of every provider, and none
// reaches the host of another one.
func TestCanary(t *testing.T) {
	vars := keyVariables()
	for _, p := range llm.New().Providers() {
		if len(p.BaseEnv) == 0 {
			t.Fatalf("provider %s has no variable for its address", p.Name)
		}
		own := ""
		if len(p.Keys) > 0 && p.Name != "ollama" {
			own = canary(p.Keys[0])
		}
		echo := fmt.Sprintf(`{"error":{"message":"wrong key %s in Authorization: Bearer %s","code":"invalid_api_key"}}`, own, own)
		for name, reply := range map[string]llmtest.Reply{
			"good":       {Text: "hello", In: 1, Out: 1},
			"refused":    {Status: 401, Body: echo},
			"forbidden":  {Status: 403, Body: echo, Header: map[string]string{"X-Request-Id": "r-1"}},
			"broken":     {Status: 500, Body: "<html>" + own + "</html>", Type: "text/html", Header: map[string]string{"Retry-After-Ms": "1"}},
			"echoed":     {Status: 200, Body: echo},
			"cut":        {Text: "hello there " + strings.Repeat("x ", 50), Fault: llmtest.Cut},
			"garbage":    {Fault: llmtest.Garbage, Text: "hello"},
			"redirected": {Status: 302, Header: map[string]string{"Location": "http://127.0.0.1:1/" + own}, Body: " "},
		} {
			for _, mode := range []string{"human", "json", "env-file"} {
				t.Run(p.Name+"/"+name+"/"+mode, func(t *testing.T) {
					t.Parallel() // most of a run is the wait before a call is repeated
					canaryRun(t, vars, p, reply, own, mode)
				})
			}
		}
	}
}

func canaryRun(t *testing.T, vars []string, p llm.ProviderInfo, reply llmtest.Reply, own, mode string) {
	reply.Repeat = true
	server := llmtest.New(reply)
	defer server.Close()
	env := map[string]string{}
	for _, v := range vars {
		env[v] = canary(v)
	}
	base := server.OpenAI()
	if p.Name == "ollama" {
		base = server.Ollama()
	}
	env[p.BaseEnv[0]] = base
	dir := t.TempDir()
	flow, trace := filepath.Join(dir, "flow.star"), filepath.Join(dir, "trace")
	script := fmt.Sprintf("a = agent(model = %q, prompt = \"Say hello.\")\nmain = a >> fn(lambda s: s, input = str, output = str)\n", p.Name+"/m")
	if err := os.WriteFile(flow, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", flow, "x", "--trace", trace, "--retries", "1"}
	switch mode {
	case "json":
		args = append(args, "--json")
	case "env-file":
		var lines strings.Builder
		for _, v := range vars {
			fmt.Fprintf(&lines, "%s=%s\n", v, canary(v))
			delete(env, v)
		}
		file := filepath.Join(dir, "keys.env")
		if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--env-file", file)
	}
	code, stdout, stderr := inProcess(t, func(s *term.Process) {
		s.LookupEnv = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	}, args...)
	if good := reply.Text == "hello" && reply.Fault == llmtest.None; good != (code == term.ExitOK) {
		t.Errorf("exit code %d:\n%s", code, stderr)
	}
	if code != term.ExitOK && code != term.ExitProvider {
		t.Errorf("exit code %d, want %d:\n%s", code, term.ExitProvider, stderr)
	}
	traced, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"stdout": stdout, "stderr": stderr, "trace": string(traced)} {
		if strings.Contains(text, "canary-") {
			t.Errorf("a key is in %s:\n%s", what, text)
		}
	}
	if own != "" && reply.Status/100 == 4 && !strings.Contains(stderr, "[redacted]") {
		t.Errorf("the provider's words, which held the key, are not in:\n%s", stderr)
	}
	if !strings.Contains(string(traced), `"kind":"effect"`) {
		t.Errorf("the trace holds no call:\n%s", traced)
	}
	if len(server.Requests()) == 0 {
		t.Error("the provider was not called")
	}
	for _, r := range server.Requests() {
		sent := fmt.Sprint(r.Path, r.Header, string(r.Body))
		key, bare := "Bearer "+own, keyHeaders[p.Name]
		got := r.Header.Get("Authorization")
		if bare != "" {
			key, got = own, r.Header.Get(bare)+got
		}
		if own != "" && got != key {
			t.Errorf("the provider got %q", got)
		}
		if rest := strings.ReplaceAll(sent, key, ""); strings.Contains(rest, "canary-") {
			t.Errorf("the provider got the key of another one:\n%s", sent)
		}
	}
}

// Nor does one appear when no call is made: wrong keys, flags, scripts and files.
func TestCanaryWithoutCall(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flow := write("flow.star", "main = agent(model = \"openai/m\", prompt = \"Hi.\")\n")
	broken := write("broken.env", "OPENAI_API_KEY=\"canary-x\ncanary-line\nA B=canary-y\n")
	for _, args := range [][]string{
		{"run", flow, "x"}, {"run", flow, "x", "--env-file", broken}, {"run", flow, "x", "--model", "nowhere/m"},
		{"run", flow, "x", "--nosuch"}, {"run", flow}, {"check", flow}, {"graph", flow}, {"run", flow, "--help"}, {"version", "--json"},
	} {
		_, stdout, stderr := inProcess(t, func(s *term.Process) {
			s.LookupEnv = func(name string) (string, bool) {
				if strings.HasSuffix(name, "_KEY") {
					return "canary-with a blank " + name, true
				}
				return "", false
			}
		}, args...)
		if strings.Contains(stdout+stderr, "canary-") {
			t.Errorf("%v shows a key:\n%s%s", args, stdout, stderr)
		}
	}
}
