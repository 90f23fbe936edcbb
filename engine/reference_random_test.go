package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// why is a failure as the naive interpreter says it.
func why(err error) failure {
	var e *engine.Error
	if !errors.As(err, &e) {
		return failure{"", fmt.Sprint(err)}
	}
	f := failure{e.Path, string(e.Code)}
	switch {
	case errors.Is(err, errPlanned):
		f.why = "planned"
	case e.Code == diag.LoopLimit:
		f.why = "limit"
	case e.Code == diag.NoQuorum:
		f.why = "quorum"
	case e.Code == diag.NoRoute:
		f.why = "route"
	}
	return f
}

// walk is what a run did: the paths of its nodes and of its effects, and the effects' ids.
type walk struct{ nodes, effects, ids []string }

func (w *walk) listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventNode | engine.EventEffect, Emit: func(e engine.Event) {
		switch {
		case e.Phase() != engine.PhaseStart:
		case e.Kind == engine.EventNode:
			w.nodes = append(w.nodes, e.Path)
		default:
			w.effects, w.ids = append(w.effects, e.Path), append(w.ids, e.ID)
		}
	}}
}

func sorted(list []string) string {
	own := slices.Clone(list)
	slices.Sort(own)
	return strings.Join(own, "\n")
}

// Promise 15.20 (algebra): random compositions of every operator give what a naive interpreter
// gives that runs one thing after the other: values, failures with their places, the paths of
// nodes and effects, on every scheduler and in any order of completion.
func TestPromise_15_20_RandomPrograms(t *testing.T) {
	ops, failed, compared := map[string]int{}, 0, 0
	most := uint64(600)
	if raceDetector {
		most /= 4
	}
	for seed := range most {
		g := &programs{rand.New(rand.NewPCG(seed, 29)), seed%2 == 1}
		p := g.make(1 + int(seed%4))
		count(p, ops)
		c := compose()
		main := c.program(p)
		c.sound(t)
		head := "main/" + segments(p.head())[0]
		for _, x := range []int64{0, 5, 123_456} {
			var ref naive
			want, fails := ref.run(p, head, x)
			for i, s := range []engine.Sched{sched.NewGoSched(t.Context()), sched.NewCoopSched(seed), sched.NewCoopSched(seed + 1000)} {
				var did walk
				got, err := run.Exec(s, &run.Spec{Node: main, Input: generable.IntOf(x), Handler: answering, Model: "test/model", Listener: did.listener()})
				wrong := ""
				switch {
				case (err == nil) != (fails == nil):
					wrong = fmt.Sprintf("it ends with %v, want %v", err, fails)
				case err == nil && integer(got) != want:
					wrong = fmt.Sprintf("it gives %d, want %d", integer(got), want)
				case err != nil && !ref.ended && why(err) != *fails:
					wrong = fmt.Sprintf("it fails by %v (%v), want %v", why(err), err, *fails)
				case !ref.ended && sorted(did.effects) != sorted(ref.effects):
					wrong = fmt.Sprintf("its effects are\n%s\nwant\n%s", sorted(did.effects), sorted(ref.effects))
				case !ref.ended && !ref.raced && sorted(did.nodes) != sorted(ref.nodes):
					wrong = fmt.Sprintf("its nodes are\n%s\nwant\n%s", sorted(did.nodes), sorted(ref.nodes))
				}
				if wrong != "" {
					t.Fatalf("seed %d, scheduler %d, input %d: %s\n%s", seed, i, x, wrong, p.text())
				}
				if err != nil {
					failed++
				}
				if !ref.ended {
					compared++
				}
				slices.Sort(did.ids)
				if n := len(slices.Compact(slices.Clone(did.ids))); n != len(did.ids) {
					t.Fatalf("seed %d: %d effects have %d ids\n%s\n%s", seed, len(did.ids), n, sorted(did.ids), p.text())
				}
			}
		}
	}
	for _, op := range append(slices.Clone(treeOps), leafOps...) {
		if ops[op] < int(most)/30 {
			t.Errorf("only %d programs have a %s", ops[op], op)
		}
	}
	if failed < int(most)/2 || compared < 3*int(most) {
		t.Errorf("only %d runs failed, and %d were compared in full", failed, compared)
	}
}

func count(p *program, ops map[string]int) {
	ops[p.op]++
	for _, k := range p.kids {
		count(k, ops)
	}
	for _, e := range p.edges {
		if e.mapped != nil {
			count(e.mapped, ops)
		}
	}
}
