package llm

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/llm/internal/langchain"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/internal/lazy"
)

// provider is one row of the table of built-in providers.
type provider struct {
	name    string
	aliases []string // other names for it in a model string
	keyEnv  []string // variables of the key, the first one set is used
	keyless bool     // a key is not needed
	baseEnv []string // variables of the base URL
	base    string   // the default base URL, "" if one must be configured
	fix     func(string) (string, error)
	local   bool // a server that the user runs
	dialect wire.Dialect
	schemas string // the dialect of its schemas
	strict  bool   // schemas of that dialect are sent as strict
	keyed   bool   // a call is sent with its idempotency key
	// strictTools reports whether calls at an address are constrained by the tools' schemas; nil is never.
	strictTools func(base string) bool
	caps        Caps
	bare        func(model string) bool // models without schema support
	client      func(base string, c *http.Client) (langchain.Send, error)
}

var compatCaps = Caps{Tools: true, Schema: true, JSONMode: true, Stream: true}

func builtin() map[string]*provider {
	always := func(string) bool { return true }
	table := []*provider{
		{
			name: "openai", schemas: "openai", strict: true, keyed: true, keyEnv: []string{"OPENAI_API_KEY"}, baseEnv: []string{"OPENAI_BASE_URL"}, base: "https://api.openai.com/v1",
			dialect: &wire.OpenAI{}, caps: compatCaps, bare: bareOpenAI, strictTools: always, client: langchain.OpenAI,
		},
		{
			name: "anthropic", schemas: "anthropic", keyEnv: []string{"ANTHROPIC_API_KEY"}, baseEnv: []string{"ANTHROPIC_BASE_URL"}, base: "https://api.anthropic.com/v1", fix: anthropicURL,
			dialect: &wire.Anthropic{}, caps: Caps{Tools: true, Schema: true, Stream: true}, bare: bareClaude, strictTools: always, client: langchain.Anthropic,
		},
		{
			name: "ollama", schemas: "ollama", keyEnv: []string{"OLLAMA_API_KEY"}, keyless: true, baseEnv: []string{"OLLAMA_BASE_URL", "OLLAMA_HOST"}, base: "http://127.0.0.1:11434",
			fix: ollamaURL, local: true, dialect: &wire.Ollama{}, caps: compatCaps, client: langchain.Ollama,
		},
		{
			name: "deepseek", schemas: "deepseek", keyEnv: []string{"DEEPSEEK_API_KEY"}, baseEnv: []string{"DEEPSEEK_BASE_URL"}, base: "https://api.deepseek.com",
			dialect: &wire.OpenAI{MaxTokens: "max_tokens", NoSchema: true, NoSeed: true, NoParallel: true, EchoReasoning: true, EchoAll: deepseekV4, Thinking: wire.ThinkSwitch},
			caps:    Caps{Tools: true, JSONMode: true, Stream: true}, strictTools: betaOnly, client: langchain.OpenAI,
		},
		{
			name: "mistral", schemas: "mistral", strict: true, keyEnv: []string{"MISTRAL_API_KEY"}, baseEnv: []string{"MISTRAL_BASE_URL"}, base: "https://api.mistral.ai/v1",
			dialect: &wire.OpenAI{MaxTokens: "max_tokens", Seed: "random_seed", NoStreamOptions: true, ShortCallIDs: true, AnyTool: "any", Bridges: always},
			caps:    compatCaps, strictTools: always, client: langchain.OpenAI,
		},
		{
			name: "openrouter", schemas: "openrouter", strict: true, keyEnv: []string{"OPENROUTER_API_KEY"}, baseEnv: []string{"OPENROUTER_BASE_URL"}, base: "https://openrouter.ai/api/v1",
			dialect: &wire.OpenAI{MaxTokens: "max_tokens", Thinking: wire.ThinkReasoning, EchoDetails: true, CacheMarks: true, TellsCost: true, Bridges: mistralModel},
			caps:    compatCaps, strictTools: always, client: langchain.OpenAI,
		},
		{
			name: "compat", schemas: "compat", keyed: true, keyEnv: []string{"AGENTSCRIPT_COMPAT_API_KEY"}, keyless: true, baseEnv: []string{"AGENTSCRIPT_COMPAT_URL"},
			dialect: compatible(), caps: compatCaps, client: langchain.OpenAI,
		},
		{
			name: "google", aliases: []string{"googleai", "gemini"}, schemas: "gemini", keyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
			baseEnv: []string{"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}, base: "https://generativelanguage.googleapis.com/v1beta",
			fix: geminiURL, dialect: &wire.Gemini{}, caps: compatCaps, bare: bareGemini, strictTools: always, client: gemini,
		},
	}
	rows := make(map[string]*provider, len(table))
	for _, p := range table {
		rows[p.name] = p
	}
	return rows
}

// deepseekV4 reports whether a model refuses a conversation without all of its reasoning. Earlier models refuse or
// ignore reasoning about an earlier question.
func deepseekV4(model string) bool {
	return strings.Contains(model, "deepseek-v4") || strings.HasPrefix(model, "deepseek-flash") || strings.HasPrefix(model, "deepseek-pro")
}

// mistralModel reports whether Mistral made a model, whoever serves it. The templates of these models, and Mistral's own
// server, refuse a user's turn after results of tools.
func mistralModel(model string) bool {
	model = strings.ToLower(model)
	return slices.ContainsFunc([]string{"mistral", "ministral", "magistral", "devstral", "codestral", "pixtral", "mixtral", "voxtral"}, func(name string) bool {
		return strings.Contains(model, name)
	})
}

// betaOnly reports whether DeepSeek supports strict tools at an address.
func betaOnly(base string) bool { return strings.HasSuffix(strings.TrimSuffix(base, "/"), "/beta") }

// bareOpenAI reports whether a model is from before schemas were supported.
func bareOpenAI(model string) bool {
	for _, old := range []string{"gpt-3.5", "gpt-4-", "chatgpt-4o", "gpt-4o-2024-05-13", "o1-mini", "o1-preview"} {
		if strings.HasPrefix(model, old) {
			return true
		}
	}
	return model == "gpt-4"
}

// ollamaURL reads an address as Ollama's own tools do: a bare host, with or without port, a listen address (0.0.0.0),
// or a URL, also with the /v1 of the other endpoint.
func ollamaURL(s string) (string, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "http", s
	}
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil {
		return "", err
	}
	host, port := u.Hostname(), u.Port()
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	if port == "" && !ok {
		port = "11434"
	}
	u.Host = strings.TrimSuffix(net.JoinHostPort(host, port), ":")
	u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/v1")
	return u.String(), nil
}

// checkURL rejects invalid base URLs and returns the origin. Credentials in a URL are rejected, since they would appear
// in texts.
func checkURL(base string) (origin, problem string) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", "is no URL"
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", "must begin with http:// or https:// and a host"
	case u.User != nil:
		return "", "must not hold a user or password"
	case u.RawQuery != "" || u.Fragment != "":
		return "", "must not hold ? or #"
	}
	return u.Scheme + "://" + u.Host, ""
}

// bareClaude reports whether a model is from before schemas were supported, or is not a Claude behind an address that
// speaks this dialect.
func bareClaude(model string) bool { return !wire.ClaudeOf(model).Schema }

// anthropicURL reads an address as the provider's own clients do, without the path of the version. It also accepts one
// with that path, or with the whole path of the endpoint.
func anthropicURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/messages")
	u.Path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/v1") + "/v1"
	return u.String(), nil
}

var versioned = lazy.Regexp(`/v\d[a-z0-9]*$`)

// geminiURL adds the version of the API to an address without one: Google's own tools accept such an address in the
// same variables.
func geminiURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	u.Path = strings.TrimRight(u.Path, "/")
	if !versioned().MatchString(u.Path) {
		u.Path += "/v1beta"
	}
	return u.String(), nil
}

// bareGemini reports whether a model supports neither schemas nor JSON mode: one that is not a Gemini, or that generates
// pictures or speech.
func bareGemini(model string) bool {
	v := wire.GeminiVersion(model)
	if v == 0 {
		return !strings.Contains(model, "tunedModels/")
	}
	return v < 2 || strings.Contains(model, "-tts") || strings.Contains(model, "-image") && v < 3
}

// gemini returns the client of Google's generateContent. The body is written below it, where the call's plan is known.
func gemini(base string, c *http.Client) (langchain.Send, error) {
	return func(ctx context.Context, model string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/"+geminiPath(model)+":generateContent", nil)
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := c.Do(req)
		if err != nil {
			return err
		}
		return res.Body.Close() // without a plan in the context
	}, nil
}

// geminiPath names a model in an address. Tuned models are in a separate collection.
func geminiPath(model string) string {
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	parts := strings.Split(model, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
