// Package runs is the verb that lists, shows, ends and goes on with the runs of a store.
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
AGENTSCRIPT_STORE. RUN is the id of one, the beginning of an id, last, or a FILE of export or --record.`

// Source is where the runs are, when they are carried out elsewhere than by this command.
type Source struct {
	Use   string               // "agentscript temporal runs", as commands name the verb
	Long  string               // what the verb says of where they are
	Place func() string        // as lists name it, when the flags are read
	Flags func(*pflag.FlagSet) // adds those that say where it is
	// Open reaches it. What comes of it is an error of the command.
	Open    func(ctx context.Context) (*keep.Store, error)
	Failure func(error) error // makes errors of it errors of the command
	Forking *Forking          // the flags of fork that are other ones than of a fork on this machine
	// Told returns a function that returns what a run has told since it was called last.
	Told func(run string) func(ctx context.Context) []engine.Event
}

// Forking is how flags of fork differ where forks are carried out elsewhere.
type Forking struct {
	Flags func(*pflag.FlagSet) // adds those that it has more
	Lacks []Lacking            // those that do nothing there
}

// Lacking is a flag that does nothing where forks are carried out, and what to do instead.
type Lacking struct{ Flag, Instead string }

// verbs makes the verbs of one execution of the command.
type verbs struct {
	c     *term.Console
	start Go
	from  *Source // nil for the runs of this machine
	store string
	of    string // the --store that was opened
	json  bool
}

// Verb lists, shows, ends and goes on with runs. start runs what goes on.
func Verb(c *term.Console, start Go) *cobra.Command {
	v := &verbs{c: c, start: start}
	cmd := v.verb("List, show, resume, fork, answer and carry over the runs that are kept", long)
	v.add(cmd, v.list(), v.show(), v.resume(), v.fork(), v.cost(), v.cancel(), v.answer(), v.remove(), v.collect(), v.export(), v.bring())
	return cmd
}

// VerbOf is [Verb] for runs that are carried out elsewhere: without what takes a run into this process, and what is about a
// file of runs. start begins the forks of a run, which may be one of this machine.
func VerbOf(c *term.Console, from Source, start Go) *cobra.Command {
	v := &verbs{c: c, start: start, from: &from}
	cmd := v.verb("List, show, fork, answer and end the runs on the server", from.Long)
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

// use is the verb as commands name it.
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

// with opens the store for a verb that needs a run to be there.
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

// failure makes an error of the store of this command one of the command.
func (v *verbs) failure(err error) error {
	if v.from != nil {
		err = v.from.Failure(err)
	}
	return keep.InStore(setup.StoreFailure(err), v.of)
}

// open opens the store that holds runs, where the first word names one of it.
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

// noFile is that a word which is meant as the name of a file names none, nil for a word that may be an id.
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

// named finds the run that a word names: its id, the beginning of its id, last, or a file.
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
