package journal

import (
	"context"

	"github.com/agentscript/agentscript/engine"
)

// Nowhere returns a run that no store holds: what is put into it is discarded.
func Nowhere(head engine.RunHead) engine.OpenRun { return nowhere{head} }

type nowhere struct{ head engine.RunHead }

func (n nowhere) Info() engine.RunInfo                       { return engine.RunInfo{RunHead: n.head} }
func (nowhere) Put(context.Context, engine.Step, bool) error { return nil }
func (nowhere) Done() <-chan struct{}                        { return nil }
func (nowhere) Err() error                                   { return nil }
func (nowhere) Signalled() <-chan struct{}                   { return nil }
func (nowhere) End(context.Context, engine.RunEnd) error     { return nil }
func (nowhere) Close() error                                 { return nil }
