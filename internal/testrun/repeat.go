package testrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/starlib"
)

// Flake describes how runs of one test on two seeds differ.
type Flake struct {
	Seeds  [2]uint64
	Ends   [2]Status
	Path   string    // the position of the first event that differs, "" if the events are the same
	Events [2]string // that event in each of the runs; "" if a run does not have it
}

// repeated runs a test on several seeds of the cooperative scheduler, each with a different order of branches. The
// first run that differs from that of the first seed makes the test flaky.
func (f *File) repeated(ctx context.Context, t starlib.Test, only func(name string) bool) *Result {
	seed := max(f.opts.Seed, 1)
	dir := &directory{keep: true} // shared by all runs: requests contain its name, and so do their ids
	defer dir.remove()
	first := f.run(ctx, t, only, seed, nil, dir)
	runs, took := 1, times{}
	took.add(first)
	for i := 1; i < f.opts.Repeat && first.Status != Skipped && !first.late && ctx.Err() == nil; i++ {
		next := f.run(ctx, t, only, seed+uint64(i), nil, dir)
		took.add(next)
		runs++
		flake := parting(first, next)
		if flake == nil {
			continue
		}
		if first.Status != Failed { // of the two, the failed one says more
			first = next
		}
		first.Status, first.Flake = Flaky, flake
		first.Err = flake.failure(t, first.Err)
		break
	}
	took.settle(first)
	first.Runs = runs
	return first
}

// times is the time of a test and those inside it over all runs, by name.
type times map[string]time.Duration

func (t times) add(r *Result) {
	t[r.Name] += r.Time
	for _, sub := range r.Subs {
		t.add(sub)
	}
}

func (t times) settle(r *Result) {
	r.Time = t[r.Name]
	for _, sub := range r.Subs {
		t.settle(sub)
	}
}

// String describes the outcomes on both seeds.
func (k *Flake) String() string {
	return fmt.Sprintf("%s with --seed %d, %s with --seed %d", verb(k.Ends[0]), k.Seeds[0], verb(k.Ends[1]), k.Seeds[1])
}

// parting compares two runs of a test, and returns nil if they do not differ: it compares the events at each position
// in the order in which they happened there. The seed determines the order of branches.
func parting(a, b *Result) *Flake {
	flake := &Flake{Seeds: [2]uint64{a.Seed, b.Seed}, Ends: [2]Status{a.Status, b.Status}}
	there := map[string][]moment{}
	for _, m := range b.moments() {
		there[m.path] = append(there[m.path], m)
	}
	for _, m := range a.moments() {
		others := there[m.path]
		switch {
		case len(others) == 0:
			flake.Path, flake.Events = m.path, [2]string{m.line}
			return flake
		case !bytes.Equal(others[0].what, m.what):
			flake.Path, flake.Events = m.path, [2]string{m.line, others[0].line}
			return flake
		}
		there[m.path] = others[1:]
	}
	for _, m := range b.moments() {
		if more := there[m.path]; len(more) > 0 {
			flake.Path, flake.Events = m.path, [2]string{"", more[0].line}
			return flake
		}
	}
	if a.verdict() != b.verdict() {
		return flake
	}
	return nil
}

// moment is an event without what differs between equal runs: its time, and its order among events of other branches.
type moment struct {
	path, line string
	what       []byte
}

func (r *Result) moments() []moment {
	var all []moment
	for _, e := range r.Trace {
		switch e.Kind {
		case engine.EventRun, engine.EventBudget, engine.EventToken, engine.EventPartial: // sums, and parts of what is compared
			continue
		}
		line := lineOf(e)
		e.Seq, e.At = 0, time.Time{}
		if d, ok := e.Data.(*event.Retry); ok {
			own := *d
			own.Wait, e.Data = 0, &own
		}
		what, err := json.Marshal(e)
		if err != nil {
			what = []byte(line)
		}
		all = append(all, moment{path: e.Path, line: line, what: what})
	}
	return all
}

// verdict describes the outcomes of a test and those inside it.
func (r *Result) verdict() string {
	s := string(r.Status) + " " + r.Name
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	for _, sub := range r.Subs {
		s += "\n" + sub.verdict()
	}
	return s
}

// failure returns the error that the report shows for a flaky test.
func (k *Flake) failure(t starlib.Test, failed error) *engine.Error {
	err := engine.Errorf(engine.KindTest, diag.FlakyTest, "%s %s with --seed %d and %s with --seed %d", t.Name, verb(k.Ends[0]), k.Seeds[0], verb(k.Ends[1]), k.Seeds[1])
	if k.Ends[0] == k.Ends[1] {
		err.Message = fmt.Sprintf("%s %s with --seed %d and --seed %d, in different ways", t.Name, verb(k.Ends[0]), k.Seeds[0], k.Seeds[1])
	}
	err.Pos = t.Pos
	if k.Path != "" {
		err.Notes = append(err.Notes, "the first event that differs is at "+k.Path)
		for i, line := range k.Events {
			if line == "" {
				line = "(no such event)"
			}
			err.Notes = append(err.Notes, fmt.Sprintf("  --seed %d: %s", k.Seeds[i], line))
		}
	}
	if failed != nil {
		err.Notes = append(err.Notes, fmt.Sprintf("it fails with: %s", failed))
	}
	again := k.Seeds[1]
	if k.Ends[0] == Failed {
		again = k.Seeds[0]
	}
	return err.WithHelp("let no branch depend on what another one did before: t.on(..., when = ...) answers by what is asked, and with a delay = ... for each of its answers a race ends the same way; --seed %d repeats the run", again)
}

func verb(s Status) string {
	return map[Status]string{Passed: "passes", Failed: "fails", Skipped: "is skipped"}[s]
}
