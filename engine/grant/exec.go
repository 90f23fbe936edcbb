package grant

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/reaper"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Exec grants commands. A word without a slash is looked up on the path once, now; later changes of the path have no
// effect. A word with a slash names a file. Scripts must use exactly the granted word. A granted command can do
// everything that the host's user can: grant no shell and no interpreter to untrusted scripts.
func Exec(words ...string) Option {
	return func(g *Grants) error {
		for _, word := range words {
			if word == "" || strings.ContainsRune(word, 0) {
				return unusable("%q is no command", word).
					WithHelp("name a command that is on the path, or the file: --allow-exec ./tools/build")
			}
			file := word
			if strings.ContainsAny(word, `/`+string(filepath.Separator)) && !filepath.IsAbs(word) {
				file = filepath.Join(g.base, word)
			}
			found, err := exec.LookPath(file)
			if err == nil {
				found, err = filepath.Abs(found)
			}
			if err != nil {
				e := unusable("the command %q cannot be granted: %s", word, commandProblem(err))
				if fields := strings.Fields(word); len(fields) > 1 {
					return e.WithHelp("grant the command without arguments: --allow-exec %s", fields[0])
				}
				return e.WithHelp("name a command that is on the path, or the file: --allow-exec ./tools/build")
			}
			g.commands[word] = found
		}
		return nil
	}
}

func commandProblem(err error) string {
	switch {
	case errors.Is(err, exec.ErrDot):
		return "the path leads to the current directory"
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return "there is no such command"
	case errors.Is(err, os.ErrPermission):
		return "it cannot be executed"
	}
	return reason(err)
}

// run answers sh.run.
func (g *Grants) run(ctx context.Context, a args) engine.Outcome {
	list, _ := a.value("command").AsList()
	argv := make([]string, list.Len())
	for i, v := range list.Items() {
		argv[i], _ = v.AsStr()
	}
	if len(argv) == 0 || g.commands[argv[0]] == "" {
		word := ""
		if len(argv) > 0 {
			word = argv[0]
		}
		return capability.Ungranted(capability.Use{Kind: engine.EffectExec, Op: "run", Target: word})
	}
	known := g.secrets()
	input, wrong := g.text(a.value("input"), known)
	if wrong != nil {
		return engine.Failed(wrong)
	}
	at, wrong := g.runDir(a)
	if wrong != nil {
		return engine.Failed(wrong)
	}
	defer at.close()
	what := "the command " + strconv.Quote(argv[0])
	c := &command{path: g.commands[argv[0]], argv: argv, at: at, env: g.environ(), input: input}
	run := redact.SetOf(ctx)
	c.out.room(g.cap, known, run)
	c.err.room(g.cap, known, run)
	code, err := c.run(ctx)
	if errors.Is(err, errMoved) {
		return engine.Failed(failed(diag.TouchRefused, "dir: %q was replaced while %s was started in it", a.str("dir"), what))
	}
	if err != nil && !c.stopped {
		return engine.Failed(failed(diag.TouchFailed, "%s could not be started: %s", what, reason(err)))
	}
	stdout, more := c.out.text(g.cap, known, run)
	stderr, much := c.err.text(g.cap, known, run)
	if c.stopped {
		e := a.tooSlow(ctx, what)
		e.Raw = text.Cut(stdout+stderr, 4096)
		return engine.Failed(e)
	}
	return done(capability.CompletedType, generable.IntOf(int64(code)), generable.StrOf(stdout), generable.StrOf(stderr), generable.BoolOf(more || much))
}

// workDir is the directory where a command runs: its path and, inside a granted directory, the open directory.
type workDir struct {
	path string
	open *os.File // nil for the base, which belongs to the host
}

// runDir returns the base, or a directory inside a granted one.
func (g *Grants) runDir(a args) (at workDir, wrong *engine.Error) {
	dir := a.str("dir")
	if dir == "" || g.absolute(dir) == g.absolute(".") {
		return workDir{path: g.base}, nil
	}
	m, rel := g.find(dir, false)
	if m == nil {
		return at, capability.Ungranted(capability.Use{Kind: engine.EffectFS, Op: "list", Target: dir}).Err
	}
	info, err := m.root.Stat(rel)
	if err == nil && info.IsDir() { // opening a pipe would block
		if at.open, err = m.root.OpenFile(rel, os.O_RDONLY|nonblock, 0); err == nil {
			info, err = at.open.Stat()
		}
	}
	switch {
	case err != nil:
		wrong = fileError("dir", dir, err)
	case !info.IsDir():
		wrong = failed(diag.TouchFailed, "dir: %q is no directory", dir)
	}
	if wrong != nil {
		at.close()
		return at, wrong
	}
	if at.path = byDescriptor(at.open); !at.same() {
		at.path = filepath.Join(m.dir, filepath.FromSlash(rel))
	}
	return at, nil
}

// same reports whether the path still leads to the directory that was opened.
func (w workDir) same() bool {
	if w.open == nil {
		return true
	}
	named, err := os.Stat(w.path)
	opened, err2 := w.open.Stat()
	return err == nil && err2 == nil && os.SameFile(named, opened)
}

func (w workDir) close() {
	if w.open != nil {
		_ = w.open.Close() // it was only read
	}
}

// errMoved is the error of a command whose directory was replaced while it was started.
var errMoved = errors.New("the directory was replaced")

// grace is how long a command may run after the signal to end, and how long processes that it leaves behind may hold
// its output open.
const grace = 500 * time.Millisecond

// command is one process and all that it starts.
type command struct {
	path      string
	at        workDir
	argv, env []string
	input     string
	out, err  capped
	stopped   bool // by its timeout, or the end of the run
}

// run starts the command in its own process group and returns when the whole group has ended. An error means that it
// could not be started.
func (c *command) run(ctx context.Context) (code int, err error) {
	cmd := exec.CommandContext(ctx, c.path)
	cmd.Args, cmd.Dir, cmd.Env = c.argv, c.at.path, c.env
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &c.out, &c.err, grace
	if c.input != "" {
		cmd.Stdin = strings.NewReader(c.input)
	}
	var group reaper.Group
	cmd.Cancel = func() error {
		if c.stopped = true; group.Ask() {
			return nil
		}
		return cmd.Process.Kill()
	}
	if !c.at.same() {
		return 0, errMoved
	}
	if err := group.Start(cmd); err != nil {
		c.stopped = ctx.Err() != nil
		return 0, err
	}
	moved := !c.at.same() // where a command cannot be started in the open directory itself, check again
	if moved {
		_ = cmd.Process.Kill() // it may have ended
	}
	_ = cmd.Wait() // the process state has the result
	group.Kill()   // processes that it left behind
	group.Wait()
	if moved {
		return 0, errMoved
	}
	return exitCode(cmd.ProcessState), nil
}
