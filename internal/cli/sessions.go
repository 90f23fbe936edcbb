package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// sessionsVerb lists, shows and removes what run --session keeps.
func sessionsVerb(c *term.Console) *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List, show and remove sessions",
		Long: `Sessions keep the conversation and the notes of runs with --session ID. They are stored with the
runs of the user in $XDG_STATE_HOME/agentscript/runs.db, or in the file runs.db in the directory of
--session-store.`,
		RunE: noSubverb,
	}
	with := func(f func(ctx context.Context, s engine.SessionStore, args []string) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if _, err := os.Stat(dir); dir != "" && errors.Is(err, fs.ErrNotExist) { // listing creates no directory
				return term.Usagef("run --session ID --session-store "+dir+" makes it", "there is no directory %s", dir)
			}
			s, done, err := setup.FindSessions(ctx, c, dir)
			if err != nil {
				return setup.StoreFailure(err)
			}
			defer done() // what was removed is deleted from the disk
			return setup.StoreFailure(f(ctx, s, args))
		}
	}
	ls := &cobra.Command{Use: "ls", Short: "List the sessions", Args: cobra.NoArgs, RunE: with(func(ctx context.Context, s engine.SessionStore, _ []string) error {
		all, err := s.Sessions(ctx) // next to an error, it returns those that could be read
		if len(all) == 0 && !asJSON {
			return err
		}
		return errors.Join(err, c.PrintAs(asJSON, append([]engine.SessionInfo{}, all...), func() string { return sessionList(all) }))
	})}
	show := &cobra.Command{Use: "show ID", Short: "Show the conversation and the notes of a session", RunE: with(func(ctx context.Context, s engine.SessionStore, args []string) error {
		if len(args) != 1 {
			return term.Usagef("usage: agentscript sessions show ID", "show takes one ID, and got %d", len(args))
		}
		entries, err := s.ReadSession(ctx, args[0])
		if err != nil {
			return err
		}
		t, err := run.ReadTranscript(entries["transcript"].Text)
		if err != nil {
			return err
		}
		notes := map[string]string{}
		for key, e := range entries {
			if name, ok := strings.CutPrefix(key, "memory/"); ok {
				notes[strings.TrimSuffix(name, "/")] = e.Text
			}
		}
		return c.PrintAs(asJSON, struct {
			Messages []model.Message   `json:"messages"`
			Notes    map[string]string `json:"notes"`
		}{append([]model.Message{}, t.Messages...), notes}, func() string { return sessionText(t, notes) })
	})}
	rm := &cobra.Command{Use: "rm ID...", Short: "Remove sessions", RunE: with(func(ctx context.Context, s engine.SessionStore, args []string) error {
		if len(args) == 0 {
			return term.Usagef("usage: agentscript sessions rm ID...", "rm needs the ID of a session")
		}
		for _, id := range args {
			if err := s.DeleteSession(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})}
	for _, sub := range []*cobra.Command{ls, show, rm} {
		sub.Flags().StringVar(&dir, "session-store", "", "the `DIR` that holds the sessions")
		cmd.AddCommand(sub)
	}
	ls.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	show.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func sessionList(all []engine.SessionInfo) string {
	return term.Table(2, func(w io.Writer) {
		fmt.Fprintln(w, "ID\tSCRIPT\tBYTES\tUPDATED")
		for _, s := range all {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", s.ID, s.Script, s.Bytes, s.Updated.Format(time.RFC3339))
		}
	})
}

func sessionText(t *run.Transcript, notes map[string]string) string {
	var b strings.Builder
	for _, m := range t.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(&b, "%s: calls %s %s\n", m.Role, p.Call.Name, p.Call.Args)
			case p.Result != nil:
				fmt.Fprintf(&b, "%s: %s returned %s\n", m.Role, p.Result.Name, p.Result.Text)
			case p.Kind == model.PartText:
				fmt.Fprintf(&b, "%s: %s\n", m.Role, p.Text)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		fmt.Fprintf(&b, "\nnotes %s:\n%s\n", name, notes[name])
	}
	return strings.Trim(b.String(), "\n")
}
