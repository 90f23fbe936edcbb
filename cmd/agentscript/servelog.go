package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// serveLog tells on stderr of the calls that a server carries out: a line when one begins and one
// when it ends, and what scripts print; or all events as JSON lines.
type serveLog struct {
	c     *command
	quiet bool
	json  jsonLines

	mu sync.Mutex
}

// jsonKinds are the events that are told as JSON.
func jsonKinds(o *serving) engine.EventKind {
	if o.json && !o.quiet {
		return engine.EventAll
	}
	return 0
}

func (l *serveLog) kinds() engine.EventKind { return l.json.only | engine.EventLog | engine.EventNode }

// follow waits for a run and tells of it, the client of its nodes.
func (l *serveLog) follow(tool string, run *agentscript.Run, tell func(string)) (generable.Value, error) {
	begun := time.Now()
	l.line("call   %s  run %s", tool, run.ID())
	for e := range run.Events() {
		if e.Kind == engine.EventNode && e.Phase() == engine.PhaseStart {
			tell(e.Path)
		}
		l.event(tool, e)
	}
	res, err := run.Wait()
	took := time.Since(begun).Round(100 * time.Microsecond)
	if err != nil {
		l.line("failed %s  %s  run %s  %s", tool, took, run.ID(), oneLine(err.Error(), 300))
		return res.Value, err
	}
	l.line("done   %s  %s  run %s", tool, took, run.ID())
	return res.Value, nil
}

func (l *serveLog) event(tool string, e engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.json.only&e.Kind != 0:
		l.json.event(e)
	case e.Kind == engine.EventLog && l.json.only == 0:
		fmt.Fprintln(l.c.stderr, text.Terminal("log    "+tool+"  "+oneLine(e.Text(), 300)))
	}
}

func (l *serveLog) line(format string, args ...any) {
	if l.quiet || l.json.only != 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.c.stderr, text.Terminal(fmt.Sprintf(format, args...)))
}
