package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// longestEnd is how long the process of a run may take to end it.
const longestEnd = 5 * time.Second

func (v *verbs) cancel() *cobra.Command {
	return v.flagged(&cobra.Command{Use: "cancel RUN [REASON]", Short: "Cancel a run, no matter which process it runs in", RunE: v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		if len(args) == 0 || len(args) > 2 {
			return term.Usagef("usage: agentscript runs cancel RUN [REASON]", "cancel takes a RUN and a REASON, and got %d arguments", len(args))
		}
		info, err := kept(ctx, s, args[0])
		if unheard(err) && info.ID != "" {
			return v.cancelUnheard(ctx, s, info, strings.Join(args[1:], ""))
		}
		if err != nil {
			return err
		}
		if !info.Live && info.Status != engine.RunRunning && info.Status != engine.RunParked {
			return term.Usagef("", "run %s has ended already: it is %s", info.ID, statusOf(info))
		}
		if own, problem := keep.ReadSettings(info.ID, info.Settings); problem == nil { // otherwise it has no secrets that are known here
			own.Hide(v.c)
		}
		if err := s.CancelRun(ctx, info.ID, v.hidden(strings.Join(args[1:], ""))); err != nil {
			return err
		}
		for begun := time.Now(); info.Live && time.Since(begun) < longestEnd; {
			select {
			case <-ctx.Done():
				return &term.Failure{Code: term.ExitInterrupted}
			case <-time.After(pause / 4):
			}
			if info, err = s.Run(ctx, info.ID); err != nil {
				return err
			}
		}
		if info, err = s.Run(ctx, info.ID); err != nil {
			return err
		}
		if !info.Live && (info.Status == engine.RunRunning || info.Status == engine.RunParked) { // its process has died in the meantime
			if err := s.CancelRun(ctx, info.ID, v.hidden(strings.Join(args[1:], ""))); err != nil {
				return err
			}
			if info, err = s.Run(ctx, info.ID); err != nil {
				return err
			}
		}
		printed := v.c.PrintAs(v.json, struct {
			V      int    `json:"v"`
			Run    string `json:"run"`
			Status string `json:"status"`
		}{form, info.ID, statusOf(info)}, func() string { return info.ID + " " + statusOf(info) })
		if printed == nil && info.Live {
			return &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: "the process of the run has not ended it yet",
				Help: []string{"it ends the run as soon as it continues; once the process is gone, resuming the run ends it"}}}}
		}
		return printed
	})})
}

// unheard reports whether err means that nobody can say how far a run that is carried out elsewhere has come.
func unheard(err error) bool {
	e, ok := errors.AsType[*engine.Error](err)
	return ok && e.Code == diag.NoWorker
}

// cancelUnheard requests that the next worker that takes the run up ends it.
func (v *verbs) cancelUnheard(ctx context.Context, s *keep.Store, info engine.RunInfo, reason string) error {
	if err := s.CancelRun(ctx, info.ID, v.hidden(reason)); err != nil {
		return err
	}
	return &term.Failure{Code: term.ExitFailed, Found: diag.List{{Message: "no worker has the run " + info.ID + ": the first one that takes it up ends it"}}}
}

func (v *verbs) remove() *cobra.Command {
	return v.flagged(&cobra.Command{Use: "rm RUN...", Short: "Remove runs", RunE: v.with(func(ctx context.Context, s *keep.Store, args []string) error {
		if len(args) == 0 {
			return term.Usagef("usage: agentscript runs rm RUN...", "rm needs a RUN")
		}
		var ids []string
		for _, word := range args { // either all of them exist, or none is removed
			info, err := kept(ctx, s, word)
			if err != nil {
				return err
			}
			if !slices.Contains(ids, info.ID) {
				ids = append(ids, info.ID)
			}
		}
		for _, id := range ids {
			if err := s.DeleteRun(ctx, id); err != nil {
				return err
			}
		}
		if !v.json {
			return nil
		}
		return v.c.PrintAs(true, struct {
			V       int      `json:"v"`
			Removed []string `json:"removed"`
		}{form, ids}, nil)
	})})
}
