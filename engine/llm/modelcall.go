package llm

import (
	"context"
	"slices"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/limiter"
	"github.com/agentscript/agentscript/engine/model"
)

// modelCall is a call of a model with all its attempts, at one model after the other. Attempts are numbered across
// models.
type modelCall struct {
	reg   *Registry
	clock clock.Clock // of waits
	e     *engine.Effect
	req   *model.Request
	sink  engine.Sink // receives tokens, if the effect streams, and retries
	keys  *redact.Set

	begun    time.Time // of the first attempt
	attempts int
	maxOut   int32       // limit of the next attempt's answer; 0: no budget limits it
	virtual  bool        // clock belongs to a run in virtual time
	used     model.Usage // by attempts that failed
	failed   []failure
	stream   *stream // of the last attempt
}

// run asks the models in order until one answers.
func (t *modelCall) run(ctx context.Context, name string) engine.Outcome {
	models := t.reg.modelsOf(name, t.req)
	for i, model := range models {
		r, err := t.askModel(ctx, model)
		if err == nil {
			return engine.Outcome{Response: r, Usage: t.used.Add(r.Usage), Attempt: t.attempts}
		}
		if i+1 == len(models) || ctx.Err() != nil || !t.onward(err, i == 0) || t.attempts > 0 && !t.mayGoOn() || !t.reserved(ctx, err) {
			break
		}
		t.emitRetry(err, 0, model, models[i+1])
	}
	err := t.verdict()
	return engine.Outcome{Err: err, Usage: err.Usage, Attempt: err.Attempt}
}

// reserved reports whether the budgets of the call allow another attempt in addition to the earlier ones. If they do
// not, it notes that in the error.
func (t *modelCall) reserved(ctx context.Context, err *engine.Error) bool {
	maxOut, ok := t.e.Again(ctx, t.used)
	if t.maxOut = maxOut; !ok {
		err.Notes = append(slices.Clip(err.Notes), "it is not tried again: the budget has no room for another attempt in addition to this one")
	}
	return ok
}

// askModel makes the attempts at one model.
func (t *modelCall) askModel(ctx context.Context, model string) (*model.Response, *engine.Error) {
	to, err := t.reg.resolve(model)
	if err != nil {
		return nil, t.note(model, 0, t.keys.Error(err))
	}
	if key := to.key; key != "" && !t.keys.Holds(key) { // a store may return a new key at each lookup
		t.keys = t.reg.keys(key)
	}
	track := t.reg.track(t.clock, to)
	a := &modelAttempts{modelCall: t, target: to, track: track, name: model}
	defer a.end()
	for n := 1; ; n++ {
		r, err := a.attempt(ctx, n)
		if err == nil {
			return r, nil
		}
		wait, again := t.again(ctx, err, n)
		if !again || a.shut || !t.reserved(ctx, err) {
			return nil, err
		}
		t.emitRetry(err, wait, model, model)
		t.pause(ctx, wait)
	}
}

// note records the failure of an attempt and adds its usage.
func (t *modelCall) note(model string, attempt int, err *engine.Error) *engine.Error {
	if attempt > 0 {
		t.used = t.used.Add(err.Usage)
	}
	t.failed = append(t.failed, failure{model, attempt, err})
	return err
}

// emitRetry notifies listeners of a failed attempt and of what follows.
func (t *modelCall) emitRetry(err *engine.Error, wait time.Duration, from, to string) {
	if t.sink != nil {
		t.sink(engine.Token{Attempt: t.attempts, Seq: t.stream.passed(), Retry: &engine.Retry{Err: err, Wait: wait, From: from, To: to}})
	}
}

// modelAttempts are the attempts at one model.
type modelAttempts struct {
	*modelCall
	*target
	track *limiter.Track
	name  string
	last  *engine.Error
	probe bool // this call finds out whether the model is available again
	shut  bool // the model is not asked
	asked bool
}

// attempt makes one call under a permit, which is held until the answer has ended.
func (a *modelAttempts) attempt(ctx context.Context, n int) (*model.Response, *engine.Error) {
	permit, err := a.admitted(ctx, n)
	if err != nil {
		a.last = err
		return nil, a.note(a.name, 0, err)
	}
	used := 0
	defer func() { permit.Release(used) }() // even if a host's model panics
	a.asked = true
	if a.attempts++; a.attempts == 1 {
		a.begun = a.clock.Now()
	}
	c := &call{target: a.target, reg: a.reg, req: a.req, keys: a.keys, maxOut: int(a.maxOut), short: a.e.Short, e: a.e}
	c.refused = func(err *engine.Error) { a.emitRetry(a.keys.Error(err), 0, a.name, a.name) }
	if a.e.Stream && a.sink != nil {
		a.stream = newStream(a.sink, a.keys, a.attempts)
		c.sink = a.stream.add
		defer a.stream.close()
	}
	r, err := a.reached(ctx, c)
	if err == nil {
		used = r.Usage.In + r.Usage.Out
		if r.Provider == "" {
			r.Provider = a.provider
		}
		permit.Served()
		a.last = nil
		return r, nil
	}
	err = a.keys.Error(err)
	a.last = err
	used = err.Usage.In + err.Usage.Out
	a.limited(permit, err)
	return nil, a.note(a.name, a.attempts, err)
}

// limited makes the other calls of the model wait as well when the provider wants fewer of them. A wait that is too
// long for this call is too long for all: they continue with the next model.
func (a *modelAttempts) limited(permit limiter.Permit, err *engine.Error) {
	asked := time.Duration(0)
	if err.Model != nil {
		asked = err.Model.RetryAfter
	}
	switch {
	case err.Kind != engine.KindRateLimit && (err.Kind != engine.KindOverloaded || asked == 0):
	case asked > a.reg.retry.LongestAsked:
		permit.Limited(0)
	case asked > 0:
		permit.Limited(asked)
	default:
		permit.Limited(a.backoff(1))
	}
}

// admitted waits for a permit and checks the breaker, before the wait and after it.
func (a *modelAttempts) admitted(ctx context.Context, n int) (limiter.Permit, *engine.Error) {
	if wait := a.track.Shut(); wait > 0 && !a.probe {
		a.shut = true
		return limiter.Permit{}, a.stays(wait)
	}
	tokens := 0
	if a.reg.countsTokens {
		tokens = reservation(a.req, int(a.maxOut))
	}
	// A call that was refused twice takes precedence, so that no call keeps being refused while others are served.
	permit, err := a.track.Acquire(ctx, n > 2, tokens)
	if err != nil {
		return permit, a.interrupted(ctx)
	}
	if !a.probe {
		open, probe, wait := a.track.Open()
		if open {
			permit.Release(0)
			a.shut = true
			return permit, a.stays(wait)
		}
		a.probe = probe
	}
	if ctx.Err() != nil {
		permit.Release(0)
		return permit, a.interrupted(ctx)
	}
	return permit, nil
}

// interrupted returns the error of a call whose context ended while it waited.
func (a *modelAttempts) interrupted(ctx context.Context) *engine.Error {
	p := a.plan(a.req, a.reg.timeouts, a.keys)
	return p.Interrupted(ctx)
}

// end reports the call's result at this model to the breaker.
func (a *modelAttempts) end() {
	switch {
	case a.shut:
	case a.asked && a.last == nil:
		a.track.Answered()
	case a.asked && a.broken():
		a.track.Failed()
	case a.asked && a.last.Kind != engine.KindCancelled && a.last.Kind != engine.KindTimeout:
		a.track.Answered()
	case a.probe:
		a.track.Unknown()
	}
}

// broken reports whether the model itself failed: the next call would fail, too.
func (a *modelAttempts) broken() bool { return transient(a.last) || a.last.Kind == engine.KindQuota }
