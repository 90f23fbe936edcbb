package setup

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// CheckBoolArgs refuses a truth value behind a flag that takes none there: --loud false would be
// --loud and an argument.
func CheckBoolArgs(own *pflag.FlagSet, params []*Param, rest []string) *term.Failure {
	for i, text := range rest[:max(0, len(rest)-1)] {
		name, dashes := strings.CutPrefix(text, "--")
		name = string(dashed(nil, name))
		if text == "--" {
			return nil
		}
		if !dashes || !isTruth(rest[i+1]) {
			continue
		}
		mine := slices.IndexFunc(params, func(p *Param) bool { return p.isBool() && (p.flag() == name || "no-"+p.flag() == name) })
		switch f := own.Lookup(name); {
		case mine >= 0:
			flag := params[mine].flag()
			return term.Usagef("write --"+flag+" or --no-"+flag+", or --"+flag+"=true or --"+flag+"=false; another argument comes after --",
				"--%s takes no value after a blank, and got %q", name, rest[i+1])
		case f != nil && f.Value.Type() == "bool" && !IsParam(params, name):
			return term.Usagef("write --"+name+", or leave it out; an INPUT comes before the flags or after --", "--%s takes no value, and got %q", name, rest[i+1])
		}
	}
	return nil
}

func isTruth(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off":
		return true
	}
	return false
}
