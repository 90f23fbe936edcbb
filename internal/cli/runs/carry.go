package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
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
	cmd := &cobra.Command{Use: "export RUN", Short: "Write a run with its script to a file", Long: "Export writes a run to a file, a line for what it began with, one for each step, and one for how it ended. Import reads it elsewhere; run --replay FILE answers from it."}
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to this `FILE` instead of stdout")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	cmd.RunE = v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		word, problem := one("export", args)
		if problem != nil {
			return problem
		}
		info, err := named(ctx, s, word)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("output") {
			return v.exportTo(ctx, s, info, to, force)
		}
		var b bytes.Buffer
		if err := written(ctx, s, info, &b); err != nil {
			return err
		}
		return v.c.Write(b.String())
	})
	return cmd
}

// exportTo writes a run to a file that is whole or not there.
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
	part := to + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return term.Usagef("make it first, or write elsewhere", "--output %s: there is no such directory", to)
	} else if err != nil {
		return term.Usagef("", "--output %s: %s", to, term.FileProblem(err))
	}
	err = errors.Join(written(ctx, s, info, f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		_ = os.Remove(part) // what is wrong was said
	}
	return err
}

// written writes a run as a file.
func written(ctx context.Context, s engine.Store, info engine.RunInfo, to io.Writer) error {
	w := runfile.NewWriter(to, nil) // what is kept holds no secret
	head := runfile.Head{RunHead: info.RunHead}
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
	if info.Status == engine.RunRunning { // it has no end
		return nil
	}
	return w.End(info.RunEnd)
}

func (v *verbs) bring() *cobra.Command {
	var as string
	cmd := &cobra.Command{Use: "import FILE", Short: "Take a run over from a file of export or --record", Long: "Import takes a run over from a file. What was granted to it elsewhere is not granted here: grant it when it is resumed. Without a store there is one afterwards."}
	cmd.Flags().StringVar(&as, "as", "", "give the run this `ID`, where there is another one of its own")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return term.Usagef("usage: agentscript runs import FILE", "import takes one FILE, and got %d", len(args))
		}
		return setup.StoreFailure(v.brought(cmd.Context(), args[0], as))
	}
	return v.flagged(cmd)
}

func (v *verbs) brought(ctx context.Context, file, as string) error {
	f, err := os.Open(file)
	if err != nil {
		return term.Usagef("", "%s: %s", file, term.FileProblem(err))
	}
	defer f.Close() // it is only read
	if at, err := f.Stat(); err == nil && at.IsDir() {
		return term.Usagef("name a file of runs export", "%s: it is a directory", file)
	}
	r, err := readRun(f, file)
	if err != nil {
		return err
	}
	if as != "" {
		r.head.ID = as
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
	if r.cut > 0 && !v.json {
		v.c.Report(diag.List{{Severity: diag.Warning, Message: fmt.Sprintf("%s is cut in line %d: what stands before it was taken over", file, r.cut)}}, nil)
	}
	return v.c.PrintAs(v.json, struct {
		V   int            `json:"v"`
		Run engine.RunInfo `json:"run"`
	}{form, info}, func() string {
		return fmt.Sprintf("%s %s, %s", info.ID, statusOf(info), text.Count(info.Steps, "step"))
	})
}

// carried is a run in a file.
type carried struct {
	head  engine.RunHead
	files *engine.Bundle
	steps []engine.Step
	end   *engine.RunEnd
	cut   int
}

func readRun(from io.Reader, name string) (*carried, error) {
	var c carried
	lines := runfile.NewReader(from, name)
	for begun := false; ; {
		line, err := lines.Next()
		switch {
		case err == io.EOF && !begun:
			return nil, term.Usagef("name a file of runs export", "%s holds no run that can be resumed", name)
		case err == io.EOF:
			c.cut = lines.Cut()
			return &c, nil
		case err != nil:
			return nil, term.Usagef("", "%v", err)
		case line.Head != nil && begun:
			return nil, term.Usagef("divide it into files", "%s:%d: another run begins there", name, line.N)
		case line.Head != nil:
			c.head, c.files, begun = line.Head.RunHead, line.Head.Files, true
		case line.Step != nil:
			c.steps = append(c.steps, *line.Step)
		case line.End != nil:
			c.end = line.End
		}
	}
}

// elsewhere is what a run found in a session that is not here: it keeps nothing in it any more.
func elsewhere(found json.RawMessage) (json.RawMessage, error) {
	if found == nil {
		return nil, nil
	}
	var f session.Found
	if err := json.Unmarshal(found, &f); err != nil {
		return nil, err
	}
	f.Unsaved, f.Back = true, false
	return json.Marshal(f)
}

// into writes the run to a store. Nothing is in it unless all is.
func (c *carried) into(ctx context.Context, v *verbs, s *keep.Store) (err error) {
	if c.files == nil {
		return term.Usagef("export it with this version", "the file holds no script: the run cannot be resumed")
	}
	kept := keep.ReadSettings(c.head.Settings).Foreign()
	if c.head.Settings, err = json.Marshal(kept); err != nil {
		return err
	}
	if c.head.Session, err = elsewhere(c.head.Session); err != nil {
		return term.Usagef("export it again", "what the run found in its session cannot be read: %v", err)
	}
	n := &again{v: v, info: engine.RunInfo{RunHead: c.head}, kept: kept, flags: &setup.RunFlags{}, ctx: ctx, opts: []agentscript.Option{agentscript.WithUngranted()}}
	if _, problem := kept.Apply(n.flags.Flags(), pflag.NewFlagSet("", pflag.ContinueOnError)); problem != nil {
		return problem
	}
	v.c.Reloaded = true // what the script prints was written elsewhere
	script, err := n.load(*c.files)
	if err != nil {
		return err
	}
	if script.Hash() != c.head.Bundle { // it would stand for another script from then on
		return term.Usagef("export it again", "the file holds another script than that of the run")
	}
	if err := s.PutBundle(ctx, c.head.Bundle, *c.files); err != nil {
		return err
	}
	run, err := s.CreateRun(ctx, c.head, engine.Owner{})
	if err != nil {
		return err
	}
	for i, step := range c.steps {
		step.Taken = 0 // no answer came with it
		if err = run.Put(ctx, step, i == len(c.steps)-1); err != nil {
			break
		}
	}
	switch {
	case err != nil:
	case c.end != nil:
		end := *c.end
		if end.At.IsZero() {
			end.At = time.Now()
		}
		err = run.End(ctx, end)
	default:
		err = run.Close()
	}
	if err != nil {
		return errors.Join(err, run.Close(), s.DeleteRun(context.WithoutCancel(ctx), c.head.ID))
	}
	return nil
}
