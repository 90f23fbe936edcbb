package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// Letter is an answer on its way to a run.
type Letter struct {
	To     string        `json:"to"`              // a step that waits, by its id or position, or a wait, by its name
	Dedup  string        `json:"dedup,omitempty"` // lets one more answer be sent to a name; letters that share it are the same
	By     string        `json:"by,omitempty"`    // who sent it, and when
	At     time.Time     `json:"at"`
	Answer engine.Answer `json:"answer"`
}

// Mailbox is a store that delivers letters to the place where their runs execute. There a letter is checked and
// stored in one step, so that nothing happens to the run between the look at what it waits for and the answer.
type Mailbox interface {
	Deliver(ctx context.Context, run string, l Letter) error
}

// Checking is a store that can say whether an answer fits the step that waits for it, before the answer is stored.
type Checking interface {
	Fits(step string, a engine.Answer) *engine.Error
}

// Send sends an answer to a run: to a step that waits, by its id or position, or to a wait, by its name, which the
// run need not have reached yet. The first answer stays: an equal one changes nothing, and a different one is an
// error that says who sent what and when. The same applies to the single answer that can be queued for a name. A
// dedup lets one more answer be sent; answers that share a dedup are the same. by and at say who sent the answer and
// when.
func Send(ctx context.Context, s engine.Store, run, to, dedup, by string, at time.Time, a engine.Answer) error {
	return Deliver(ctx, s, run, Letter{to, dedup, by, at, a})
}

// Deliver is [Send] for a letter.
func Deliver(ctx context.Context, s engine.Store, run string, l Letter) error {
	if own, ok := s.(Mailbox); ok {
		return own.Deliver(ctx, run, l)
	}
	sent, err := Addressed(ctx, s, run, l)
	if err != nil || sent == nil {
		return err
	}
	is, err := s.Signal(ctx, run, *sent)
	if err != nil {
		return err
	}
	return same(is, *sent)
}

// Addressed returns the signal that [Send] would store for a letter, nil if an equal answer was sent before, or the
// error with which Send would refuse the letter.
func Addressed(ctx context.Context, s engine.Store, run string, l Letter) (*engine.Signal, error) {
	value, err := json.Marshal(l.Answer)
	if err != nil {
		return nil, engine.Errorf(engine.KindInput, diag.BadSignal, "the answer has no JSON form: %w", err)
	}
	to := l.To
	sent := engine.Signal{Name: to, Dedup: l.Dedup, Value: value, By: l.By, At: l.At.UTC()}
	info, err := s.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	var named *engine.Step // by its id or position
	p, err := readPost(ctx, s, info, func(step engine.Step) {
		if step.ID == to || Position(step.ID) == to {
			named = &step
		}
	})
	if err != nil {
		return nil, err
	}
	step := p.open(named, to)
	var before *engine.Signal
	switch {
	case step != nil:
		sent.Step, sent.Name = step.ID, ""
		sent.Dedup = cmp.Or(l.Dedup, step.ID+"#"+text.Count(int(step.Taken), "answer"))
		if c, ok := s.(Checking); ok {
			if wrong := c.Fits(step.ID, l.Answer); wrong != nil {
				return nil, wrong
			}
		}
	case named != nil:
		before = p.had(named)
		switch {
		case before != nil:
		case named.State == engine.StepDone && (named.Kind == engine.EffectApproval || named.Kind == engine.EffectWait):
			err = engine.Errorf(engine.KindInput, diag.BadSignal, "%s was answered before, in the process of the run, on %s: %s", named.ID, named.Ended.UTC().Format(time.DateTime), text.Clip(string(named.Outcome), 200)).
				WithHelp("the first answer counts")
		default:
			err = engine.Errorf(engine.KindInput, diag.BadSignal, "%s does not wait for an answer: it is %s", named.ID, named.State).WithHelp("agentscript runs show %s lists what waits", run)
		}
	case strings.Contains(to, "@") || strings.Contains(to, "/"):
		err = engine.Errorf(engine.KindInput, diag.BadSignal, "run %s has no step %s", run, text.Clip(to, 200)).WithHelp("agentscript runs show %s lists what waits", run)
	case l.Dedup == "":
		before = p.sentTo(to)
		sent.Dedup = to + "#after " + strconv.FormatInt(p.taken[to], 10)
	}
	switch {
	case err != nil:
		return nil, err
	case before != nil:
		return nil, same(*before, sent)
	}
	return &sent, nil
}

// open returns the unanswered step that an answer is for: the named step or, if named is nil, the first wait with the
// name to. It returns nil if there is none.
func (p *Post) open(named *engine.Step, to string) *engine.Step {
	for i, is := range p.Waits {
		if named != nil && is.ID == named.ID || named == nil && is.Kind == engine.EffectWait && is.Name == to {
			return &p.Waits[i]
		}
	}
	return nil
}

// sentTo returns the last answer to a name that is not taken yet, or nil if there is none.
func (p *Post) sentTo(name string) (last *engine.Signal) {
	for _, is := range p.Untaken() {
		if is.Step == "" && is.Name == name || is.Step != "" && p.waiting[is.Step] == name {
			last = &is
		}
	}
	return last
}

// had returns the answer that a step has received, or nil if it has received none.
func (p *Post) had(step *engine.Step) *engine.Signal {
	if is, answered := p.Answered[step.ID]; answered {
		return &is
	}
	at := slices.IndexFunc(p.signals, func(is engine.Signal) bool {
		return is.Seq == step.Taken || step.Taken == 0 && is.Step == step.ID // the run's own process asked for the answer, for example at a terminal
	})
	if at < 0 || step.State == engine.StepIntent { // an intent is carried out again
		return nil
	}
	return &p.signals[at]
}

// same returns an error if sent differs from is, the answer that was sent before.
func same(is, sent engine.Signal) error {
	if equal(is.Value, sent.Value) {
		return nil
	}
	return engine.Errorf(engine.KindInput, diag.BadSignal, "%s was answered by %s at %s: %s", cmp.Or(is.Step, is.Name), cmp.Or(is.By, "somebody"), is.At.Format(time.RFC3339), is.Value).
		WithHelp("the first answer stays")
}

// equal reports whether two JSON texts are the same value, regardless of the order of keys.
func equal(a, b []byte) bool {
	x, ok := decoded(a)
	y, both := decoded(b)
	return bytes.Equal(a, b) || ok && both && reflect.DeepEqual(x, y)
}

func decoded(data []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // so that different large numbers stay different
	err := d.Decode(&v)
	return v, err == nil
}
