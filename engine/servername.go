package engine

import (
	"encoding/hex"
	"github.com/agentscript/agentscript/internal/text"
	"path"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
)

// choose are the tools that the spec's globs choose, in the server's order. A glob that fits none
// is an error: a name that is misspelt would be missed only by the model.
func (s *ServerSpec) choose(listed []ServerTool) ([]ServerTool, error) {
	var names []string
	for i := range listed {
		if slices.Contains(names, listed[i].Name) {
			return nil, Errorf(KindTool, diag.ServerTools, "MCP server %q lists the tool %q twice", s.Name, text.Clip(listed[i].Name, maxToolName)).
				WithHelp("tell the server's author: a call names its tool, and each name is one tool's")
		}
		names = append(names, listed[i].Name)
	}
	for _, glob := range s.Tools {
		bare := strings.TrimPrefix(glob, "!")
		if slices.ContainsFunc(names, func(n string) bool { return globbed(bare, n) }) {
			continue
		}
		e := Errorf(KindConfig, diag.ServerTools, "MCP server %q has no tool %q", s.Name, bare)
		if hint := diag.DidYouMean(bare, names); hint != "" {
			return nil, e.WithHelp("%s", hint)
		}
		return nil, e.WithHelp("its tools are: %s", text.Clip(strings.Join(names, ", "), 600))
	}
	only := slices.ContainsFunc(s.Tools, func(g string) bool { return !strings.HasPrefix(g, "!") })
	var out []ServerTool
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

// CheckGlob says what is wrong with a glob of tools, nil when nothing is.
func CheckGlob(glob string) error {
	_, err := path.Match(strings.TrimPrefix(glob, "!"), "")
	return err
}

// nameTools gives the tools of servers the names under which a model calls them: their own where
// that is free, else server__tool. Providers take letters, digits, _ and - alone, 64 at most and
// no digit or - in front: what else a name holds becomes _, and where two names come to the same,
// part of a hash tells them apart. The same lists give the same names.
func nameTools(local, tools []*Tool) {
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
		if used[name] || len(name) > maxToolName {
			sum := abi.Hash([]byte(t.handled()))
			name = name[:min(len(name), maxToolName-9)] + "_" + hex.EncodeToString(sum[:4])
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
