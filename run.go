package agentscript

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"iter"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Run is one execution of a module.
type Run struct {
	id     string
	cancel context.CancelFunc
	done   chan struct{}
	queue  *queue
	result Result
	err    error
}

// Result is what a run gave: a value and the type it was declared with.
type Result struct {
	Value generable.Value
	Type  *generable.Type // nil when main is a function
}

// JSON is the result as compact JSON in declared order.
func (r Result) JSON() string { return generable.JSON(r.Value, r.Type) }

// Text is the result as the command line prints it: a str verbatim, all else as JSON.
func (r Result) Text() string {
	if s, ok := r.Value.AsStr(); ok {
		return s
	}
	return r.JSON()
}

// As reads a run's result into a Go value, as encoding/json would read its JSON:
// As[Decision](run.Wait()). See [generable.Into]; a number that does not fit exactly is an error.
func As[T any](r Result, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	out, err := generable.To[T](generable.Plain(r.Value, r.Type))
	if err != nil {
		return out, fmt.Errorf("the result does not fit %T: %w", out, err)
	}
	return out, nil
}

// ID is the run's id.
func (r *Run) ID() string { return r.id }

// Cancel ends the run; Wait then returns an error that is engine.ErrCancelled.
func (r *Run) Cancel() { r.cancel() }

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the end and returns the result. A failure is an *engine.Error.
func (r *Run) Wait() (Result, error) {
	<-r.done
	return r.result, r.err
}

// Events yields the events asked for with [Watch], each once and in order, until the run has
// ended and all were read. A slow reader does not slow the run. One reader at a time.
func (r *Run) Events() iter.Seq[engine.Event] { return r.queue.all() }

func (m *Module) start(ctx context.Context, entry *starlib.Entry, opts []RunOption) *Run {
	cfg := m.configure(opts)
	ctx, cancel := context.WithCancel(ctx)
	r := &Run{id: cfg.spec.ID, cancel: cancel, done: make(chan struct{}), queue: newQueue()}
	if cfg.kinds != 0 {
		cfg.spec.Listener = both(cfg.spec.Listener, engine.Listener{Kinds: cfg.kinds, Emit: r.queue.put})
	}
	sched := cfg.sched
	if sched == nil {
		sched = engine.NewGoSched(ctx)
	}
	// The input is read before Start returns: from then on the host may change it.
	r.err = m.enter(entry, cfg, &r.result)
	go func() {
		returned := false
		defer func() {
			if !returned {
				r.err = engine.Errorf(engine.KindPanic, diag.Panic, "a handler ended the goroutine of the run")
			}
			cancel()
			r.queue.close()
			close(r.done)
		}()
		if r.err == nil {
			r.result.Value, r.err = engine.Exec(sched, &cfg.spec)
		}
		returned = true
	}()
	return r
}

func (m *Module) configure(opts []RunOption) *runConfig {
	e := &m.engine.cfg
	cfg := &runConfig{spec: engine.RunSpec{Model: e.model, Limits: e.limits}}
	for _, o := range opts {
		o(cfg)
	}
	if cfg.spec.ID == "" {
		var b [8]byte
		rand.Read(b[:]) // never fails
		cfg.spec.ID = hex.EncodeToString(b[:])
	}
	if cfg.handler == nil {
		cfg.handler = e.handlers
	}
	cfg.spec.Handler = engine.Chain(cfg.handler, e.middleware...)
	return cfg
}

// enter settles what is run and with which input.
func (m *Module) enter(entry *starlib.Entry, cfg *runConfig, r *Result) error {
	if entry == nil {
		main, missing := m.lib.Main()
		if missing != nil {
			e := engine.Errorf(engine.KindInput, missing.Code, "%s", missing.Message)
			e.Pos, e.Help = missing.Span.Pos, strings.Join(missing.Help, "; ")
			return e
		}
		entry = main
	}
	if entry.Func != nil {
		given := make(map[string]generable.Value, len(cfg.args))
		for name, arg := range cfg.args {
			v, err := toValue(arg)
			if err != nil {
				return err
			}
			given[name] = v
		}
		args, err := entry.Bind(given)
		cfg.spec.Main, cfg.spec.Args = entry.Func, args
		return err
	}
	cfg.spec.Node, r.Type = entry.Node, entry.Node.Out()
	v, err := input(cfg, entry.Node.In())
	cfg.spec.Input = v
	return err
}
