package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// States of runs that are shown to people and do not exist in the store.
const (
	stopped     = "stopped"     // running, but its process has ended without ending it
	interrupted = "interrupted" // cancelled in its own process, as with ctrl-C
)

// statusOf returns the state of a run for people.
func statusOf(r engine.RunInfo) string {
	switch {
	case r.Status == engine.RunRunning && !r.Live:
		return stopped
	case r.Status == engine.RunCancelled && r.Err != nil && !cancelledByAnother(r):
		return interrupted
	}
	return string(r.Status)
}

// cancelledByAnother reports whether a run was ended through the store, as its failure then says.
func cancelledByAnother(r engine.RunInfo) bool {
	var failed engine.Error
	err := json.Unmarshal(r.Err, &failed)
	return err == nil && strings.HasPrefix(failed.Message, store.ToCancel(r.ID, "").Message)
}

func (v *verbs) list() *cobra.Command {
	var status, script string
	var limit int
	cmd := &cobra.Command{Use: "ls", Short: "List runs, newest first", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		filter := engine.RunFilter{Script: script, Limit: limit}
		words := []string{"running", stopped, "parked", "done", "failed", "cancelled", interrupted}
		switch status {
		case "":
		case stopped, "running":
			filter.Status, filter.Limit = []engine.RunStatus{engine.RunRunning}, 0
		case "cancelled", interrupted:
			filter.Status, filter.Limit = []engine.RunStatus{engine.RunCancelled}, 0
		case "parked", "done", "failed":
			filter.Status = []engine.RunStatus{engine.RunStatus(status)}
		default:
			return term.Usagef("it is one of "+strings.Join(words, ", "), "there is no status %q", status)
		}
		if limit < 0 {
			return term.Usagef("0 lists all", "--limit must not be negative")
		}
		return v.listed(cmd.Context(), filter, status, limit)
	}}
	cmd.Flags().StringVar(&status, "status", "", "only runs that are `running`, stopped, parked, done, failed, cancelled or interrupted")
	cmd.Flags().StringVar(&script, "script", "", "only runs of scripts whose path contains this `TEXT`")
	cmd.Flags().IntVar(&limit, "limit", 50, "list at most `N` runs; 0 lists all")
	return v.flagged(cmd)
}

func (v *verbs) listed(ctx context.Context, filter engine.RunFilter, status string, limit int) error {
	s, place, err := v.at(ctx, v.store)
	if err != nil {
		return err
	}
	all, states := []engine.RunInfo{}, []string{}
	if s != nil {
		defer s.Close() // it was only read
		found, err := s.Runs(ctx, filter)
		if err != nil {
			return s.Of(v.failure(err))
		}
		for _, r := range found {
			if limit > 0 && len(all) == limit {
				break
			}
			state, err := listedState(ctx, s, r)
			if err != nil {
				return setup.StoreFailure(err)
			}
			if status == "" || status == state {
				all, states = append(all, r), append(states, state)
			}
		}
	}
	if v.json {
		return v.c.PrintAs(true, struct {
			V     int              `json:"v"`
			Store string           `json:"store"`
			Runs  []engine.RunInfo `json:"runs"`
		}{form, place.Path, all}, nil)
	}
	switch {
	case s == nil && place.Off:
		v.c.Report(diag.List{{Severity: diag.Info, Message: place.From + " is off: no runs are kept"}}, nil)
		return nil
	case len(all) == 0:
		said := "no run is kept yet"
		if s != nil {
			said = "there is no such run in " + place.Path
		}
		v.c.Report(diag.List{{Severity: diag.Info, Message: said, Help: []string{v.begins()}}}, nil)
		return nil
	}
	return v.c.Print(table(all, states, time.Now()))
}

// begins returns a hint with the command that begins a run.
func (v *verbs) begins() string {
	if v.from != nil {
		return strings.TrimSuffix(v.from.Use, "runs") + "run FILE begins one"
	}
	return "agentscript run FILE keeps its run"
}

// at opens the store, if it exists, and returns its place.
func (v *verbs) at(ctx context.Context, flag string) (*keep.Store, setup.StorePlace, error) {
	if v.from == nil {
		return keep.At(ctx, v.c, flag)
	}
	s, err := v.from.Open(ctx)
	return s, setup.StorePlace{Path: v.from.Place(), Named: true}, err
}

// listedState returns [statusOf] a run in a list. Lists do not say how a run failed.
func listedState(ctx context.Context, s *keep.Store, r engine.RunInfo) (string, error) {
	if r.Status != engine.RunCancelled {
		return statusOf(r), nil
	}
	whole, err := s.Run(ctx, r.ID)
	if err != nil && !gone(err) { // otherwise it was removed in the meantime
		return "", err
	}
	r.Err = whole.Err
	return statusOf(r), nil
}

func table(all []engine.RunInfo, states []string, now time.Time) string {
	return term.Table(2, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSTATUS\tSTEPS\tCOST\tAGE\tSCRIPT")
		for i, r := range all {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", r.ID, states[i], r.Steps, keep.USD(r.Usage), age(now.Sub(r.Begun)), text.Visible(r.Script))
		}
	})
}

// age returns how long ago something was, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
