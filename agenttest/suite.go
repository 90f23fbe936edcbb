package agenttest

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/starlib"
)

// Suite runs tests of scripts with the options for which agentscript test has flags. The zero Suite runs them as
// [Run] does.
type Suite struct {
	Engine []agentscript.Option    // of the host's engine: tools and builtins, whose calls the tests answer
	Each   []agentscript.RunOption // of each test, for example limits

	Models engine.Handler    // answers model calls that a test does not answer, for example a registry of package llm
	Grants capability.Grants // carries out what a script does outside and a test does not answer; see package grant

	Seed    uint64        // this seed determines the order in which branches take turns
	Repeat  int           // the number of seeds for each test; a test that differs between them is flaky
	Timeout time.Duration // of one test; 0 is a minute

	// Threshold fails the test if less was run than it says, in percent: "lines=80,parts=80,edges=100,variants=100,
	// tools=100,agents=100". With "mutations=90", each test that passes runs again with changed answers of models,
	// and that share of these runs must end well. Threshold applies if all tests of the pattern ran and passed.
	Threshold string
}

// touches lists the kinds of effects outside of the script.
var touches = []engine.EffectKind{engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv}

// options returns the options for a file. If counted is true, a threshold needs its coverage.
func (s Suite) options(counted bool) testrun.Options {
	o := testrun.Options{Engine: s.Engine, Run: s.Each, Seed: s.Seed, Repeat: s.Repeat, Timeout: s.Timeout, Ways: counted, Live: engine.Handlers{}}
	if counted {
		o.Engine = append(slices.Clone(o.Engine), agentscript.WithCoverage())
	}
	if s.Models != nil {
		o.Live[engine.EffectModel] = s.Models
	}
	if s.Grants != nil {
		for _, kind := range touches {
			o.Live[kind] = s.Grants
		}
	}
	return o
}

// Run runs the tests of the test files that match a pattern of [fs.Glob], as subtests.
func (s Suite) Run(t *testing.T, fsys fs.FS, pattern string) {
	t.Helper()
	names, err := fs.Glob(fsys, pattern)
	if err != nil {
		t.Fatalf("agenttest: %q: %v", pattern, err)
	}
	least, mutations, err := testrun.ParseThresholds(s.Threshold)
	if s.Threshold != "" && err != nil {
		t.Fatalf("agenttest: Threshold: %v", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !testrun.IsTest(name) })
	if len(names) == 0 {
		t.Fatalf("agenttest: no file of tests matches %q; their names end in %s", pattern, testrun.Suffix)
	}
	r := &round{mutate: mutations > 0, whole: true}
	for _, name := range names {
		t.Run(strings.TrimSuffix(name, path.Ext(name)), func(t *testing.T) { r.file(t, testrun.Load(t.Context(), fsys, name, s.options(least != nil))) })
	}
	if !r.whole || len(r.files) < len(names) { // go test -run left some out
		return
	}
	if least != nil {
		covered := testrun.Covered(r.files)
		if missed := covered.Below(least); missed != nil {
			t.Errorf("%scoverage of %s", covered.Text(), strings.Join(missed, "\ncoverage of "))
		}
	}
	switch share, of := chaos.Percent(r.mutated.Cases); {
	case !r.mutate:
	case of == 0:
		t.Errorf("mutations: no changed answer counts, and %v%% must end well", mutations)
	case share < mutations:
		more := "go test -v lists them"
		if testing.Verbose() {
			more = ""
		}
		var table strings.Builder
		_ = chaos.Write(&table, r.mutated.Cases, more) // a builder takes all
		t.Errorf("%smutations: %.1f%% is below %v%%", &table, share, mutations)
	}
}

// round is one run of a suite.
type round struct {
	mutate  bool
	files   []*testrun.File
	mutated testrun.Mutations
	whole   bool // all tests of the files ran and passed
}

func (r *round) file(t *testing.T, f *testrun.File) {
	r.files = append(r.files, f)
	if len(f.Found) > 0 {
		t.Log(rendered(f.Found, f.Sources))
	}
	if f.Broken {
		r.whole = false
		t.FailNow()
	}
	var passed []*testrun.Result
	for _, test := range f.Tests {
		t.Run(test.Name, func(t *testing.T) {
			res := r.test(t, f, test)
			if !res.Status.Bad() {
				passed = append(passed, res)
			}
			report(t, f, res) // may end the Go test
		})
	}
	r.whole = r.whole && len(passed) == len(f.Tests)
	unused, err := f.Snapshots(passed)
	if err != nil {
		t.Error(err)
	}
	if len(unused) > 0 {
		t.Error(rendered(unused, nil))
	}
}

// test runs a test and, if it passes, runs it again with changed answers.
func (r *round) test(t *testing.T, f *testrun.File, test starlib.Test) *testrun.Result {
	res := f.Run(t.Context(), test, nil)
	if !res.Status.Bad() && r.mutate {
		before := len(r.mutated.Left)
		r.mutated.Add(t.Context(), f, res, nil, 0)
		for _, left := range r.mutated.Left[before:] {
			if left.Fails {
				t.Error(rendered(diag.List{{Message: "its answers cannot be changed: " + left.Why}}, nil))
			}
		}
	}
	return res
}
