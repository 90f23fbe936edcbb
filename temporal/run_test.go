package temporal

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// discardLogger is a log that discards everything.
type discardLogger struct{}

func (discardLogger) Debug(string, ...any) {}
func (discardLogger) Info(string, ...any)  {}
func (discardLogger) Warn(string, ...any)  {}
func (discardLogger) Error(string, ...any) {}

// onWorker, if not nil, is called with the worker of a test.
var onWorker func(*Worker)

// inEnvironment runs a script in the test environment of the client library, and returns what it recorded.
func inEnvironment(t *testing.T, e *agentscript.Engine, o Options, m *agentscript.Module, opts ...agentscript.RunOption) store.Whole {
	t.Helper()
	o.Blobs = blob.Dir(t.TempDir())
	w, err := newWorker(e, o)
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discardLogger{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	if onWorker != nil {
		onWorker(w)
	}
	w.registerWorkflow(env)
	w.registerActivity(env)
	h, err := m.Head(t.Context(), "main", opts...)
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{opts: w.opts, vault: w.vault}
	files, _ := json.Marshal(h.Files)
	in := Input{Limits: w.opts.limits()}
	if in.Files, err = s.vault.Put(t.Context(), bundleKey(h.Bundle), files); err != nil {
		t.Fatal(err)
	}
	first, err := s.sealed(t.Context(), store.Whole{Head: h.RunHead})
	if err != nil {
		t.Fatal(err)
	}
	in.Run = []vault.Sealed{first}
	env.ExecuteWorkflow(Workflow, in)
	if !env.IsWorkflowCompleted() {
		t.Fatal("not completed")
	}
	var out Output
	err = env.GetWorkflowError()
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.HasDetails() {
		err = app.Details(&out)
	} else if err == nil {
		err = env.GetWorkflowResult(&out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return openParts(t, s.vault, out.Run)
}

func openParts(t *testing.T, v *vault.Vault, parts []vault.Sealed) store.Whole {
	t.Helper()
	whole, err := record.Whole(parts, func(part vault.Sealed) ([]byte, error) { return v.Open(t.Context(), part) })
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// A run that has ended, or that the client library evicted from its cache, holds no script.
func TestModulesReleased(t *testing.T) {
	e := agentscript.New()
	m, err := e.LoadBundle(t.Context(), engine.Bundle{Entry: "f.star", Files: map[string][]byte{"f.star": []byte("def main():\n    return 1\n")}}, "f.star")
	if err != nil {
		t.Fatal(err)
	}
	var w *Worker
	onWorker = func(is *Worker) { w = is }
	defer func() { onWorker = nil }()
	inEnvironment(t, e, Options{}, m)
	if all, held := w.modules.Counts(); all != 1 || held != 0 {
		t.Errorf("%d scripts, %d of them held", all, held)
	}
}
