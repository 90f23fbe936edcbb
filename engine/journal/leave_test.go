package journal

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentscript/agentscript/engine"
)

// Steps that are left at the end of a run are written in the order in which they were recorded, not in that of a map:
// a durable workflow that is repeated must write the same.
func TestLeftInOrder(t *testing.T) {
	j := New(nil, Options{}, nil)
	var want []string
	for i := range 100 {
		id := fmt.Sprintf("main/wait:%d", (i*37)%100)
		r := &row{step: engine.Step{ID: id, Seq: int64(i + 1), State: engine.StepWaiting}}
		if j.rows[id] = r; i%3 == 0 {
			r.asks = &engine.Effect{}
			continue
		}
		want = append(want, id)
	}
	j.leaveUnasked()
	if !slices.Equal(j.left, want) {
		t.Errorf("left in the order\n%q\nwant\n%q", j.left, want)
	}
}
