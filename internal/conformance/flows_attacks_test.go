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
			last := 0.0
			for i, n := range sizes {
				src := flowFamilies[name](n)
				before, measured := cpuSeconds()
				_, found := flowjson.Check("x.json", src, flowjson.Options{})
				e := agentscript.New(agentscript.WithLoadTimeout(0), agentscript.WithSizes(agentscript.Sizes{Source: 16 << 20, File: 16 << 20}))
				_, err := e.Load(context.Background(), fstest.MapFS{"x.json": {Data: []byte(src)}}, "x.json")
				after, _ := cpuSeconds()
				boundedFindings(t, err, len(src))
				if len(found) > 4*diag.MostAlike {
					t.Errorf("%d findings", len(found))
				}
				took := after - before
				// 32 times the size takes 1,024 times as long if the time grows quadratically. Short times are not
				// compared: garbage collection and the machine blur them.
				if least := max(last, 0.03); measured && i > 0 && took > 100*least {
					t.Fatalf("%d bytes take %.3f s, and a 32nd of them %.3f s", len(src), took, last)
				}
				last = took
			}
		})
	}
}
