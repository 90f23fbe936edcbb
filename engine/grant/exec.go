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
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Exec grants commands. A word without a slash is looked up on the path, now; what it is then is
// run whatever the path becomes. One with a slash is a file. Scripts write the very word that is
// granted. A command that is granted can do all that the user can whom the host runs as: grant no
// shell and no interpreter to scripts that are not trusted.
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
	dir, wrong := g.runDir(a)
	if wrong != nil {
		return engine.Failed(wrong)
	}
	what := "the command " + strconv.Quote(argv[0])
	c := &command{path: g.commands[argv[0]], argv: argv, dir: dir, env: g.environ(), input: input}
	c.out.most = int(g.cap) + known.Longest()
	c.err.most = c.out.most
	code, err := c.run(ctx)
	if err != nil && !c.stopped {
		return engine.Failed(failed(diag.TouchFailed, "%s could not be started: %s", what, reason(err)))
	}
	stdout, more := c.out.text(g.cap, known)
	stderr, much := c.err.text(g.cap, known)
	if c.stopped {
		e := a.tooSlow(ctx, what)
		e.Raw = text.Cut(stdout+stderr, 4096)
		return engine.Failed(e)
	}
	return done(capability.CompletedType, generable.IntOf(int64(code)), generable.StrOf(stdout), generable.StrOf(stderr), generable.BoolOf(more || much))
}

// runDir is where a command runs: the base, or inside of a granted directory.
func (g *Grants) runDir(a args) (string, *engine.Error) {
	dir := a.str("dir")
	if dir == "" || g.absolute(dir) == g.absolute(".") {
		return g.base, nil
	}
	m, rel := g.find(dir, false)
	if m == nil {
		return "", capability.Ungranted(capability.Use{Kind: engine.EffectFS, Op: "list", Target: dir}).Err
	}
	info, err := m.root.Stat(rel)
	switch {
	case err != nil:
		return "", fileError("dir", dir, err)
	case !info.IsDir():
		return "", failed(diag.TouchFailed, "dir: %q is no directory", dir)
	}
	return filepath.Join(m.dir, filepath.FromSlash(rel)), nil
}

// grace is how long a command may go on when it is told to end, and how long what it leaves behind
// may hold its output.
const grace = 500 * time.Millisecond

// command is one process with all that it begins.
type command struct {
	path, dir string
	argv, env []string
	input     string
	out, err  capped
	stopped   bool // by its timeout, or the end of the run
}

// run starts the command in a process group of its own, and returns when all of the group have
// ended. The error is that it could not be started.
func (c *command) run(ctx context.Context) (code int, err error) {
	cmd := exec.CommandContext(ctx, c.path)
	cmd.Args, cmd.Dir, cmd.Env = c.argv, c.dir, c.env
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
	if err := group.Start(cmd); err != nil {
		c.stopped = ctx.Err() != nil
		return 0, err
	}
	_ = cmd.Wait() // its state says what came of it
	group.Kill()   // what it left behind
	group.Wait()
	return exitCode(cmd.ProcessState), nil
}
