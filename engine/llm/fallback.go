package llm

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// WithFallbacks names models that are asked, in order, when those that a request names cannot answer. A model cannot
// answer if its attempts or its account's quota are used up, if the provider does not know it or requests a long wait,
// if it does not support a part of the request, or if the request is too long for it. A wrong key or name of the first
// model is a mistake that must be visible, and ends the call.
func WithFallbacks(models ...string) Option {
	return func(r *Registry) { r.fallbacks = slices.Clone(models) }
}

// WithFallbackOnRefusal also continues with the next model when one refuses to answer or its provider's filter does.
func WithFallbackOnRefusal() Option { return func(r *Registry) { r.onRefusal = true } }

// modelsOf returns the models that a call may ask, each once.
func (r *Registry) modelsOf(name string, req *model.Request) []string {
	if len(req.Fallbacks) == 0 && len(r.fallbacks) == 0 {
		return []string{name}
	}
	all := []string{name}
	for _, m := range slices.Concat(req.Fallbacks, r.fallbacks) {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// onward reports whether a model's failure makes the call continue with the next one.
func (t *modelCall) onward(err *engine.Error, first bool) bool {
	switch err.Kind {
	case engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindNetwork, engine.KindTimeout, engine.KindBadResponse,
		engine.KindQuota, engine.KindNotFound, engine.KindUnsupported, engine.KindContextLength:
		return true
	case engine.KindTruncated: // unless the script's own token limit was the cause
		return err.Model != nil && err.Model.Retryable
	case engine.KindRefused:
		return t.reg.onRefusal
	case engine.KindAuth, engine.KindConfig:
		return !first
	}
	return false
}

// failure is the failure of one attempt, or the reason why a model was not asked.
type failure struct {
	model   string
	attempt int // 0 if there was no attempt
	err     *engine.Error
}

// verdict returns the error of a call whose attempts all failed: the last attempt's, with the failures of the others as
// notes. If the call was interrupted while it waited, that is the error.
func (t *modelCall) verdict() *engine.Error {
	last := len(t.failed) - 1
	if kind := t.failed[last].err.Kind; kind != engine.KindCancelled && kind != engine.KindTimeout {
		for i, f := range t.failed {
			if f.attempt > 0 {
				last = i
			}
		}
	}
	f := t.failed[last]
	e := *f.err // a host's model makes its own errors, and may keep them
	e.Usage = t.used
	e.Attempt = max(t.attempts, 1)
	if f.attempt > 1 {
		e.Message = withAttempt(f.model, e.Message, f.attempt, f.attempt)
	}
	e.Notes = slices.Concat(e.Notes, notes(slices.Delete(slices.Clone(t.failed), last, last+1), t.attempts > 1))
	return &e
}

// notes lists the failures of attempts, equal ones in one line.
func notes(failed []failure, numbered bool) []string {
	var out []string
	for i := 0; i < len(failed); {
		f, next := failed[i], i+1
		for next < len(failed) && failed[next].model == f.model && failed[next].err.Message == f.err.Message && failed[next].attempt > 0 && f.attempt > 0 {
			next++
		}
		text := f.err.Message
		if f.attempt > 0 && numbered {
			text = withAttempt(f.model, text, f.attempt, failed[next-1].attempt)
		}
		out = append(out, text)
		i = next
	}
	return out
}

// withAttempt inserts the number of the attempt, or of the first and last, after the model's name.
func withAttempt(model, message string, first, last int) string {
	attempt := fmt.Sprintf("attempt %d", first)
	switch last - first {
	case 0:
	case 1:
		attempt = fmt.Sprintf("attempts %d and %d", first, last)
	default:
		attempt = fmt.Sprintf("attempts %d to %d", first, last)
	}
	if rest, ok := strings.CutPrefix(message, model+":"); ok {
		return model + " (" + attempt + "):" + rest
	}
	return attempt + ": " + message
}

// stays returns the error of a model that is not asked because its last calls all failed.
func (t *target) stays(wait time.Duration) *engine.Error {
	p := t.plan(nil, Timeouts{}, nil)
	e := p.Fail(engine.KindOverloaded, nil, "wait, or name models to fall back to: model = [\"a/x\", \"b/y\"]",
		"it was not asked, since its last calls all failed; it is asked again in %s", max(wait, time.Second).Round(time.Second))
	e.Model.RetryAfter, e.Model.Retryable = wait, false
	return e
}
