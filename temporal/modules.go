package temporal

import (
	"context"
	"sync"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// A worker keeps the scripts of its runs, and of those without a run the ones that were used last: at most so many, of at most so
// many bytes of source. What a script is in memory is some multiple of that.
const (
	mostModules = 200
	moduleBytes = 32 << 20
)

// loadAgain is after how long a script that could not be loaded is tried again: what was wrong may be the machine's.
const loadAgain = 5 * time.Second

// modules are the scripts that a worker has loaded, each once. The zero value has none.
type modules struct {
	mu    sync.Mutex
	by    map[string]*loading
	bytes int
	uses  int64 // of all, ever
}

// loading is a script that is loaded, or was.
type loading struct {
	hash   string
	size   int
	done   chan struct{}
	module *agentscript.Module
	err    error
	failed time.Time

	runs int   // that have it by now
	used int64 // when it was last, counted in uses
}

// module returns the script of a run, which calls done when it needs that no longer.
func (m *modules) module(e *agentscript.Engine, hash string, files engine.Bundle, shown string) (is *agentscript.Module, done func(), err error) {
	l := m.take(hash, files, func(l *loading) {
		defer close(l.done)
		l.module, l.err = e.LoadBundle(context.Background(), files, shown)
		l.failed = time.Now()
	})
	<-l.done
	return l.module, sync.OnceFunc(func() { m.release(l) }), l.err
}

// take returns a script, which load loads where it is not there.
func (m *modules) take(hash string, files engine.Bundle, load func(*loading)) *loading {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.by[hash]
	if l != nil && l.stale() {
		m.drop(l)
		l = nil
	}
	if l == nil {
		l = &loading{hash: hash, done: make(chan struct{})}
		for _, text := range files.Files {
			l.size += len(text)
		}
		if m.by == nil {
			m.by = map[string]*loading{}
		}
		m.by[hash] = l
		m.bytes += l.size
		go load(l)
	}
	l.runs++
	m.uses++
	l.used = m.uses
	m.shrink()
	return l
}

// stale reports whether a script could not be loaded some time ago.
func (l *loading) stale() bool {
	select {
	case <-l.done:
		return l.err != nil && time.Since(l.failed) >= loadAgain
	default:
		return false
	}
}

func (m *modules) release(l *loading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.runs--
	m.shrink()
}

// shrink drops scripts without a run, those first that were not used for longest.
func (m *modules) shrink() {
	for len(m.by) > mostModules || m.bytes > moduleBytes {
		var last *loading
		for _, l := range m.by {
			if l.runs == 0 && (last == nil || l.used < last.used) {
				last = l
			}
		}
		if last == nil {
			return
		}
		m.drop(last)
	}
}

// drop has a script be loaded anew when it is needed again. Runs that have it keep it.
func (m *modules) drop(l *loading) {
	if m.by[l.hash] == l {
		delete(m.by, l.hash)
		m.bytes -= l.size
	}
}
