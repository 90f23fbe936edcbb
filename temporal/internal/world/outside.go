package world

import (
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"
)

// Outside calls f, which may take long, on the coroutine of a workflow. It is for work that must not be in the history
// and has the same result in every replay, such as reading a blob or a script by its hash. Meanwhile the deadlock
// detection of the dispatcher is off, as for a data converter that calls a server.
func Outside(ctx workflow.Context, f func()) {
	c, ok := workflow.DataConverterWithoutDeadlockDetection(callConverter{converter.GetDefaultDataConverter(), f}).(workflow.ContextAware)
	if !ok { // an unknown version of the client library
		f()
		return
	}
	_, _ = c.WithWorkflowContext(ctx).ToPayload(nil) // it calls f
}

// callConverter is a data converter that calls a function.
type callConverter struct {
	converter.DataConverter
	f func()
}

// ToPayload implements [converter.DataConverter].
func (c callConverter) ToPayload(any) (*commonpb.Payload, error) {
	c.f()
	return nil, nil
}
