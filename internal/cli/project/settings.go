package project

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Settings are the defaults for the scripts of a directory: those of the project file, then those of the
// environment.
type Settings struct {
	Path string // path of the project file, "" if there is none
	file *file
	set  map[string]Setting // by table and key
}

// Setting is one value.
type Setting struct {
	Table string `json:"table"`
	Key   string `json:"key"`
	Value any    `json:"value"` // as JSON, nil if nothing is set
	Text  string `json:"-"`     // in the form of a flag
	From  string `json:"from"`  // a position in the project file, the name of a variable, or "default"

	at diag.Span // position of its key in the project file, otherwise invalid
}

// Open reads the defaults for the scripts of a directory.
func Open(dir string, lookup func(name string) (string, bool)) (*Settings, *term.Failure) {
	s := &Settings{Path: Find(dir), file: &file{}, set: map[string]Setting{}}
	for i := range keys {
		k := &keys[i]
		if k.table != Run {
			continue
		}
		name := k.variable()
		value, _ := lookup(name)
		if value == "" {
			continue
		}
		text, wrong := k.read(value)
		if wrong != "" {
			return nil, term.Usagef("", "the variable %s: %s", name, wrong)
		}
		s.set[path(Run, k.name)] = Setting{Table: Run, Key: k.name, Value: k.value(text), Text: text, From: name}
	}
	if s.Path != "" {
		f, problem := read(s.Path)
		if problem != nil {
			return nil, problem
		}
		s.file = f
		maps.Copy(s.set, f.own)
	}
	return s, nil
}

// Of returns what is set for a key of a table other than [models].
func (s *Settings) Of(table, key string) (Setting, bool) {
	if s == nil {
		return Setting{}, false
	}
	value, ok := s.set[path(table, key)]
	return value, ok
}

// Text returns what is set for a key in the form of a flag, or "".
func (s *Settings) Text(table, key string) string {
	value, _ := s.Of(table, key)
	return value.Text
}

// List returns the values of all keys, including unset ones, in the order of the documentation, and the aliases before
// them.
func (s *Settings) List() []Setting {
	all := s.file.aliases()
	for _, k := range keys {
		value, ok := s.Of(k.table, k.name)
		if !ok {
			value = Setting{Table: k.table, Key: k.name, Value: k.value(k.unset), Text: k.unset, From: "default"}
		}
		all = append(all, value)
	}
	return all
}

// Wrong finds values that a run would reject: models that check rejects, and rules that can never apply.
func (s *Settings) Wrong(check func(model string) *engine.Error) *term.Failure {
	models := s.file.aliases()
	if model, ok := s.Of(Run, "model"); ok {
		models = append(models, model)
	}
	own := Aliases{}
	for _, m := range s.file.models {
		own[m.Key] = m.Text
	}
	var found diag.List
	for _, m := range models {
		err := check(own.Named(m.Text))
		if own[m.Text] != "" || err == nil || err.Code != diag.UnknownProvider && err.Code != diag.NoModel { // a missing key is not a mistake in the file
			continue
		}
		d := term.Diagnose(err)
		if d.Span = m.at; !m.at.IsValid() {
			d.Message = "the variable " + m.From + ": " + d.Message
		}
		if help := own.Help(m.Text); m.Table == Run && help != "" {
			d.Help = []string{help}
		}
		found.Add(d)
	}
	_, mistakes := s.Unknown("", nil, nil)
	if mistakes != nil {
		found = append(found, mistakes.Found...)
	}
	found.Sort()
	return term.FailureOf(term.ExitUsage, found, s.Sources())
}

// filled marks a flag whose value is a default of a project.
const filled = "agentscript-default"

// Fill sets the flags that were not given to the values of a table. It leaves out the model: a project's default
// applies to agents that name none, and --model to all. If keys are named, it leaves out all others too.
func (s *Settings) Fill(table string, set *pflag.FlagSet, only ...string) *term.Failure {
	for _, k := range keys {
		value, is := s.Of(table, k.name)
		f := set.Lookup(k.name)
		if !is || f == nil || f.Changed || k.table != table || k.kind == modelName || only != nil && !slices.Contains(only, k.name) {
			continue
		}
		if err := set.Set(k.name, value.Text); err != nil {
			return term.Usagef("", "%s: %s: %v", value.From, k.name, err)
		}
		if err := set.SetAnnotation(k.name, filled, []string{value.Text, value.From}); err != nil {
			return term.Usagef("", "%s: %s: %v", value.From, k.name, err)
		}
	}
	return nil
}

// Given reports whether a flag was given on the command line, as opposed to set by [Settings.Fill].
func Given(set *pflag.FlagSet, name string) bool {
	f := set.Lookup(name)
	if f == nil || !f.Changed {
		return false
	}
	_, is := f.Annotations[filled]
	return !is
}

// Filled returns for each flag that [Settings.Fill] set its value, and where that comes from.
func Filled(set *pflag.FlagSet) map[string]string {
	all := map[string]string{}
	set.VisitAll(func(f *pflag.Flag) {
		if from := f.Annotations[filled]; from != nil {
			all[f.Name] = fmt.Sprintf("%s = %s is set by %s", f.Name, from[0], from[1])
		}
	})
	return all
}

// Policy returns the rules of the project, or nil if there are none. They make a policy stricter, and allow nothing.
func (s *Settings) Policy() *policy.Policy {
	if s == nil || len(s.file.rules) == 0 {
		return nil
	}
	ask, deny := s.file.rules["ask"], s.file.rules["deny"]
	pattern := func(r rule) string { return r.text }
	p, err := policy.New(FileName, policy.Rules{Ask: text.Each(ask, pattern), Deny: text.Each(deny, pattern)})
	if err != nil { // each of them was read before
		return nil
	}
	p.Place(text.Each(slices.Concat(ask, deny), func(r rule) diag.Span { return r.at }))
	return p
}
