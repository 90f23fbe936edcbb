package spec

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// config reads the parameters of an agent's model.
func (r *reader) config(a *Agent, v *tree.Value) {
	r.fields(v, "config", configFields)
	if v == nil || v.Kind != tree.Object {
		return
	}
	a.Config.At = v
	a.Config.Temperature = r.between(v.Get("temperature"), 2)
	a.Config.TopP = r.between(v.Get("topP"), 1)
	a.Config.Turns = r.whole(v.Get("maxIterations"), 1, 0)
	if n := r.whole(v.Get("maxTokens"), 1, 0); n > 0 {
		a.Config.MaxTokens = &n
	}
	a.Config.ToolChoice = r.toolChoice(v.Get("toolChoice"))
	a.Config.Speculation = v.TextOf("speculation")
	r.speculates(a, v.Get("speculation"))
}

// speculates drops a speculation that the provider of the agent's model does not support: it would reject the request.
func (r *reader) speculates(a *Agent, v *tree.Value) {
	provider, _, _ := strings.Cut(a.Model, "/")
	if a.Config.Speculation == "" || provider == "openai" {
		return
	}
	a.Config.Speculation = ""
	r.warn(diag.FlowIgnored, v, "leave it out, or use a model of openai", "speculation is not sent: models of %s do not take it", cmp.Or(provider, "other providers"))
}

// between reads a number from 0 to most, or returns nil if there is none.
func (r *reader) between(v *tree.Value, most float64) *float64 {
	if v == nil || v.Kind != tree.Number || v.Broken {
		return nil
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || n < 0 || n > most {
		r.report(diag.FlowField, v, "leave it out for the provider's own", "%s: want a number from 0 to %g, got %s", v.Key, most, v.Text)
		return nil
	}
	return &n
}

// whole reads a whole number of at least least, or returns otherwise if there is none.
func (r *reader) whole(v *tree.Value, least, otherwise int) int {
	if v == nil || v.Kind != tree.Number || v.Broken {
		return otherwise
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > math.MaxInt32 {
		r.report(diag.FlowField, v, "leave it out for the default", "%s: want a whole number of at least %d, got %s", v.Key, least, v.Text)
		return otherwise
	}
	return int(n)
}

// choices are the words of toolChoice.
var choices = []string{"auto", "required", "none"}

// toolChoice reads what the first answer must call: a word, the name of a tool, or the object that a class serializer
// writes, {"type": "….ToolChoice.Named", "name": "…"}.
func (r *reader) toolChoice(v *tree.Value) string {
	switch {
	case v == nil:
		return ""
	case v.Kind == tree.String:
		return v.Text
	case v.Kind != tree.Object:
		return ""
	}
	switch kind := strings.ToLower(lastPart(v.TextOf("type"))); kind {
	case choices[0], choices[1], choices[2]:
		return kind
	case "named":
		if name := v.TextOf("name"); name != "" {
			return name
		}
	}
	r.report(diag.FlowWord, v, `write "auto", "required", "none" or the name of a tool`, "toolChoice: this object names no choice")
	return ""
}
