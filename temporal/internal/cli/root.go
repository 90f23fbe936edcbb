// Package cli is the command agentscript-temporal: the verbs of agentscript for runs that are stored on a Temporal
// server and carried out by its workers.
package cli

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/beside"
	"github.com/agentscript/agentscript/internal/cli/command"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

const long = `Runs scripts on a Temporal server. Workers carry the runs out; if one is lost, others continue.

  agentscript temporal dev                  start a server on this machine
  agentscript temporal worker               carry out runs; start as many as you like
  agentscript temporal run FILE [INPUT]     begin a run and wait for its result
  agentscript temporal runs ls              list the runs`

// Main runs agentscript-temporal as this process and returns the exit code.
func Main(version string) int { return Execute(term.OSProcess(version)) }

// Execute runs the verb that the arguments name and returns the exit code.
func Execute(s *term.Process) int {
	return command.Execute(s, func(c *term.Console, _ *error) *cobra.Command {
		v := &verbs{c: c, Process: s}
		root := &cobra.Command{
			Use:   "temporal",
			Short: "Run scripts on Temporal",
			Long:  long,
			Args:  cobra.ArbitraryArgs,
			RunE:  v.noVerb,
			// A mistyped verb is reported before its flags.
			FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		}
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "agentscript temporal"}
		root.AddCommand(v.worker(), v.run(), v.runs(), v.check(), v.dev(), v.version())
		root.CompletionOptions.DisableDefaultCmd = true
		return root
	})
}

// verbs creates the verbs for one execution of the command.
type verbs struct {
	*term.Process
	c  *term.Console
	to server

	forks startFlags    // of runs fork
	find  time.Duration // how long to look for a worker that has what others lack
}

func (v *verbs) noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		cmd.SetOut(v.c.Stderr)
		if err := cmd.Help(); err != nil {
			return err
		}
		return &term.Failure{Code: term.ExitUsage}
	}
	names := text.Each(slices.DeleteFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Hidden }), (*cobra.Command).Name)
	return term.Usagef(cmp.Or(diag.DidYouMean(args[0], names), "the verbs are "+strings.Join(names, ", ")), "agentscript temporal has no verb %q", args[0])
}

const devLong = `Dev starts a Temporal server on this machine: agentscript-temporal-devserver, or else the server of the official command
temporal. Its flags are those of that server: agentscript temporal dev --help shows them.`

// dev starts a server of another module, which is much larger than everything else.
func (v *verbs) dev() *cobra.Command {
	return &cobra.Command{Use: "dev [FLAGS]", Short: "Start a server on this machine", Long: devLong, DisableFlagParsing: true, RunE: func(_ *cobra.Command, args []string) error {
		if path := beside.Find("agentscript-temporal-devserver"); path != "" {
			return beside.Run(v.c, path, args...)
		}
		if path := beside.Find("temporal"); path != "" {
			return beside.Run(v.c, path, append([]string{"server", "start-dev"}, args...)...)
		}
		return &term.Failure{Code: term.ExitUsage, Found: diag.List{{
			Message: "there is no server to start: neither agentscript-temporal-devserver nor temporal is next to this command or on the path",
			Help: []string{"go install github.com/agentscript/agentscript/temporal/devserver@latest, and name what it makes agentscript-temporal-devserver",
				"or install the command temporal: https://docs.temporal.io/cli"},
		}}}
	}}
}
