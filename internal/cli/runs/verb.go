// Package runs implements the verb that lists, shows, ends and continues the runs of a store.
package runs

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Go runs a loaded script with its options, and shows the run as the verb run does.
type Go func(ctx context.Context, s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet, kept *keep.Store, opts []agentscript.RunOption) error

// form is the version of what --json prints.
const form = 1

const long = `Runs are kept in $XDG_STATE_HOME/agentscript/runs.db, or in the FILE of --store or
AGENTSCRIPT_STORE. RUN is the id of a run, the beginning of an id, last, or a FILE that export or
--record wrote.`

// Source is where the runs are, if something other than this command carries them out.
type Source struct {
	Use   string               // "agentscript temporal runs", the verb as written in commands
	Long  string               // the verb's description of where they are
	Place func() string        // the name of the place in lists; called after flags are parsed
	Flags func(*pflag.FlagSet) // adds the flags that say where it is
	// Open connects to it. Its error is an error of the command.
	Open    func(ctx context.Context) (*keep.Store, error)
	Failure func(error) error // turns its errors into errors of the command
	Forking *Forking          // the flags of fork that differ from those of a fork on this machine
	// Told returns a function that returns what a run has reported since its last call.
	Told func(run string) func(ctx context.Context) []engine.Event
}

// Forking says how the flags of fork differ if forks are carried out elsewhere.
type Forking struct {
	Flags func(*pflag.FlagSet) // adds the additional flags
	Lacks []Lacking            // flags that have no effect there
}

// Lacking is a flag that has no effect where forks are carried out, and what to do instead.
type Lacking struct{ Flag, Instead string }

// verbs creates the verbs of one execution of the command.
type verbs struct {
	c     *term.Console
	start Go
	from  *Source // nil for the runs of this machine
	store string
	of    string // the --store that was opened
	json  bool
}

// Verb returns the verb that lists, shows, ends and continues runs. start executes the continued runs.
func Verb(c *term.Console, start Go) *cobra.Command {
	v := &verbs{c: c, start: start}
	cmd := v.verb("List, show, resume, fork, answer, export and import runs", long)
	v.add(cmd, v.list(), v.show(), v.resume(), v.fork(), v.cost(), v.cancel(), v.answer(), v.remove(), v.collect(), v.export(), v.bring())
	return cmd
}

// VerbOf is like [Verb], for runs that are carried out elsewhere: it lacks the verbs that take a run into this
// process, and those about a file of runs. start begins the forks of a run, which may be a run of this machine.
func VerbOf(c *term.Console, from Source, start Go) *cobra.Command {
	v := &verbs{c: c, start: start, from: &from}
	cmd := v.verb("List, show, fork, answer and cancel the runs on the server", from.Long)
	v.add(cmd, v.list(), v.show(), v.fork(), v.cost(), v.cancel(), v.answer(), v.remove(), v.export())
	return cmd
}

func (v *verbs) verb(short, long string) *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: short,
		Long:  long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				var names []string
				for _, sub := range cmd.Commands() {
					names = append(names, sub.Name())
				}
				return term.Usagef(cmp.Or(diag.DidYouMean(args[0], names), "there are "+strings.Join(names, ", ")), "runs has no verb %q", args[0])
			}
			return cmd.Help()
		},
	}
}

// add adds verbs, with the flags that say where the runs are.
func (v *verbs) add(cmd *cobra.Command, subs ...*cobra.Command) {
	for _, sub := range subs {
		if v.from != nil {
			v.from.Flags(sub.Flags())
		} else if sub.Flags().Lookup("store") == nil {
			sub.Flags().StringVar(&v.store, "store", "", "the `FILE` that holds the runs, instead of the user's")
		}
		if strings.Contains(sub.Use, "RUN") {
			sub.ValidArgsFunction = v.complete
		}
		cmd.AddCommand(sub)
	}
}

// use returns the verb as written in commands.
func (v *verbs) use() string {
	if v.from != nil {
		return v.from.Use
	}
	return "agentscript runs"
}

// flagged adds --json to a verb.
func (v *verbs) flagged(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&v.json, "json", false, "print JSON")
	return cmd
}

// with opens the store for a verb that needs an existing run.
func (v *verbs) with(f func(ctx context.Context, s *keep.Store, args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		ctx, stop := v.c.Interruptible()
		defer stop()
		s, err := v.open(ctx, v.store, args...)
		if err != nil {
			return err
		}
		defer s.Close() // what was written is on disk
		err = v.failure(f(ctx, s, args))
		if err != nil && context.Cause(ctx) != nil { // whatever failed because of that
			return &term.Failure{Code: term.ExitInterrupted}
		}
		return s.Of(err)
	}
}

// failure turns an error of the store into an error of the command.
func (v *verbs) failure(err error) error {
	if v.from != nil {
		err = v.from.Failure(err)
	}
	return keep.InStore(setup.StoreFailure(err), v.of)
}

// open opens the store of a verb whose first word names a run.
func (v *verbs) open(ctx context.Context, flag string, words ...string) (*keep.Store, error) {
	v.of = flag
	if v.from != nil && flag == "" {
		return v.from.Open(ctx)
	}
	if len(words) > 0 && isFile(words[0]) {
		return keep.Beside(v.c, flag), nil
	}
	s, place, err := keep.At(ctx, v.c, flag)
	switch {
	case err != nil:
		return nil, err
	case s == nil && place.Off:
		return nil, term.Usagef("name one with --store", "%s is off: there is no store of runs", place.From)
	case s == nil && len(words) > 0:
		return nil, cmp.Or(noFile(words[0]), noRun())
	case s == nil:
		return nil, noRun()
	}
	return s, nil
}

// noFile returns the failure of a word that is meant as a file name and names no file. It returns nil for a word that
// may be an id.
func noFile(word string) *term.Failure {
	if !strings.ContainsAny(word, `/\`) && filepath.Ext(word) == "" {
		return nil
	}
	said := "there is no such file"
	if at, err := os.Stat(word); err == nil && at.IsDir() {
		said = "it is a directory"
	} else if err == nil {
		said = "it is no regular file"
	}
	return term.Usagef("name a file of runs export or run --record, or a run of agentscript runs ls", "%s: %s", text.Clip(text.Visible(word), 80), said)
}

func noRun() *term.Failure {
	return term.Usagef("agentscript run FILE keeps the first one", "no run is kept yet")
}

// named finds the run that a word names: by its id, the beginning of its id, last, or a file.
func named(ctx context.Context, s *keep.Store, word string) (engine.RunInfo, error) {
	switch {
	case word == "":
		return engine.RunInfo{}, term.Usagef("agentscript runs ls lists them; last is the newest", "the id of the run is empty")
	case isFile(word):
		return fromFile(ctx, s, word)
	case s.Missing():
		return engine.RunInfo{}, cmp.Or(noFile(word), noRun())
	}
	id, ids, err := setup.MatchRun(ctx, s, word, listed+1)
	switch {
	case err != nil:
		return engine.RunInfo{}, err
	case id != "":
		return s.Run(ctx, id)
	case len(ids) > listed:
		ids = append(ids[:listed], "others")
	}
	if len(ids) > 0 {
		return engine.RunInfo{}, term.Usagef("write more of the id: it is one of "+strings.Join(ids, ", "), "%s is the beginning of several ids", word)
	}
	return engine.RunInfo{}, cmp.Or(noFile(word), term.Usagef("agentscript runs ls lists them", "there is no run %s", text.Clip(text.Visible(word), 80)))
}

// listed is how many ids a message lists.
const listed = 8

// one returns the only RUN of a verb.
func one(verb string, args []string) (string, *term.Failure) {
	if len(args) != 1 {
		return "", term.Usagef("usage: agentscript runs "+verb+" RUN", "%s takes one RUN, and got %d", verb, len(args))
	}
	return args[0], nil
}
