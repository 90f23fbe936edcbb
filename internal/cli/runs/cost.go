package runs

import (
	"cmp"
	"context"
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

// spent is what some calls cost together.
type spent struct {
	Of    []string    `json:"of"` // a name for each of --by
	Calls int         `json:"calls"`
	Usage model.Usage `json:"usage"`
}

func (v *verbs) cost() *cobra.Command {
	var by, script string
	cmd := &cobra.Command{Use: "cost [RUN...]", Short: "Add up what runs cost", Long: "Cost adds up the tokens and the money of the model calls of runs, all of them where none is named. A fork does not count what it took from another run."}
	cmd.Flags().StringVar(&by, "by", "flow", "one or more of `flow`, agent, model and node, with commas between them")
	cmd.Flags().StringVar(&script, "script", "", "only runs of scripts whose path holds this `TEXT`")
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
		all, sum, err := v.costs(ctx, s, runs, keys)
		if err != nil {
			return err
		}
		return v.c.PrintAs(v.json, struct {
			V     int         `json:"v"`
			By    []string    `json:"by"`
			Runs  int         `json:"runs"`
			Rows  []*spent    `json:"rows"`
			Total model.Usage `json:"total"`
		}{form, keys, len(runs), all, sum.Usage}, func() string { return costTable(keys, all, sum) })
	})
	return v.flagged(cmd)
}

// costs adds up the steps of runs, the dearest first. A run that goes on elsewhere, and of which nobody says how far it is, is
// left out with a warning.
func (v *verbs) costs(ctx context.Context, s engine.Store, runs []engine.RunInfo, keys []string) ([]*spent, *spent, error) {
	rows := map[string]*spent{}
	sum := &spent{}
	for _, r := range runs {
		err := s.Steps(ctx, r.ID, 0, func(step engine.Step) error {
			if step.Usage == (model.Usage{}) {
				return nil
			}
			of := text.Each(keys, func(key string) string { return cmp.Or(keyOf(key, r, step), "-") })
			at := strings.Join(of, "\x00")
			if rows[at] == nil {
				rows[at] = &spent{Of: of}
			}
			for _, row := range []*spent{rows[at], sum} {
				row.Calls++
				row.Usage = row.Usage.Add(step.Usage)
			}
			return nil
		})
		if unheard(err) {
			v.c.Report(diag.List{{Severity: diag.Warning, Message: "run " + r.ID + " is left out: no worker says how far it is"}}, nil)
		} else if err != nil {
			return nil, nil, err
		}
	}
	all := append([]*spent{}, slices.Collect(maps.Values(rows))...)
	slices.SortFunc(all, func(a, b *spent) int {
		return cmp.Or(cmp.Compare(b.Usage.CostUSD, a.Usage.CostUSD), cmp.Compare(b.Usage.In+b.Usage.Out, a.Usage.In+a.Usage.Out), slices.Compare(a.Of, b.Of))
	})
	return all, sum, nil
}

// keyOf is what a step is counted for.
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
