package modules

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
)

func ofSize(n int) engine.Bundle {
	return engine.Bundle{Entry: "f.star", Files: map[string][]byte{"f.star": make([]byte, n)}}
}

// loaded returns a script that is loaded, or nil.
func loaded(m *Modules, hash string) *loading {
	if at := m.by[hash]; at != nil {
		return at.Value.(*loading)
	}
	return nil
}

// A worker keeps a limited number of scripts: those that were used last, and each that a run uses.
func TestModulesBounded(t *testing.T) {
	var m Modules
	take := func(hash string, size int) *loading {
		return m.take(hash, ofSize(size), func(l *loading) { close(l.done) })
	}
	use := func(hash string, size int) {
		l := take(hash, size)
		<-l.done
		m.release(l)
	}
	held := take("held", 10)
	for i := range 3 * maxModules {
		use(fmt.Sprint(i), 10)
		use("often", 10)
	}
	if len(m.by) > maxModules || loaded(&m, "held") != held || loaded(&m, "often") == nil || loaded(&m, "0") != nil || m.bytes != 10*len(m.by) {
		t.Errorf("%d scripts, %d bytes", len(m.by), m.bytes)
	}
	for i := range 100 {
		use(fmt.Sprint("large", i), maxModuleBytes/10)
	}
	if m.bytes > maxModuleBytes || loaded(&m, "held") != held {
		t.Errorf("%d bytes", m.bytes)
	}
	m.release(held)
	use("huge", maxModuleBytes+1)
	if len(m.by) > 1 || m.bytes > maxModuleBytes+1 {
		t.Errorf("%d scripts, %d bytes", len(m.by), m.bytes)
	}
}

// A script that could not be loaded is tried again after a while, and not for each task.
func TestModulesLoadedAgain(t *testing.T) {
	var m Modules
	loads := 0
	load := func() *loading {
		l := m.take("a", ofSize(10), func(l *loading) {
			loads++
			if loads == 1 {
				l.err, l.failed = errors.New("the machine was busy"), time.Now()
			}
			close(l.done)
		})
		<-l.done
		m.release(l)
		return l
	}
	for range 3 {
		if l := load(); l.err == nil || loads != 1 {
			t.Fatalf("%d loads, %v", loads, l.err)
		}
	}
	loaded(&m, "a").failed = time.Now().Add(-retryAfter)
	if l := load(); l.err != nil || loads != 2 || m.bytes != 10 {
		t.Errorf("%d loads, %v, %d bytes", loads, l.err, m.bytes)
	}
}
