// Package modules holds the scripts that a worker has loaded.
package modules

import (
	"container/list"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// A worker keeps the scripts of its runs. Of the others it keeps those that were used last, up to these limits for all
// scripts: their number, and the bytes of their sources. In memory, a script takes a multiple of its source.
const (
	maxModules     = 200
	maxModuleBytes = 32 << 20
)

// retryAfter is the time after which a script that could not be loaded is tried again: the cause may be the machine.
const retryAfter = 5 * time.Second

// Modules holds the scripts that a worker has loaded, each once. The zero value is empty. It is safe for concurrent
// use.
type Modules struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order list.List // of *loading, the most recently used first
	bytes int
}

// loading is a script that is being loaded, or was.
type loading struct {
	hash   string
	size   int
	done   chan struct{}
	module *agentscript.Module
	err    error
	failed time.Time

	runs int // that use it
}

// Load returns the script of a run, and loads it if it is missing. The run calls done when it no longer needs the
// script.
func (m *Modules) Load(e *agentscript.Engine, hash string, files engine.Bundle, shown string) (is *agentscript.Module, done func(), err error) {
	l := m.take(hash, files, func(l *loading) {
		defer close(l.done)
		l.module, l.err = e.LoadBundle(context.Background(), files, shown)
		l.failed = time.Now()
	})
	<-l.done
	return l.module, sync.OnceFunc(func() { m.release(l) }), l.err
}

// take returns a script, and starts load if it is missing.
func (m *Modules) take(hash string, files engine.Bundle, load func(*loading)) *loading {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.by[hash]
	if at != nil && at.Value.(*loading).stale() {
		m.drop(at)
		at = nil
	}
	if at == nil {
		l := &loading{hash: hash, done: make(chan struct{})}
		for _, name := range slices.Sorted(maps.Keys(files.Files)) {
			l.size += len(files.Files[name])
		}
		if m.by == nil {
			m.by = map[string]*list.Element{}
		}
		at = m.order.PushFront(l)
		m.by[hash] = at
		m.bytes += l.size
		go load(l)
	}
	m.order.MoveToFront(at)
	l := at.Value.(*loading)
	l.runs++
	m.shrink()
	return l
}

// stale reports whether a script failed to load some time ago.
func (l *loading) stale() bool {
	select {
	case <-l.done:
		return l.err != nil && time.Since(l.failed) >= retryAfter
	default:
		return false
	}
}

func (m *Modules) release(l *loading) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.runs--
	m.shrink()
}

// Counts returns the number of scripts, and how many of them runs use.
func (m *Modules) Counts() (all, held int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := m.order.Front(); at != nil; at = at.Next() {
		if at.Value.(*loading).runs > 0 {
			held++
		}
	}
	return len(m.by), held
}

// shrink drops scripts that no run uses, the least recently used first.
func (m *Modules) shrink() {
	for at := m.order.Back(); at != nil && (len(m.by) > maxModules || m.bytes > maxModuleBytes); {
		before := at.Prev()
		if at.Value.(*loading).runs == 0 {
			m.drop(at)
		}
		at = before
	}
}

// drop removes a script, which is loaded again when it is needed. Runs that use it keep it.
func (m *Modules) drop(at *list.Element) {
	l := m.order.Remove(at).(*loading)
	delete(m.by, l.hash)
	m.bytes -= l.size
}
