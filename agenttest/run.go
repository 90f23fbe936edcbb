// Package agenttest tests flows in go test.
//
// [Run] runs the tests in *_test.star files as subtests of a Go test:
//
//	func TestFlows(t *testing.T) {
//		agenttest.Run(t, os.DirFS("."), "flows/*_test.star", agentscript.WithTool(weather))
//	}
//
// [New] is for tests in Go. A test prepares answers for the models, tools, servers and people of the runs that it
// starts, and checks which calls were made:
//
//	w := agenttest.New(t, mod)
//	w.Reply("critic", Verdict{Good: true})
//	res, err := mod.Start(t.Context(), w.Options(agentscript.Input("text"))...).Wait()
//	w.Called("critic", 1)
//
// In both cases nothing outside is reached: a call without a prepared answer fails. Time is virtual: waiting takes
// none.
package agenttest

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/diagnose"
	"github.com/agentscript/agentscript/internal/testrun"
)

// Run runs the tests of the test files that match a pattern of [fs.Glob]. Each file is a subtest; its tests, and the
// tests inside of them, are subtests below it. The options are those of the host's engine: its tools and builtins,
// whose calls the tests answer. [Suite] has more options.
func Run(t *testing.T, fsys fs.FS, pattern string, opts ...agentscript.Option) {
	t.Helper()
	Suite{Engine: opts}.Run(t, fsys, pattern)
}

// report makes a Go test end as a test of a script did.
func report(t *testing.T, f *testrun.File, r *testrun.Result) {
	for _, said := range r.Log {
		t.Log(said)
	}
	for _, sub := range r.Subs {
		t.Run(strings.TrimPrefix(sub.Name, r.Name+"/"), func(t *testing.T) { report(t, f, sub) })
	}
	switch {
	case r.Err != nil:
		d := diagnose.Error(r.Err)
		d.Notes = append(d.Notes, r.LastEvents("")...)
		t.Error(rendered(diag.List{d}, f.Sources))
	case r.Status == testrun.Skipped:
		t.Skip(r.Reason)
	}
}

// rendered formats diagnostics with their source lines, to be shown below the line of a test's log.
func rendered(l diag.List, src diag.Sources) string {
	var out strings.Builder
	out.WriteByte('\n')
	_ = diag.Render(&out, l, src, diag.Options{}) // a builder takes all
	return strings.TrimRight(out.String(), "\n")
}
