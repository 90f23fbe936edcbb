package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// carried is a run in a file.
type carried struct {
	head  engine.RunHead
	files *engine.Bundle
	steps []engine.Step
	sent  []engine.Signal // not taken yet
	end   *engine.RunEnd
	cut   int
}

// isFile reports whether a word names a run by its file.
func isFile(word string) bool {
	at, err := os.Stat(word)
	return err == nil && at.Mode().IsRegular() && word != setup.Last
}

// fromFile makes the store read a run from a file.
func fromFile(ctx context.Context, s *keep.Store, path string) (engine.RunInfo, error) {
	c, err := readFile(path)
	if err != nil {
		return engine.RunInfo{}, err
	}
	if s.IsFile(c.head.ID) {
		return engine.RunInfo{}, term.Usagef("name it once", "run %s is in more than one of these files", c.head.ID)
	}
	alone := store.NewMemory()
	if err := alone.PutRun(ctx, c.whole()); err != nil {
		return engine.RunInfo{}, err
	}
	s.Read(c.head.ID, path, alone)
	return s.Run(ctx, c.head.ID)
}

// kept finds a run in the store.
func kept(ctx context.Context, s *keep.Store, word string) (engine.RunInfo, error) {
	if isFile(word) {
		return engine.RunInfo{}, term.Usagef("agentscript runs import "+text.ShellWord(word)+" takes the run over", "%s is a file, and no run of the store", text.Visible(word))
	}
	return named(ctx, s, word)
}

// writable finds a run in order to write to it: a run in a file is imported first, unless the store has it.
func (v *verbs) writable(ctx context.Context, s *keep.Store, word string) (engine.RunInfo, error) {
	if !isFile(word) {
		return named(ctx, s, word)
	}
	c, err := readFile(word)
	if err != nil {
		return engine.RunInfo{}, err
	}
	info, err := s.Run(ctx, c.head.ID)
	if failed, ok := errors.AsType[*engine.Error](err); ok && failed.Code == diag.RunNotFound {
		if err := c.into(ctx, v, s); err != nil {
			return engine.RunInfo{}, err
		}
		c.warn(v.c, word)
		return s.Run(ctx, c.head.ID)
	}
	return info, err
}

// readFile reads a run from a file. The run gets the settings of one that came from elsewhere.
func readFile(path string) (*carried, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, term.Usagef("", "%s: %s", path, term.FileProblem(err))
	}
	defer f.Close() // it is only read
	if at, err := f.Stat(); err == nil && at.IsDir() {
		return nil, term.Usagef("name a file of runs export", "%s: it is a directory", path)
	}
	c, err := readRun(f, path)
	if err != nil {
		return nil, err
	}
	if c.head.Session, err = elsewhere(c.head.Session); err != nil {
		return nil, term.Usagef("export it again", "what the run found in its session cannot be read: %v", err)
	}
	settings, problem := keep.ReadSettings(c.head.ID, c.head.Settings)
	if problem != nil {
		return nil, problem
	}
	c.head.Settings, err = json.Marshal(settings.Foreign())
	return c, err
}

// warn reports what a file lacks.
func (c *carried) warn(to *term.Console, file string) {
	said := ""
	switch {
	case c.cut > 0:
		said = fmt.Sprintf("%s is cut in line %d: what comes before it was imported", file, c.cut)
	case c.end == nil:
		said = fmt.Sprintf("%s does not say how the run ended: it was written while the run went on, or is cut", file)
	default:
		return
	}
	to.Report(diag.List{{Severity: diag.Warning, Message: said, Help: []string{"what the run did after its last step there is done again when it is resumed"}}}, nil)
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
		case line.Head != nil && !keepable(line.Head.Begun), line.Step != nil && !(keepable(line.Step.Begun) && keepable(line.Step.Ended)),
			line.End != nil && !keepable(line.End.At):
			return nil, term.Usagef("", "%s:%d: it has a time that no run can have", name, line.N)
		case line.Head != nil:
			c.head, c.files, begun = line.Head.RunHead, line.Head.Files, true
		case line.Step != nil:
			line.Step.Taken, line.Step.Seq = 0, 0 // answers that were taken are not part of the file, and the steps are renumbered
			c.steps = append(c.steps, *line.Step)
		case line.Signal != nil:
			line.Signal.Seq = 0
			c.sent = append(c.sent, *line.Signal)
		case line.End != nil:
			c.end = line.End
		}
	}
}

// elsewhere returns what a run found in a session that is not available here: the run no longer saves anything in it.
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

// keepable reports whether a store, which counts nanoseconds, can represent a time.
func keepable(t time.Time) bool { return t.IsZero() || time.Unix(0, t.UnixNano()).Equal(t) }

// into writes the run to a store, either completely or not at all.
func (c *carried) into(ctx context.Context, v *verbs, s *keep.Store) error {
	if c.files == nil {
		return term.Usagef("export it with this version", "the file holds no script: the run cannot be resumed")
	}
	kept, problem := keep.ReadSettings(c.head.ID, c.head.Settings)
	if problem != nil {
		return problem
	}
	n := &again{v: v, info: engine.RunInfo{RunHead: c.head}, kept: kept, flags: &setup.RunFlags{}, ctx: ctx, opts: []agentscript.Option{agentscript.WithUngranted()}}
	if _, problem := kept.Apply(n.flags.Flags(), pflag.NewFlagSet("", pflag.ContinueOnError)); problem != nil {
		return problem
	}
	v.c.Reloaded = true // what the script prints was written elsewhere
	if _, err := n.load(*c.files); err != nil {
		return err
	}
	return s.PutRun(ctx, c.whole())
}

// whole returns the run in the form in which a store takes it.
func (c *carried) whole() store.Whole {
	return store.Whole{Head: c.head, Files: c.files, Steps: c.steps, Signals: c.sent, End: c.end}
}
