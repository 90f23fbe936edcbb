package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const runLong = `Run loads a script, checks it, and lets workers run its main. INPUT and the flags of main are those of agentscript run. It
shows the run and prints the result in the same way. --detach prints the id of the run and exits.

An interrupt cancels the run; a second one ends only this command. If the run waits for a person, the command reports how
to answer and exits with code 5, and the run keeps waiting: runs show --follow RUN continues to watch it. What answers the
calls of the run, and what it can be granted, depends on the worker: see agentscript temporal worker.

Exit codes are those of agentscript run, and 6 if no server is reached.`

// unsupported are the flags of run that belong to the worker, or that mean nothing for a run that others carry out. The
// value is the help for a flag; if it is empty, the help names the worker's flag.
var unsupported = map[string]string{
	"scripted": "", "prices": "", "env-file": "", "cache": "", "net-proxy": "", "retries": "", "fallback": "", "fallback-on-refusal": "", "max-in-flight": "", "mcp-sampling": "",
	"mock": "no model is asked on this machine alone: agentscript run --mock", "mock-acts": "no model is asked on this machine alone: agentscript run --mock",
	"record": runsVerb + " export RUN writes a run to a file", "replay": "a run is replayed on this machine: agentscript run --replay FILE", "force": "", "trace": runsVerb + " show RUN --json has all steps",
	"session-store": "",
	"store":         "the server keeps the run", "ephemeral": "the server keeps the run", "watch": "a script that is edited runs on this machine: agentscript run --watch",
	"tools": "a flow as JSON with its own tools runs on this machine: agentscript run", "compat": "a flow as JSON in this mode runs on this machine: agentscript run",
}

// pendingRun is a run that is about to begin.
type pendingRun struct {
	*verbs
	startFlags
	flags setup.RunFlags
	own   *pflag.FlagSet
}

func (v *verbs) newRun() *pendingRun {
	b := &pendingRun{verbs: v}
	b.own = b.flags.Flags()
	v.addStart(b.own, &b.startFlags)
	v.to.addTo(b.own)
	return b
}

func (b *pendingRun) shown() *pflag.FlagSet {
	var names []string
	for name := range unsupported {
		names = append(names, name)
	}
	return setup.Without(b.own, names...)
}

func (v *verbs) run() *cobra.Command {
	cmd := &cobra.Command{Use: "run FILE [INPUT]", Short: "Run a script's main on workers", Long: runLong, DisableFlagParsing: true}
	cmd.Flags().AddFlagSet(v.newRun().shown())
	cmd.Flags().SortFlags = false
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := v.c.Interruptible()
		defer stop()
		return v.newRun().args(ctx, cmd, args)
	}
	return cmd
}

// args runs what the arguments name. Up to the start, it works like agentscript run.
func (b *pendingRun) args(whole context.Context, cmd *cobra.Command, args []string) error {
	c, o, own, at := b.c, &b.flags, b.own, time.Now()
	file, rest, err := setup.SplitAtFile(own, args)
	switch {
	case err != nil:
		return err
	case file == "" && o.Help:
		return cmd.Help()
	case file == "":
		return term.Usagef("usage: agentscript temporal run FILE [INPUT] [flags]", "run needs a FILE")
	}
	guessing, enough := context.WithTimeout(whole, cmp.Or(max(0, o.Timeout), agentscript.DefaultLoadTimeout))
	early := setup.Preparse(rest, setup.GuessParams(c, guessing, file))
	enough()
	if o.Help || early.Help {
		return cmd.Help()
	}
	var problem *term.Failure
	if o.Project, problem = project.Open(filepath.Dir(file), c.LookupEnv); problem != nil {
		return problem
	}
	c.JSON = o.JSON || early.JSON || o.Progress == "json" || early.Progress == "json"
	granted := o.Grants.With(&early.Grants)
	grants, allowed, problem := granted.Open(c)
	if problem != nil {
		return problem
	}
	if grants != nil {
		defer grants.Close() // nothing was touched
	}
	options := []agentscript.Option{agentscript.WithLoadTimeout(o.LoadTimeout(&early)), allowed}
	if o.Strict || early.Strict {
		options = append(options, agentscript.WithStrict())
	}
	s, err := setup.Load(c, whole, file, cmp.Or(early.Root, o.Root), options...)
	if err != nil {
		return err
	}
	params := s.MainParams()
	texts, problem := setup.ParseAll(own, s, params, rest)
	problem = cmp.Or(problem, setup.CheckBoolArgs(own, params, rest), b.checkUnsupported(), o.Project.Fill(project.Run, own), o.Valid(own))
	if c.Defaults = project.Filled(own); problem != nil {
		return problem
	}
	ctx, cancel := o.Deadline(whole, at)
	defer cancel()
	c.JSON, c.Reloaded = o.JSON, true
	c.Report(setup.Unsplit(params), nil)
	if s.MainEntry == nil {
		return &term.Failure{Code: term.ExitCheck, Found: diag.List{s.NoMain}, Sources: s.Sources()}
	}
	given, err := setup.Gather(c, ctx, s, setup.Input{Args: texts, Params: params, Opts: o, JSON: own.Changed("input-json"), File: own.Changed("input-file")})
	if err != nil {
		return err
	}
	if problem := cmp.Or(o.KnownModels(s), setup.UnknownRules(c, o.Project, s.File, s.Module)); problem != nil {
		return problem
	}
	held, problem := o.Held(s)
	if problem != nil {
		return problem
	}
	settings, err := keep.Record(o, own, file, "")
	if err != nil {
		return err
	}
	if project.Given(own, "seed") {
		given = append(given, agentscript.Seed(o.Mock.Seed))
	}
	if id := o.SessionID(); id != "" {
		given = append(given, agentscript.Session(nil, id)) // the workers have the store
	}
	return b.start(whole, ctx, s, append(append(given, held...), agentscript.RunSettings(settings)))
}

// checkUnsupported refuses flags that mean nothing here.
func (b *pendingRun) checkUnsupported() (problem *term.Failure) {
	b.own.VisitAll(func(f *pflag.Flag) {
		help, is := unsupported[f.Name]
		if problem == nil && is && project.Given(b.own, f.Name) {
			problem = term.Usagef(cmp.Or(help, "pass it to the workers: agentscript temporal worker --"+f.Name), "agentscript temporal run takes no --%s", f.Name)
		}
	})
	return problem
}

// start begins the run. The worker that carries it out counts its time.
func (b *pendingRun) start(whole, ctx context.Context, s *setup.Script, opts []agentscript.RunOption) error {
	b.c.Report(s.Diagnostics(), s.Sources())
	if !b.pin {
		b.c.Report(warnLocal(s), s.Sources())
	}
	f, given, problem := b.newFollower(s, &b.flags, b.own)
	if problem != nil {
		return problem
	}
	defer given()
	to, done, err := b.store(ctx, b.pin)
	if err != nil {
		return err
	}
	defer done()
	cancelSent := b.c.Owes()
	defer cancelSent()
	id, err := to.Start(ctx, s.Module, "main", opts...)
	if err != nil {
		if id != "" && ctx.Err() != nil { // the server may have begun it
			_ = (&follower{runs: to, id: id}).cancel(context.WithoutCancel(ctx))
		}
		return b.verbs.failure(err)
	}
	if b.detach {
		return b.c.Print(id)
	}
	return f.follow(whole, to, id, cancelSent)
}

// errorOf returns the failure that a run ended with.
func errorOf(info engine.RunInfo) error {
	var failed engine.Error
	switch {
	case info.Err != nil && json.Unmarshal(info.Err, &failed) == nil:
		return &failed
	case info.Status == engine.RunCancelled:
		return engine.Errorf(engine.KindCancelled, diag.Cancelled, "%s", cmp.Or(strings.TrimSpace(info.Cancel), "the run was ended on the server"))
	}
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "run %s is %s on the server, which does not say why", info.ID, info.Status)
}
