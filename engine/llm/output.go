package llm

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

// output decides how a call holds the model to its output type: by the provider's schema,
// else its JSON mode, else by the prompt alone, which already says it. The schema is the type
// in the provider's dialect, whose form is kept to read the answer by.
func (c *call) output(p *wire.Plan) (*wire.Output, *engine.Error) {
	o := c.req.Output
	if o == nil || o.Type == nil || o.Structured == engine.StructuredGuided || !o.Type.HasSchema() {
		return nil, nil
	}
	t := o.Type // with its limits, which Deref passes through
	out, why := c.onRung(t)
	if o.Structured == engine.StructuredConstrained && (out == nil || out.Schema == nil) {
		return nil, p.Fail(engine.KindUnsupported, nil, `use structured = "auto", or another model`,
			"structured = \"constrained\" cannot be had for %s: %s", t, why)
	}
	return out, nil
}

// onRung is the hold on an answer of type t, no firmer than the call's rung.
func (c *call) onRung(t *generable.Type) (*wire.Output, string) {
	if c.rung == rungPrompt {
		return nil, "the provider refused its schema"
	}
	out, why := c.constraint(t)
	if c.rung == rungJSON && out != nil && out.Schema != nil {
		c.form = nil
		if !c.row.caps.JSONMode || rootOf(compact(t.JSONSchema())) != "object" || !mentionsJSON(c.req) {
			return nil, "the provider refused its schema"
		}
		return &wire.Output{}, "the provider refused its schema"
	}
	return out, why
}

// constraint gives the provider's strongest hold on an answer of type t, and why it is not a
// schema when it is none.
func (c *call) constraint(t *generable.Type) (*wire.Output, string) {
	switch d := c.row.dialect.(type) {
	case *wire.Ollama:
		if c.callsTools() {
			return nil, "this server holds the whole answer to the schema, so that it could not call tools"
		}
	case *wire.OpenAI:
		switch {
		case d.Schema == wire.SchemaNone || c.row.bare != nil && c.row.bare(c.model):
			return nil, "the model takes no schema"
		case d.HoldsCalls && c.callsTools():
			return nil, "such a server may hold the whole answer to the schema, so that it could not call tools"
		case d.Schema == wire.SchemaObject:
			// JSON mode is refused when the prompt does not speak of JSON.
			if rootOf(compact(t.JSONSchema())) != "object" || !mentionsJSON(c.req) {
				return nil, "the provider takes no schema"
			}
			return &wire.Output{}, "the provider takes no schema"
		}
	case *wire.Anthropic:
		if c.row.bare(c.model) {
			return nil, "the model takes no schema"
		}
	case *wire.Gemini:
		switch {
		case c.row.bare(c.model):
			return nil, "the model takes no schema"
		case len(c.req.Tools) > 0 && wire.GeminiVersion(c.model) < 3:
			return nil, "models before Gemini 3 take no schema while they have tools"
		}
	default:
		return nil, "the provider takes no schema"
	}
	form, err := c.forms.Compile(t, c.row.schemas)
	if err != nil {
		if _, ok := c.row.dialect.(*wire.Gemini); ok { // whose JSON mode takes any root
			return &wire.Output{}, err.Error()
		}
		return nil, err.Error()
	}
	c.form = form
	return &wire.Output{Name: form.Name, Schema: json.RawMessage(form.Schema), Strict: c.row.strict}, ""
}

// callsTools tells whether the model may call a tool in this answer.
func (c *call) callsTools() bool {
	return len(c.req.Tools) > 0 && c.req.Choice.Mode != engine.ChoiceNone
}

// explained is the request with the form of the answer in its system text, where the schema's
// differs from the one that the text describes.
func (c *call) explained() *engine.Request {
	if c.form == nil || c.form.Form == "" {
		return c.req
	}
	r := *c.req
	r.System = strings.Trim(r.System+"\n\n"+c.form.Form, "\n")
	return &r
}

// inForm says on an answer in which form its text and the arguments of its calls are, where
// that is not the one that the types have by themselves. Reading them is the caller's, who
// keeps record of it.
func (c *call) inForm(r *engine.Response) {
	if c.form != nil && c.form.Rewritten() {
		r.Dialect = c.row.schemas
	}
	for _, called := range r.Calls() {
		if w := c.tools[called.Name]; w != nil && w.Rewritten() {
			called.Dialect = c.row.schemas
		}
	}
}

// strictTools compiles the parameters of the tools for providers that hold calls to a schema.
// A tool that has no form there is sent as it is, and so is one for which the budgets that all
// schemas of a request share have nothing left.
func (c *call) strictTools() {
	if c.row.strictTools == nil || !c.row.strictTools(c.conn.base) || c.row.bare != nil && c.row.bare(c.model) {
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
		if w, err := c.forms.Compile(t.Params, c.row.schemas); err == nil && budgets.Tool(w) {
			c.tools[t.Name] = w
		}
	}
}

// definitions are what the provider is told of the tools: where the arguments of one have another
// form, the description says so.
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

func compact(schema string) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, []byte(schema)) != nil {
		return json.RawMessage(schema)
	}
	return b.Bytes()
}

func rootOf(schema json.RawMessage) string {
	var root struct {
		Type any `json:"type"`
	}
	_ = json.Unmarshal(schema, &root) // written by us
	s, _ := root.Type.(string)
	return s
}

func mentionsJSON(r *engine.Request) bool {
	if strings.Contains(strings.ToLower(r.System), "json") {
		return true
	}
	for i := range r.Messages {
		if strings.Contains(strings.ToLower(wire.Joined(r.Messages[i].Parts, engine.PartText, " ")), "json") {
			return true
		}
	}
	return false
}
