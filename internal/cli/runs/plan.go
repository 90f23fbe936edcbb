package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// longestPlan is how long making a plan may take.
const longestPlan = 30 * time.Second

// plan says what a fork takes from a run, and what it does.
type plan struct {
	V      int         `json:"v"`
	Run    string      `json:"run"`
	Reused int         `json:"reused"` // steps
	Next   []planned   `json:"next"`   // what is done first and was not done by the run, as far as is known
	Rest   int         `json:"rest"`   // steps of the run that, as far as is known, are not taken: they depend on what is next
	Cost   model.Usage `json:"cost"`   // of everything that is not taken, as recorded for the run
	Once   []planned   `json:"once"`   // what was carried out, must not happen twice, and may happen again

	reused map[string]bool // ids of steps
}

// planned is a step that will be done.
type planned struct {
	Step string            `json:"step"` // its position
	Kind engine.EffectKind `json:"kind"`
	Name string            `json:"name,omitempty"`
}

// plan runs the script on what the run holds, and stops each branch where it would do something.
func (n *again) plan(s *keep.Store, script *setup.Script, opts []agentscript.RunOption) (*plan, error) {
	ctx, cancel := context.WithTimeout(n.ctx, longestPlan)
	defer cancel()
	p := &plan{V: form, Run: n.info.ID, Next: []planned{}, Once: []planned{}}
	var mu sync.Mutex
	next := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		mu.Lock()
		defer mu.Unlock()
		p.Next = append(p.Next, planned{journal.Position(e.ID()), e.Kind, e.Name})
		return engine.Failed(engine.Errorf(engine.KindApproval, diag.NeedsApproval, "this is only planned"))
	})
	ports, problem := setup.OpenPorts(n.v.c, script, n.flags, n.own)
	if problem != nil {
		return nil, problem
	}
	defer ports.Close()
	opts = slices.Concat(opts, ports.Options, []agentscript.RunOption{agentscript.RunLimits(n.flags.Limits(n.own)), agentscript.HandlerForAll(next),
		agentscript.ParkRun(), agentscript.VirtualTime(), agentscript.Watch(engine.EventEffect)})
	defer s.Dry()()
	run := script.Start(ctx, opts...)
	reused := map[string]bool{}
	for e := range run.Events() {
		if d, ok := e.Data.(*event.Effect); ok && d.Phase == engine.PhaseEnd && d.Replayed {
			reused[e.ID] = true
		}
	}
	if _, err := run.Wait(); err != nil && len(p.Next) == 0 && len(reused) == 0 {
		switch engine.AsError(err).Kind {
		case engine.KindInput, engine.KindStore, engine.KindTimeout: // it would not begin
			return nil, script.RunFailure(err)
		}
	}
	p.Reused, p.reused = len(reused), reused
	all := s.Reuses // what is not taken counts, too
	s.Reuses = nil
	defer func() { s.Reuses = all }()
	err := s.Steps(n.ctx, n.info.ID, 0, func(step engine.Step) error {
		if reused[step.ID] || step.Kind == engine.EffectChoice || step.Kind == engine.EffectBudget || step.Kind == engine.EffectMemory {
			return nil
		}
		p.Rest++
		p.Cost = p.Cost.Add(step.Usage)
		if step.Class == engine.ClassOnce && step.State != engine.StepWaiting {
			p.Once = append(p.Once, planned{journal.Position(step.ID), step.Kind, step.Name})
		}
		return nil
	})
	return p, err
}

// String returns the plan for people.
func (p *plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "takes %s of %d", text.Count(p.Reused, "step"), p.Reused+p.Rest)
	if len(p.Next) == 0 && p.Rest == 0 {
		b.WriteString(", and runs nothing")
		return b.String()
	}
	if p.Cost.CostUSD > 0 {
		fmt.Fprintf(&b, "; the others cost %s", keep.USD(p.Cost))
	}
	for _, next := range p.Next {
		fmt.Fprintf(&b, "\nruns %s: %s %s", text.Visible(next.Step), next.Kind, text.Visible(next.Name))
	}
	for _, once := range p.Once {
		fmt.Fprintf(&b, "\nmay do a second time %s: %s %s", text.Visible(once.Step), once.Kind, text.Visible(once.Name))
	}
	return b.String()
}

// confirmed reports the plan, and refuses to do again what must not happen twice, unless the user wants it.
func (p *plan) confirmed(n *again) error {
	if len(p.Once) > 0 && !n.given.Changed("yes") {
		return &term.Failure{Code: term.ExitWaiting, Found: diag.List{{Message: "the fork may carry out a second time what must not be: " + strings.Join(text.Each(p.Once, func(o planned) string { return text.Visible(o.Step) }), ", "),
			Notes: []diag.Note{{Message: p.String()}}, Help: []string{"--yes does it; --plan says what would be done"}}}}
	}
	if !n.flags.Quiet {
		n.v.c.Report(diag.List{{Severity: diag.Info, Message: p.String()}}, nil)
	}
	return nil
}
