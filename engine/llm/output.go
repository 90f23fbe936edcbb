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
// else its JSON mode, else by the prompt alone, which already says it.
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
		return &wire.Output{Schema: compact(t.JSONSchema())}, ""
	case *wire.OpenAI:
		schema := compact(t.JSONSchema())
		root := rootOf(schema)
		switch {
		case root != "object":
			return nil, "the provider takes schemas of objects only"
		case d.Schema == wire.SchemaNone || c.row.bare != nil && c.row.bare(c.model):
			return nil, "the model takes no schema"
		case d.Schema == wire.SchemaObject:
			// JSON mode is refused when the prompt does not speak of JSON.
			if !mentionsJSON(c.req) {
				return nil, "the provider takes no schema"
			}
			return &wire.Output{}, "the provider takes no schema"
		}
		return &wire.Output{Name: schemaName(t.Name), Schema: schema, Strict: strict(schema)}, ""
	}
	return nil, "the provider takes no schema"
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

// schemaName makes a type's name fit the provider's pattern.
func schemaName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "answer"
	}
	return name[:min(len(name), 64)]
}
