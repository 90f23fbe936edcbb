package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
)

// command is one execution of the command line: a process, and how it speaks.
type command struct {
	*state
	json    bool       // diagnostics and prints are JSON lines
	printed bool       // the script is loaded again: what it prints meanwhile was written before
	talk    sync.Mutex // held by what writes to or asks at the terminal while a run goes on
}

// Main runs agentscript as this process and returns the exit code.
func Main(version string) int { return execute(osState(version)) }

// A verb makes a command of the command line.
type verb func(*command) *cobra.Command

// execute runs the verb that the arguments name and returns the exit code. The verbs of agentscript come
// first, then more.
func execute(s *state, more ...verb) int {
	c := &command{state: s}
	var unhelped error
	root := c.root(&unhelped)
	for _, v := range more {
		root.AddCommand(v(c))
	}
	root.SetArgs(s.args)
	help := &kept{w: s.stdout}
	root.SetOut(help)
	err := root.ExecuteContext(context.Background())
	err = cmp.Or(err, unhelped)
	if err == nil && help.err != nil {
		err = c.unwritten(help.err)
	}
	if err == nil {
		return exitOK
	}
	var f *failure
	if !errors.As(err, &f) {
		f = flagFailure(err, root.Flags())
	}
	c.report(f.found, f.sources)
	return f.code
}

// root makes the command of all verbs. Why no help could be given goes to unhelped.
func (c *command) root(unhelped *error) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "agentscript",
		Short:         "Check, draw, format and run agent flows",
		Long:          "agentscript checks, draws, formats and runs agent flows written in Starlark.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		// Flags of a verb that is mistyped are not what is wrong.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if version && len(args) == 0 {
				return c.print(versionOf(c.version).String())
			}
			return c.noVerb(cmd, args)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetHelpCommand(c.helpVerb(root))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // the help of a verb that there is not
			*unhelped = c.noVerb(cmd, args)
			return
		}
		help(cmd, args)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(c.stdin)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagFailure(err, cmd.Flags()) })
	root.AddCommand(c.runVerb(), c.checkVerb(), c.graphVerb(), c.explainVerb(), c.fmtVerb(), c.docVerb(), c.decodeVerb(), c.modelsVerb(), c.serveVerb(),
		c.sessionsVerb(), c.mcpVerb(), c.versionVerb())
	return root
}

func (c *command) helpVerb(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Help about a verb",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			verb, _, err := root.Find(args)
			if err != nil || verb == root && len(args) > 0 {
				return c.noVerb(root, args)
			}
			return verb.Help()
		},
	}
}

// noVerb is what happens when the first argument names no verb.
func (c *command) noVerb(cmd *cobra.Command, args []string) error {
	if len(c.args) > 0 && strings.HasPrefix(c.args[0], "-") && c.args[0] != "--version" && c.args[0] != "--" {
		return usagef("flags come after their verb: agentscript run --quiet FILE; agentscript --help lists the verbs", "there is no flag %s before a verb", c.args[0])
	}
	if len(args) == 0 {
		cmd.SetOut(c.stderr)
		if err := cmd.Help(); err != nil {
			return err
		}
		return &failure{code: exitUsage}
	}
	var verbs []string
	for _, v := range cmd.Commands() {
		if !v.Hidden {
			verbs = append(verbs, v.Name())
		}
	}
	help := diag.DidYouMean(args[0], verbs)
	switch {
	case strings.HasSuffix(args[0], ".star"):
		help = "to run it: agentscript run " + args[0]
	case help == "":
		help = "the verbs are " + strings.Join(verbs, ", ")
	}
	return usagef(help, "there is no verb %q", args[0])
}

// flagFailure words an error of the flags package, with the flag that was probably meant.
func flagFailure(err error, flags *pflag.FlagSet) *failure {
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return usagef("an argument that begins with - comes after --", "there is no flag -%s", name)
		}
		var names []string
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near, ok := diag.Suggest(name, names); ok {
			return usagef("did you mean --"+near+"?", "there is no flag --%s", name)
		}
		return usagef("the flags are --"+strings.Join(names, ", --"), "there is no flag --%s", name)
	case errors.As(err, &wrong):
		return usagef("", "--%s: %v", wrong.GetFlag().Name, valueProblem(wrong))
	case errors.As(err, &bare):
		return usagef("", "--%s needs a value", bare.GetFlag().Name)
	}
	return usagef("", "%v", err)
}

// valueProblem prefers the words of our own flag types to those of number parsing.
func valueProblem(err *pflag.InvalidValueError) error {
	var own *flagError
	if errors.As(err, &own) {
		return own
	}
	switch t := err.GetFlag().Value.Type(); t {
	case "int", "int64", "uint":
		return fmt.Errorf("want a whole number, got %q", err.GetValue())
	case "duration":
		return fmt.Errorf("want a duration such as 90s or 2m, got %q", err.GetValue())
	case "bool":
		return fmt.Errorf("want true or false, got %q", err.GetValue())
	default:
		return fmt.Errorf("%q is no %s", err.GetValue(), t)
	}
}

// flagError is a problem with a flag's value in words of our own.
type flagError struct{ text string }

func (e *flagError) Error() string { return e.text }

// oneFile gives the only argument of a verb that takes one file.
func oneFile(cmd *cobra.Command, args []string) (string, error) {
	switch len(args) {
	case 1:
		return args[0], nil
	case 0:
		return "", usagef("usage: "+cmd.UseLine(), "%s needs a FILE", cmd.Name())
	}
	return "", usagef("usage: "+cmd.UseLine(), "%s takes one FILE, and got %q as well", cmd.Name(), args[1])
}
