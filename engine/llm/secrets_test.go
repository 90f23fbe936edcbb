package llm_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newTLSServer(t *testing.T) *httptest.Server {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of the refused handshake
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// canaries sets every variable that a provider or a client library is known to read.
func canaries(t *testing.T) map[string]string {
	keys := map[string]string{}
	for _, name := range []string{
		"OPENAI_API_KEY", "OLLAMA_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY", "AGENTSCRIPT_COMPAT_API_KEY",
		"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_ORGANIZATION", "OPENAI_API_BASE", "OPENAI_MODEL", "HUGGINGFACEHUB_API_TOKEN",
	} {
		keys[name] = "canary-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		t.Setenv(name, keys[name])
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OLLAMA_BASE_URL", "OLLAMA_HOST", "DEEPSEEK_BASE_URL", "MISTRAL_BASE_URL", "OPENROUTER_BASE_URL", "HTTP_PROXY", "http_proxy"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	return keys
}

// TestKeysStayHome calls every provider with an environment full of keys, lets each server echo its request, and looks
// for the keys.
func TestKeysStayHome(t *testing.T) {
	keys := canaries(t)
	own := map[string]string{
		"openai": "OPENAI_API_KEY", "deepseek": "DEEPSEEK_API_KEY", "mistral": "MISTRAL_API_KEY",
		"openrouter": "OPENROUTER_API_KEY", "compat": "AGENTSCRIPT_COMPAT_API_KEY", "ollama": "", "local": "",
	}
	var mu sync.Mutex
	hosts := map[string]string{} // what each provider's host received
	provider := ""
	spy := roundTripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		var b strings.Builder
		fmt.Fprintf(&b, "%s %s %v", r.Method, r.URL, r.Header)
		if r.Body != nil {
			data := make([]byte, 1<<16)
			n, _ := r.Body.Read(data)
			b.Write(data[:n])
		}
		hosts[provider] += b.String()
		rec := httptest.NewRecorder()
		rec.WriteHeader(401)
		fmt.Fprintf(rec, `{"error":{"message":"key %s is refused","code":"%s"}}`, r.Header.Get("Authorization"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		return rec.Result(), nil
	})
	r := llm.New(once, llm.WithTransport(spy), llm.WithBaseURL("compat", "http://compat.invalid/v1"), llm.WithCompatible("local", "http://local.invalid/v1", ""))
	for name, env := range own {
		provider = name
		err := needErr(t, ask(r, name+"/m", prompt("x")))
		if err.Kind != engine.KindAuth {
			t.Errorf("%s: %v", name, err)
		}
		texts := fmt.Sprintf("%v|%+v|%#v|%s|%s|%+v|%v", err, err, err, err.Help, err.Raw, err.Model, err.Cause)
		for env, key := range keys {
			if strings.Contains(texts, key) {
				t.Errorf("the error of %s shows %s", name, env)
			}
		}
		for other, key := range keys {
			saw := strings.Contains(hosts[name], key)
			if saw != (other == env) {
				t.Errorf("the host of %s saw %s: %v", name, other, saw)
			}
		}
	}
	shown := fmt.Sprintf("%v %+v %#v %s %q %d %v", r, r, r, r, r, r, r.Providers())
	for env, key := range keys {
		if strings.Contains(shown, key) {
			t.Errorf("printing the registry shows %s", env)
		}
	}
}

// TestKeyInTransportError lets a transport fail with the key in its text.
func TestKeyInTransportError(t *testing.T) {
	leaky := roundTripper(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("failed: %v", r.Header)
	})
	r := llm.New(once, env("OPENAI_API_KEY", "canary-1"), llm.WithTransport(leaky))
	err := needErr(t, ask(r, "openai/m", prompt("x")))
	var all []string
	for e := error(err); e != nil; e = errors.Unwrap(e) {
		all = append(all, fmt.Sprintf("%v %+v", e, e))
	}
	if text := strings.Join(all, "\n"); strings.Contains(text, "canary") || !strings.Contains(text, "[redacted]") {
		t.Error(text)
	}
}

func TestOllamaKeyGoesOverTLSAlone(t *testing.T) {
	got := ""
	spy := roundTripper(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Get("Authorization")
		rec := httptest.NewRecorder()
		fmt.Fprint(rec, `{"message":{"content":"x"},"done":true}`)
		return rec.Result(), nil
	})
	for base, want := range map[string]string{"http://10.0.0.1:11434": "", "https://ollama.example": "Bearer canary-of-a-test"} {
		r := llm.New(once, env("OLLAMA_API_KEY", "canary-of-a-test", "OLLAMA_BASE_URL", base), llm.WithTransport(spy))
		need(t, ask(r, "ollama/m", prompt("x")))
		if got != want {
			t.Errorf("%s got %q", base, got)
		}
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	thief := server(t, llmtest.Reply{Text: "stolen", Repeat: true})
	s := server(t, llmtest.Reply{Status: 308, Header: map[string]string{"Location": thief.OpenAI() + "/chat/completions"}})
	needErr(t, ask(port(t, s), "openai/m", prompt("secret")))
	if n := len(thief.Requests()); n != 0 {
		t.Errorf("%d requests followed", n)
	}
}
