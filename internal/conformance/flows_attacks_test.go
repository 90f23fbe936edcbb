package conformance

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson"
)

// Promise 29.31 (flows): reading and checking a flow takes time linear in its length, whatever it contains, and reports a bounded
// number of findings.
func TestPromise_29_31_Linear(t *testing.T) {
	sizes := []int{1 << 10, 16 << 10, 512 << 10}
	if testing.Short() {
		sizes = []int{256, 8 << 10}
	}
	for _, name := range slices.Sorted(maps.Keys(flowFamilies)) {
		t.Run(name, func(t *testing.T) {
			linear(t, sizes, flowFamilies[name], func(ctx context.Context, src string) {
				_, found := flowjson.Check("x.json", src, flowjson.Options{})
				e := agentscript.New(agentscript.WithLoadTimeout(0), agentscript.WithSizes(agentscript.Sizes{Source: 16 << 20, File: 16 << 20}))
				_, err := e.Load(ctx, fstest.MapFS{"x.json": {Data: []byte(src)}}, "x.json")
				boundedFindings(t, err, len(src))
				if len(found) > 4*diag.MostAlike {
					t.Errorf("%d findings", len(found))
				}
			})
		})
	}
}
