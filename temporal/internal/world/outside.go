package world

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

// Outside calls f, which may take long, on the coroutine of a workflow: what must not come into the history, and is the
// same in every replay, such as a blob or a script by its hash. The dispatcher does not take the coroutine for one that hangs
// meanwhile, as for a converter of data that asks a server.
func Outside(ctx workflow.Context, f func()) {
	c, ok := workflow.DataConverterWithoutDeadlockDetection(calling{converter.GetDefaultDataConverter(), f}).(workflow.ContextAware)
	if !ok { // no version of the client library that is known
		f()
		return
	}
	_, _ = c.WithWorkflowContext(ctx).ToPayload(nil) // it calls f
}

// calling is a converter that calls a function.
type calling struct {
	converter.DataConverter
	f func()
}

// ToPayload implements [converter.DataConverter].
func (c calling) ToPayload(any) (*commonpb.Payload, error) {
	c.f()
	return nil, nil
}
