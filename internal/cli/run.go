package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/mocking"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/runs"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/telling"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/watch"
)

const runLong = `Run loads a script, checks it and runs its main.

If main is a node, INPUT is its input: a str is taken verbatim, everything else is read as JSON.
If main is a function, its parameters are flags (agentscript run FILE --help shows them), and
arguments without a flag fill them in order; --input-json takes an object of arguments.
INPUT - reads stdin. A run that needs an input and has none also reads stdin, if stdin holds
anything. One trailing newline is removed. A file or stdin is the input of a node; for a function,
it is the first parameter that is not given.

Flags before FILE belong to the command. After FILE, a flag of the script takes precedence over a
flag of the command with the same name.

The result goes to stdout: a str verbatim, everything else as JSON. Exit codes: 0 ok, 1 the run
failed, 2 usage or input, 3 the script has errors or no main, 4 a budget ran out,
5 a person has to decide and no one could be asked, 6 a provider or key failed, or no model,
7 timeout, 9 a replay that differs from its record, 130 interrupted.`

// runVerb parses its flags itself: they are only known when the script is loaded.
func runVerb(c *term.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:                "run FILE [INPUT]",
		Short:              "Run a script's main",
		Long:               runLong,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return runFile(c, args) },
	}
	cmd.Flags().AddFlagSet(new(setup.RunFlags).Flags())
	return cmd
}

func runFile(c *term.Console, args []string) error {
	whole, stop := c.Interruptible()
	defer stop()
	return runArgs(c, whole, args, nil)
}

// runArgs runs what the arguments name. With --watch it runs that again and again, each time with the state that the
// runs share.
func runArgs(c *term.Console, whole context.Context, args []string, of *watch.Session) error {
	o := &setup.RunFlags{}
	own := o.Flags()
	file, rest, err := setup.SplitAtFile(own, args)
	if err != nil {
		return err
	}
	if file == "" {
		if o.Help {
			return c.Print(strings.TrimSuffix(runLong, "\n") + "\n\nUsage:\n  agentscript run FILE [INPUT] [flags]\n\nFlags:\n" +
				strings.TrimRight(own.FlagUsages(), "\n"))
		}
		return term.Usagef("usage: agentscript run FILE [INPUT] [flags]", "run needs a FILE")
	}
	begun := time.Now()
	of.Loads(file, append(o.Reads(), project.Find(filepath.Dir(file)))...)
	guessing, enough := context.WithTimeout(whole, cmp.Or(max(0, o.Timeout), agentscript.DefaultLoadTimeout))
	early := setup.Preparse(rest, setup.GuessParams(c, guessing, file))
	enough()
	if of == nil && (o.Watch || early.Watch) && !o.Help && !early.Help {
		if problem := cmp.Or(setup.Readable(file), o.Watchable(), early.Watchable()); problem != nil {
			return problem
		}
		of = watch.New(c, file)
		return of.Run(whole, func(ctx context.Context) error { return runArgs(c, ctx, args, of) })
	}
	of.Loads(file, early.Reads()...)
	var problem *term.Failure
	if o.Project, problem = project.Open(filepath.Dir(file), c.LookupEnv); problem != nil {
		return problem
	}
	c.JSON = o.JSON || early.JSON || o.Progress == "json" || early.Progress == "json"
	loading := agentscript.WithLoadTimeout(o.LoadTimeout(&early))
	root := cmp.Or(early.Root, o.Root) // the later flag wins
	granted := o.Grants.With(&early.Grants)
	opened, replays := granted, cmp.Or(o.Calls.Replay, early.Calls.Replay) != ""
	if replays { // nothing is touched: what is granted need not exist
		opened = &setup.GrantFlags{}
	}
	grants, allowed, failed := opened.Open(c)
	if failed != nil {
		return failed
	}
	if grants != nil {
		defer func() { _ = grants.Close() }() // nothing is written yet
	}
	o.Granted = grants
	if replays || o.Help || early.Help {
		allowed = agentscript.WithUngranted()
	}
	ungranted := agentscript.Option(nil)
	if o.Mock.On || early.Mock.On { // what is not granted is mocked too
		ungranted = agentscript.WithUngranted()
	}
	of.Remembering(o.Mock.On || early.Mock.On || o.Scripted != "" || early.Scripted != "")
	flowing, failed := o.Loading(&early, file)
	if failed != nil {
		return failed
	}
	kept := keep.New(c)
	defer kept.Close() // its content is on disk when a run has ended
	s, err := setup.Load(c, whole, file, root, loading, allowed, ungranted, flowing, of.Load(), agentscript.WithStore(kept), agentscript.WithMiddleware(kept.Competes))
	if err != nil {
		return grantable(err)
	}
	of.Loaded(root, file, s.Module)
	params := s.MainParams()
	if o.Help || early.Help && !setup.IsParam(params, "help") {
		return c.Print(usageOf(s, params, setup.Unhidden(own, params)))
	}
	texts, problem := setup.ParseAll(own, s, params, rest)
	problem = cmp.Or(problem, setup.CheckBoolArgs(own, params, rest), o.Project.Fill(project.Run, own), o.Valid(own))
	if c.Defaults = project.Filled(own); problem != nil {
		return problem
	}
	if !o.Grants.Same(granted) {
		return term.Usagef("grant what it is to touch before FILE", "a parameter of the script has the name of a flag that grants something")
	}
	ctx, cancel := o.Deadline(whole, begun)
	defer cancel()
	c.JSON, c.Reloaded = o.JSON, true
	c.Report(setup.Unsplit(params), nil)
	if o.Strict { // another load reports more
		if s, err = setup.Load(c, ctx, file, root, loading, allowed, ungranted, flowing, of.Load(), agentscript.WithStore(kept), agentscript.WithMiddleware(kept.Competes), agentscript.WithStrict()); err != nil {
			return err
		}
	}
	if s.MainEntry == nil {
		return &term.Failure{Code: term.ExitCheck, Found: diag.List{s.NoMain}, Sources: s.Sources()}
	}
	given, err := setup.Gather(c, ctx, s, setup.Input{Args: texts, Params: params, Opts: o, JSON: own.Changed("input-json"), File: own.Changed("input-file")})
	if err != nil {
		return err
	}
	if err := kept.Use(ctx, o); err != nil {
		return err
	}
	settings, err := keep.Record(o, own, file, "")
	if err != nil {
		return err
	}
	return runScript(c, ctx, s, o, own, kept, append(append(given, agentscript.RunSettings(settings)), of.Start()...))
}

// grantable adds to a failure, on one line, all flags that grant what a run lacks.
func grantable(err error) error {
	f, ok := errors.AsType[*term.Failure](err)
	if !ok {
		return err
	}
	var flags []string
	for _, d := range f.Found {
		for _, help := range d.Help {
			if _, flag, ok := strings.Cut(help, " it with "); ok && d.Code == diag.NotGranted && !slices.Contains(flags, flag) {
				flags = append(flags, flag)
			}
		}
	}
	if len(flags) > 1 {
		f.Found.Add(&diag.Diagnostic{Severity: diag.Info, Message: "all at once: " + strings.Join(flags, " ")})
	}
	return err
}

// starting returns how the verb run continues runs.
func starting(c *term.Console) runs.Go {
	return func(ctx context.Context, s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet, kept *keep.Store, opts []agentscript.RunOption) error {
		return runScript(c, ctx, s, o, own, kept, opts)
	}
}

// runScript runs a loaded module with its input, and records the run.
func runScript(c *term.Console, ctx context.Context, s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet, kept *keep.Store, opts []agentscript.RunOption) error {
	models, problem := setup.OpenPorts(c, s, o, own)
	if problem != nil {
		return problem
	}
	defer models.Close()
	limits := o.Limits(own)
	ctx = o.AtWork(ctx, models, &limits)
	opts = append(append(append(opts, agentscript.RunLimits(limits)), kept.Options()...), models.Options...)
	inSession, err := setup.InSession(ctx, c, &o.Session, models, kept.OpenFile)
	if err != nil {
		return err
	}
	opts = append(opts, inSession)
	if models.Scripted != nil && kept.Counts == nil { // unused answers fail the command
		opts = append(opts, agentscript.KeepSession(func() bool { return models.Scripted.Err() == nil }))
	}
	var sinks []term.Sink
	trace := &term.JSONLines{Only: engine.EventAll}
	if o.Trace != "" {
		f, problem := setup.CreateFile("--trace", o.Trace, "name a file; --json writes the events to stderr", s.File, o.Scripted, o.EnvFile, o.InputFile, o.Calls.Replay, o.Calls.Record)
		if problem != nil {
			return problem
		}
		defer f.Close() // every line was written, and write errors are reported
		trace.Out = f
		sinks = append(sinks, trace)
	}
	var to *output.File
	if o.Output != "" {
		if to, problem = output.Create("--output", o.Output, s.File, o.Scripted, o.EnvFile, o.InputFile, o.Trace, o.Calls.Replay, o.Calls.Record); problem != nil {
			return problem
		}
		defer to.Abandon()
	}
	kinds := engine.EventKind(0)
	c.Report(s.Diagnostics(), s.Sources())
	if c.StdoutLost && !o.Quiet && to == nil {
		c.Report(diag.List{{Severity: diag.Warning, Message: "stdout is closed, or its reader wants none of it: the result will be lost",
			Help: []string{"--quiet says that only the exit code is wanted"}}}, nil)
	}
	tell, told, problem := telling.To(c, o, own, answering(models))
	if problem != nil {
		return problem
	}
	defer told() // restores the terminal in every case
	sinks = append(sinks, tell)
	if d := c.Denials(); d != nil {
		sinks = append(sinks, d)
	}
	if kept.Counts != nil {
		sinks = append(sinks, kept.Counts)
	}
	for _, sink := range sinks {
		kinds |= sink.Kinds()
	}
	run := s.Start(ctx, append(opts, agentscript.Watch(kinds))...)
	for e := range run.Events() {
		telling.Hand(c, e, sinks...)
	}
	told()
	result, err := run.Wait()
	if !o.Quiet {
		c.Report(mocking.Stood(models.Mocked), nil)
	}
	if kept.Counts != nil && !o.Quiet && kept.Began(run.ID()) {
		c.Report(diag.List{{Severity: diag.Info, Message: kept.Counts.String()}}, nil)
	}
	if err != nil {
		failed := s.RunFailure(models.Scripted.Explained(mocking.Explained(models.Mocked, err)))
		kept.Onward(run.ID(), s.File, err, failed)
		return failed
	}
	put := c.Print
	if to != nil {
		put = func(text string) error { return to.Write(c.Hidden(text) + "\n") }
	}
	if err := put(result.Text()); err != nil {
		return err
	}
	c.Report(o.Calls.Unasked(models.Replayed), nil)
	if answers := models.Scripted; answers != nil && answers.Err() != nil && kept.Counts == nil { // otherwise the answers came from a record
		return s.RunFailure(answers.Err())
	}
	if trace.Err != nil {
		return &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: fmt.Sprintf("the trace %s is incomplete: %s", o.Trace, term.FileProblem(trace.Err))}}}
	}
	return nil
}

// answering returns what answers in place of models, or "".
func answering(models *setup.Ports) string {
	switch {
	case models.Scripted != nil:
		return "scripted"
	case models.Mocked != nil:
		return "mocked"
	}
	return ""
}

// usageOf returns the usage text of one script.
func usageOf(s *setup.Script, params []*setup.Param, own *pflag.FlagSet) string {
	var b strings.Builder
	if s.MainEntry != nil && s.MainEntry.Doc != "" {
		b.WriteString(strings.TrimSpace(s.MainEntry.Doc) + "\n\n")
	}
	switch n := s.MainNode(); {
	case n != nil && len(params) > 0: // a flow as JSON
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s [INPUT] [flags]\n\nINPUT is a text; without one, the first agent gets only its task. The result is %s.\n", s.File, n.Out())
	case n != nil:
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s INPUT [flags]\n\nINPUT is %s; the result is %s.\n", s.File, n.In(), n.Out())
	case len(params) > 0:
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s [flags]\n\nFlags of the script:\n", s.File)
		b.WriteString(term.Table(3, func(w io.Writer) {
			for _, p := range params {
				flag, text := p.Help()
				if text != "" {
					text = "\t" + text // a separate cell would leave blanks at the end of the line
				}
				fmt.Fprintf(w, "      %s%s\n", flag, text)
			}
		}) + "\n")
	default:
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s [flags]\n", s.File)
	}
	b.WriteString("\nFlags:\n" + own.FlagUsages())
	return strings.TrimRight(b.String(), "\n")
}
