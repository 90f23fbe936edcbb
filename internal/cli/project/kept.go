package project

import (
	"maps"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Kept is the part of the defaults that outlives a command and that no flag set by [Settings.Fill] holds: the aliases
// and the rules of the project file, and the model of agents that name none.
type Kept struct {
	Path  string `json:"path,omitempty"`
	Text  string `json:"text,omitempty"` // text of the project file
	Model string `json:"model,omitempty"`
}

// Keep returns what to keep of the defaults, or nil for nothing.
func (s *Settings) Keep() *Kept {
	if s == nil {
		return nil
	}
	k := Kept{Path: s.Path, Text: s.file.text, Model: s.Text(Run, "model")}
	if k == (Kept{}) {
		return nil
	}
	return &k
}

// Restore returns the defaults that were kept.
func (k *Kept) Restore() (*Settings, *term.Failure) {
	if k == nil {
		return nil, nil
	}
	f := readText(k.Path, k.Text)
	if problem := term.FailureOf(term.ExitUsage, f.found, diag.SourceMap{k.Path: f.text}); problem != nil {
		return nil, problem
	}
	s := &Settings{Path: k.Path, file: f, set: maps.Clone(f.own)}
	if k.Model != "" {
		s.set[path(Run, "model")] = Setting{Table: Run, Key: "model", Value: k.Model, Text: k.Model, From: k.Path}
	}
	return s, nil
}
