// Package testverb is the verb test, which runs the tests of scripts.
package testverb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
)

const long = `Test runs the functions test_… of files that end in _test.star: those of each PATH, which is
such a file or a directory, or of the current directory. Each test is called with t, by which it
answers the models, tools and people of the flow, and asserts what came of it:

  load("review.star", "review")

  def test_refused(t):
      t.reply("critic", {"type": "Rejected", "reason": "too long"})
      t.eq(review("text"), "no")

A test reaches nothing outside: what it does not answer fails. Time passes as fast as it can.
todo_… is not run. Exit codes: 0 all passed, 8 a test failed, 3 a file is broken (the others run),
2 usage.`

type options struct {
	run, root                        string
	list, verbose, update, stop, any bool
	json                             bool
	timeout                          time.Duration
	shuffle                          uint64
	mutate                           mutations
	cover                            coverage
}

// Verb returns the verb.
func Verb(c *term.Console) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "test [PATH...]",
		Short: "Run the tests of scripts",
		Long:  long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if problem := defaults(c, cmd.Flags(), args); problem != nil {
				return problem
			}
			return run(c, &o, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.run, "run", "", "run only tests whose names match this `REGEXP`; after a slash that of a row or a test inside")
	f.BoolVar(&o.list, "list", false, "list the tests, and run none")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also report the tests that passed, and what they print")
	f.BoolVarP(&o.stop, "fail-fast", "x", false, "run no further test once one has failed")
	f.BoolVar(&o.update, "update", false, "store snapshots as they are now")
	f.DurationVar(&o.timeout, "timeout", testrun.DefaultTimeout, "end a test after this `DURATION` of the machine's time")
	f.Uint64Var(&o.shuffle, "shuffle", 0, "run the tests of a file in the order of this `SEED`")
	f.BoolVar(&o.any, "fail-on-empty", false, "fail if there is no test to run")
	f.BoolVar(&o.json, "json", false, "write the results to stdout as one JSON document")
	o.cover.flags(f)
	o.mutate.flags(f)
	setup.AddRoot(f, &o.root)
	return cmd
}

func run(c *term.Console, o *options, paths []string) error {
	selection := testrun.Selection{Shuffle: o.shuffle, StopAtFailed: o.stop}
	if o.run != "" {
		parts, err := testrun.ParseRun(o.run)
		if err != nil {
			return term.Usagef("write a regular expression in the syntax of RE2: --run 'test_(a|b)'", "--run: %s", err)
		}
		selection.Run = parts
	}
	if o.timeout <= 0 {
		return term.Usagef("write a duration above 0: 30s", "--timeout is %s", o.timeout)
	}
	if err := o.cover.check(&o.mutate); err != nil {
		return err
	}
	if err := o.mutate.check(o); err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	names, err := testrun.Find(paths)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			return term.Usagef("", "%s: %s", at.Path, term.FileProblem(err))
		}
		return err
	}
	ctx, stop := c.Interruptible()
	defer stop()
	files, broken, problem := load(ctx, c, o, names)
	if problem != nil {
		return problem
	}
	if o.list {
		return list(c, &selection, files, broken)
	}
	return execute(ctx, c, o, &selection, files, broken)
}

// load loads the test files. What is wrong with them is reported.
func load(ctx context.Context, c *term.Console, o *options, names []string) (files []*testrun.File, broken bool, problem error) {
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
		opts := testrun.Options{Update: o.update, Ways: o.cover.on, Dir: filepath.Clean(dir), Timeout: o.timeout,
			Engine: append(within, agentscript.WithPrint(func(_ diag.Pos, said string) {}))}
		f := testrun.Load(ctx, os.DirFS(dir), base, opts)
		c.Report(f.Found, f.Sources)
		broken = broken || f.Broken
		files = append(files, f)
	}
	return files, broken, nil
}

func list(c *term.Console, s *testrun.Selection, files []*testrun.File, broken bool) error {
	var out strings.Builder
	for i, tests := range s.Chosen(files) {
		for _, t := range tests {
			fmt.Fprintf(&out, "%s:%d: %s", files[i].Shown(), t.Pos.Line, t.Name)
			if t.Todo {
				out.WriteString(" (todo)")
			}
			out.WriteByte('\n')
		}
	}
	if err := c.Write(out.String()); err != nil {
		return c.Unwritten(err)
	}
	if broken {
		return &term.Failure{Code: term.ExitCheck}
	}
	return nil
}
