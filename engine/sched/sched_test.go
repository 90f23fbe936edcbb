package sched_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/sched/schedtest"
)

// All schedulers fulfil the contract.
func TestSchedulers(t *testing.T) {
	t.Run("goroutines", func(t *testing.T) {
		schedtest.Run(t, func(t *testing.T) engine.Sched { return sched.NewGoSched(t.Context()) })
	})
	t.Run("virtual time", func(t *testing.T) {
		schedtest.Run(t, func(t *testing.T) engine.Sched { return sched.NewVirtual(t.Context()) })
	})
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			schedtest.Run(t, func(*testing.T) engine.Sched { return sched.NewCoopSched(seed) })
		})
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := sched.NewGoSched(ctx)
		time.AfterFunc(5*time.Millisecond, func() { cancel(errors.New("shutting down")) })
		err := s.Wait(func() bool { return false })
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindCancelled || e.Cause == nil || e.Cause.Error() != "shutting down" {
			t.Errorf("got %#v", err)
		}
	})
}

func TestDeadlineOfTheContextIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		s := sched.NewGoSched(ctx)
		if err := s.SleepUntil(time.Now().Add(time.Minute)); !errors.Is(err, engine.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// A host's own reason, an *Error, is passed on unchanged.
func TestCauseOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&engine.Error{Kind: engine.KindQuota, Code: diag.RateLimited, Message: "the tenant's month is over"})
	if err := sched.NewGoSched(ctx).Err(); !errors.Is(err, &engine.Error{Kind: engine.KindQuota}) {
		t.Errorf("got %v", err)
	}
}

// A handler may end its goroutine, as t.FailNow does. The branch then has no result, which is not the same as None.
func TestABranchThatLeavesItsGoroutineFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := sched.NewGoSched(t.Context()).Par(2, 0, func(i int, b engine.Sched) error {
			if i == 0 {
				runtime.Goexit()
			}
			return b.SleepUntil(b.Now().Add(time.Hour))
		})
		if err == nil || engine.IsControl(err) {
			t.Errorf("got %v", err)
		}
	})
}
