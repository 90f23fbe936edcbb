package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store"
)

// keyVariables are the variables of every provider, and those that client libraries are known to read.
var keyVariables = []string{"OPENAI_API_KEY", "OLLAMA_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY", "AGENTSCRIPT_COMPAT_API_KEY",
	"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_ORGANIZATION", "HUGGINGFACEHUB_API_TOKEN"}

func canary(variable string) string {
	return "canary-" + strings.ToLower(strings.ReplaceAll(variable, "_", "-"))
}

// Promise 6.7 (models): a provider's key reaches no other provider's host.
func TestPromise_6_7_KeysStay(t *testing.T) {
	own := map[string]string{"openai": "OPENAI_API_KEY", "deepseek": "DEEPSEEK_API_KEY", "mistral": "MISTRAL_API_KEY",
		"openrouter": "OPENROUTER_API_KEY", "compat": "AGENTSCRIPT_COMPAT_API_KEY", "ollama": "", "anthropic": "ANTHROPIC_API_KEY"}
	address := map[string]string{"openai": "OPENAI_BASE_URL", "deepseek": "DEEPSEEK_BASE_URL", "mistral": "MISTRAL_BASE_URL",
		"openrouter": "OPENROUTER_BASE_URL", "compat": "AGENTSCRIPT_COMPAT_URL", "ollama": "OLLAMA_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
	// Each server repeats the key that it got in its refusal, as some do, and one answers.
	servers := map[string]*llmtest.Server{}
	var env, pairs []string
	set := func(name, value string) {
		env, pairs = append(env, name+"="+value), append(pairs, name, value)
		t.Setenv(name, value) // so that anything that reads the environment nevertheless finds it
	}
	for _, name := range keyVariables {
		set(name, canary(name))
	}
	for provider, variable := range address {
		refusal := providerError(401, canary(own[provider]), "the key "+canary(own[provider])+" is refused")
		s := serving(t, refusal, llmtest.Reply{Text: "fine"}, refusal, llmtest.Reply{Text: "fine"})
		servers[provider] = s
		url := s.OpenAI()
		if provider == "ollama" {
			url = s.Ollama()
		}
		set(variable, url)
	}
	script := filepath.Join(t.TempDir(), "flow.star")
	if err := os.WriteFile(script, []byte(plainAgent+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	models := llm.New(variables(pairs...))
	defer models.Close()
	mod := loaded(t, agentscript.New(agentscript.WithModels(models)), plainAgent)

	// Everything that a host or a user sees.
	var seen bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&seen, nil))
	for provider := range own {
		for range 2 {
			j := &store.Memory{}
			res, err := mod.Start(t.Context(), input("x"), agentscript.Model(provider+"/m"), agentscript.RunJournal(j), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
				log.Info("event", "event", e)
			})).Wait()
			fmt.Fprintf(&seen, "%v %+v %#v %v %+v %s\n", err, err, err, res, j.IDs(), res.Text())
			for e := err; e != nil; e = errors.Unwrap(e) {
				fmt.Fprintf(&seen, "%v %+v\n", e, e)
				var own *engine.Error
				if errors.As(e, &own) {
					fmt.Fprintf(&seen, "%s %s %+v\n", own.Help, own.Raw, own.Model)
				}
			}
			for _, id := range j.IDs() {
				out, _ := j.Answer(id)
				fmt.Fprintf(&seen, "%+v %+v\n", out, out.Err)
			}
		}
		for _, want := range []int{6, 0} { // refused, answered
			trace := filepath.Join(t.TempDir(), "trace.jsonl")
			out := runCommand(t, env, "run", script, "x", "--model", provider+"/m", "--json", "--trace", trace)
			if out.code != want {
				t.Errorf("%s: exit code %d, want %d\n%s", provider, out.code, want, out.stderr)
			}
			text, err := os.ReadFile(trace)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&seen, "%s\n%s\n%s\n", out.stdout, out.stderr, text)
		}
	}
	fmt.Fprintf(&seen, "%v %+v %#v %s", models, models, models, compact(models.Providers()))
	for _, variable := range keyVariables {
		if at := strings.Index(seen.String(), canary(variable)); at >= 0 {
			t.Errorf("%s is shown: …%s…", variable, seen.String()[max(0, at-200):min(seen.Len(), at+60)])
		}
		for provider, s := range servers {
			for i, r := range s.Requests() {
				got := strings.Contains(fmt.Sprint(r.Path, r.Header)+string(r.Body), canary(variable))
				if got != (variable == own[provider]) {
					t.Errorf("request %d to %s holds %s: %v", i, provider, variable, got)
				}
			}
			if n := len(s.Requests()); n != 4 {
				t.Errorf("%s got %d requests", provider, n)
			}
		}
	}
}

// Promise 6.9 (models): a connection that stalls, breaks or ends midway results in an error that says which, within
// the time allowed; a partial response is never taken for an answer.
func TestPromise_6_9_BrokenConnections(t *testing.T) {
	half := func(f llmtest.Fault) llmtest.Reply {
		return llmtest.Reply{Text: "one two three four five six seven eight", Fault: f}
	}
	for _, c := range []struct {
		name   string
		reply  llmtest.Reply
		stream bool
		kind   engine.ErrKind
		code   string
		says   string
	}{
		{"no answer begins", half(llmtest.StallHeaders), false, engine.KindTimeout, "AS711", "no answer began within 400ms"},
		{"no streamed answer begins", half(llmtest.StallHeaders), true, engine.KindTimeout, "AS711", "no answer began within 400ms"},
		{"it stops midway", half(llmtest.StallStream), false, engine.KindTimeout, "AS711", "within 300ms"},
		{"a stream stops midway", half(llmtest.StallStream), true, engine.KindTimeout, "AS711", "within 300ms"},
		{"closed before an answer", half(llmtest.Reset), false, engine.KindNetwork, "AS710", "closed the connection"},
		{"closed midway", half(llmtest.Cut), false, engine.KindTruncated, "AS710", ""},
		{"a stream is closed midway", half(llmtest.Cut), true, engine.KindTruncated, "AS710", ""},
		{"a stream ends midway", half(llmtest.End), true, engine.KindTruncated, "AS710", ""},
	} {
		for _, name := range []string{"openai/x", "ollama/x"} {
			t.Run(name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				s := serving(t, c.reply)
				mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s, llm.WithTimeouts(stallLimits(c.reply.Fault)))), agentscript.WithDefaultModel(name)), plainAgent)
				opts := []agentscript.RunOption{input("x")}
				if c.stream {
					opts = append(opts, agentscript.OnEvent(engine.EventToken, func(engine.Event) {}))
				}
				res, err := mod.Start(t.Context(), opts...).Wait()
				var e *engine.Error
				if !errors.As(err, &e) || e.Kind != c.kind || string(e.Code) != c.code || !strings.Contains(e.Message, c.says) {
					t.Fatalf("%q, %#v", res.Text(), err)
				}
				if e.Model == nil || !e.Model.Retryable || !strings.Contains(e.Message, name) {
					t.Errorf("%q of %+v", e.Message, e.Model)
				}
			})
		}
	}
	t.Run("nobody listens", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		url := "http://" + l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		models := llm.New(variables("OLLAMA_BASE_URL", url), llm.WithRetry(llm.RetryPolicy{First: time.Millisecond, Most: time.Millisecond}))
		defer models.Close()
		_, err = loaded(t, agentscript.New(agentscript.WithModels(models)), `main = agent(model = "ollama/m", prompt = "A.")`).Start(t.Context(), input("x")).Wait()
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindNetwork || !strings.Contains(e.Message, "cannot connect to "+url) || !strings.Contains(e.Help, "ollama serve") {
			t.Errorf("%v, help %q", err, e.Help)
		}
	})
	t.Run("the connections of a run are given back", func(t *testing.T) {
		s := serving(t, llmtest.Reply{Text: "fine", Repeat: true})
		var opened atomic.Int64
		mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s, llm.WithTransport(counting(&opened)))), agentscript.WithDefaultModel("openai/x")), plainAgent)
		for range 20 {
			if _, err := mod.Start(t.Context(), input("x")).Wait(); err != nil {
				t.Fatal(err)
			}
		}
		if n := opened.Load(); n != 1 {
			t.Errorf("20 calls one after the other opened %d connections", n)
		}
	})
}

// Promise 6.10 (models): an error about an unknown provider or model suggests the nearest known one, and an error
// about a missing key names its environment variable; without any model the message says how to get one.
func TestPromise_6_10_NamesAndKeys(t *testing.T) {
	s := serving(t)
	none := llm.New(variables())
	some := llm.New(variables("OPENAI_API_KEY", "k-of-a-test", "OPENAI_BASE_URL", s.OpenAI()))
	odd := llm.New(variables("OPENAI_API_KEY", "two words", "COMPAT", "x", "AGENTSCRIPT_COMPAT_URL", "not a url", "MISTRAL_API_KEY", "  "))
	for _, c := range []struct {
		name, model string
		models      *llm.Registry
		code        string
		says        []string
	}{
		{"an unknown provider", "opnai/gpt", none, "AS708", []string{`there is no provider "opnai"`, `did you mean "openai/gpt"?`}},
		{"nothing like it", "zzzzzz/gpt", none, "AS708", []string{"the providers are anthropic, compat, deepseek, "}},
		{"no provider", "gpt-5", none, "AS708", []string{"names no provider", `did you mean "openai/gpt-5"?`}},
		{"a provider alone", "openai", none, "AS708", []string{`write "openai/…"`}},
		{"no model", "openai/", some, "AS707", []string{"names a provider and no model"}},
		{"a missing key", "openai/gpt", none, "AS709", []string{"OPENAI_API_KEY is not set", "set it"}},
		{"another missing key", "mistral/m", none, "AS709", []string{"MISTRAL_API_KEY is not set"}},
		{"an empty key", "mistral/m", odd, "AS709", []string{"MISTRAL_API_KEY is not set"}},
		{"a key that is none", "openai/gpt", odd, "AS709", []string{"OPENAI_API_KEY holds something that cannot be a key"}},
		{"a missing address", "compat/m", none, "AS709", []string{"AGENTSCRIPT_COMPAT_URL", "http://localhost:8000/v1"}},
		{"an address that is none", "compat/m", odd, "AS710", []string{"AGENTSCRIPT_COMPAT_URL", "http://"}},
		{"no model at all", "", none, "AS707", []string{"OPENAI_API_KEY", "MISTRAL_API_KEY", "ollama/… needs no key", "--scripted FILE", "--model"}},
		{"no model, but a key", "", some, "AS707", []string{"OPENAI_API_KEY is set, so openai/… works"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loaded(t, agentscript.New(agentscript.WithModels(c.models)), fmt.Sprintf("x = 1\nmain = agent(model = %q or None, prompt = \"A.\")\n", c.model))
			var begun int
			_, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventToken, func(engine.Event) { begun++ })).Wait()
			var e *engine.Error
			at := "flow.star:2:8"
			if c.code == "AS708" { // the name itself is wrong
				at = "flow.star:2:22"
			}
			if !errors.As(err, &e) || !errors.Is(err, engine.ErrConfig) || string(e.Code) != c.code || e.Pos.String() != at {
				t.Fatalf("the error is %#v", err)
			}
			for _, w := range c.says {
				if !strings.Contains(e.Message+"\n"+e.Help, w) {
					t.Errorf("%q (help %q) lacks %q", e.Message, e.Help, w)
				}
			}
			if strings.Contains(e.Message+e.Help, "two words") {
				t.Error("the key is shown")
			}
			// The same is available before a run.
			if c.model != "" {
				if early := c.models.Check(c.model); early == nil || early.Message != e.Message {
					t.Errorf("Check says %v", early)
				}
			}
		})
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
	t.Run("a host without models", func(t *testing.T) {
		_, err := loaded(t, agentscript.New(), plainAgent).Start(t.Context(), input("x")).Wait()
		var e *engine.Error
		if !errors.As(err, &e) || string(e.Code) != "AS707" || !strings.Contains(e.Help, "--scripted") {
			t.Errorf("%v", err)
		}
	})
}
