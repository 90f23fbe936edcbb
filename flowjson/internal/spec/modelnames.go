package spec

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

var providers = []string{"openai", "anthropic", "google", "googleai", "mistral", "deepseek", "openrouter", "ollama"}

// spellings maps koog's names of models to the providers' names.
var spellings = map[string]string{
	"gpt4o": "gpt-4o", "gpt4omini": "gpt-4o-mini", "gpt41": "gpt-4.1", "gpt41mini": "gpt-4.1-mini", "gpt5": "gpt-5", "gpt5mini": "gpt-5-mini",
	"sonnet4": "claude-sonnet-4-0", "opus4": "claude-opus-4-0", "sonnet37": "claude-3-7-sonnet-latest", "haiku35": "claude-3-5-haiku-latest",
	"gemini20flash": "gemini-2.0-flash", "gemini25pro": "gemini-2.5-pro", "gemini25flash": "gemini-2.5-flash",
}

// model returns the name of a model as the file writes it, or "" without one. It reports a model that its provider does
// not know.
func (r *reader) model(v *tree.Value) string {
	if v == nil || v.Kind != tree.String {
		return ""
	}
	r.known(v)
	return v.Text
}

// families maps prefixes of model names to providers.
var families = []struct{ begins, provider string }{{"claude", "anthropic"}, {"gpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"},
	{"gemini", "google"}, {"mistral", "mistral"}, {"codestral", "mistral"}, {"deepseek", "deepseek"}, {"llama", "ollama"}, {"qwen", "ollama"}}

// providerOf returns the provider of a model, or "" for an unknown name.
func providerOf(name string) string {
	for _, f := range families {
		if strings.HasPrefix(strings.ToLower(name), f.begins) {
			return f.provider
		}
	}
	return ""
}

func (r *reader) known(v *tree.Value) {
	provider, name, ok := strings.Cut(v.Text, "/")
	if !ok {
		help := "write provider/model"
		if whose := providerOf(v.Text); whose != "" {
			help = "write " + whose + "/" + v.Text
		}
		r.warn(diag.FlowModel, v, help, "the model %q has no provider", v.Text)
		return
	}
	if name == "" || strings.TrimSpace(v.Text) != v.Text {
		r.report(diag.FlowModel, v, "write provider/model, without blanks", "%q names no model", v.Text)
		return
	}
	if near, ok := diag.Suggest(strings.ToLower(provider), providers); !slices.Contains(providers, provider) && ok {
		d := r.warn(diag.FlowModel, v, "did you mean "+near+"/"+name+"?", "there is no provider %q", provider)
		d.Fixes = []diag.Fix{{Message: "write " + near, Span: v.Span, Replacement: `"` + near + "/" + name + `"`}}
		return
	}
	spelled := strings.NewReplacer("_", "", "-", "", ".", "", "chat", "").Replace(strings.ToLower(name))
	real, ok := spellings[spelled]
	if !ok || real == name || strings.ContainsAny(name, "-") {
		return
	}
	help := "write " + provider + "/" + real + ": names of models are passed to the provider unchanged"
	d := r.warn(diag.FlowModel, v, help, "%s calls it %q, not %q", provider, real, name)
	d.Fixes = []diag.Fix{{Message: "write " + real, Span: v.Span, Replacement: `"` + provider + "/" + real + `"`}}
}
