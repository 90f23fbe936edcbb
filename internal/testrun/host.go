package testrun

import (
	"os"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/double"
)

// Case is a test that a host prepares in Go, for runs that it starts.
type Case struct{ *testCase }

// NewCase returns a test of a module. It reads records below the current directory.
func NewCase(m *agentscript.Module, name string) Case {
	f := &File{fsys: os.DirFS("."), Module: m, known: double.NamesOf(m.Nodes())}
	return Case{&testCase{world: newWorld(f.known, nil), file: f, name: name}}
}

// Options returns the options of a run that the test answers, in virtual time.
func (c Case) Options() []agentscript.RunOption {
	return append(c.options(), agentscript.VirtualTime())
}

// Close ends the test. It returns an error if answers are left over.
func (c Case) Close() *engine.Error {
	defer c.close()
	return c.unused()
}

// options returns the options of a run that the world answers.
func (w *world) options() []agentscript.RunOption {
	return []agentscript.RunOption{agentscript.RunPricer(prices{w.models}), agentscript.HandlerForAll(w)}
}
