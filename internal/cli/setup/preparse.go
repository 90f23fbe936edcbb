package setup

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Preparse reads arguments that cannot be parsed completely yet, for what loading needs to know: its time limit, and
// how its errors are shown. It ignores flags that the script seems to define.
func Preparse(rest []string, script []string) (seen RunFlags) {
	set := Without(seen.Flags(), script...)
	set.ParseErrorsAllowlist.UnknownFlags = true
	_ = set.Parse(rest) // errors are reported when the flags are parsed completely
	return seen
}

// GuessParams guesses the flags of a script that is not loaded yet from the parameters of def main in its file. If the
// file cannot be read, loading reports why.
func GuessParams(c *term.Console, ctx context.Context, file string) []string {
	if IsFlow(file) {
		return []string{"input"}
	}
	src, err := ReadSource(file)
	if err != nil {
		return nil
	}
	return text.Each(parsedScripts(c).Params(ctx, file, src, "main"), flagOf)
}

// Reads lists the files that the flags make a run read.
func (o *RunFlags) Reads() []string { return []string{o.InputFile, o.Scripted, o.EnvFile, o.prices} }

// Watchable rejects flags that make no sense for a script that runs again after each edit.
func (o *RunFlags) Watchable() *term.Failure {
	if o.Calls.Replay+o.Calls.Record+o.Session.id == "" {
		return nil
	}
	return term.Usagef("leave --watch out", "--watch runs a script that is edited: --record, --replay and --session do not go with it")
}

// LoadTimeout returns the time limit of loading: given before or after FILE, or the project's default.
func (o *RunFlags) LoadTimeout(early *RunFlags) time.Duration {
	given := cmp.Or(max(0, o.Timeout), max(0, early.Timeout))
	if set := o.Project.Text(project.Run, "timeout"); given == 0 && set != "" {
		given, _ = time.ParseDuration(set) // it was validated before
	}
	return cmp.Or(given, agentscript.DefaultLoadTimeout)
}

// Deadline returns the context of a run that began at some time in the past.
func (o *RunFlags) Deadline(ctx context.Context, begun time.Time) (context.Context, context.CancelFunc) {
	if o.Timeout <= 0 {
		return ctx, func() {}
	}
	late := engine.Errorf(engine.KindTimeout, diag.Timeout, "the run did not end within %s", o.Timeout).
		WithHelp("allow more time with --timeout, or find the slow step in the events")
	return context.WithDeadlineCause(context.WithValue(ctx, undated{}, ctx), begun.Add(o.Timeout), late)
}

// undated is the key under which a [RunFlags.Deadline] keeps its parent context.
type undated struct{}

// AtWork bounds a run that is about to start by its working time, instead of the deadline of its context. If time is
// virtual, the real time bounds it.
func (o *RunFlags) AtWork(ctx context.Context, models *Ports, l *engine.Limits) context.Context {
	outer, dated := ctx.Value(undated{}).(context.Context)
	if !dated || models.Virtual() || ctx.Err() != nil {
		return ctx
	}
	l.Wall = o.Timeout
	return outer
}

// CheckBoolArgs rejects a truth value after a flag that takes none there: --loud false would be --loud and an argument.
func CheckBoolArgs(own *pflag.FlagSet, params []*Param, rest []string) *term.Failure {
	for i, arg := range rest[:max(0, len(rest)-1)] {
		name, dashes := strings.CutPrefix(arg, "--")
		name = string(dashed(nil, name))
		if arg == "--" {
			return nil
		}
		if !dashes || !slices.Contains([]string{"true", "false", "yes", "no", "on", "off"}, strings.ToLower(rest[i+1])) {
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
