package llm

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// googleNames are other names of the provider google.
var googleNames = []string{"googleai", "gemini"}

func googleRow() *provider {
	return &provider{
		name: "google", aliases: googleNames, schemas: "gemini", keyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		baseEnv: []string{"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"}, base: "https://generativelanguage.googleapis.com/v1beta",
		fix: geminiURL, dialect: &wire.Gemini{}, caps: compatCaps, bare: bareGemini, strictTools: func(string) bool { return true }, build: buildGemini,
	}
}

var versioned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/v\d[a-z0-9]*$`) })

// geminiURL adds the version of the interface to an address without one: Google's own tools
// take it so from the same variables.
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

// bareGemini are models that take no schema and no JSON mode: those that are no Gemini, and
// those that draw or speak.
func bareGemini(model string) bool {
	v := wire.GeminiVersion(model)
	if v == 0 {
		return !strings.Contains(model, "tunedModels/")
	}
	return v < 2 || strings.Contains(model, "-tts") || strings.Contains(model, "-image") && v < 3
}

// gemini is the client of Google's generateContent. What it sends is written below it, where the
// call's plan is known.
type gemini struct {
	base string
	http *http.Client
}

func buildGemini(c connection) (client, error) { return &gemini{c.base, c.http}, nil }

// Send implements [client].
func (g *gemini) Send(ctx context.Context, model string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.base+"/"+geminiPath(model)+":generateContent", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := g.http.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close() // without a plan in the context
}

// geminiPath names a model in an address. Tuned models have a collection of their own.
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
