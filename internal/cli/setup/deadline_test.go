package setup

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// The time of a run is counted from the start of the command, and the timeout error says which flag allows more.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		time.Sleep(20 * time.Millisecond) // in the bubble: the time of loading
		ctx, cancel := (&RunFlags{Timeout: 50 * time.Millisecond}).Deadline(t.Context(), begun)
		defer cancel()
		<-ctx.Done()
		var e *engine.Error
		if !errors.As(context.Cause(ctx), &e) || e.Code != diag.Timeout || e.Message != "the run did not end within 50ms" || e.Help == "" {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		if took := time.Since(begun); took != 50*time.Millisecond {
			t.Errorf("it ended after %s", took)
		}
		free, cancel := (&RunFlags{}).Deadline(t.Context(), begun)
		defer cancel()
		if _, bounded := free.Deadline(); bounded {
			t.Error("a run without --timeout is bounded")
		}
	})
}
