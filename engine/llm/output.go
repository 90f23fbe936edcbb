package llm

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/generable"
)

// output decides how a call holds the model to its output type: by the provider's schema,
// else its JSON mode, else by the prompt alone, which already says it. The schema is the type
// in the provider's dialect, whose form is kept to read the answer by.
func (c *call) output(p *wire.Plan) (*wire.Output, *engine.Error) {
	o := c.req.Output
	if o == nil || o.Type == nil || o.Structured == engine.StructuredGuided {
		return nil, nil
	}
	t := o.Type.Deref()
	switch t.Kind {
	case generable.StrType, generable.AnyType, generable.ErrorType:
		return nil, nil
	}
	out, why := c.constraint(t)
	if o.Structured == engine.StructuredConstrained && (out == nil || out.Schema == nil) {
		return nil, p.Fail(engine.KindUnsupported, nil, `use structured = "auto", or another model`,
			"structured = \"constrained\" cannot be had for %s: %s", t, why)
	}
	return out, nil
}

// constraint gives the provider's strongest hold on an answer of type t, and why it is not a
// schema when it is none.
func (c *call) constraint(t *generable.Type) (*wire.Output, string) {
	switch d := c.row.dialect.(type) {
	case *wire.Ollama:
		if len(c.req.Tools) > 0 {
			return nil, "this server holds the whole answer to the schema, so that it could not call tools"
		}
	case *wire.OpenAI:
		switch {
		case d.Schema == wire.SchemaNone || c.row.bare != nil && c.row.bare(c.model):
			return nil, "the model takes no schema"
		case d.Schema == wire.SchemaObject:
			// JSON mode is refused when the prompt does not speak of JSON.
			if rootOf(compact(t.JSONSchema())) != "object" || !mentionsJSON(c.req) {
				return nil, "the provider takes no schema"
			}
			return &wire.Output{}, "the provider takes no schema"
		}
	default:
		return nil, "the provider takes no schema"
	}
	form, err := c.forms.Compile(t, c.row.schemas)
	if err != nil {
		return nil, err.Error()
	}
	c.form = form
	return &wire.Output{Name: form.Name, Schema: json.RawMessage(form.Schema), Strict: c.row.strict}, ""
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

// restore gives an answer in the schema's form the one that the type has by itself, which is
// what the caller decodes. An answer that reads the same as it is, or that does not fit, is
// left to the caller's decoder and its records.
func (c *call) restore(r *engine.Response) {
	if c.form == nil || !c.form.Rewritten() || r.Finish == engine.FinishLength || len(r.Calls()) > 0 {
		return
	}
	text := r.Text()
	t := c.form.Natural
	read := c.form.Decode(text, generable.Options{})
	if !read.OK {
		return
	}
	if as := generable.Decode(t, text, generable.Options{}); as.OK && as.Cost <= read.Cost && generable.Equal(as.Value, read.Value) {
		return
	}
	parts := make([]engine.Part, 0, len(r.Parts))
	given := false
	for _, p := range r.Parts {
		if p.Kind == engine.PartText {
			if given {
				continue
			}
			p.Text, given = generable.JSON(read.Value, t), true
		}
		parts = append(parts, p)
	}
	r.Parts = parts
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
		if strings.Contains(strings.ToLower(joinText(r.Messages[i].Parts, " ")), "json") {
			return true
		}
	}
	return false
}
