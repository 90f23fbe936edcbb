package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// call returns the outcome of one call of a server's tool. A failure that the server reports is an error that the model
// sees. So is the loss of the server: the next call connects anew.
func (s *server) call(ctx context.Context, e *engine.Effect, spec *remote.Server, req *engine.ToolRequest, sink engine.Sink) engine.Outcome {
	hello, most := timeouts(spec)
	reach, stop := context.WithTimeoutCause(ctx, hello, tooSlow{hello})
	x, err := s.session(reach)
	stop()
	if err != nil {
		return engine.Failed(err)
	}
	defer s.release(x)
	ctx, cancel := context.WithTimeoutCause(ctx, most, tooSlow{most})
	defer cancel()
	f := x.flights.begin(e, sink)
	defer x.flights.end(f)
	x.tellChanges(e.Run, f)

	params := &sdk.CallToolParams{Name: req.Tool, Arguments: json.RawMessage(arguments(req.Args))}
	params.Meta = sdk.Meta{idempotencyKey: e.Run + "/" + e.ID()}
	params.SetProgressToken(f.token)
	var res *sdk.CallToolResult
	failed := x.do(ctx, func(ctx context.Context) (err error) {
		res, err = x.cs.CallTool(ctx, params)
		return err
	})
	var out engine.Outcome
	switch {
	case failed != nil:
		out = engine.Failed(x.lost(x.failed(ctx, "the call of "+req.Tool, failed, e.Class)))
	case res.IsError:
		s.well()
		out = engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "%s", x.hidden.Text(errorText(res))))
	default:
		s.well()
		v, err := result(res)
		if err != nil {
			out = engine.Failed(engine.Errorf(engine.KindTool, diag.ServerResult, "the answer of MCP server %q to %s cannot be read: %s", s.spec.Name, req.Tool, x.said(err)))
			break
		}
		out = engine.Outcome{Value: x.hidden.Value(v), Attempt: 1}
	}
	out.Usage = f.used()
	return out
}

// idempotencyKey is the member of a call's _meta by which a server can recognize a call that was made before: a resumed
// run repeats a call under the same key.
const idempotencyKey = "agentscript/idempotencyKey"

// arguments returns a call's arguments as JSON, in declared order.
func arguments(v generable.Value) []byte {
	if b := generable.AppendJSON(nil, argument(v), nil); len(b) > 0 && b[0] == '{' {
		return b
	}
	return []byte("{}")
}

// argument converts a value to the form that servers accept. It leaves out what was not given, since servers take a
// null for a value, and it writes 2.0 as a whole number, since they reject the other form.
func argument(v generable.Value) generable.Value {
	if r, ok := v.AsRecord(); ok {
		m := generable.NewMap(len(r.Type().Fields))
		for i, f := range r.Type().Fields {
			if item := r.At(i); !item.IsNull() || !f.Optional {
				m.Set(f.Name, argument(item))
			}
		}
		return m.Value()
	}
	if f, ok := v.AsFloat(); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return generable.IntOf(int64(f))
	}
	return typing.Rebuilt(v, argument)
}

// result converts a tool's result to a value: the structured form if there is one, else the text. With pictures, the
// value is a list of that and of the pictures.
func result(res *sdk.CallToolResult) (generable.Value, error) {
	text, pictures := contents(res.Content)
	v := generable.StrOf(text)
	if res.StructuredContent != nil {
		read := lenient.Decode(generable.AnyT, jsonText(res.StructuredContent), generable.Options{Level: generable.Strict})
		if !read.OK {
			return v, read.Errors
		}
		v = read.Value
	}
	if len(pictures) == 0 {
		return v, nil
	}
	items := make([]generable.Value, 0, len(pictures)+1)
	if s, ok := v.AsStr(); !ok || s != "" {
		items = append(items, v)
	}
	return generable.NewList(append(items, pictures...)).Value(), nil
}

// errorText returns the text of a failed call.
func errorText(res *sdk.CallToolResult) string {
	text, _ := contents(res.Content)
	return cmp.Or(text, jsonText(res.StructuredContent), "the tool failed and does not say why")
}

// contents returns the texts of content blocks, one per line, and the pictures. Content that a model cannot be shown is
// replaced by a short description.
func contents(blocks []sdk.Content) (string, []generable.Value) {
	var texts []string
	var pictures []generable.Value
	picture := func(mime string, data []byte) {
		pictures = append(pictures, model.ImageValue(model.Image{URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)}))
	}
	for _, block := range blocks {
		switch b := block.(type) {
		case *sdk.TextContent:
			texts = append(texts, strings.ToValidUTF8(b.Text, "\uFFFD"))
		case *sdk.ImageContent:
			if !isPicture(b.MIMEType) {
				texts = append(texts, fmt.Sprintf("[%s, %d bytes]", text.Brief(b.MIMEType), len(b.Data)))
				continue
			}
			picture(b.MIMEType, b.Data)
		case *sdk.AudioContent:
			texts = append(texts, fmt.Sprintf("[audio %s, %d bytes]", text.Brief(b.MIMEType), len(b.Data)))
		case *sdk.ResourceLink:
			line := fmt.Sprintf("[resource %s]", text.Brief(b.URI))
			if about := strings.TrimSpace(b.Name + " " + b.Description); about != "" {
				line += " " + text.Brief(about)
			}
			texts = append(texts, line)
		case *sdk.EmbeddedResource:
			switch r := b.Resource; {
			case r == nil:
			case r.Text != "" || len(r.Blob) == 0:
				texts = append(texts, fmt.Sprintf("[resource %s]\n%s", text.Brief(r.URI), strings.ToValidUTF8(r.Text, "\uFFFD")))
			case isPicture(r.MIMEType):
				picture(r.MIMEType, r.Blob)
			default:
				texts = append(texts, fmt.Sprintf("[resource %s: %s, %d bytes]", text.Brief(r.URI), text.Brief(r.MIMEType), len(r.Blob)))
			}
		}
	}
	return strings.Join(texts, "\n"), pictures
}

// isPicture reports whether a media type is that of a picture and valid in a data URL.
func isPicture(mime string) bool {
	kind, sub, ok := strings.Cut(mime, "/")
	return ok && kind == "image" && sub != "" && strings.IndexFunc(sub, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '+' || r == '-')
	}) < 0
}
