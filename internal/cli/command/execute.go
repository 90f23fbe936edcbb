// Package command executes a command line of verbs, and reports what is wrong with it.
package command

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Execute runs the verb that the arguments name and returns the exit code. build makes the verbs; unhelped receives the
// reason why help could not be printed.
func Execute(s *term.Process, build func(c *term.Console, unhelped *error) *cobra.Command) int {
	own := *s
	c := &term.Console{Process: &own}
	own.Stderr = c.Hiding(s.Stderr)
	setup.HideKeys(c)
	var unhelped error
	root := build(c, &unhelped)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(c.Stdin)
	root.SetErr(c.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return setup.FlagFailure(err, cmd.CommandPath(), cmd.Flags())
	})
	root.SetArgs(s.Args)
	help := &kept{w: s.Stdout}
	root.SetOut(help)
	err := cmp.Or(root.ExecuteContext(context.Background()), unhelped)
	if err == nil && help.err != nil {
		err = c.Unwritten(help.err)
	}
	if err == nil {
		return term.ExitOK
	}
	f, ok := errors.AsType[*term.Failure](err)
	if !ok {
		f = setup.FlagFailure(err, root.CommandPath(), root.Flags())
	}
	c.Report(f.Found, f.Sources)
	return f.Code
}

// kept receives what the library of verbs writes to stdout, such as help. It keeps the first write error, which the
// library would drop or word itself.
type kept struct {
	w   io.Writer
	err error
}

func (k *kept) Write(b []byte) (int, error) {
	if k.err == nil {
		_, k.err = k.w.Write(b)
	}
	return len(b), nil
}
