package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// spent is the total cost of some calls.
type spent struct {
	Of    []string    `json:"of"` // a name for each key of --by
	Calls int         `json:"calls"`
	Usage model.Usage `json:"usage"`
}

func (v *verbs) cost() *cobra.Command {
	var by, script string
	cmd := &cobra.Command{Use: "cost [RUN...]", Short: "Add up the cost of runs", Long: "Cost adds up the tokens and the money that the model calls of runs used, for all runs if none is named. A fork does not count what it took from another run."}
	cmd.Flags().StringVar(&by, "by", "flow", "one or more of `flow`, agent, model and node, separated by commas")
	cmd.Flags().StringVar(&script, "script", "", "only runs of scripts whose path contains this `TEXT`")
	cmd.RunE = v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		keys := strings.Split(by, ",")
		for i, key := range keys {
			if slices.Contains(keys[:i], key) {
				return term.Usagef("name it once", "--by has %q twice", key)
			}
			if words := []string{"flow", "agent", "model", "node"}; !slices.Contains(words, key) {
				return term.Usagef(cmp.Or(diag.DidYouMean(key, words), "it is some of "+strings.Join(words, ", ")), "--by has no %q", key)
			}
		}
		var runs []engine.RunInfo
		for _, word := range args {
			info, err := named(ctx, s, word)
			if err != nil {
				return err
			}
			runs = append(runs, info)
		}
		if len(args) == 0 {
			var err error
			if runs, err = s.Runs(ctx, engine.RunFilter{Script: script}); err != nil {
				return err
			}
		}
		b := bill{keys: keys, rows: map[string]*spent{}}
		var out []string
		for _, r := range runs {
			err := b.add(ctx, s, r)
			switch why := unreadable(err); {
			case err == nil:
			case why == "" || len(args) > 0 && !unheard(err): // a run that was named is not left out
				return err
			default:
				out = append(out, r.ID)
				v.c.Report(diag.List{{Severity: diag.Warning, Message: "run " + r.ID + " is left out: " + why}}, nil)
			}
		}
		all := b.dearestFirst()
		return v.c.PrintAs(v.json, struct {
			V       int         `json:"v"`
			By      []string    `json:"by"`
			Runs    int         `json:"runs"`
			LeftOut []string    `json:"left_out,omitempty"`
			Rows    []*spent    `json:"rows"`
			Total   model.Usage `json:"total"`
		}{form, keys, len(runs) - len(out), out, all, b.sum.Usage}, func() string { return costTable(keys, all, &b.sum) })
	})
	return v.flagged(cmd)
}

// bill adds up what runs spent, by the values of its keys.
type bill struct {
	keys []string
	rows map[string]*spent // by their values of the keys
	sum  spent
}

// add adds the steps of a run: all of them, or none if they cannot all be read.
func (b *bill) add(ctx context.Context, s engine.Store, r engine.RunInfo) error {
	var steps []engine.Step
	err := s.Steps(ctx, r.ID, 0, func(step engine.Step) error {
		if step.Usage != (model.Usage{}) {
			steps = append(steps, engine.Step{ID: step.ID, Agent: step.Agent, Name: step.Name, Usage: step.Usage})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, step := range steps {
		of := text.Each(b.keys, func(key string) string { return cmp.Or(keyOf(key, r, step), "-") })
		at := strings.Join(of, "\x00")
		if b.rows[at] == nil {
			b.rows[at] = &spent{Of: of}
		}
		for _, row := range []*spent{b.rows[at], &b.sum} {
			row.Calls++
			row.Usage = row.Usage.Add(step.Usage)
		}
	}
	return nil
}

// unreadable returns why the steps of one run cannot be read, or "" for an error that is not about that run alone.
func unreadable(err error) string {
	if unheard(err) {
		return "no worker says how far it is"
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == diag.BlobGone {
		return e.Message
	}
	return ""
}

// dearestFirst returns the rows, with the most expensive one first.
func (b *bill) dearestFirst() []*spent {
	all := append([]*spent{}, slices.Collect(maps.Values(b.rows))...) // not nil: JSON has a list
	slices.SortFunc(all, func(a, b *spent) int {
		return cmp.Or(cmp.Compare(b.Usage.CostUSD, a.Usage.CostUSD), cmp.Compare(b.Usage.In+b.Usage.Out, a.Usage.In+a.Usage.Out), slices.Compare(a.Of, b.Of))
	})
	return all
}

// keyOf returns the value of a key for a step.
func keyOf(key string, r engine.RunInfo, step engine.Step) string {
	switch key {
	case "flow":
		return r.Script
	case "agent":
		return step.Agent
	case "model":
		return step.Name
	}
	at := journal.Position(step.ID) // the node around the call
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		at = at[:i]
	}
	return at
}

func costTable(keys []string, all []*spent, sum *spent) string {
	return term.Table(2, func(w io.Writer) {
		fmt.Fprintln(w, strings.ToUpper(strings.Join(keys, "\t"))+"\tCALLS\tIN\tOUT\tCOST")
		for _, row := range append(all, sum) {
			of := row.Of
			if row == sum {
				of = append([]string{"all"}, make([]string, len(keys)-1)...)
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", strings.Join(text.Each(of, text.Visible), "\t"), row.Calls, row.Usage.In, row.Usage.Out, keep.USD(row.Usage))
		}
	})
}
