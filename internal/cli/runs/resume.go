package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const resumeLong = `Resume continues a run whose process ended, that was parked, or that failed: with the script as it
was when the run began, with its input and its settings. It does not repeat what was done; it
retries the failure that ended the run.

The flags are those of run that change no request. The run is granted only what is granted now.`

func (v *verbs) resume() *cobra.Command {
	cmd := &cobra.Command{Use: "resume RUN [flags]", Short: "Continue a run that did not finish", Long: resumeLong,
		DisableFlagParsing: true}
	cmd.Flags().AddFlagSet(resumable(new(setup.RunFlags).Flags()))
	cmd.RunE = func(_ *cobra.Command, args []string) error { return v.failure(v.resumed(cmd, args)) }
	return cmd
}

// resumable returns the flags that can be given when a run is resumed.
func resumable(all *pflag.FlagSet) *pflag.FlagSet {
	var others []string
	all.VisitAll(func(f *pflag.Flag) {
		if !keep.Resumable(f.Name) || f.Name == "help" {
			others = append(others, f.Name)
		}
	})
	return setup.Without(all, others...)
}

func (v *verbs) resumed(cmd *cobra.Command, args []string) error {
	begun := time.Now()
	given := &setup.RunFlags{}
	set := given.Flags()
	if err := set.Parse(args); err != nil {
		f := setup.FlagFailure(err, "agentscript runs resume", set)
		f.Found[0].Help = append(f.Found[0].Help, "a run keeps its input: agentscript runs fork RUN takes another one")
		return f
	}
	v.c.JSON = given.JSON || given.Progress == "json"
	switch {
	case given.Help:
		return cmd.Help()
	case set.NArg() == 0:
		return term.Usagef("usage: agentscript runs resume RUN [flags]", "resume needs a RUN")
	case set.NArg() > 1:
		return term.Usagef("with another one it is another run: agentscript runs fork "+set.Arg(0)+" INPUT", "a run keeps its input, and resume got %q", set.Arg(1))
	}
	if flag := keep.Anew(set); flag != "" {
		return term.Usagef("with it, it is another run, which takes what still fits: agentscript runs fork "+set.Arg(0)+" --"+flag+" …", "--%s would change what the run asks for", flag)
	}
	whole, stop := v.c.Interruptible()
	defer stop()
	s, err := v.open(whole, given.Store, set.Arg(0))
	if err != nil {
		return err
	}
	defer s.Close() // what was written is on disk
	info, err := v.writable(whole, s, set.Arg(0))
	switch {
	case err != nil:
		return err
	case info.Status == engine.RunDone && !info.Live: // regardless of what else it lacks
		return journal.Done(info.ID)
	}
	kept, problem := keep.ReadSettings(info.ID, info.Settings)
	if problem != nil {
		return problem
	}
	next, err := v.again(whole, s, info, set, given, kept, begun, false)
	if err != nil {
		return err
	}
	defer next.close()
	if err := from(whole, s, info.Parent, next.kept.From); err != nil && !gone(err) { // a fork holds what it took
		return err
	}
	script, err := next.bundled(s)
	if err != nil {
		return err
	}
	held, problem := given.Held(script)
	if problem != nil {
		return problem
	}
	if err := next.took(s, func(string) bool { return true }); err != nil {
		return err
	}
	return v.start(next.ctx, script, next.flags, next.own, s, append(held, agentscript.ResumeRun(info.ID)))
}

// again is a run that continues with the settings of a stored one.
type again struct {
	v     *verbs
	info  engine.RunInfo
	kept  keep.Settings
	flags *setup.RunFlags
	own   *pflag.FlagSet
	given *pflag.FlagSet // on this command line
	from  string         // the directory of this command if that of the run was entered, otherwise ""
	opts  []agentscript.Option
	ctx   context.Context
	close func()
}

// again determines with which flags a run continues, and opens what they grant. A run that is only planned touches
// nothing: for it nothing needs to be granted or to exist.
func (v *verbs) again(whole context.Context, s *keep.Store, info engine.RunInfo, set *pflag.FlagSet, given *setup.RunFlags, kept keep.Settings, begun time.Time, planned bool) (*again, error) {
	n := &again{v: v, info: info, kept: kept, flags: &setup.RunFlags{}, given: set, close: func() {}}
	n.own = n.flags.Flags()
	granted, problem := n.kept.Apply(n.own, set)
	if problem != nil {
		return nil, problem
	}
	if n.flags.Project, problem = n.kept.Project.Restore(); problem != nil {
		return nil, problem
	}
	if problem := n.flags.Valid(n.own); problem != nil {
		return nil, problem
	}
	v.c.JSON, v.c.Reloaded = n.flags.JSON, true
	opened := n.flags.Grants
	if planned {
		granted, opened, n.flags.Planned = "", setup.GrantFlags{}, true
	}
	if granted != "" {
		v.c.Report(diag.List{{Severity: diag.Info, Message: "granted as before: " + granted}}, nil)
	}
	if problem := n.enter(granted); problem != nil {
		return nil, problem
	}
	grants, allowed, problem := opened.Open(v.c)
	if problem != nil {
		return nil, problem
	}
	n.flags.Granted = grants
	ctx, cancel := n.flags.Deadline(whole, begun)
	n.ctx, n.close = ctx, func() {
		cancel()
		if grants != nil {
			_ = grants.Close() // nothing is being written any more
		}
	}
	n.opts = []agentscript.Option{agentscript.WithStore(s), agentscript.WithMiddleware(s.Competes), allowed}
	if n.flags.Mock.On || planned {
		n.opts = append(n.opts, agentscript.WithUngranted())
	}
	s.Counts = &keep.Counts{}
	return n, nil
}

// enter makes commands and relative names refer to the directory in which the run began. Grants for that directory do
// not apply elsewhere.
func (n *again) enter(granted string) *term.Failure {
	if n.kept.Dir == "" || n.kept.Imported || n.v.c.Chdir == nil {
		return nil
	}
	from, _ := os.Getwd() // without one, no name is relative to it
	err := n.v.c.Chdir(n.kept.Dir)
	if err == nil {
		if n.from = from; from == n.kept.Dir {
			n.from = ""
		}
		return nil
	}
	said := fmt.Sprintf("the directory in which the run began cannot be entered: %s: %s", n.kept.Dir, term.FileProblem(err))
	if strings.Contains(granted, "--allow-fs ") || strings.Contains(granted, "--allow-exec ") {
		return term.Usagef("make it again; or grant what the run may touch where you are: --allow-fs, --allow-exec", "%s, and what was granted to the run is granted there", said)
	}
	n.v.c.Report(diag.List{{Severity: diag.Warning, Message: said, Help: []string{"relative names of files and commands are of the directory in which you are"}}}, nil)
	return nil
}

// there returns the name of a file on this command line, as seen from the directory of the run.
func (n *again) there(file string) string {
	if n.from == "" || file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(n.from, file)
}

// here calls f in the directory of this command, for names of files that f reads.
func (n *again) here(f func() error) error {
	if n.from == "" {
		return f()
	}
	if err := n.v.c.Chdir(n.from); err != nil {
		return term.Usagef("", "%s: %s", n.from, term.FileProblem(err))
	}
	failed := f()
	if err := n.v.c.Chdir(n.kept.Dir); err != nil && failed == nil {
		failed = term.Usagef("", "%s: %s", n.kept.Dir, term.FileProblem(err))
	}
	return failed
}

// took makes prepared answers continue after those that the run takes from before.
func (n *again) took(s *keep.Store, reused func(step string) bool) error {
	anew := n.given.Changed("scripted") // its file is for what is asked now
	if n.flags.Scripted == "" && !n.flags.Mock.On || anew {
		return nil
	}
	return s.Steps(n.ctx, n.info.ID, 0, func(step engine.Step) error {
		if step.Kind == engine.EffectModel && step.Outcome != nil && reused(step.ID) {
			n.flags.Before = append(n.flags.Before, step)
		}
		return nil
	})
}

// bundled loads the script as the run has it.
func (n *again) bundled(s *keep.Store) (*setup.Script, error) {
	bundle, err := journal.Bundle(n.ctx, s, n.info)
	if err != nil {
		return nil, err
	}
	return n.load(bundle)
}

// load loads a script from its files.
func (n *again) load(bundle engine.Bundle) (*setup.Script, error) {
	flowing := n.flags.LoadingKept(n.kept.File, filepath.Base(bundle.Entry), bundle.Files[bundle.Entry])
	m, err := setup.Engine(n.v.c, append(n.opts, flowing)...).LoadBundle(n.ctx, bundle, n.info.Script)
	if err != nil {
		f := setup.LoadFailure(n.info.Script, err)
		f.Found[0].Notes = append(f.Found[0].Notes, diag.Note{Message: "this is the script as it was when the run began"})
		return nil, f
	}
	if n.kept.Imported && m.Hash() != n.info.Bundle { // otherwise the id would refer to another script from now on
		return nil, term.Usagef("export it again", "the file holds another script than that of the run")
	}
	script := &setup.Script{Module: m, File: n.info.Script}
	if strings.HasPrefix(script.File, "/") {
		script.File = n.kept.File
	}
	script.MainEntry, script.NoMain = m.Main()
	return script, nil
}

// gone reports whether err means that a run is not in the store.
func gone(err error) bool {
	failed, ok := errors.AsType[*engine.Error](err)
	return ok && failed.Code == diag.RunNotFound
}
