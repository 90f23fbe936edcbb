package run

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
)

// MaxSleep is the maximum duration of one [Sleep].
const MaxSleep = 366 * 24 * time.Hour

// Sleep parks a branch until d has passed, or until the branch must stop. The time at which it ends is recorded
// before it waits: a resumed run continues at the time that was set first, or at once if that time has passed.
func Sleep(b engine.Branch, d time.Duration) error {
	own := b.(*exec.Branch)
	if err := own.Sched.Err(); err != nil {
		return own.Locate(err, nil)
	}
	if d < 0 || d > MaxSleep {
		return own.Locate(engine.Errorf(engine.KindInput, diag.WrongArgument, "a run sleeps for 0 to %d days, not for %s", MaxSleep/(24*time.Hour), d), nil)
	}
	until := own.Sched.Now().Add(d)
	due := generable.StrOf(until.UTC().Format(time.RFC3339Nano))
	e := ownEffect(own, engine.EffectSleep, "sleep", engine.ClassIdempotent, &engine.SleepRequest{For: d})
	out := own.OwnAndWait(e, func(context.Context) engine.Outcome { return engine.Outcome{Value: due, Attempt: 1} }, func(out *engine.Outcome) error {
		if !generable.Equal(out.Value, due) {
			recorded, err := timeIn(out.Value, "what was recorded of sleep")
			if err != nil {
				return err
			}
			until = recorded
		}
		return own.Sched.SleepUntil(until)
	})
	if out.Err != nil {
		return own.Locate(out.Err, nil)
	}
	return nil
}

// timeRequest asks for the time. Only their positions distinguish two such requests.
type timeRequest struct{}

// Digest implements [engine.Payload].
func (timeRequest) Digest() [32]byte { return abi.Hash([]byte("time")) }

// Now returns the time of the run in whole milliseconds. It is an effect: a replay returns what was recorded.
func Now(b engine.Branch) (time.Time, error) {
	own := b.(*exec.Branch)
	if err := own.Sched.Err(); err != nil {
		return time.Time{}, own.Locate(err, nil)
	}
	e := ownEffect(own, engine.EffectTime, "now", engine.ClassRead, timeRequest{})
	var clock engine.Handler = engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Value: generable.StrOf(own.Sched.Now().UTC().Format(TimeLayout)), Attempt: 1}
	})
	if by := own.Run.Spec.Prepared; by != nil && by.Timed != nil {
		clock = engine.Chain(clock, by.Timed)
	}
	out := own.Own(e, func(ctx context.Context) engine.Outcome { return clock.Do(ctx, e, nil) })
	if out.Err != nil {
		return time.Time{}, own.Locate(out.Err, nil)
	}
	at, err := timeIn(out.Value, "the answer to now()")
	return at.Truncate(time.Millisecond), own.Locate(err, nil)
}

// TimeLayout is the layout of times: RFC 3339 with milliseconds. It is used with times in UTC.
const TimeLayout = "2006-01-02T15:04:05.000Z07:00"

func timeIn(v generable.Value, what string) (time.Time, error) {
	text, _ := v.AsStr()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return at, engine.Errorf(engine.KindBadResponse, diag.WrongTypeAtBoundary, "%s is no time: %s", what, exec.Shown(v)).
			WithHelp(`a time is written "2026-01-31T09:00:00.000Z"`)
	}
	return at.UTC(), nil
}

// ownEffect returns an effect that the engine carries out itself, at the next position for its name in the running
// callback.
func ownEffect(b *exec.Branch, kind engine.EffectKind, name string, class engine.Class, req engine.Payload) *engine.Effect {
	return (&exec.InFlight{Effect: engine.Effect{Kind: kind, Name: name, Run: b.RunID(), At: nextPlace(b, name), Req: req, Class: class}}).Begin()
}

// nextPlace returns the next position for a word in the running callback.
func nextPlace(b *exec.Branch, word string) *engine.Frame {
	return b.InCallback().Child(word, "", b.Ordinal(exec.CallKey{Word: word}))
}
