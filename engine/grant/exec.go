package grant

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
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
		return engine.Ungranted(engine.Use{Kind: engine.EffectExec, Op: "run", Target: word})
	}
	known := g.secrets()
	input, wrong := g.text(a.value("input"), &known)
	if wrong != nil {
		return engine.Failed(wrong)
	}
	dir, wrong := g.runDir(a)
	if wrong != nil {
		return engine.Failed(wrong)
	}
	what := "the command " + strconv.Quote(argv[0])
	c := &command{path: g.commands[argv[0]], argv: argv, dir: dir, env: g.environ(), input: input}
	c.out.most = int(g.cap) + known.longest()
	c.err.most = c.out.most
	code, err := c.run(ctx)
	if err != nil {
		return engine.Failed(failed(diag.TouchFailed, "%s could not be started: %s", what, reason(err)))
	}
	stdout, more := c.out.text(g.cap, &known)
	stderr, much := c.err.text(g.cap, &known)
	if c.stopped {
		e := a.tooSlow(ctx, what)
		e.Raw = text.Cut(stdout+stderr, 4096)
		return engine.Failed(e)
	}
	return done(engine.CompletedType, generable.IntOf(int64(code)), generable.StrOf(stdout), generable.StrOf(stderr), generable.BoolOf(more || much))
}

// runDir is where a command runs: the base, or inside of a granted directory.
func (g *Grants) runDir(a args) (string, *engine.Error) {
	dir := a.str("dir")
	if dir == "" || g.absolute(dir) == g.absolute(".") {
		return g.base, nil
	}
	use := engine.Use{Kind: engine.EffectFS, Op: "list", Target: dir}
	m, rel := g.find(dir, false)
	if m == nil {
		return "", engine.Ungranted(use).Err
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

// How long a command may go on when it is told to end, and how long what it leaves behind may
// hold its output.
const (
	termGrace = 300 * time.Millisecond
	killGrace = 2 * time.Second
	pipeGrace = 500 * time.Millisecond
)

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
	pipes, err := c.open()
	if err != nil {
		return 0, err
	}
	defer pipes.close()
	cmd := &exec.Cmd{Path: c.path, Args: c.argv, Dir: c.dir, Env: c.env, Stdin: pipes.child[0], Stdout: pipes.child[1], Stderr: pipes.child[2]}
	var group reaper.Group
	if err := group.Start(cmd); err != nil {
		return 0, err
	}
	ended := make(chan *os.ProcessState, 1)
	go func() {
		_ = cmd.Wait() // its state says what came of it
		ended <- cmd.ProcessState
	}()
	pipes.closeChild()
	var readers sync.WaitGroup
	for i, to := range []*capped{&c.out, &c.err} {
		readers.Go(func() { io.Copy(to, pipes.parent[1+i]) }) // what ends it, a deadline too, ends the output
	}
	if in := pipes.parent[0]; in != nil {
		readers.Go(func() {
			io.WriteString(in, c.input) // a command need not read all
			in.Close()
		})
	}
	var state *os.ProcessState
	select {
	case state = <-ended:
	case <-ctx.Done():
		c.stopped = true
		if group.Ask() {
			state = within(ended, termGrace)
		}
		if state == nil {
			group.Kill()
			_ = cmd.Process.Kill() // where there is no group; gone otherwise
			state = within(ended, killGrace)
		}
	}
	group.Kill() // what it left behind
	group.Wait()
	pipes.expire(pipeGrace)
	readers.Wait()
	return exitCode(state), nil
}

// within waits for the end of a process, nil when it does not come in time.
func within(ended <-chan *os.ProcessState, d time.Duration) *os.ProcessState {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case s := <-ended:
		return s
	case <-t.C:
		return nil
	}
}

// pipes are the ends of a command's three streams.
type pipes struct {
	child  [3]*os.File
	parent [3]*os.File // the first is nil when there is no input
}

func (c *command) open() (p *pipes, err error) {
	p = &pipes{}
	if c.input == "" {
		p.child[0], err = os.Open(os.DevNull)
	} else {
		p.child[0], p.parent[0], err = os.Pipe()
	}
	for i := 1; i < 3 && err == nil; i++ {
		p.parent[i], p.child[i], err = os.Pipe()
	}
	if err != nil {
		p.close()
	}
	return p, err
}

// expire ends reading and writing a while from now: a process that left the group may hold the
// other end for ever.
func (p *pipes) expire(d time.Duration) {
	at := time.Now().Add(d)
	for _, f := range p.parent {
		if f != nil && f.SetDeadline(at) != nil {
			f.Close() // has no deadlines here
		}
	}
}

func (p *pipes) closeChild() {
	for i, f := range p.child {
		if f != nil {
			f.Close()
			p.child[i] = nil
		}
	}
}

func (p *pipes) close() {
	p.closeChild()
	for _, f := range p.parent {
		if f != nil {
			f.Close()
		}
	}
}
