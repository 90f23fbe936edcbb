package testrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/starlib"
)

// Suffix is the suffix of the names of test files.
const Suffix = starlib.TestSuffix

// Options set how tests run.
type Options struct {
	Engine []agentscript.Option    // load options: the host's tools and builtins
	Run    []agentscript.RunOption // for each test, for example limits
	Live   engine.Handlers         // handlers for what tests do not answer, by kind; effects without one fail
	// Update stores snapshots in Dir, the directory of the operating system that the file system represents.
	Update bool
	// Hide removes keys from a text that is stored; nil leaves it unchanged.
	Hide    func(string) string
	Dir     string
	Seed    uint64        // seed of the cooperative scheduler; 0 runs in virtual time and in one order
	Repeat  int           // number of seeds on which each test runs, starting with Seed or 1
	Timeout time.Duration // time limit of one test; 0 is [DefaultTimeout]
	Apart   bool          // run the tests of a file one after the other, and record what each ran, see [File.Ran]
	Ways    bool          // count which ways, cases, tools and agents of the flows tests pass through, see [File.Ways]
	Kinds   engine.EventKind
	OnEvent func(test string, e engine.Event) // receives the events of Kinds; the test waits for it
}

// DefaultTimeout bounds the real time of a test.
const DefaultTimeout = time.Minute

// File is a loaded test file.
type File struct {
	Path   string
	Tests  []starlib.Test
	Found  diag.List // findings of loading and in its tests
	Broken bool      // it cannot run

	Sources diag.Sources
	Module  *agentscript.Module

	shown string
	fsys  fs.FS
	opts  Options
	shots *snapshots
	known double.Names
	made  map[string]string // where agents are made, by name
	ways  *cover.Graph      // nil unless Options.Ways
	wrote sync.Mutex
	apart sync.Mutex // held by the running test, with Options.Apart
	ran   []Ran
}

// Load loads a test file. Found holds what is wrong with it.
func Load(ctx context.Context, fsys fs.FS, file string, o Options) *File {
	f := &File{Path: file, shown: file, fsys: fsys, opts: o}
	if o.Dir != "" {
		f.fsys = beside(o.Dir)
	}
	options := append(slices.Clone(o.Engine), agentscript.WithUngranted())
	eng := agentscript.New(options...)
	var m *agentscript.Module
	var err error
	if o.Dir != "" {
		f.shown = filepath.Join(o.Dir, filepath.FromSlash(file))
		m, err = eng.LoadFile(ctx, f.shown)
	} else {
		m, err = eng.Load(ctx, fsys, file)
	}
	if wrong, ok := errors.AsType[*agentscript.LoadError](err); ok {
		f.Found, f.Sources, f.Broken = wrong.List, wrong.Sources, true
		return f
	}
	if err != nil {
		f.Found, f.Broken = diag.List{{Code: diag.BadTest, Span: diag.Span{Pos: diag.Pos{File: file}}, Message: err.Error()}}, true
		return f
	}
	f.Module, f.Sources = m, m.Sources()
	f.Found = slices.DeleteFunc(slices.Clone(m.Diagnostics()), func(d *diag.Diagnostic) bool {
		return d.Code == diag.BadTest && d.Severity == diag.Warning // the test it is about fails
	})
	f.Tests = m.Tests()
	if f.shots, err = readSnapshots(f.fsys, file, o.Update); err != nil {
		f.Found.Add(&diag.Diagnostic{Code: diag.BadTest, Span: diag.Span{Pos: diag.Pos{File: f.shown}}, Message: err.Error()})
		f.Broken = true
	}
	f.known, f.made = double.NamesOf(m.Nodes()), map[string]string{}
	for _, n := range m.Nodes() {
		if a := n.Agent(); a != nil {
			f.made[a.Name] = fmt.Sprintf("%s:%d", n.Pos().File, n.Pos().Line)
		}
	}
	if o.Ways {
		f.ways = cover.New(m.Nodes()...)
	}
	if o.Apart {
		f.took("")
	}
	return f
}

// Shown returns the path of the file in positions.
func (f *File) Shown() string { return f.shown }

// Result is how a test ended.
type Result struct {
	Name    string
	File    string
	Pos     diag.Pos
	Status  Status
	Reason  string        // why it was skipped
	Err     error         // why it failed, or nil
	Time    time.Duration // real time, including tests inside it, as are
	Tokens  int           // the tokens of its models, and
	CostUSD float64       // their cost
	Log     []string      // what the test printed
	Events  []string      // the calls of models, tools and operations, one line each
	Subs    []*Result     // tests inside it
	Left    []string      // names of tests inside it that were not run

	Seed  uint64         // seed of the cooperative scheduler
	Runs  int            // number of seeds it ran on, 0 without Options.Repeat
	Flake *Flake         // set for a flaky test
	Trace []engine.Event // all events of the run

	from  int               // number of events when it began
	late  bool              // it was ended by its timeout
	asked map[string]string // which test called a model, this or one inside it, by the position of the call
}

// Status is how a test ended.
type Status string

// The outcomes of tests.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
	Flaky   Status = "flaky" // the outcome differs with another seed
)

// Bad reports whether a test with this outcome fails its run.
func (s Status) Bad() bool { return s == Failed || s == Flaky }

// Run runs a test. Of the tests inside it, only those run whose name only accepts; nil accepts all.
func (f *File) Run(ctx context.Context, t starlib.Test, only func(name string) bool) *Result {
	if f.opts.Apart {
		f.apart.Lock()
		defer f.apart.Unlock()
		defer f.took(t.Name)
	}
	if f.opts.Repeat > 1 && !t.Todo {
		return f.repeated(ctx, t, only)
	}
	return f.run(ctx, t, only, f.opts.Seed, nil, nil)
}

// run runs a test once. A probe may change its model's answers; nil leaves them unchanged. A directory is shared by
// several runs; nil uses one for this run alone.
func (f *File) run(ctx context.Context, t starlib.Test, only func(name string) bool, seed uint64, p *chaos.Probe, dir *directory) *Result {
	r := &Result{Name: t.Name, File: f.shown, Pos: t.Pos, Seed: seed}
	if t.Todo {
		r.Status, r.Reason = Skipped, "todo"
		return r
	}
	w := newWorld(f.known, f.opts.Live)
	w.probe = p
	if dir != nil {
		w.dir = dir
	}
	c := &testCase{world: w, file: f, name: t.Name, runs: only, result: r, begun: time.Now()}
	if w.inside = c; f.opts.Apart && p == nil {
		w.took = f.took
	}
	limit := f.opts.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	late := engine.Errorf(engine.KindTimeout, diag.Timeout, "%s did not end within %s", t.Name, limit).WithHelp("raise --timeout, or find out what it waits for")
	bounded, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	kept := w.journal
	opts := append(append(w.options(), f.opts.Run...), agentscript.ID(t.Name), agentscript.OnEvent(engine.EventAll, kept.add))
	if f.opts.OnEvent != nil {
		opts = append(opts, agentscript.OnEvent(f.opts.Kinds, func(e engine.Event) { f.opts.OnEvent(t.Name, e) }))
	}
	switch {
	case p != nil:
		opts = append(opts, agentscript.OnEvent(chaos.Events, p.Event))
	case f.ways != nil:
		opts = append(opts, agentscript.OnEvent(cover.Events, f.ways.Event))
	}
	if seed != 0 {
		opts = append(opts, agentscript.Cooperative(seed))
	} else {
		opts = append(opts, agentscript.VirtualTime())
	}
	err := ended(bounded, f.Module.StartTest(bounded, t.Name, c, opts...), late)
	r.late = errors.Is(context.Cause(bounded), late)
	w.end()
	r.Trace = kept.all()
	r.Log = printed(r.Trace)
	r.conclude(c, err)
	r.asked = w.asked()
	w.close()
	return r
}

// grace bounds the time that a test has to end after its timeout.
const grace = time.Second

// ended waits for a run. If the run does not end after its timeout, because a tool outside ignores it, ended abandons
// it.
func ended(ctx context.Context, run *agentscript.Run, late error) error {
	done := make(chan error, 1)
	go func() {
		_, err := run.Wait()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(grace):
		return late
	}
}

// end settles the results of the tests inside a test: what continues after the timeout changes none of them.
func (w *world) end() {
	w.ending.Lock()
	defer w.ending.Unlock()
	w.over = true
}

// conclude determines the outcome of a test, from the error of its function and from the answers it left over.
func (r *Result) conclude(c *testCase, err error) {
	used, events := c.Spent(), c.journal.all()
	r.Events = relevant(events[c.from.events:])
	r.Time, r.Tokens, r.CostUSD = time.Since(c.begun), used.In+used.Out, used.CostUSD
	c.mu.Lock()
	skipped := c.skipped
	r.Subs, r.Left = c.subs, c.left
	c.mu.Unlock()
	if err == nil && skipped == nil {
		if left := c.unused(); left != nil {
			err = left
		}
	}
	for _, sub := range r.Subs {
		if sub.Status == "" { // what ended this test ended the inner one
			sub.Status, sub.Err, sub.Events = Failed, err, relevant(events[sub.from:])
		}
	}
	switch {
	case skipped != nil:
		r.Status, r.Reason = Skipped, *skipped
	case err != nil && r.endedBy(err):
		r.Status = Failed
	case err != nil:
		r.Status, r.Err = Failed, err
	default:
		r.Status = Passed
		for _, sub := range r.Subs {
			if sub.Status == Failed {
				r.Status = Failed
			}
		}
	}
}

// endedBy reports whether an error ended the last test inside this one, and this one with it: the error then belongs to
// the inner test.
func (r *Result) endedBy(err error) bool {
	if len(r.Subs) == 0 {
		return false
	}
	last := r.Subs[len(r.Subs)-1]
	if last.Err == nil {
		return last.endedBy(err)
	}
	inner, outer := engine.AsError(last.Err), engine.AsError(err)
	ends := outer.OfRun || slices.Contains([]engine.ErrKind{engine.KindTimeout, engine.KindCancelled, engine.KindPanic}, outer.Kind)
	return ends && inner.Kind == outer.Kind && inner.Code == outer.Code && inner.Message == outer.Message
}

// Snapshots finishes the snapshots of a file after its tests: it stores them with Update, and returns those that no
// test uses. A test in results that passed completely would have used its own.
func (f *File) Snapshots(results []*Result) (diag.List, error) {
	f.wrote.Lock()
	defer f.wrote.Unlock()
	if f.shots == nil {
		return nil, nil
	}
	unused := f.shots.unused(func(test string) bool {
		if !slices.ContainsFunc(f.Tests, func(t starlib.Test) bool { return t.Name == test }) {
			return true
		}
		return slices.ContainsFunc(results, func(r *Result) bool { return r.Name == test && r.whole() })
	})
	if f.shots.update {
		return nil, f.shots.write(f.opts.Dir, unused)
	}
	var found diag.List
	for _, name := range unused {
		found.Add(&diag.Diagnostic{Code: diag.SnapshotDiffers, Span: diag.Span{Pos: diag.Pos{File: f.shots.path}}, Message: fmt.Sprintf("no test uses the snapshot %q", name),
			Help: []string{"--update removes it"}})
	}
	return found, nil
}

// whole reports whether a test and all those inside it ran and passed.
func (r *Result) whole() bool {
	return r.Status == Passed && len(r.Left) == 0 && !slices.ContainsFunc(r.Subs, func(sub *Result) bool { return !sub.whole() })
}

// IsTest reports whether a path is a test file.
func IsTest(name string) bool { return strings.HasSuffix(path.Base(name), Suffix) }
