package llm_test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/generable"
)

func TestCheck(t *testing.T) {
	acme := llm.WithModel("acme/large", &foreign{}, llm.Caps{})
	for _, row := range []struct {
		model string
		opts  []llm.Option
		code  diag.Code // "" for success
		says  string
		help  string
	}{
		{"openai/gpt-5", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test")}, "", "", ""},
		{"ollama/qwen2.5:7b", nil, "", "", ""},
		{"openrouter/meta-llama/llama-3.2-3b-instruct:free", []llm.Option{env("OPENROUTER_API_KEY", "k-of-a-test")}, "", "", ""},
		{"compat/org/m", []llm.Option{env("AGENTSCRIPT_COMPAT_URL", "http://localhost:8000/v1")}, "", "", ""},
		{"vllm/m", []llm.Option{llm.WithCompatible("vllm", "http://localhost:8000/v1", "")}, "", "", ""},
		{"acme/large", []llm.Option{acme}, "", "", ""},

		{"", nil, diag.NoModel, "no model is named", "OPENAI_API_KEY"},
		{"", nil, diag.NoModel, "", "--scripted"},
		{"", nil, diag.NoModel, "", "ollama/…"},
		{"", []llm.Option{env("MISTRAL_API_KEY", "k-of-a-test")}, diag.NoModel, "", "mistral/… works"},
		{"openia/gpt-5", nil, diag.UnknownProvider, `no provider "openia"`, `did you mean "openai/gpt-5"?`},
		{"Ollama/m", nil, diag.UnknownProvider, "", `did you mean "ollama/m"?`},
		{"zzzzzz/m", nil, diag.UnknownProvider, "", "the providers are anthropic, compat, deepseek, "},
		{"/m", nil, diag.UnknownProvider, "", "the providers are"},
		{"gpt-5", nil, diag.UnknownProvider, "names no provider", "write provider/model"},
		{"openai", nil, diag.UnknownProvider, "names no provider", `"openai/…"`},
		{"large", []llm.Option{acme}, diag.UnknownProvider, "", `did you mean "acme/large"?`},
		{"openai/", nil, diag.NoModel, "no model", ""},
		{"openai/gpt-5", nil, diag.MissingKey, "OPENAI_API_KEY is not set", "set it"},
		{"openai/gpt-5", []llm.Option{env("OPENAI_API_KEY", "")}, diag.MissingKey, "OPENAI_API_KEY is not set", ""},
		{"openai/gpt-5", []llm.Option{env("OPENAI_API_KEY", " \n")}, diag.MissingKey, "OPENAI_API_KEY is not set", ""},
		{"openai/gpt-5", []llm.Option{env("OPENAI_API_KEY", "a\nb")}, diag.MissingKey, "cannot be a key", ""},
		{"openai/gpt-5", []llm.Option{env("OPENAI_BASE_URL", "http://localhost:8000/v1")}, diag.MissingKey, "", "compat/…"},
		{"compat/m", nil, diag.MissingKey, "AGENTSCRIPT_COMPAT_URL", "http://localhost:8000/v1"},
		{"vllm/m", []llm.Option{llm.WithCompatible("vllm", "http://localhost:8000/v1", "VLLM_KEY")}, diag.MissingKey, "VLLM_KEY is not set", ""},
		{"openai/m", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", "localhost:80")}, diag.ProviderError, "OPENAI_BASE_URL must begin with http", ""},
		{"openai/m", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", "https://u:canary@h/v1")}, diag.ProviderError, "user or password", ""},
		{"openai/m", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", "://")}, diag.ProviderError, "base URL set by the host", ""},
		{"acme/lage", []llm.Option{acme}, diag.NoModel, "no such model", `did you mean "acme/large"?`},
	} {
		opts := append([]llm.Option{env()}, row.opts...)
		err := llm.New(opts...).Check(row.model)
		switch {
		case row.code == "" && err != nil:
			t.Errorf("%q: %v", row.model, err)
		case row.code != "" && (err == nil || err.Code != row.code || err.Kind != engine.KindConfig):
			t.Errorf("%q: %v, want %s", row.model, err, row.code)
		case row.code != "":
			hasAll(t, "message", err.Message, row.says)
			hasAll(t, "help", err.Help, row.help)
			if strings.Contains(err.Message+err.Help, "canary") {
				t.Errorf("%q shows a password: %v", row.model, err)
			}
		}
	}
}

func TestWhereCallsGo(t *testing.T) {
	for _, row := range []struct {
		provider, want string
		opts           []llm.Option
	}{
		{"ollama", "http://127.0.0.1:11434", nil},
		{"ollama", "http://gpu:11434", []llm.Option{env("OLLAMA_HOST", "gpu")}},
		{"ollama", "http://gpu:80", []llm.Option{env("OLLAMA_HOST", "gpu:80")}},
		{"ollama", "http://127.0.0.1:11434", []llm.Option{env("OLLAMA_HOST", "0.0.0.0")}},
		{"ollama", "http://127.0.0.1:9", []llm.Option{env("OLLAMA_HOST", ":9")}},
		{"ollama", "http://[::1]:9", []llm.Option{env("OLLAMA_HOST", "[::1]:9")}},
		{"ollama", "https://gpu.example/ollama", []llm.Option{env("OLLAMA_HOST", "x", "OLLAMA_BASE_URL", "https://gpu.example/ollama/")}},
		{"ollama", "http://gpu:1", []llm.Option{env("OLLAMA_BASE_URL", "http://gpu:1/v1/")}},
		{"openai", "https://api.openai.com/v1", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test", "OPENAI_API_BASE", "https://elsewhere/v1")}},
		{"openai", "http://proxy/v1", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", "http://proxy/v1/chat/completions")}},
		{"openai", "http://host/v1", []llm.Option{env("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", "http://env/v1"), llm.WithBaseURL("openai", "http://host/v1")}},
	} {
		infos := llm.New(append([]llm.Option{env()}, row.opts...)...).Providers()
		i := slices.IndexFunc(infos, func(p llm.ProviderInfo) bool { return p.Name == row.provider })
		if !infos[i].Ready || infos[i].BaseURL != row.want {
			t.Errorf("%s goes to %q, want %q (%s)", row.provider, infos[i].BaseURL, row.want, infos[i].Problem)
		}
	}
}

func TestProviders(t *testing.T) {
	r := llm.New(env("OPENAI_API_KEY", "canary-of-a-test"), llm.WithModel("acme/large", &foreign{}, llm.Caps{Tools: true}),
		llm.WithProvider("lab", func(string) (llms.Model, llm.Caps, error) { return &foreign{}, llm.Caps{}, nil }))
	got := map[string]llm.ProviderInfo{}
	var names []string
	for _, p := range r.Providers() {
		got[p.Name] = p
		names = append(names, p.Name)
	}
	if !slices.IsSorted(names) || len(names) < 9 {
		t.Errorf("names %v", names)
	}
	if p := got["openai"]; !p.Ready || p.Keyless || p.Keys[0] != "OPENAI_API_KEY" || !p.Caps.Schema {
		t.Errorf("%+v", p)
	}
	if p := got["mistral"]; p.Ready || !strings.Contains(p.Problem, "MISTRAL_API_KEY") {
		t.Errorf("%+v", p)
	}
	if p := got["acme"]; !p.Ready || !p.Host || !p.Caps.Tools || p.Models[0] != "acme/large" {
		t.Errorf("%+v", p)
	}
	if p := got["lab"]; !p.Ready || !p.Host {
		t.Errorf("%+v", p)
	}
}

func TestEffectWithoutNameUsesTheRequest(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "a"})
	r := port(t, s)
	req := prompt("x")
	req.Model = "openai/named"
	need(t, ask(r, "", req))
	if body, err := s.Requests()[0].JSON(); err != nil || body["model"] != "named" {
		t.Errorf("model %v, want named (%v)", body["model"], err)
	}
	e := &engine.Effect{Kind: engine.EffectModel, Name: "openai/x", Req: &engine.ToolRequest{Args: generable.Value{}}}
	if err := needErr(t, r.Do(context.Background(), e, nil)); err.Kind != engine.KindConfig {
		t.Errorf("%v", err)
	}
}

// TestNoHeavyClients checks the promise that the port links only langchaingo's light clients.
func TestNoHeavyClients(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/agentscript/agentscript/engine/llm").Output()
	if err != nil {
		t.Fatal(err)
	}
	may := []string{"llms", "llms/openai", "llms/openai/internal/openaiclient", "llms/ollama", "llms/ollama/internal/ollamaclient", "llms/anthropic", "llms/anthropic/internal/anthropicclient", "callbacks", "schema", "httputil", "prompts"}
	for pkg := range strings.Lines(string(out)) {
		pkg = strings.TrimSpace(pkg)
		if sub, ok := strings.CutPrefix(pkg, "github.com/tmc/langchaingo/"); ok && !slices.Contains(may, sub) {
			t.Errorf("%s is linked", pkg)
		}
		for _, heavy := range []string{"google.golang.org/", "cloud.google.com/", "go.opentelemetry.io/", "go.starlark.net"} {
			if strings.HasPrefix(pkg, heavy) {
				t.Errorf("%s is linked", pkg)
			}
		}
	}
}
