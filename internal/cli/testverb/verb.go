// Package testverb is the verb test, which runs the tests of scripts.
package testverb

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
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
)

const long = `Test runs the functions named test_… in files that end in _test.star. Each PATH is such a file or a
directory; without one, it is the current directory. Each test is called with t, which answers the
models, tools and people of the flow and asserts the results:

  load("review.star", "review")

  def test_refused(t):
      t.reply("critic", {"type": "Rejected", "reason": "too long"})
      t.eq(review("text"), "no")

A test reaches nothing outside: a call that it does not answer fails. With --live, models answer
such calls; --allow-… grant other access one by one. Time is virtual and passes as fast as possible.
Functions named todo_… are not run.
Exit codes: 0 all passed, 8 a test failed or is flaky, 3 a file is broken (the others run), 2 usage.`

type options struct {
	run, shard, shuffle, root        string
	list, verbose, update, stop, any bool
	quiet                            bool
	failed, json, live, watch        bool
	junit, traces                    string
	timeout                          time.Duration
	repeat                           int
	seed                             uint64
	mutate                           mutations
	cover                            coverage
	outside                          setup.RunFlags
	limits                           engine.Limits
}

// Verb returns the verb.
func Verb(c *term.Console) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Run the tests of scripts",
		Long:  long,
		RunE:  func(cmd *cobra.Command, args []string) error { return run(c, &o, cmd.Flags(), args) },
	}
	o.addTo(cmd.Flags())
	return cmd
}

func (o *options) addTo(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.run, "run", "", "run only tests whose names match this `REGEXP`; the part after a slash matches rows and inner tests")
	f.BoolVar(&o.failed, "failed", false, "run only the tests that failed last time, and those of files that were broken")
	f.StringVar(&o.shard, "shard", "", "run only part `I/N` of the tests: 1/3, 2/3 and 3/3 together are all tests")
	f.StringVar(&o.shuffle, "shuffle", "", "run the tests of a file in the order of this `SEED`; without a value, a seed is picked and shown")
	f.Lookup("shuffle").NoOptDefVal = anySeed
	f.BoolVar(&o.list, "list", false, "list the tests without running them")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also report the tests that passed, and what they print")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "report only failures and the summary: no warnings, no skipped tests")
	f.BoolVarP(&o.stop, "fail-fast", "x", false, "start no further test after one has failed")
	f.BoolVar(&o.update, "update", false, "store the current snapshots")
	f.DurationVar(&o.timeout, "timeout", testrun.DefaultTimeout, "end a test after this `DURATION` of real time")
	f.IntVar(&o.repeat, "repeat", 1, "run each test with `N` seeds, each a different order of branches; a test whose outcome differs is flaky")
	f.Uint64Var(&o.seed, "seed", 0, "run branches in the order of this `SEED`, the first seed of --repeat")
	f.BoolVar(&o.any, "fail-on-empty", false, "fail if there are no tests to run")
	f.BoolVar(&o.json, "json", false, "write the results to stdout as one JSON document")
	o.cover.flags(f)
	o.mutate.flags(f)
	f.StringVar(&o.junit, "junit", "", "write the results to this `FILE` as JUnit XML")
	f.StringVar(&o.traces, "trace-dir", "", "keep the traces of failed tests in this `DIR` instead of the user's cache")
	setup.AddRoot(f, &o.root)
	f.BoolVar(&o.watch, "watch", false, "run tests again whenever one of their files changes, failed tests first")
	f.BoolVar(&o.live, "live", false, "let models answer the calls that a test does not answer")
	runs := o.outside.Flags()
	for _, name := range []string{"model", "model-alias", "env-file", "prices", "allow-exec", "allow-net", "allow-fs", "allow-env", "net-proxy", "max-model-calls", "max-tokens", "max-usd", "max-steps"} {
		if flag := runs.Lookup(name); flag != nil {
			f.AddFlag(flag)
		}
	}
}

func run(c *term.Console, o *options, flags *pflag.FlagSet, paths []string) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	ctx, stop := c.Interruptible()
	defer stop()
	if !o.watch {
		return once(ctx, c, o, flags, paths, nil)
	}
	for _, flag := range []string{"list", "json", "junit", "mutate", "cover-out", "failed"} {
		if flags.Changed(flag) {
			return term.Usagef("leave one of them out", "--watch runs repeatedly, and --%s is of one run", flag)
		}
	}
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	k := readKeys(ctx, c, o.run, quit)
	if k != nil {
		defer k.board.Leave() // also if a run panics
	}
	w := newWatched(c)
	w.Again, w.Hint = k.again, k.hint
	ended := w.Run(ctx, func(ctx context.Context) error {
		each := *o
		w.all = k.takes(&each)
		return once(ctx, c, &each, flags, paths, w)
	})
	if k.close() {
		return nil
	}
	return ended
}

// once runs the tests of paths; with w, those that a change affects.
func once(ctx context.Context, c *term.Console, o *options, flags *pflag.FlagSet, paths []string, w *watched) error {
	names, err := testrun.Find(paths)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			return term.Usagef("", "%s: %s", at.Path, term.FileProblem(err))
		}
		return err
	}
	dir := dirOf(paths)
	settings, problem := defaults(c, flags, dir)
	if problem != nil {
		return problem
	}
	selection, problem := o.selection()
	if problem != nil {
		return problem
	}
	if err := o.cover.check(&o.mutate); err != nil {
		return err
	}
	if err := o.mutate.check(o); err != nil {
		return err
	}
	o.outside.Project, o.limits = settings, o.outside.Limits(flags)
	outside, problem := setup.Outside(c, &o.outside, o.live)
	if problem != nil {
		return problem
	}
	defer outside.Close()
	w.looksAt(paths, names, o.root)
	files, broken, failure := load(ctx, c, o, outside, names, testrun.Options{Update: o.update, Hide: c.Hidden, Ways: o.cover.on, Apart: o.cover.apart(), Timeout: o.timeout, Seed: o.seed, Repeat: o.repeat,
		Run:  append(outside.Options, agentscript.RunLimits(o.limits)),
		Live: outside.Handlers})
	if failure != nil {
		return failure
	}
	all := len(files)
	if files = w.concerned(files, o.root); len(files) == 0 && all > 0 {
		return c.Print("no test depends on what changed")
	}
	found, problem := unmatched(o, selection, files, broken)
	if problem != nil {
		return problem
	}
	c.Report(found, nil)
	k, problem := openKept(c, dir, o.traces)
	if problem != nil {
		return problem
	}
	if o.failed {
		if k.dir == "" {
			return term.Usagef("set HOME, or XDG_CACHE_HOME", "--failed: there is no directory in which it is kept what failed")
		}
		onlyFailed(selection, files, k.failed)
	}
	if o.list {
		return list(c, selection, files, o.json, broken)
	}
	r := &round{Console: c, o: o, kept: k, selection: selection, files: files, broken: broken, unchanged: all - len(files), ended: w.ended, junit: junitSuites{sourced: c.Sourced}}
	if o.junit != "" {
		if r.junitTo, problem = output.Create("--junit", o.junit, readBy(files, names, o.root)...); problem != nil {
			return problem
		}
		defer r.junitTo.Abandon()
	}
	return r.run(ctx)
}

// load loads the test files, and reports what check finds in them.
func load(ctx context.Context, c *term.Console, o *options, outside *setup.World, names []string, opts testrun.Options) (files []*testrun.File, broken bool, problem error) {
	for _, name := range names {
		if !testrun.IsTest(name) {
			return nil, false, term.Usagef("tests are in files that end in "+testrun.Suffix+"; agentscript run "+name+" runs a flow", "%s is not a test file", name)
		}
		within, failure := setup.Rooted(o.root, name)
		if failure != nil {
			return nil, false, failure
		}
		dir, base := filepath.Split(name)
		if dir == "" {
			dir = "."
		}
		if o.cover.on {
			within = append(within, agentscript.WithCoverage())
		}
		opts.Dir = filepath.Clean(dir)
		opts.Engine = append(within, agentscript.WithPrint(func(_ diag.Pos, said string) {}))
		f := testrun.Load(ctx, os.DirFS(dir), base, opts)
		if f.Module != nil {
			if problem := setup.UnknownRules(c, outside.Project, name, f.Module); problem != nil {
				return nil, false, problem
			}
			f.Found = append(f.Found, outside.Unfit(f.Module)...)
			f.Broken = f.Broken || f.Found.HasErrors()
		}
		found := f.Found
		if o.quiet {
			found = slices.DeleteFunc(slices.Clone(found), func(d *diag.Diagnostic) bool { return d.Severity == diag.Warning })
		}
		c.Report(found, f.Sources)
		broken = broken || f.Broken
		files = append(files, f)
	}
	return files, broken, nil
}

// readBy lists the files that the tests read: no report may overwrite them.
func readBy(files []*testrun.File, names []string, root string) []string {
	all := slices.Clone(names)
	for _, f := range files {
		if f.Module == nil {
			continue
		}
		for _, name := range f.Module.Files() {
			all = append(all, filepath.Join(cmp.Or(root, filepath.Dir(f.Shown())), filepath.FromSlash(name)))
		}
	}
	return all
}

// jsonListed is a test in the JSON of --list.
type jsonListed struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Name string `json:"name"`
	Todo bool   `json:"todo,omitempty"`
}

func list(c *term.Console, s *testrun.Selection, files []*testrun.File, asJSON, broken bool) error {
	var out strings.Builder
	all := []jsonListed{}
	for i, tests := range s.Chosen(files) {
		for _, t := range tests {
			all = append(all, jsonListed{files[i].Shown(), t.Pos.Line, t.Name, t.Todo})
			fmt.Fprintf(&out, "%s:%d: %s", text.Visible(files[i].Shown()), t.Pos.Line, t.Name)
			if t.Todo {
				out.WriteString(" (todo)")
			}
			out.WriteByte('\n')
		}
	}
	if asJSON {
		if err := c.PrintAs(true, map[string]any{"tests": all}, nil); err != nil {
			return err
		}
	} else if err := c.Write(out.String()); err != nil {
		return c.Unwritten(err)
	}
	if broken {
		return &term.Failure{Code: term.ExitCheck}
	}
	return nil
}
