package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

func (v *verbs) export() *cobra.Command {
	var to string
	var force bool
	cmd := &cobra.Command{Use: "export RUN", Short: "Write a run and its script to a file", Long: `Export writes a run to a file: a line for what it began with, one for each step, one for each answer
that was sent but not yet taken, and one for how it ended. Import reads the file elsewhere; run --replay FILE answers from it.`}
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to this `FILE` instead of stdout")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing file")
	cmd.RunE = v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		word, problem := one("export", args)
		if problem != nil {
			return problem
		}
		info, err := named(ctx, s, word)
		if unheard(err) && info.ID != "" { // what the server knows without a worker
			v.c.Report(diag.List{{Severity: diag.Info, Message: headOf(info)}}, nil)
		}
		if err != nil {
			return err
		}
		if info.Live {
			v.c.Report(diag.List{{Severity: diag.Warning, Message: "run " + info.ID + " is still running: the file holds what it has done so far",
				Help: []string{"a run continued from the file does the rest a second time: " + s.Line("cancel", info.ID) + " ends the running one"}}}, nil)
		}
		if cmd.Flags().Changed("output") {
			return v.exportTo(ctx, s, info, to, force)
		}
		var b bytes.Buffer
		if err := written(ctx, s, info, &b); err != nil {
			return err
		}
		return v.c.Print(strings.TrimSuffix(b.String(), "\n"))
	})
	return cmd
}

// exportTo writes a run to a file that is either complete or does not exist.
func (v *verbs) exportTo(ctx context.Context, s *keep.Store, info engine.RunInfo, to string, force bool) (err error) {
	if to == "" || to == "-" {
		return term.Usagef("leave it out to write to stdout", "--output %q names no file", to)
	}
	if at, err := os.Stat(to); err == nil && at.IsDir() {
		return term.Usagef("name a file in it", "--output %s: it is a directory", to)
	} else if err == nil && !at.Mode().IsRegular() {
		return term.Usagef("leave --output out, and send stdout there", "--output %s: it is no file that could be replaced", to)
	} else if err == nil && !force {
		return term.Usagef("--force overwrites it", "--output %s: there is such a file already", to)
	}
	if at, err := filepath.EvalSymlinks(to); err == nil { // if a link is named, its target is replaced
		to = at
	}
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.part") // only for its owner, and never an existing file
	if errors.Is(err, fs.ErrNotExist) {
		return term.Usagef("make it first, or write elsewhere", "--output %s: there is no such directory", to)
	} else if err != nil {
		return term.Usagef("", "--output %s: %s", to, term.FileProblem(err))
	}
	err = errors.Join(written(ctx, s, info, f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), to)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error was reported
	}
	return err
}

// written writes a run in the form of a file.
func written(ctx context.Context, s engine.Store, info engine.RunInfo, to io.Writer) error {
	w := runfile.NewWriter(to, nil) // what is stored contains no secret
	head := runfile.Head{RunHead: info.RunHead}
	var err error
	if head.Session, err = session.Settled(ctx, s, info); err != nil { // nobody who reads the file has the session
		return err
	}
	if info.Bundle != "" {
		files, err := s.Bundle(ctx, info.Bundle)
		if err != nil {
			return err
		}
		head.Files = &files
	}
	if err := w.Begin(head); err != nil {
		return err
	}
	if err := s.Steps(ctx, info.ID, 0, w.Step); err != nil {
		return err
	}
	post, err := journal.ReadPost(ctx, s, info)
	if err != nil {
		return err
	}
	for _, is := range post.Untaken() {
		if err := w.Signal(is); err != nil {
			return err
		}
	}
	if info.Live || info.Status == engine.RunRunning { // it has no end
		return nil
	}
	return w.End(info.RunEnd)
}

func (v *verbs) bring() *cobra.Command {
	var as string
	cmd := &cobra.Command{Use: "import FILE", Short: "Import a run from a file of export or --record", Long: `Import copies a run from a file into the store. What was granted to it elsewhere is not granted
here: grant it when you resume the run. Import creates the store if it does not exist.`}
	cmd.Flags().StringVar(&as, "as", "", "import the run under this `ID`, if another run has its id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return term.Usagef("usage: agentscript runs import FILE", "import takes one FILE, and got %d", len(args))
		}
		if cmd.Flags().Changed("as") && as == "" {
			return term.Usagef("leave it out to keep the id that the run has", "--as names no id")
		}
		v.of = v.store
		return v.failure(v.brought(cmd.Context(), args[0], as))
	}
	return v.flagged(cmd)
}

func (v *verbs) brought(ctx context.Context, file, as string) error {
	r, err := readFile(file)
	if err != nil {
		return err
	}
	if as != "" {
		r.head.ID = as
	}
	if r.head.ID == setup.Last || strings.HasPrefix(r.head.ID, "-") {
		return term.Usagef("choose another one with --as ID", "no run can be named by the id %s", text.Visible(r.head.ID))
	}
	s, err := keep.To(ctx, v.c, v.store)
	if err != nil {
		return err
	}
	defer s.Close() // what was written is on disk
	if err := r.into(ctx, v, s); err != nil {
		return err
	}
	info, err := s.Run(ctx, r.head.ID)
	if err != nil {
		return err
	}
	r.warn(v.c, file)
	return v.c.PrintAs(v.json, struct {
		V   int            `json:"v"`
		Run engine.RunInfo `json:"run"`
	}{form, info}, func() string {
		return fmt.Sprintf("%s %s, %s", info.ID, statusOf(info), text.Count(info.Steps, "step"))
	})
}
