package agent

import (
	"encoding/hex"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// maxServerSchema is the maximum size of one schema of a server: it is sent to the model with every request.
const maxServerSchema = 256 << 10

// newServerTool makes a Tool from a server's description. The parameters are a type if a type can express the schema.
// Otherwise the provider is sent the schema unchanged, and the arguments are decoded as far as a type can describe
// them: in the worst case as a free dict.
func newServerTool(s *remote.Server, listed *remote.Tool) (*Tool, error) {
	sum := abi.Hash([]byte(listed.Description + "\x00" + listed.Input + "\x00" + listed.Output))
	t := &Tool{Name: listed.Name, Doc: listed.Description, Class: s.Class, Untrusted: s.Untrusted, Server: s, Remote: listed.Name, Version: hex.EncodeToString(sum[:8]), Span: s.Span, OnUnknown: s.OnUnknown}
	t.Reconcile, _ = s.Reconcile.(Judge)
	if err := serverParameters(s, t, listed.Input); err != nil {
		return nil, err
	}
	if listed.Output != "" && len(listed.Output) <= maxServerSchema {
		// A schema that no type can express restricts nothing: the tool then returns any.
		if out, _, errs := jsonschema.Parse(listed.Output, jsonschema.Options{Name: callable(listed.Name) + "_result", Lenient: true, KeepInts: true}); errs == nil {
			t.Returns = out
		}
	}
	return t, nil
}

func serverParameters(s *remote.Server, t *Tool, schema string) error {
	bad := func(format string, args ...any) error {
		e := engine.Errorf(engine.KindTool, diag.ServerTools, "the tool %q of MCP server %q cannot be offered to a model: "+format,
			append([]any{text.Clip(t.Remote, MaxToolName), s.Name}, args...)...)
		return e.WithHelp("report this to the server's author, or exclude it: mcp(..., tools = [%q])", "!"+text.Clip(t.Remote, MaxToolName))
	}
	if t.Remote == "" {
		return bad("it has no name")
	}
	if len(schema) > maxServerSchema {
		return bad("its input schema has %d bytes, %d at most", len(schema), maxServerSchema)
	}
	read := lenient.Decode(generable.AnyT, schema, generable.Options{Level: generable.Strict})
	m, ok := read.Value.AsMap()
	if !read.OK || !ok {
		return bad("its input schema is no JSON object: %s", text.Clip(schema, 80))
	}
	if kind, has := m.Get("type"); has {
		if word, _ := kind.AsStr(); word != "object" {
			return bad("its input schema is of %s, and arguments are an object", generable.JSON(kind, nil))
		}
	}
	typ, lost, errs := jsonschema.Import(read.Value, jsonschema.Options{Name: callable(t.Remote), Lenient: true})
	switch {
	case errs != nil, typ.Kind != generable.RecordType && typ.Kind != generable.DictType:
		t.Params, t.Schema = generable.DictOfType(generable.AnyT), schema
	case len(lost) > 0:
		t.Params, t.Schema = typ, schema
	default:
		t.Params = typ
	}
	return nil
}

// Given converts a server's answer to a value of the tool's result type. Text is not a result of a tool with a
// schema, but it is all that an older server sends: it stays unchanged.
func (t *Tool) Given(v generable.Value) (generable.Value, error) {
	if _, text := v.AsStr(); text || t.Returns == nil || model.HoldsPictures(v) {
		return v, nil
	}
	out, errs := t.Returns.Convert(v)
	if errs == nil {
		return out, nil
	}
	e := engine.Errorf(engine.KindTool, diag.ServerResult, "the answer of MCP server %q to %s is not what its output schema says: %w; it is %s",
		t.Server.Name, strconv.Quote(t.Remote), errs, text.Clip(generable.JSON(v, nil), 400))
	return v, e.WithHelp("report this to the server's author")
}
