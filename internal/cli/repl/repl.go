// Package repl is the prompt: a script that grows with each entry, which is composed and then run.
package repl

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const long = `Repl reads statements, composes and checks each one, runs those that call nodes, and shows values. FILE is loaded first.

At a terminal, Enter ends a complete statement, and a pasted block is one entry. Ctrl-C ends the current model call, not
the session; Ctrl-D on an empty line exits. :help lists the commands. When input comes from a pipe, there is no prompt,
and the first error ends the session with exit code 1.`

// notOfRepl are the flags of run that a prompt does not have.
var notOfRepl = []string{"input-json", "input-file", "output", "json", "help", "strict", "watch", "progress", "trace", "on-unknown"}

// usages are the usages of flags that have a different meaning at a prompt.
var usages = map[string]string{
	"quiet":   "write only values, warnings and errors: no answers as they stream, and nothing about what a command did",
	"verbose": "write a line for each event of a run, as after :trace on",
}

// Verb returns the verb that reads statements.
func Verb(c *term.Console) *cobra.Command {
	o := &setup.RunFlags{Growing: true}
	all, own := o.Flags(), pflag.NewFlagSet("repl", pflag.ContinueOnError)
	own.SortFlags = false
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notOfRepl, f.Name) {
			if usage := usages[f.Name]; usage != "" {
				f.Usage = usage
			}
			own.AddFlag(f)
		}
	})
	cmd := &cobra.Command{
		Use:   "repl [FILE]",
		Short: "Read statements, run them and show their values",
		Long:  long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usagef("usage: "+cmd.UseLine(), "repl takes one FILE, and got %q as well", args[1])
			}
			return start(c, o, cmd.Flags(), append(args, "")[0])
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(own)
	return cmd
}

// session is one prompt.
type session struct {
	c     *term.Console
	flags *setup.RunFlags
	own   *pflag.FlagSet
	file  string // the file whose directory entries belong to
	dir   string // directory of the project
	ws    *agentscript.Workspace
	ports *setup.Ports // nil until something runs
	tape  bytes.Buffer // records of all runs
	in    input

	entered  int                  // number of entries
	accepted []statement          // accepted statements, in order
	written  map[string]string    // the statement that bound a name
	texts    map[string]string    // texts of entries and files, by their names in positions
	loaded   string               // the file that :reload reads
	options  []agentscript.Option // load options
	said     diag.List            // the findings in that file as a whole
	offered  *offer               // the fix that :fix applies
	rest     string               // what :more shows
	last     *recorded            // the run that :replay repeats
	over     bool                 // the command overwrites files
	verbose  bool
	timed    bool
	spent    spending

	interrupt func() // ends the current run
}

// start opens a session and reads it to its end.
func start(c *term.Console, o *setup.RunFlags, own *pflag.FlagSet, file string) error {
	s := &session{c: c, flags: o, own: own, file: "session.star", loaded: file, written: map[string]string{}, texts: map[string]string{}}
	if file != "" {
		if problem := setup.Readable(file); problem != nil {
			return problem
		}
		s.file = filepath.Join(filepath.Dir(file), s.file)
	}
	var problem *term.Failure
	if o.Project, problem = project.Open(filepath.Dir(s.file), c.LookupEnv); problem != nil {
		return problem
	}
	if problem = o.Project.Fill(project.Run, own); problem == nil {
		problem = o.Valid(own)
	}
	c.Defaults = project.Filled(own)
	if problem == nil {
		_, problem = o.Project.Unknown("", nil, nil)
	}
	if problem != nil {
		return problem
	}
	s.dir = projectDir(s.file)
	if o.EnvFile != "" { // its keys are hidden from the first entry on
		if _, problem := setup.Registry(c, o.EnvFile, ""); problem != nil {
			return problem
		}
	}
	granted, allowed, problem := o.Grants.Open(c)
	if problem != nil {
		return problem
	}
	if granted != nil {
		defer func() { _ = granted.Close() }() // nothing is written yet
	}
	s.verbose = o.Verbose
	o.Granted, o.Calls.Tape = granted, &s.tape
	if o.Mock.On || o.Calls.Replay != "" {
		allowed = agentscript.WithUngranted()
	}
	within, problem := setup.Rooted(o.Root, s.file)
	if problem != nil {
		return problem
	}
	s.options = []agentscript.Option{allowed, agentscript.WithLoadTimeout(o.LoadTimeout(o))}
	var err error
	if s.ws, err = setup.Engine(c, append(within, s.options...)...).Workspace(s.file); err != nil {
		return setup.LoadFailure(s.file, err)
	}
	s.ws.CheckAsFile(s.unfit)
	defer s.close()
	if s.in, err = s.open(); err != nil {
		return err
	}
	defer s.in.close()
	if file != "" {
		if err := s.load(file); err != nil && !s.in.interactive() {
			return err
		}
	}
	return s.loop()
}

// close releases what runs were made with.
func (s *session) close() {
	if s.ports != nil {
		s.ports.Close()
	}
}

// errQuit ends the session.
var errQuit = errors.New("quit")

// projectDir returns the directory of the project file, or of the script.
func projectDir(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		dir = filepath.Dir(file)
	}
	if found := project.Find(dir); found != "" {
		return filepath.Dir(found)
	}
	return dir
}

// loop reads entries until the input ends or, for a pipe, until one fails.
func (s *session) loop() error {
	for {
		text, err := s.in.next()
		if errors.Is(err, errInterrupted) {
			continue
		}
		if errors.Is(err, errEnded) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.entry(text)
		if errors.Is(err, errQuit) {
			return nil
		}
		if err != nil && !s.in.interactive() {
			return err
		}
	}
}
