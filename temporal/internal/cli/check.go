package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const checkLong = `Check loads scripts as agentscript check does, which has more to say, and warns of what they do that acts on the
worker that carries it out: files, commands, and MCP servers that are processes. No server is asked.

The exit code is 3 when a script has errors, with --strict also when there are warnings.`

func (v *verbs) check() *cobra.Command {
	var root string
	var strict, pin bool
	cmd := &cobra.Command{Use: "check FILE...", Short: "Check scripts, and warn of what acts on one of several workers", Long: checkLong, RunE: func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return term.Usagef("usage: agentscript temporal check FILE...", "check needs a FILE")
		}
		ctx, stop := v.c.Interruptible()
		defer stop()
		code := term.ExitOK
		for _, file := range args {
			opts := []agentscript.Option{agentscript.WithUngranted()}
			if strict {
				opts = append(opts, agentscript.WithStrict())
			}
			s, err := setup.Load(v.c, ctx, file, root, opts...)
			if f, ok := errors.AsType[*term.Failure](err); ok { // the other files may be fine
				v.c.Report(f.Found, f.Sources)
				code = max(code, f.Code)
				continue
			}
			if err != nil {
				return err
			}
			found := s.Diagnostics()
			if !pin {
				found = append(found, warnLocal(s)...)
			}
			v.c.Report(found, s.Sources())
			if len(found) > 0 && strict {
				code = max(code, term.ExitCheck)
			} else if len(found) == 0 {
				v.say("%s: ok", file)
			}
		}
		if code != term.ExitOK {
			return &term.Failure{Code: code}
		}
		return nil
	}}
	setup.AddRoot(cmd.Flags(), &root)
	cmd.Flags().BoolVar(&strict, "strict", false, "a warning is an error, and what only a run can prove is noted")
	cmd.Flags().BoolVar(&pin, "pin-worker", false, "the runs will have it: what acts on a worker acts on the same one")
	return cmd
}
