package agentscript_test

import (
	"os"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/agenttest"
	"github.com/agentscript/agentscript/engine"
)

// The tests beside the scripts are subtests of this one.
func TestFlows(t *testing.T) {
	agenttest.Run(t, os.DirFS("."), "examples/*_test.star")
}

// A suite runs tests with the options for which agentscript test has flags.
func TestSuite(t *testing.T) {
	agenttest.Suite{
		Repeat:    3,
		Each:      []agentscript.RunOption{agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(20)})},
		Threshold: "lines=100,edges=90,mutations=50",
	}.Run(t, os.DirFS("."), "examples/review_test.star")
}

// A test in Go prepares answers, starts the flow itself, and checks which calls were made.
func TestReview(t *testing.T) {
	mod, err := agentscript.New().LoadFile(t.Context(), "examples/review.star")
	if err != nil {
		t.Fatal(err)
	}
	w := agenttest.New(t, mod)
	w.Reply("reviewer", map[string]any{"type": "Rejected", "reason": "no test"})
	res, err := mod.Start(t.Context(), w.Options(agentscript.Input("def f(): pass"))...).Wait()
	if err != nil || res.Text() != "Rejected: no test" {
		t.Errorf("%s, %v", res.Text(), err)
	}
	w.Called("reviewer", 1)
}
