package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// shown is how many bytes of a value a line shows.
const shown = 200

func (v *verbs) show() *cobra.Command {
	var follow, values bool
	cmd := &cobra.Command{Use: "show RUN", Short: "Show a run: its steps, what it waits for, its result", Long: showLong, RunE: v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		word, problem := one("show", args)
		if problem != nil {
			return problem
		}
		info, err := named(ctx, s, word)
		switch {
		case unheard(err) && info.ID != "" && !follow: // what the server knows without a worker
			if problem := v.headOnly(info); problem != nil {
				return problem
			}
			return err
		case unheard(err) && info.ID != "":
		case err != nil:
			return err
		case follow && s.IsFile(info.ID):
			return term.Usagef("leave --follow out", "--follow follows a run of the store, and %s is a file", text.Visible(word))
		case follow:
			return v.follow(ctx, s, info, values)
		}
		return v.whole(ctx, s, info, values)
	})}
	cmd.Flags().BoolVar(&follow, "follow", false, "write a line for each step as it happens, until the run stops")
	cmd.Flags().BoolVar(&values, "values", false, "show the whole result of each step instead of its beginning")
	return v.flagged(cmd)
}

const showLong = `Show draws the steps of a run with their results: what a model answered, what a tool returned, what
a person decided, or the failure. It lists what the run waits for, and how to answer it. A call that
must not happen twice is listed as soon as it begins: as in flight while the process of the run
lives, and as unknown once the process is gone.`

// whole shows everything about a run.
func (v *verbs) whole(ctx context.Context, s *keep.Store, info engine.RunInfo, values bool) error {
	steps := []engine.Step{}
	err := s.Steps(ctx, info.ID, 0, func(step engine.Step) error {
		steps = append(steps, step)
		return nil
	})
	if err != nil {
		return err
	}
	post, err := s.Post(ctx, info.ID)
	if err != nil {
		return err
	}
	waits := v.waits(s, post, info)
	return v.c.PrintAs(v.json, struct {
		V     int            `json:"v"`
		Run   engine.RunInfo `json:"run"`
		Steps []engine.Step  `json:"steps"`
		Waits []keep.Waiting `json:"waits"`
	}{form, info, steps, waits}, func() string {
		var b strings.Builder
		b.WriteString(headOf(info) + "\n")
		b.WriteString(treeOf(steps, info.Live, values))
		for _, said := range append(taken(post, steps), keep.Sent(post)...) {
			b.WriteString("\n" + text.Visible(said) + "\n")
		}
		b.WriteString(endOf(s, info, waits))
		return strings.TrimRight(b.String(), "\n")
	})
}

// taken lists, as texts, the answers that steps of a run have taken.
func taken(post *journal.Post, steps []engine.Step) (said []string) {
	for _, step := range steps {
		if is, ok := post.Took(step); ok {
			said = append(said, keep.Answered(step.ID, is))
		}
	}
	return said
}

// waits lists what a run waits for. A run that was carried out elsewhere and has ended waits for nothing: it is not
// resumed.
func (v *verbs) waits(s *keep.Store, post *journal.Post, info engine.RunInfo) []keep.Waiting {
	if v.from != nil && !info.Live && !s.IsFile(info.ID) {
		return []keep.Waiting{}
	}
	return s.Waits(post, info.ID)
}

// headOnly shows a run about which nothing more is known.
func (v *verbs) headOnly(info engine.RunInfo) error {
	return v.c.PrintAs(v.json, struct {
		V   int            `json:"v"`
		Run engine.RunInfo `json:"run"`
	}{form, info}, func() string { return headOf(info) })
}

func headOf(r engine.RunInfo) string {
	said := fmt.Sprintf("run %s of %s: %s", r.ID, text.Visible(r.Script), statusOf(r))
	if r.Live && r.Owner.PID != 0 {
		said += fmt.Sprintf(" in process %d of %s", r.Owner.PID, r.Owner.Host)
	}
	said += fmt.Sprintf("\nbegan %s, %s, %s", r.Begun.Local().Format(time.DateTime), text.Count(r.Steps, "step"), keep.USD(r.Usage))
	if r.Parent != "" {
		said += "\na fork of " + text.Visible(r.Parent)
	}
	return said
}

// endOf describes how a run ended, or how it can be continued.
func endOf(s *keep.Store, r engine.RunInfo, waits []keep.Waiting) string {
	var b strings.Builder
	for _, w := range waits {
		fmt.Fprintf(&b, "\n%s waits for %s\n", text.Visible(w.Step), text.Visible(w.For))
		if w.Data != nil {
			b.WriteString("  " + text.Visible(text.Clip(string(w.Data), shown)) + "\n")
		}
		b.WriteString("  " + w.Line + "\n")
	}
	onward := "\nit continues with " + s.Line("resume", r.ID) + "\n"
	switch {
	case r.Live:
	case r.Status == engine.RunDone:
		b.WriteString("\nresult: " + text.Terminal(r.Text) + "\n")
	case r.Status == engine.RunParked, r.Status == engine.RunRunning:
		b.WriteString(onward)
	case r.Status == engine.RunCancelled && r.Err == nil:
		b.WriteString("\n" + cmp.Or(text.Visible(r.Cancel), "it was cancelled") + "\n" + onward)
	case r.Err != nil:
		var failed engine.Error
		if json.Unmarshal(r.Err, &failed) == nil {
			fmt.Fprintf(&b, "\n%s: %s\n", text.Visible(string(failed.Code)), text.Visible(failed.Message))
			if again := s.Again(r.ID, &failed); again != "" {
				onward = "\n" + again + "\n"
			}
		}
		b.WriteString(onward)
	default:
		b.WriteString(onward)
	}
	return b.String()
}

// scope is a segment of positions, with the segments below it.
type scope struct {
	name  string
	step  *engine.Step
	below []*scope
}

// treeOf draws the steps by their positions.
func treeOf(steps []engine.Step, live, values bool) string {
	top := &scope{}
	for i := range steps {
		at := top
		for part := range strings.SplitSeq(journal.Position(steps[i].ID), "/") {
			next := slices.IndexFunc(at.below, func(s *scope) bool { return s.name == part && s.step == nil })
			if next < 0 {
				next = len(at.below)
				at.below = append(at.below, &scope{name: part})
			}
			at = at.below[next]
		}
		at.step = &steps[i]
	}
	var b strings.Builder
	var draw func(s *scope, indent string)
	draw = func(s *scope, indent string) {
		for len(s.below) == 1 && s.step == nil && s.name != "" { // segments with a single child share a line
			only := s.below[0]
			s = &scope{s.name + "/" + only.name, only.step, only.below}
		}
		if s.name != "" {
			line := indent + text.Visible(s.name) + stepLine(s.step, live)
			indent += "  "
			if s.step != nil {
				line += valueLine(s.step, values, indent)
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		for _, below := range s.below {
			draw(below, indent)
		}
	}
	draw(top, "")
	return b.String()
}

// dueOf returns when a sleep ends. A sleep records that when it begins.
func dueOf(s *engine.Step) (due time.Time, ok bool) {
	var out struct{ Value time.Time }
	if s.Kind != engine.EffectSleep || s.State != engine.StepDone || json.Unmarshal(s.Outcome, &out) != nil {
		return due, false
	}
	return out.Value, true
}

// stateOf returns the state of a step for people. live says whether a process holds the run.
func stateOf(s *engine.Step, live bool) string {
	switch {
	case s.State != engine.StepIntent:
		return string(s.State)
	case live:
		return "in flight"
	}
	return "unknown"
}

// stepLine describes how far a step is, and what it used.
func stepLine(s *engine.Step, live bool) string {
	if s == nil {
		return ""
	}
	if due, ok := dueOf(s); ok {
		return "  sleep until " + due.Local().Format(time.DateTime)
	}
	said := fmt.Sprintf("  %s %s", stateOf(s, live), s.Kind)
	if s.Name != "" {
		said += " " + text.Visible(s.Name)
	}
	if d := s.Ended.Sub(s.Begun); s.State != engine.StepIntent && s.Ended.After(s.Begun) {
		said += ", " + term.Duration(d)
	}
	if s.Usage != (model.Usage{}) {
		said += fmt.Sprintf(", %d+%d tokens", s.Usage.In, s.Usage.Out)
	}
	if s.Usage.CostUSD > 0 {
		said += ", " + keep.USD(s.Usage)
	}
	return said
}
