package agent

import (
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// chooseTools returns the tools that the spec's globs select, in the server's order. A glob that matches none is an
// error: otherwise only the model would miss a tool whose name is misspelled.
func chooseTools(s *remote.Server, listed []remote.Tool) ([]remote.Tool, error) {
	var names []string
	for i := range listed {
		if slices.Contains(names, listed[i].Name) {
			return nil, engine.Errorf(engine.KindTool, diag.ServerTools, "MCP server %q lists the tool %q twice", s.Name, text.Clip(listed[i].Name, MaxToolName)).
				WithHelp("report this to the server's author: a call names its tool, so names must be unique")
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
		for _, glob := range s.Tools { // the last match decides
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

// globbed reports whether a name matches a glob, in which * stands for anything, including slashes.
func globbed(glob, name string) bool {
	const slash = "\x00"
	ok, err := path.Match(strings.ReplaceAll(glob, "/", slash), strings.ReplaceAll(name, "/", slash))
	return ok && err == nil
}

// CheckGlob returns an error if a glob of tools is malformed.
func CheckGlob(glob string) error {
	_, err := path.Match(strings.TrimPrefix(glob, "!"), "")
	return err
}

// NameTools sets the names under which a model calls the tools of servers: their own names if these are free,
// otherwise server__tool. Providers accept up to 64 letters, digits, _ and -, with no digit or - at the beginning.
// Every other character becomes _, and part of a hash distinguishes equal names. The same lists yield the same names.
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

// callable returns a name in characters that every provider accepts. It may be too long.
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
	Tool   *Tool // nil if Err says why not
	Err    *engine.Error
}

// ToolsOf returns the tools in a list that [remote.EncodeTools] made, as the agents of a script that declares the
// server get them: without those that the server's globs exclude. Such an agent fails with the first Err. The error
// of ToolsOf is about the list as a whole.
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
