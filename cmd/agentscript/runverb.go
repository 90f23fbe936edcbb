package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

const runLong = `Run loads a script, checks it and runs its main.

When main is a node, INPUT is its input: a str is taken as it is, everything else is read as
JSON. When main is a function, its parameters are flags (agentscript run FILE --help shows
them) and arguments without a flag fill them in order; --input-json gives an object of them.
INPUT - reads stdin, and so does a run that needs an input, was given none and has something on
stdin; one line end behind it is left out. A file or stdin is the input of a node, and of a
function its first parameter that is not given.

Flags before FILE belong to the command. After FILE a script's own flag wins over one of the
command that has the same name.

The result goes to stdout: a str as it is, everything else as JSON. Exit codes: 0 ok, 1 the
run failed, 2 usage or input, 3 the script has errors or no main, 4 budget,
5 a person has to decide and nobody could be asked, 6 provider, key or no model,
7 timeout, 9 a replay that differs from its record, 130 interrupted.`

// runVerb parses its flags itself: which there are is only known when the script is loaded.
func (c *command) runVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:                "run FILE [INPUT]",
		Short:              "Run a script's main",
		Long:               runLong,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return c.run(args) },
	}
	cmd.Flags().AddFlagSet(new(runOptions).flags())
	return cmd
}

func (c *command) run(args []string) error {
	o := &runOptions{}
	own := o.flags()
	file, rest, err := splitAtFile(own, args)
	if err != nil {
		return err
	}
	if file == "" {
		if o.help {
			return c.print(strings.TrimSuffix(runLong, "\n") + "\n\nUsage:\n  agentscript run FILE [INPUT] [flags]\n\nFlags:\n" +
				strings.TrimRight(own.FlagUsages(), "\n"))
		}
		return usagef("usage: agentscript run FILE [INPUT] [flags]", "run needs a FILE")
	}
	early := peek(rest, mainParams(file))
	c.json = o.json || early.json
	whole, stop := c.interruptible()
	defer stop()
	begun := time.Now()
	loading := loadTime(cmp.Or(o.timeout, early.timeout))
	root := cmp.Or(early.root, o.root) // the later flag wins
	granted := o.grants.and(&early.grants)
	opened, replays := granted, cmp.Or(o.calls.replay, early.calls.replay) != ""
	if replays { // nothing is touched: what is granted need not be there
		opened = &grantFlags{}
	}
	grants, allowed, failed := opened.open(c)
	if failed != nil {
		return failed
	}
	if grants != nil {
		defer func() { _ = grants.Close() }() // nothing is written by then
	}
	o.granted = grants
	if replays || o.help || early.help {
		allowed = agentscript.WithUngranted()
	}
	asked := append(slices.Clone(loading), allowed)
	s, err := c.load(whole, file, root, asked...)
	if err != nil {
		return err
	}
	params := s.params()
	if o.help || early.help && !isParam(params, "help") {
		return c.print(s.help(params, unhidden(own, params)))
	}
	texts, problem := parseAll(own, params, rest)
	if problem == nil {
		problem = looseBool(own, params, rest)
	}
	if problem == nil {
		problem = o.valid(own)
	}
	if problem != nil {
		return problem
	}
	if !o.grants.same(granted) {
		return usagef("grant what it is to touch before FILE", "a parameter of the script has the name of a flag that grants something")
	}
	ctx, cancel := o.deadline(whole, begun)
	defer cancel()
	c.json, c.printed = o.json, true
	if o.strict { // it takes another load to be told more
		if s, err = c.load(ctx, file, root, append(loading, allowed, agentscript.WithStrict())...); err != nil {
			return err
		}
	}
	if s.main == nil {
		return &failure{code: exitCheck, found: diag.List{s.none}, sources: s.Sources()}
	}
	given, err := c.gather(ctx, s, input{texts, params, o, own.Changed("input-json"), own.Changed("input-file")})
	if err != nil {
		return err
	}
	return c.start(ctx, s, o, own, append(given, agentscript.Limits(o.bounds.limits(own))))
}

// start runs a loaded module with its input.
func (c *command) start(ctx context.Context, s *script, o *runOptions, own *pflag.FlagSet, opts []agentscript.RunOption) error {
	models, problem := c.models(s, o, own)
	if problem != nil {
		return problem
	}
	defer models.close()
	opts = append(opts, models.options...)
	inSession, err := c.inSession(&o.session, models)
	if err != nil {
		return err
	}
	opts = append(opts, inSession)
	if models.scripted != nil { // answers that are left over fail the command
		opts = append(opts, agentscript.KeepSession(func() bool { return models.scripted.Err() == nil }))
	}
	var sinks []sink
	trace := &jsonLines{only: engine.EventAll}
	if o.trace == "-" {
		return usagef("name a file; --json writes the events to stderr", "--trace - names no file")
	}
	if o.trace != "" {
		if other := sameFile(o.trace, s.file, o.scripted, o.envFile, o.inputFile, o.calls.replay, o.calls.record); other != "" {
			return usagef("", "--trace %s would overwrite %s", o.trace, other)
		}
		f, err := os.Create(o.trace)
		if err != nil {
			if dir := filepath.Dir(o.trace); errors.Is(err, fs.ErrNotExist) {
				return usagef("make it first, or write elsewhere", "--trace %s: there is no directory %s", o.trace, dir)
			}
			return usagef("", "--trace %s: %s", o.trace, fileProblem(err))
		}
		defer f.Close() // every line was written, and errors of writing are reported
		trace.w = f
		sinks = append(sinks, trace)
	}
	kinds := engine.EventKind(0)
	c.report(s.Diagnostics(), s.Sources())
	if c.stdoutLost && !o.quiet {
		c.report(diag.List{{Severity: diag.Warning, Message: "stdout is closed, or its reader wants none of it: the result will be lost",
			Help: []string{"--quiet says that only the exit code is wanted"}}}, nil)
	}
	sinks = append(sinks, c.teller(o, models))
	for _, to := range sinks {
		kinds |= to.kinds()
	}
	run := s.Start(ctx, append(opts, agentscript.Watch(kinds))...)
	for e := range run.Events() {
		c.talk.Lock()
		for _, to := range sinks {
			if to.kinds()&e.Kind != 0 {
				to.event(e)
			}
		}
		c.talk.Unlock()
	}
	result, err := run.Wait()
	if err != nil {
		return s.runFailure(err)
	}
	if err := c.print(result.Text()); err != nil {
		return err
	}
	c.report(o.calls.unasked(models.replayed), nil)
	if models.scripted != nil {
		if err := models.scripted.Err(); err != nil {
			return s.runFailure(err)
		}
	}
	if trace.err != nil {
		return &failure{code: exitFailed, found: diag.List{{Message: fmt.Sprintf("the trace %s is incomplete: %s", o.trace, fileProblem(trace.err))}}}
	}
	return nil
}

// teller writes a run's events to stderr: as lines of progress, as JSON, or what the script prints
// alone.
func (c *command) teller(o *runOptions, models *modelSetup) sink {
	switch {
	case o.json && o.quiet:
		return &jsonLines{w: c.jsonOut(), only: engine.EventLog}
	case o.json:
		return &jsonLines{w: c.jsonOut(), only: engine.EventAll}
	case o.quiet:
		return &prints{w: c.stderr}
	case models.scripted != nil:
		return newProgress(c.stderr, c.color(), "scripted")
	}
	return newProgress(c.stderr, c.color(), "no model")
}

// sameFile gives the first of some files that is the very file at path, or "".
func sameFile(path string, others ...string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	for _, other := range others {
		if at, err := os.Stat(other); other != "" && err == nil && os.SameFile(info, at) {
			return other
		}
	}
	return ""
}

// interruptible gives a context that the first interrupt ends. The second one ends the
// process, for when something does not listen.
func (c *command) interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	interrupts, stop := c.signals()
	done := make(chan struct{})
	go func() {
		select {
		case <-interrupts:
			cancel()
		case <-done:
			return
		}
		select {
		case <-interrupts:
			c.kill(exitInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		close(done)
		stop()
		cancel()
	}
}

// help is the usage of one script.
func (s *script) help(params []*param, own *pflag.FlagSet) string {
	var b strings.Builder
	if s.main != nil && s.main.Doc != "" {
		b.WriteString(strings.TrimSpace(s.main.Doc) + "\n\n")
	}
	switch n := s.node(); {
	case n != nil:
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s INPUT [flags]\n\nINPUT is %s; the result is %s.\n", s.file, n.In(), n.Out())
	case len(params) > 0:
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s [flags]\n\nFlags of the script:\n", s.file)
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for _, p := range params {
			flag, text := p.help()
			if text != "" {
				text = "\t" + text // a cell of its own would leave blanks at the end of the line
			}
			fmt.Fprintf(w, "      %s%s\n", flag, text)
		}
		_ = w.Flush() // a Builder takes everything
	default:
		fmt.Fprintf(&b, "Usage:\n  agentscript run %s [flags]\n", s.file)
	}
	b.WriteString("\nFlags:\n" + own.FlagUsages())
	return strings.TrimRight(b.String(), "\n")
}
