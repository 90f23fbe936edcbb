package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const checkLong = `Check loads scripts as agentscript check does, which reports more, and warns about effects that act on the worker that
carries them out: files, commands, and MCP servers that are processes. It contacts no server.

The exit code is 3 if a script has errors, with --strict also if there are warnings.`

func (v *verbs) check() *cobra.Command {
	var root string
	var strict, pin bool
	cmd := &cobra.Command{Use: "check FILE...", Short: "Check scripts, and warn about effects that act on one of several workers", Long: checkLong, RunE: func(_ *cobra.Command, args []string) error {
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
			switch warned := slices.ContainsFunc(found, func(d *diag.Diagnostic) bool { return d.Severity == diag.Warning }); {
			case warned && strict:
				code = max(code, term.ExitCheck)
			case !warned:
				v.say("%s: ok", file)
			}
		}
		if code != term.ExitOK {
			return &term.Failure{Code: code}
		}
		return nil
	}}
	setup.AddRoot(cmd.Flags(), &root)
	cmd.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors, and note what only a run can prove")
	cmd.Flags().BoolVar(&pin, "pin-worker", false, "the runs will use --pin-worker: their effects act on the same worker")
	return cmd
}
