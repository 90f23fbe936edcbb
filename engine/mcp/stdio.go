package mcp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"

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
	cs, err := x.greet(ctx, &serverLines{lineStream: lineStream{in: &counted{proc.stdout, &x.received}, out: proc.stdin}, words: &x.words, broke: x.brokenBy})
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
