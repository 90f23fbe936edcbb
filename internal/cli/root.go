package cli

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/beside"
	"github.com/agentscript/agentscript/internal/cli/command"
	"github.com/agentscript/agentscript/internal/cli/complete"
	"github.com/agentscript/agentscript/internal/cli/config"
	"github.com/agentscript/agentscript/internal/cli/flows"
	"github.com/agentscript/agentscript/internal/cli/repl"
	"github.com/agentscript/agentscript/internal/cli/runs"
	"github.com/agentscript/agentscript/internal/cli/scaffold"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/testverb"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// Main runs agentscript as this process and returns the exit code.
func Main(version string) int { return Execute(term.OSProcess(version)) }

// Execute runs the verb that the arguments name and returns the exit code.
func Execute(s *term.Process) int { return command.Execute(s, rootVerb) }

// rootVerb builds the root command. unhelped receives the reason why help could not be printed.
func rootVerb(c *term.Console, unhelped *error) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "agentscript",
		Short: "Check, draw, format and run agent flows",
		Long:  "agentscript checks, draws, formats and runs agent flows written in Starlark.",
		Args:  cobra.ArbitraryArgs,
		// A mistyped verb is reported before its flags.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, args []string) error {
			if version && len(args) == 0 {
				return c.Print(command.VersionOf(c.Version).String())
			}
			return noVerb(c, cmd, args)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	helps := helpVerb(c, root)
	helps.ValidArgsFunction = complete.Verbs
	root.SetHelpCommand(helps)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // help for an unknown verb
			*unhelped = noVerb(c, cmd, args)
			return
		}
		help(cmd, args)
	})
	root.AddCommand(flows.Verbs(c)...)
	root.AddCommand(runVerb(c), checkVerb(c), testverb.Verb(c), graphVerb(c), explainVerb(c), fmtVerb(c), docVerb(c), decodeVerb(c), modelsVerb(c), serveVerb(c),
		runs.Verb(c, starting(c)), sessionsVerb(c), mcpVerb(c), config.Verb(c), repl.Verb(c), scaffold.Verb(c), beside.Temporal(c), complete.Verb(root), versionVerb(c))
	root.CompletionOptions.DisableDefaultCmd = true
	complete.Add(c, root)
	return root
}

func helpVerb(c *term.Console, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Help about a verb",
		RunE: func(_ *cobra.Command, args []string) error {
			verb, _, err := root.Find(args)
			if err != nil || verb == root && len(args) > 0 {
				return noVerb(c, root, args)
			}
			return verb.Help()
		},
	}
}

// otherVerbs maps verbs of other programs to what to write instead.
var otherVerbs = sync.OnceValue(func() map[string]map[string]string {
	return text.Synonyms(`
verb: lint validate verify analyze analyse typecheck build compile plan = did you mean "check"? It judges a script without running it
verb: format style = did you mean "fmt"?
verb: exec execute start invoke go = did you mean "run"?
verb: draw dot diagram mermaid visualize viz plot show = did you mean "graph"?
verb: docs man reference builtins api = did you mean "doc"?
verb: error errors code codes why = did you mean "explain"?
verb: parse repair = did you mean "decode"?
verb: providers prices list ls = did you mean "models"?
verb: settings configure defaults env = did you mean "config"?
verb: login logout tools servers = did you mean "mcp"?
verb: tests spec = did you mean "test"?
verb: replay record mock = agentscript run FILE has it as a flag: --record FILE, --replay FILE, --mock
verb: cost = agentscript check --cost FILE
verb: import translate transpile migrate = did you mean "convert"? It writes a flow as JSON as a script
verb: init create scaffold template generate = did you mean "new"? It makes a directory with a flow that works
verb: shell console eval prompt interactive = did you mean "repl"?
`)
})

// noVerb reports that the first argument is not a verb.
func noVerb(c *term.Console, cmd *cobra.Command, args []string) error {
	if len(c.Args) > 0 && strings.HasPrefix(c.Args[0], "-") && c.Args[0] != "--version" && c.Args[0] != "--" {
		return term.Usagef("flags come after their verb: agentscript run --quiet FILE; agentscript --help lists the verbs", "there is no flag %s before a verb", c.Args[0])
	}
	if len(args) == 0 {
		cmd.SetOut(c.Stderr)
		if err := cmd.Help(); err != nil {
			return err
		}
		return &term.Failure{Code: term.ExitUsage}
	}
	var verbs []string
	for _, v := range cmd.Commands() {
		if !v.Hidden {
			verbs = append(verbs, v.Name())
		}
	}
	help := cmp.Or(diag.DidYouMean(args[0], verbs), "the verbs are "+strings.Join(verbs, ", "))
	switch meant := otherVerbs()["verb"][strings.ToLower(args[0])]; {
	case strings.HasSuffix(args[0], ".star"):
		help = "to run it: agentscript run " + args[0]
	case meant != "":
		help = meant
	}
	return term.Usagef(help, "there is no verb %q", args[0])
}

// wordOf rejects a word that a flag does not accept.
func wordOf(flag, word string, words ...string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return term.Usagef(diag.DidYouMean(word, words), "--%s is %s, not %q", flag, oneOf(words), word)
}

// oneOf lists alternatives: a, b or c.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// oneFile returns the only argument of a verb that takes one file.
func oneFile(cmd *cobra.Command, args []string) (string, error) {
	switch len(args) {
	case 1:
		return args[0], nil
	case 0:
		return "", term.Usagef("usage: "+cmd.UseLine(), "%s needs a FILE", cmd.Name())
	}
	return "", term.Usagef("usage: "+cmd.UseLine(), "%s takes one FILE, and got %q as well", cmd.Name(), args[1])
}

// completeNames completes arguments that are names of a list.
func completeNames(list func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

func builtinNames() []string {
	var names []string
	for _, b := range starlib.Universe().Rows() {
		names = append(names, b.QualifiedName())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func codeNames() []string {
	return text.Each(diag.Entries(), func(e diag.Entry) string { return string(e.Code) + "\t" + e.Title })
}

func versionVerb(c *term.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return term.Usagef("usage: agentscript version [--json]", "version takes no argument, and got %q", args[0])
			}
			v := command.VersionOf(c.Version)
			return c.PrintAs(asJSON, v, v.String)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
