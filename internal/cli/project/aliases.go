// Package project resolves defaults from outside a script: those of the project file agentscript.toml and of the
// environment, and the flags that override them. A project file sets defaults and makes policy stricter; it grants
// nothing, and names no key, server or command.
package project

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Aliases maps short names to models.
type Aliases map[string]string

// AliasFlags holds the aliases of a command line.
type AliasFlags struct{ given []string }

// AddTo adds --model-alias.
func (f *AliasFlags) AddTo(set *pflag.FlagSet) {
	set.StringArrayVar(&f.given, "model-alias", nil, "use another name for a model: `fast=provider/model`; repeatable, overrides the names in agentscript.toml")
}

// Of returns the aliases of a project, overridden by those of the flags.
func (f *AliasFlags) Of(s *Settings) (Aliases, *term.Failure) {
	all := Aliases{}
	if s != nil {
		for name, model := range s.file.models {
			all[name] = model.Text
		}
	}
	own := Aliases{}
	for _, text := range f.given {
		name, model, ok := strings.Cut(text, "=")
		if !ok {
			return nil, term.Usagef("write --model-alias fast=provider/model", "--model-alias %q names no model", text)
		}
		if _, twice := own[name]; twice {
			return nil, term.Usagef("", "--model-alias sets %q twice", name)
		}
		if err := check(name, model); err != nil {
			return nil, term.Usagef("write --model-alias fast=provider/model", "--model-alias %q: %s", text, err)
		}
		own[name] = model
	}
	maps.Copy(all, own)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, chained := all[all[name]]; chained {
			return nil, term.Usagef("name the model itself", "the alias %q means %q, which is an alias too", name, all[name])
		}
	}
	return all, nil
}

// check rejects an alias that could be confused with something else, or that names no model.
func check(name, model string) error {
	switch {
	case name == "":
		return fmt.Errorf("an alias needs a name")
	case strings.ContainsAny(name, "/=#* \t"):
		return fmt.Errorf("the alias %q may hold no /, =, #, * and no blank", name)
	case strings.TrimSpace(model) == "":
		return fmt.Errorf("the alias %q names no model", name)
	case strings.ContainsFunc(model, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return fmt.Errorf("the alias %q means %q, but names of models have no blanks", name, model)
	}
	return nil
}

// Named returns the model for a name: the alias's model, or the name itself.
func (a Aliases) Named(model string) string { return cmp.Or(a[model], model) }

// Help lists the known aliases for an unknown model name. It returns "" if the name cannot be meant as an alias.
func (a Aliases) Help(model string) string {
	if len(a) == 0 || model == "" || strings.Contains(model, "/") {
		return ""
	}
	known := slices.Sorted(maps.Keys(a))
	return cmp.Or(diag.DidYouMean(model, known), "the aliases are "+strings.Join(known, ", "))
}
