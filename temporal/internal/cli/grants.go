package cli

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/text"
)

// grantFlags are the flags that grant something.
var grantFlags = []string{"allow-exec", "allow-net", "allow-fs", "allow-env"}

// grants is what a run was granted, by flag.
type grants map[string][]string

// engines holds the engines of runs that are granted less than their worker: one for all runs with the same grants.
type engines struct {
	effects      *setup.Effects
	workerEngine *agentscript.Engine // for runs with the same grants as the worker

	mu   sync.Mutex
	by   map[string]*grantedEngine
	used int64
}

// grantedEngine is an engine that is restricted to the grants of runs.
type grantedEngine struct {
	engine  *agentscript.Engine
	close   func()
	running int   // under way
	used    int64 // the order of its last use
}

// maxEngines bounds the number of engines. Only engines that carry out effects may exceed it.
const maxEngines = 32

// grantsOf returns the grants of a run, in a form that is the same on all workers.
func (w *workerCommand) grantsOf(head engine.RunHead, kept json.RawMessage) ([]byte, error) {
	s, problem := keep.ReadSettings(head.ID, kept)
	if problem != nil {
		return nil, badSettings(head.ID, problem)
	}
	g := grants{}
	for _, name := range grantFlags {
		if len(s.Flags[name]) > 0 {
			g[name] = s.Flags[name]
		}
	}
	return json.Marshal(g)
}

// engineFor returns the engine for effects of runs with these grants.
func (w *workerCommand) engineFor(text []byte) (*agentscript.Engine, func(), error) {
	g := grants{}
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "what the run is granted cannot be read: %w", err)
	}
	if flag := w.missingGrant(g); flag != "" {
		return nil, nil, w.ungranted(flag)
	}
	w.engines.mu.Lock()
	defer w.engines.mu.Unlock()
	is := w.engines.by[string(text)]
	if is == nil {
		flags, set := &setup.GrantFlags{}, pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.AddTo(set)
		for _, name := range grantFlags {
			for _, value := range g[name] {
				_ = set.Set(name, value) // every text is accepted
			}
		}
		flags.Proxy = w.flags.Grants.Proxy
		if flags.Same(&w.flags.Grants) {
			return w.engines.workerEngine, func() {}, nil
		}
		_, opts, done, problem := w.engines.effects.Within(w.c, flags)
		if problem != nil { // for example, a directory that is missing on this machine
			return nil, nil, engine.Errorf(engine.KindTool, diag.UngrantedUse, "it cannot grant what the run is granted: %s", problem.Error())
		}
		is = &grantedEngine{engine: setup.Engine(w.c, opts...), close: done}
		w.engines.by[string(text)] = is
	}
	w.engines.used++
	is.used = w.engines.used
	is.running++
	w.engines.shrink()
	return is.engine, sync.OnceFunc(func() { w.engines.release(is) }), nil
}

func (e *engines) release(is *grantedEngine) {
	e.mu.Lock()
	defer e.mu.Unlock()
	is.running--
	e.shrink()
}

// shrink closes engines without effects, the least recently used first.
func (e *engines) shrink() {
	for len(e.by) > maxEngines {
		last := ""
		for key, is := range e.by {
			if is.running == 0 && (last == "" || is.used < e.by[last].used) {
				last = key
			}
		}
		if last == "" {
			return
		}
		e.by[last].close()
		delete(e.by, last)
	}
}

// end closes all engines.
func (e *engines) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, is := range e.by {
		is.close()
	}
	clear(e.by)
}

// missingGrant returns the first flag that grants a run more than this worker is granted, or "".
func (w *workerCommand) missingGrant(g grants) string {
	for _, name := range grantFlags {
		own, _ := w.own.Lookup(name).Value.(pflag.SliceValue)
		for _, value := range g[name] {
			if !slices.Contains(own.GetSlice(), value) && (w.flags.Granted == nil || !w.flags.Granted.Allows(useOf(name, value))) {
				return "--" + name + " " + text.ShellWord(value)
			}
		}
	}
	return ""
}

// ungranted returns the refusal of a run that is granted more than this worker.
func (w *workerCommand) ungranted(flag string) *engine.Error {
	return engine.Errorf(engine.KindTool, diag.UngrantedUse, "the run is granted %s, and the worker %s is not", flag, workerName()).
		WithHelp("start all workers of task queue %s with %s, or the run without", w.to.queue, flag)
}

func workerName() string {
	host, _ := os.Hostname() // without a host name, the process id is better than nothing
	return strconv.Itoa(os.Getpid()) + "@" + host
}

// useOf returns the most that a flag grants.
func useOf(flag, value string) capability.Use {
	name, mode, _ := strings.Cut(value, ":")
	switch flag {
	case "allow-exec":
		return capability.Use{Kind: engine.EffectExec, Target: value}
	case "allow-net":
		return capability.Use{Kind: engine.EffectHTTP, Target: value}
	case "allow-env":
		op := "get"
		if mode == "secret" {
			op = "secret"
		}
		return capability.Use{Kind: engine.EffectEnv, Op: op, Target: name}
	}
	op := "list"
	if strings.HasSuffix(value, ":rw") {
		op = "write"
	}
	return capability.Use{Kind: engine.EffectFS, Op: op, Target: setup.DirOf(value)}
}
