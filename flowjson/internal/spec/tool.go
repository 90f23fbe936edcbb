package spec

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/internal/text"
)

func (r *reader) tool(v *tree.Value) *Tool {
	t := &Tool{Name: v.TextOf("name"), Type: strings.ToLower(v.TextOf("type")), At: v, NameAt: v.Get("name")}
	r.fields(v, "a tool", toolFields)
	r.named(t.NameAt, "a tool")
	params := v.Get("parameters")
	if kind := v.Get("type"); kind != nil && kind.Kind == tree.String && !slices.Contains(toolTypes, t.Type) {
		r.oneOf(kind, "tool type", toolTypes)
		return t
	}
	if params == nil || params.Kind != tree.Object {
		return t
	}
	switch t.Type {
	case "local":
		r.fields(params, "parameters of a local tool", localFields)
	case "mcp":
		r.server(t, params)
	}
	return t
}

// server reads how a server of tools is reached.
func (r *reader) server(t *Tool, params *tree.Value) {
	transport := params.Get("transport")
	if transport == nil {
		r.report(diag.FlowField, params, `add "transport": "stdio" with a command, or "sse" with a url`, `parameters of an mcp tool has no "transport"`)
		return
	}
	if transport.Kind != tree.String {
		d := r.report(diag.FlowField, transport, "", "transport: want a text, got %s", transport.Shown())
		d.Helpf("there are %s", strings.Join(transports, ", "))
		return
	}
	if !r.oneOf(transport, "transport", transports) {
		return
	}
	t.Transport = transport.Text
	r.fields(params, "parameters of an mcp tool over "+transport.Text, transportFields[transport.Text])
	t.Command, t.URL = params.TextOf("command"), params.TextOf("url")
	t.Args = text.Each(r.texts(params, "args"), func(v *tree.Value) string { return v.Text })
	t.Env, t.Headers = r.settings(params, "env"), r.settings(params, "headers")
	if url := params.Get("url"); t.URL != "" && !strings.HasPrefix(t.URL, "http://") && !strings.HasPrefix(t.URL, "https://") {
		r.report(diag.FlowField, url, `write "https://host/path"`, "url: want an http or https URL, got %s", url.Shown())
	}
}

// settings reads variables or headers, whose values are texts.
func (r *reader) settings(params *tree.Value, key string) []Setting {
	v := params.Get(key)
	if v == nil {
		return nil
	}
	var out []Setting
	for _, m := range v.Members {
		switch {
		case m.Value.Kind != tree.String:
			r.report(diag.FlowField, m.Value, "write it in quotes", "%s: want texts, got %s", key, m.Value.Shown())
		case m.Key == "" || strings.ContainsAny(m.Key, "=: \t\r\n\x00") || strings.ContainsAny(m.Value.Text, "\r\n\x00"):
			r.report(diag.FlowField, m.Value, "names have no blanks, and values no line breaks", "%s: %q cannot be sent", key, m.Key)
		default:
			out = append(out, Setting{m.Key, m.Value.Text})
		}
	}
	return out
}
