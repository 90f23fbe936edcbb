package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// ambient are the variables that every process gets: what finds and starts programs, no secrets.
var ambient = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES"}

// open makes the session's connection, within the context.
func (x *session) open(ctx context.Context) (*sdk.ClientSession, *engine.Error) {
	if x.server.spec.URL != "" {
		return x.openURL(ctx)
	}
	return x.openProcess(ctx)
}

func (x *session) openProcess(ctx context.Context) (*sdk.ClientSession, *engine.Error) {
	spec, c := x.server.spec, x.server.client
	if err := c.allowed(spec, engine.EffectExec, spec.Command); err != nil {
		return nil, err
	}
	set, failed := c.resolve(spec, spec.Env, x.hidden)
	if failed != nil {
		return nil, failed
	}
	proc, err := start(spec.Command, spec.Args, environment(set), c.cfg.dir, &x.words, c.cfg.patience)
	if err != nil {
		e := engine.Errorf(engine.KindTool, diag.ServerUnreachable, "MCP server %q cannot be started: %s", spec.Name, x.hidden.text(err.Error()))
		if errors.Is(err, exec.ErrNotFound) {
			return nil, e.WithHelp("install %s, or give the path of the command", spec.Command)
		}
		return nil, e.WithHelp("see that %s can be started by hand", spec.Command)
	}
	x.proc = proc
	in := &messages{r: proc.stdout, words: &x.words, received: &x.received, broke: x.brokenBy}
	cs, err := x.greet(ctx, &sdk.IOTransport{Reader: in, Writer: proc.stdin})
	switch {
	case err != nil && stopped(ctx):
		return nil, interrupted(ctx, spec)
	case err != nil:
		return nil, x.unreachable(err)
	}
	return cs, nil
}

// environment is that of a process: the few variables that all get, and those of the script.
func environment(set resolved) []string {
	env := []string{} // nil would be all of the host's
	for _, name := range ambient {
		if v, ok := os.LookupEnv(name); ok {
			if _, own := set[name]; !own {
				env = append(env, name+"="+v)
			}
		}
	}
	for name, v := range set {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}

const (
	// maxUnasked bounds what a server sends between the beginnings and ends of calls.
	maxUnasked = 32 << 20
	// maxGarbage bounds what it writes to its standard output that is no message.
	maxGarbage = 64 << 10
)

var (
	errGarbage = errors.New("it writes what is no message to its standard output")
	errFlood   = fmt.Errorf("it sent more than %d MB that nobody asked for", maxUnasked>>20)
)

// messages reads a server's standard output. Lines that are no message, such as what a package
// manager prints, are kept with the server's words and passed over, as long as they are few.
type messages struct {
	r        io.ReadCloser
	words    *tail
	received *atomic.Int64
	broke    func(error)

	inLine  bool // something of the line was read
	message bool // the line is one
	garbage int
}

// Read implements io.Reader.
func (m *messages) Read(p []byte) (int, error) {
	for {
		n, err := m.r.Read(p)
		if m.received.Add(int64(n)) > maxUnasked {
			err = errFlood
		}
		kept, why := m.filter(p[:n])
		if why != nil {
			err = why
		}
		if err == errFlood || err == errGarbage {
			m.broke(err)
			return 0, err
		}
		if kept > 0 || err != nil {
			return kept, err
		}
	}
}

// filter leaves the bytes of messages at the beginning of p and says how many there are.
func (m *messages) filter(p []byte) (kept int, err error) {
	from := -1 // of garbage
	for i, b := range p {
		if !m.inLine && b != '\n' && b != ' ' && b != '\t' && b != '\r' {
			m.inLine, m.message = true, b == '{' || b == '['
			if !m.message {
				from = i
			}
		}
		switch {
		case m.inLine && m.message:
			p[kept] = b
			kept++
		case m.inLine:
			if from < 0 {
				from = i
			}
			if m.garbage++; m.garbage > maxGarbage {
				err = errGarbage
			}
		}
		if b == '\n' {
			if from >= 0 {
				_, _ = m.words.Write(p[from : i+1]) // never fails
				from = -1
			}
			m.inLine = false
		}
	}
	if from >= 0 {
		_, _ = m.words.Write(p[from:])
	}
	return kept, err
}

// Close implements io.Closer.
func (m *messages) Close() error { return m.r.Close() }
