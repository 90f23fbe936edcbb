package setup

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Preparse reads arguments that cannot be parsed yet, for what loading has to know: how long it may
// take, and how its errors are shown. Flags that the script seems to have are not looked at.
func Preparse(rest []string, script []string) (seen RunFlags) {
	set := pflag.NewFlagSet("run", pflag.ContinueOnError)
	set.Usage = func() {}
	set.ParseErrorsAllowlist.UnknownFlags = true
	seen.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(script, f.Name) {
			set.AddFlag(f)
		}
	})
	_ = set.Parse(rest) // whatever it is, it is reported when the flags are parsed in earnest
	return seen
}

// GuessParams guesses the flags of a script that is not loaded yet by the parameters of the
// def main in its file. Whatever keeps it from being read, loading tells.
func GuessParams(c *term.Console, file string) []string {
	if Readable(file) != nil {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range parsedScripts(c).Params(file, text, "main") {
		names = append(names, (&Param{name: name}).flag())
	}
	return names
}

// Deadline is the context of a run that began some time ago.
func (o *RunFlags) Deadline(ctx context.Context, begun time.Time) (context.Context, context.CancelFunc) {
	if o.Timeout <= 0 {
		return ctx, func() {}
	}
	late := engine.Errorf(engine.KindTimeout, diag.Timeout, "the run did not end within %s", o.Timeout).
		WithHelp("allow more time with --timeout, or find the slow step in the events")
	return context.WithDeadlineCause(ctx, begun.Add(o.Timeout), late)
}

// LoadTime bounds loading by a --timeout, if there is one.
func LoadTime(timeout time.Duration) []agentscript.Option {
	if timeout <= 0 {
		return nil
	}
	return []agentscript.Option{agentscript.WithLoadTimeout(timeout)}
}
