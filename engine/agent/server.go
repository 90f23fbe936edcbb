package agent

import (
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"

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

// chooseTools are the tools that the spec's globs choose, in the server's order. A glob that fits none
// is an error: a name that is misspelt would be missed only by the model.
func chooseTools(s *remote.Server, listed []remote.Tool) ([]remote.Tool, error) {
	var names []string
	for i := range listed {
		if slices.Contains(names, listed[i].Name) {
			return nil, engine.Errorf(engine.KindTool, diag.ServerTools, "MCP server %q lists the tool %q twice", s.Name, text.Clip(listed[i].Name, MaxToolName)).
				WithHelp("tell the server's author: a call names its tool, and each name is one tool's")
		}
		names = append(names, listed[i].Name)
	}
	for _, glob := range s.Tools {
		bare := strings.TrimPrefix(glob, "!")
		if slices.ContainsFunc(names, func(n string) bool { return globbed(bare, n) }) {
			continue
		}
		e := engine.Errorf(engine.KindConfig, diag.ServerTools, "MCP server %q has no tool %q", s.Name, bare)
		if hint := diag.DidYouMean(bare, names); hint != "" {
			return nil, e.WithHelp("%s", hint)
		}
		return nil, e.WithHelp("its tools are: %s", text.Clip(strings.Join(names, ", "), 600))
	}
	only := slices.ContainsFunc(s.Tools, func(g string) bool { return !strings.HasPrefix(g, "!") })
	var out []remote.Tool
	for _, t := range listed {
		in := !only
		for _, glob := range s.Tools { // the last that fits decides
			if bare, not := strings.CutPrefix(glob, "!"); globbed(bare, t.Name) {
				in = !not
			}
		}
		if in {
			out = append(out, t)
		}
	}
	return out, nil
}

// globbed reports whether a name fits a glob, in which * stands for anything, also for slashes.
func globbed(glob, name string) bool {
	const slash = "\x00"
	ok, err := path.Match(strings.ReplaceAll(glob, "/", slash), strings.ReplaceAll(name, "/", slash))
	return ok && err == nil
}

// CheckGlob reports whether a glob of tools can be read.
func CheckGlob(glob string) error {
	_, err := path.Match(strings.TrimPrefix(glob, "!"), "")
	return err
}

// NameTools sets the names under which a model calls the tools of servers: their own names where free,
// else server__tool. Providers accept letters, digits, _ and -, at most 64 of them, and no digit or - in
// front. Every other character becomes _, and part of a hash tells equal names apart. The same lists
// give the same names.
func NameTools(local, tools []*Tool) {
	taken := map[string]int{}
	for _, t := range local {
		taken[t.Name]++
	}
	for _, t := range tools {
		taken[callable(t.Remote)]++
	}
	used := map[string]bool{}
	for _, t := range local {
		used[t.Name] = true
	}
	for _, t := range tools {
		name := callable(t.Remote)
		if taken[name] > 1 {
			name = callable(t.Server.Name + "__" + t.Remote)
		}
		if used[name] || len(name) > MaxToolName {
			sum := abi.Hash([]byte(t.Handled()))
			name = name[:min(len(name), MaxToolName-9)] + "_" + hex.EncodeToString(sum[:4])
		}
		used[name] = true
		t.Name = name
	}
}

// callable is a name in the letters that every provider takes. It may be too long.
func callable(name string) string {
	out := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	if out == "" || out[0] == '-' || '0' <= out[0] && out[0] <= '9' {
		out = "_" + out
	}
	return out
}

// Offered is one tool that a server lists: the tool as an agent without other tools gets it, or the
// reason why it cannot be offered.
type Offered struct {
	Listed remote.Tool
	Tool   *Tool // nil where Err says why there is none
	Err    *engine.Error
}

// ToolsOf returns the tools in a list that [remote.EncodeTools] made, as the agents of a script that declares
// the server get them: without those that the server's globs take out. Such an agent fails with the
// first Err. The error is about the list as a whole.
func ToolsOf(s *remote.Server, list generable.Value) ([]Offered, error) {
	listed, err := remote.DecodeTools(list)
	if err != nil {
		return nil, err
	}
	chosen, err := chooseTools(s, listed)
	if err != nil {
		return nil, err
	}
	out := make([]Offered, len(chosen))
	var tools []*Tool
	for i := range chosen {
		out[i].Listed = chosen[i]
		t, err := newServerTool(s, &chosen[i])
		if err != nil {
			out[i].Err = engine.AsError(err)
			continue
		}
		out[i].Tool, tools = t, append(tools, t)
	}
	NameTools(nil, tools)
	return out, nil
}

// maxServerSchema bounds one schema of a server: it is sent to the model with every request.
const maxServerSchema = 256 << 10

// newServerTool makes a tool of what a server says of one. Its parameters are a type where one can say
// what the schema says. Where none can, the provider is sent the schema as it is, and the
// arguments are read as far as a type goes: as a free dict in the end.
func newServerTool(s *remote.Server, listed *remote.Tool) (*Tool, error) {
	sum := abi.Hash([]byte(listed.Description + "\x00" + listed.Input + "\x00" + listed.Output))
	t := &Tool{Name: listed.Name, Doc: listed.Description, Class: s.Class, Untrusted: s.Untrusted, Server: s, Remote: listed.Name, Version: hex.EncodeToString(sum[:8]), Span: s.Span}
	if err := serverParameters(s, t, listed.Input); err != nil {
		return nil, err
	}
	if listed.Output != "" && len(listed.Output) <= maxServerSchema {
		// One that no type can say holds nothing back: what the tool gives is any then.
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
		return e.WithHelp("tell the server's author, or go without it: mcp(..., tools = [%q])", "!"+text.Clip(t.Remote, MaxToolName))
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

// Given makes what a server answered a value of the tool's result type. Text is no result of a
// tool with a schema, but all that an older server gives: it stays what it is.
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
	return v, e.WithHelp("tell the server's author")
}
