package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Main runs agentscript as this process and returns the exit code.
func Main(version string) int { return Execute(term.OSProcess(version)) }

// Execute runs the verb that the arguments name and returns the exit code.
func Execute(s *term.Process) int {
	c := &term.Console{Process: s}
	var unhelped error
	root := rootVerb(c, &unhelped)
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
		f = setup.FlagFailure(err, root.Flags())
	}
	c.Report(f.Found, f.Sources)
	return f.Code
}

// rootVerb makes the command of all verbs. Why no help could be given goes to unhelped.
func rootVerb(c *term.Console, unhelped *error) *cobra.Command {
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
				return c.Print(versionOf(c.Version).String())
			}
			return noVerb(c, cmd, args)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.SetHelpCommand(helpVerb(c, root))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") { // the help of a verb that there is not
			*unhelped = noVerb(c, cmd, args)
			return
		}
		help(cmd, args)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(c.Stdin)
	root.SetErr(c.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return setup.FlagFailure(err, cmd.Flags()) })
	root.AddCommand(runVerb(c), checkVerb(c), graphVerb(c), explainVerb(c), fmtVerb(c), docVerb(c), decodeVerb(c), modelsVerb(c), serveVerb(c),
		sessionsVerb(c), mcpVerb(c), versionVerb(c))
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

// noVerb is what happens when the first argument names no verb.
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
	if strings.HasSuffix(args[0], ".star") {
		help = "to run it: agentscript run " + args[0]
	}
	return term.Usagef(help, "there is no verb %q", args[0])
}

// wordOf refuses a word for a flag that is none of its words.
func wordOf(flag, word string, words ...string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return term.Usagef(diag.DidYouMean(word, words), "--%s is %s, not %q", flag, oneOf(words), word)
}

// oneOf names the words of which one is meant: a, b or c.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// oneFile gives the only argument of a verb that takes one file.
func oneFile(cmd *cobra.Command, args []string) (string, error) {
	switch len(args) {
	case 1:
		return args[0], nil
	case 0:
		return "", term.Usagef("usage: "+cmd.UseLine(), "%s needs a FILE", cmd.Name())
	}
	return "", term.Usagef("usage: "+cmd.UseLine(), "%s takes one FILE, and got %q as well", cmd.Name(), args[1])
}

// kept takes what the library of verbs writes to stdout, such as help, and keeps the first error of
// writing it, which the library would drop or word itself.
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

// versionInfo is the answer of `version --json`.
type versionInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built from a changed checkout
	Go      string `json:"go"`
	ABI     int    `json:"abi"` // runs recorded under one number can be resumed by its engines
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
			v := versionOf(c.Version)
			if !asJSON {
				return c.Print(v.String())
			}
			text, err := json.Marshal(v)
			if err != nil {
				return err
			}
			return c.Print(string(text))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

func (v versionInfo) String() string {
	text := "agentscript " + v.Version
	if v.Commit != "" {
		text += " (" + v.Commit + ")"
	}
	return fmt.Sprintf("%s\n%s, abi %d", text, v.Go, v.ABI)
}

// versionOf completes the version that the linker set with what the build information knows.
func versionOf(linked string) versionInfo {
	v := versionInfo{Version: linked, ABI: engine.ABI}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Go, v.Version = info.GoVersion, cmp.Or(linked, info.Main.Version)
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Dirty = s.Value == "true"
			}
		}
	}
	v.Version = cmp.Or(v.Version, "(devel)")
	return v
}
