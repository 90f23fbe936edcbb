package runs

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

const forkLong = `Fork begins another run. It reuses every step of RUN that makes the same request at the same place,
and carries out the rest. Without --script, it runs the script of RUN as it was; without an input,
it takes the input of RUN. It first reports what it reuses, what it does again, and what that costs
as far as RUN shows; --plan does nothing else. If it would repeat a step that must not be carried
out twice, it requires --yes. This --yes approves nothing in the fork, which has its own --yes if
RUN had one.

The flags are those of run and of the script. They override those of RUN.`

// forkFlags are the flags of fork in addition to those of run.
type forkFlags struct {
	script, from string
	plan         bool
}

func (f *forkFlags) addTo(set *pflag.FlagSet) {
	set.StringVar(&f.script, "script", "", "run this `FILE` instead of the script of RUN")
	set.StringVar(&f.from, "from", "", "do again what RUN did at this `POSITION`, and everything that began after it")
	set.BoolVar(&f.plan, "plan", false, "report what would be reused and what would be done, and do nothing")
}

func (v *verbs) fork() *cobra.Command {
	cmd := &cobra.Command{Use: "fork RUN [INPUT]", Short: "Begin another run that reuses the steps of one that still fit", Long: forkLong, DisableFlagParsing: true}
	new(forkFlags).addTo(cmd.Flags())
	flags := setup.Without(new(setup.RunFlags).Flags(), unforked...)
	flags.Lookup("yes").Usage = "do a second time what the plan lists; this approves nothing else"
	if v.from != nil {
		flags.Lookup("store").Usage = "take RUN from this `FILE` of runs on one machine, instead of from the server"
		flags = setup.Without(flags, text.Each(v.from.Forking.Lacks, func(l Lacking) string { return l.Flag })...)
		v.from.Forking.Flags(flags)
	}
	cmd.Flags().AddFlagSet(flags)
	cmd.RunE = func(_ *cobra.Command, args []string) error { return v.failure(v.forked(cmd, args)) }
	return cmd
}

// unforked are flags of run that a fork does not accept.
var unforked = []string{"help", "watch", "record", "replay", "ephemeral", "strict"}

func (v *verbs) forked(cmd *cobra.Command, args []string) (failed error) {
	begun := time.Now()
	given, f := &setup.RunFlags{}, &forkFlags{}
	own := new(setup.RunFlags).Flags()
	new(forkFlags).addTo(own)
	set := given.Flags() // the flags that are known before the script is
	f.addTo(set)
	if v.from != nil {
		v.from.Flags(own)
		v.from.Flags(set)
		v.from.Forking.Flags(own)
		v.from.Forking.Flags(set)
	}
	set.ParseErrorsAllowlist.UnknownFlags = true
	_ = set.Parse(args) // errors are reported when the flags are parsed again
	if given.Help {
		return cmd.Help()
	}
	word, rest, err := setup.SplitAtFile(own, args)
	switch {
	case err != nil:
		return err
	case word == "":
		return term.Usagef("usage: "+v.use()+" fork RUN [INPUT] [flags]", "fork needs a RUN")
	}
	for _, name := range unforked[1:] {
		if set.Changed(name) {
			return term.Usagef("leave it out", "a fork takes no --%s", name)
		}
	}
	if v.from != nil {
		for _, l := range v.from.Forking.Lacks {
			if set.Changed(l.Flag) {
				return term.Usagef(l.Instead, "%s fork takes no --%s", v.from.Use, l.Flag)
			}
		}
	}
	whole, stop := v.c.Interruptible()
	defer stop()
	s, err := v.open(whole, given.Store, word)
	if err != nil {
		return err
	}
	defer s.Close() // what was written is on disk
	defer func() { failed = s.Of(failed) }()
	info, err := named(whole, s, word)
	if err != nil {
		return v.elsewhere(word, given.Store, err)
	}
	kept, problem := keep.ReadSettings(info.ID, info.Settings)
	if problem != nil {
		return problem
	}
	if !set.Changed("session") { // without it, the fork saves nothing in the session of RUN
		delete(kept.Flags, "session")
		delete(kept.Flags, "session-store")
	}
	next, err := v.again(whole, s, info, set, given, kept, begun, f.plan || v.from != nil)
	if err != nil {
		return err
	}
	defer next.close()
	next.confirmed()
	file := next.there(f.script)
	script, err := next.forking(s, file)
	if err != nil {
		return err
	}
	if script.MainEntry == nil {
		return &term.Failure{Code: term.ExitCheck, Found: diag.List{script.NoMain}, Sources: script.Sources()}
	}
	var opts []agentscript.RunOption
	err = next.here(func() (err error) {
		opts, err = next.input(script, own, rest, f.script == "")
		return err
	})
	if err != nil {
		return err
	}
	held, problem := given.Held(script)
	if problem != nil {
		return problem
	}
	settings, err := keep.Record(next.flags, next.own, cmp.Or(file, next.kept.File), f.from)
	if err != nil {
		return err
	}
	opts = append(append(opts, held...), agentscript.RunSettings(settings), agentscript.ForkRun(info.ID))
	if set.Changed("from") && f.from == "" {
		return term.Usagef("agentscript runs show "+info.ID+" lists the positions", "--from names no position")
	}
	if err := from(whole, s, info.ID, f.from); err != nil {
		return err
	}
	p, err := next.plan(s, script, opts)
	if err != nil {
		return err
	}
	if f.plan {
		return v.c.PrintAs(next.flags.JSON, p, p.String)
	}
	if err := p.confirmed(next); err != nil {
		return err
	}
	if err := next.took(s, func(step string) bool { return p.reused[step] }); err != nil {
		return err
	}
	return v.start(next.ctx, script, next.flags, next.own, s, opts)
}

// elsewhere adds to the failure of a fork whose run is not on the server how to name a run of this machine.
func (v *verbs) elsewhere(word, flag string, err error) error {
	f, is := errors.AsType[*term.Failure](err)
	if v.from == nil || flag != "" || !is || f.Code != term.ExitUsage || len(f.Found) == 0 {
		return err
	}
	if at := setup.FindStore(v.c, ""); !at.Off && !at.Missing() {
		f.Found[0].Help = append(f.Found[0].Help, "one of this machine is taken from its store: "+v.from.Use+" fork "+text.ShellWord(word)+" --store "+text.ShellWord(at.Path))
	}
	f.Found[0].Help = append(f.Found[0].Help, "one of another machine comes as a file: runs export RUN -o FILE there, and "+v.from.Use+" fork FILE here")
	return f
}

// confirmed makes a --yes that is given to a fork apply only to the plan: it approves nothing in the fork or when
// that is resumed.
func (n *again) confirmed() {
	if n.given.Changed("yes") && (n.kept.Imported || n.kept.Flags["yes"] == nil) {
		yes := n.own.Lookup("yes")
		_ = yes.Value.Set("false") // which it accepts
		yes.Changed = false
	}
}

// forking loads the script of a fork, from a file or from the run.
func (n *again) forking(s *keep.Store, file string) (*setup.Script, error) {
	if file == "" {
		return n.bundled(s)
	}
	var problem *term.Failure
	if n.flags.Project, problem = project.Open(filepath.Dir(file), n.v.c.LookupEnv); problem == nil {
		problem = n.flags.Project.Fill(project.Run, n.own)
	}
	if problem != nil {
		return nil, problem
	}
	flowing, problem := n.flags.Loading(&setup.RunFlags{}, file)
	if problem != nil {
		return nil, problem
	}
	return setup.Load(n.v.c, n.ctx, file, n.flags.Root, append(n.opts, flowing)...)
}

// input returns the input of a fork, or nothing if it has that of the run. With the run's script, arguments that are
// not given stay as they were.
func (n *again) input(script *setup.Script, own *pflag.FlagSet, rest []string, same bool) ([]agentscript.RunOption, error) {
	params := script.MainParams()
	texts, problem := setup.ParseAll(own, script, params, rest)
	if problem == nil {
		problem = setup.CheckBoolArgs(own, params, rest)
	}
	if problem != nil {
		return nil, problem
	}
	var clash string
	n.own.VisitAll(func(f *pflag.Flag) {
		if f.Changed && own.Changed(f.Name) && setup.IsParam(params, f.Name) {
			clash = f.Name
		}
	})
	if clash != "" {
		return nil, term.Usagef("pass the input with --input-json", "a parameter of the script has the name of the flag --%s", clash)
	}
	inJSON, inFile := own.Changed("input-json"), own.Changed("input-file")
	if len(texts) == 0 && !inJSON && !inFile && !setup.AnyGiven(params) {
		return nil, nil
	}
	return setup.Gather(n.v.c, n.ctx, script, setup.Input{Args: texts, Params: params, Opts: n.flags, JSON: inJSON, File: inFile, Rest: same})
}

// unordered is the maximum time difference of steps that end together, and may be recorded in either order.
const unordered = 200 * time.Millisecond

// from makes a fork take nothing that a run did at a position or began after that. Of the steps that were recorded
// later, the fork takes only those that had begun by then according to the clock, and only if the clock ran steadily.
// A step that must not happen twice counts as one that began after: the plan lists it.
func from(ctx context.Context, s *keep.Store, run, position string) error {
	if position == "" {
		return nil
	}
	var first engine.Step // the first step to be done again
	below := func(id string) bool {
		at := journal.Position(id)
		return id == position || at == position || strings.HasPrefix(at, position+"/")
	}
	var near []string
	steady, latest := true, time.Time{} // whether the clock advanced from step to step
	err := s.Steps(ctx, run, 0, func(step engine.Step) error {
		near = append(near, journal.Position(step.ID))
		if below(step.ID) && first.ID == "" {
			first = step
		}
		if steady = steady && !step.Ended.Before(latest.Add(-unordered)) && !step.Begun.After(step.Ended); step.Ended.After(latest) {
			latest = step.Ended
		}
		return nil
	})
	if err != nil {
		return err
	}
	if first.ID == "" {
		return term.Usagef(cmp.Or(diag.DidYouMean(position, near), "agentscript runs show "+run+" lists them"), "run %s has no step at %s", run, position)
	}
	s.Reuses = func(of string, step engine.Step) bool {
		switch {
		case of != run:
			return true
		case below(step.ID):
			return false
		case step.Seq < first.Seq:
			return true
		}
		return steady && step.Class != engine.ClassOnce && step.Begun.Before(first.Ended)
	}
	return nil
}
