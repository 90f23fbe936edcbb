package runs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

func (v *verbs) collect() *cobra.Command {
	var older, most string
	cmd := &cobra.Command{Use: "gc", Short: "Remove old runs and free their disk space", Args: cobra.NoArgs,
		Long: `Gc removes the runs whose last write is older than --older, and the oldest runs above --max-bytes.
It keeps runs that are running or parked.`}
	cmd.Flags().StringVar(&older, "older", "30d", "remove runs that are older than this `DURATION`, such as 30d or 12h")
	cmd.Flags().StringVar(&most, "max-bytes", "1GB", "keep at most this `SIZE`: 500MB, 1GB, or a number of bytes")
	cmd.RunE = v.with(func(ctx context.Context, s *keep.Store, _ []string) error {
		age, err := days(older)
		if err != nil || age < 0 {
			return term.Usagef("write 30d, 12h or 90m", "--older %q is no duration", older)
		}
		bytes, ok := size(most)
		if !ok {
			return term.Usagef("write 500MB, 1GB, or bytes", "--max-bytes %q is no size", most)
		}
		done, err := s.Collect(ctx, sqlite.Retention{Age: max(age, 1), Bytes: bytes}) // an age of 0 would keep everything
		if err != nil {
			return err
		}
		return v.c.PrintAs(v.json, struct {
			V     int   `json:"v"`
			Runs  int   `json:"runs"`
			Bytes int64 `json:"bytes"`
		}{form, done.Runs, done.Bytes}, func() string {
			return fmt.Sprintf("removed %s, %d kB", text.Count(done.Runs, "run"), done.Bytes/1000)
		})
	})
	return v.flagged(cmd)
}

// days parses a duration that may be in days.
func days(s string) (time.Duration, error) {
	if n, ok := strings.CutSuffix(s, "d"); ok {
		d, err := strconv.ParseUint(n, 10, 16)
		return time.Duration(d) * 24 * time.Hour, err
	}
	return time.ParseDuration(s)
}

// size parses a number of bytes that may have a unit.
func size(s string) (int64, bool) {
	times := int64(1)
	for _, unit := range []struct {
		name  string
		times int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}} {
		if n, ok := strings.CutSuffix(s, unit.name); ok {
			s, times = n, unit.times
			break
		}
	}
	n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 32+31)
	if err != nil || n == 0 || int64(n) > (1<<62)/times {
		return 0, false
	}
	return int64(n) * times, true
}
