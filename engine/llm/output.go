package llm

import (
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

// output decides how a call holds the model to its output type: by the provider's schema, else by its JSON mode, else
// only by the prompt, which already describes it. The schema is the type in the provider's dialect, whose form is kept
// for reading the answer.
func (c *call) output(p *wire.Plan) (*wire.Output, *engine.Error) {
	o := c.req.Output
	if o == nil || o.Type == nil || o.Structured == model.StructuredGuided || !o.Type.HasSchema() || model.Aloud(o.Type) {
		return nil, nil
	}
	t := o.Type // with its limits, which Deref would drop
	out, why := c.onTier(t)
	if o.Structured == model.StructuredConstrained && (out == nil || out.Schema == nil) {
		return nil, p.Fail(engine.KindUnsupported, nil, `use structured = "auto", or another model`,
			"structured = \"constrained\" cannot be had for %s: %s", t, why)
	}
	return out, nil
}

// onTier returns the constraint for an answer of type t, no firmer than the call's tier.
func (c *call) onTier(t *generable.Type) (*wire.Output, string) {
	if c.tier == tierPrompt {
		return nil, "the provider refused its schema"
	}
	out, why := c.constraint(t)
	if c.tier == tierJSON && out != nil && out.Schema != nil {
		c.form = nil
		return c.jsonMode(t), "the provider refused its schema"
	}
	return out, why
}

// jsonMode returns the constraint for an answer of type t by the provider's JSON mode. It returns nil if the provider
// has none, or would refuse it because the prompt does not mention JSON.
func (c *call) jsonMode(t *generable.Type) *wire.Output {
	if !c.row.caps.JSONMode || !hasObjectRoot(t) || !mentionsJSON(c.req) {
		return nil
	}
	return &wire.Output{}
}

// constraint returns the provider's firmest constraint for an answer of type t and, if that is not a schema, why.
func (c *call) constraint(t *generable.Type) (*wire.Output, string) {
	gemini := false
	if c.row.bare != nil && c.row.bare(c.model) {
		return nil, "the model takes no schema"
	}
	switch d := c.row.dialect.(type) {
	case *wire.Ollama:
		if c.callsTools() {
			return nil, "this server holds the whole answer to the schema, so that it could not call tools"
		}
	case *wire.OpenAI:
		switch {
		case d.HoldsCalls && c.callsTools():
			return nil, "such a server may hold the whole answer to the schema, so that it could not call tools"
		case d.NoSchema:
			return c.jsonMode(t), "the provider takes no schema"
		}
	case *wire.Gemini:
		if gemini = true; len(c.req.Tools) > 0 && wire.GeminiVersion(c.model) < 3 {
			return nil, "models before Gemini 3 take no schema while they have tools"
		}
	}
	form, err := c.reg.forms.Compile(t, c.row.schemas)
	switch {
	case err != nil && gemini: // its JSON mode accepts any root
		return &wire.Output{}, err.Error()
	case err != nil:
		return nil, err.Error()
	}
	c.form = form
	return &wire.Output{Name: form.Name, Schema: json.RawMessage(form.Schema), Strict: c.row.strict}, ""
}

// callsTools reports whether the model may call a tool in this answer.
func (c *call) callsTools() bool {
	return len(c.req.Tools) > 0 && c.req.Choice.Mode != model.ChoiceNone
}

// explained returns the request with the form of the answer in its system text, if the schema's form differs from the
// one that the text describes.
func (c *call) explained() *model.Request {
	if c.form == nil || c.form.Form == "" {
		return c.req
	}
	r := *c.req
	r.System = strings.Trim(r.System+"\n\n"+c.form.Form, "\n")
	return &r
}

// inForm records in an answer the form of its text and of the arguments of its calls, if it differs from the types'
// own. The caller reads them, since it keeps the record.
func (c *call) inForm(r *model.Response) {
	if c.form != nil && c.form.Rewritten() {
		r.Dialect = c.row.schemas
	}
	for _, called := range r.Calls() {
		if w := c.tools[called.Name]; w != nil && w.Rewritten() {
			called.Dialect = c.row.schemas
		}
	}
}

// strictTools compiles the parameters of the tools for providers that constrain calls by a schema. A tool without such
// a form is sent as it is, and so is one that exceeds the budgets that all schemas of a request share.
func (c *call) strictTools() {
	if c.row.strictTools == nil || !c.row.strictTools(c.base) || c.row.bare != nil && c.row.bare(c.model) {
		return
	}
	budgets, err := dialect.NewRequest(c.row.schemas)
	if err != nil {
		return // a dialect without schemas
	}
	if c.form != nil {
		budgets.Answer(c.form)
	}
	c.tools = make(map[string]*dialect.Wire, len(c.req.Tools))
	for _, t := range c.req.Tools {
		if t.Params == nil || t.Schema != "" {
			continue
		}
		if w, err := c.reg.forms.Compile(t.Params, c.row.schemas); err == nil && budgets.Tool(w) {
			c.tools[t.Name] = w
		}
	}
}

// definitions returns the tools as sent to the provider. If the arguments of one have another form, the description
// says so.
func (c *call) definitions() []wire.Tool {
	out := make([]wire.Tool, len(c.req.Tools))
	for i := range c.req.Tools {
		t := &c.req.Tools[i]
		out[i] = wire.Tool{Name: t.Name, Description: t.Description, Schema: wire.ToolSchema(t)}
		if w := c.tools[t.Name]; w != nil {
			out[i].Schema, out[i].Strict = json.RawMessage(w.Schema), true
			out[i].Description = strings.Trim(t.Description+"\n\n"+w.Form, "\n")
		}
	}
	return out
}

// hasObjectRoot reports whether values of the type are JSON objects.
func hasObjectRoot(t *generable.Type) bool {
	var root struct {
		Type any `json:"type"`
	}
	_ = json.Unmarshal([]byte(t.JSONSchema()), &root) // it is valid, since we wrote it
	return root.Type == "object"
}

func mentionsJSON(r *model.Request) bool {
	if strings.Contains(strings.ToLower(r.System), "json") {
		return true
	}
	for i := range r.Messages {
		if strings.Contains(strings.ToLower(wire.Joined(r.Messages[i].Parts, model.PartText, " ")), "json") {
			return true
		}
	}
	return false
}

// tier is how firmly a call holds the model to its types, the firmest first.
type tier uint8

const (
	tierStrict tier = iota // schemas for the answer and for the arguments of calls
	tierLoose              // a schema for the answer; the arguments are only described
	tierJSON               // the provider's JSON mode
	tierPrompt             // only the prompt, which always describes the type
)

// tierKey is a model and the types to hold it to: another type may be accepted.
type tierKey struct{ provider, model, types string }

// tierOf returns the firmest tier that is not known to be refused.
func (r *Registry) tierOf(k tierKey) tier {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tiers[k]
}

func (r *Registry) lowerTier(k tierKey, to tier) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tiers[k] = max(r.tiers[k], to)
}

func (c *call) tierKey() tierKey {
	var types strings.Builder
	if o := c.req.Output; o != nil && o.Type != nil {
		types.WriteString(o.Type.ID())
	}
	for i := range c.req.Tools {
		if p := c.req.Tools[i].Params; p != nil {
			types.WriteString("/" + p.ID())
		}
	}
	return tierKey{c.provider, c.model, types.String()}
}

// lowered switches to the next tier if the provider refused the current one, and reports whether there is one. A script
// that requires a schema gets the refusal instead.
func (c *call) lowered(err *engine.Error) bool {
	next := c.refusedTier(err)
	if next <= c.tier || c.req.Output != nil && c.req.Output.Structured == model.StructuredConstrained && next > tierLoose {
		return false
	}
	c.tier = next
	c.reg.lowerTier(c.tierKey(), next)
	c.refused(err)
	return true
}

// refusedTier returns the tier to use after a refusal that mentions a schema, 0 after any other.
func (c *call) refusedTier(err *engine.Error) tier {
	switch err.Kind {
	case engine.KindUnsupported, engine.KindBadRequest, engine.KindServer:
	default:
		return 0
	}
	if err.Model == nil || err.Model.Status < 400 {
		return 0
	}
	text := strings.ToLower(err.Message + " " + err.Model.Code)
	schema := wire.Speaks(text, wire.AboutSchema)
	switch {
	case err.Kind == engine.KindServer && !strings.Contains(text, "schema"): // from a server that nevertheless means the request
		return 0
	case !schema && !(c.tier < tierPrompt && c.held && wire.Speaks(text, wire.AboutJSONMode)):
		return 0
	case c.tier < tierLoose && len(c.tools) > 0 && wire.Speaks(text, wire.AboutTools):
		return tierLoose
	case !c.held && len(c.tools) > 0:
		return tierLoose
	case !c.held:
		return 0
	case c.tier < tierJSON && c.form != nil:
		return tierJSON
	default:
		return tierPrompt
	}
}
