package agentscript_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/store"
)

const reminder = `
def main(days = 1):
    sleep(days * 24 * 3600)
    return "due since " + now()[:10]
`

// A test lets two days pass at once.
func ExampleWithClock() {
	ctx := context.Background()
	c := clock.NewManual(time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC))
	eng := agentscript.New(agentscript.WithStore(store.NewMemory()), agentscript.WithClock(c))
	mod, err := eng.Load(ctx, fstest.MapFS{"reminder.star": {Data: []byte(reminder)}}, "reminder.star")
	if err != nil {
		panic(err)
	}
	run := mod.Start(ctx, agentscript.Args(map[string]any{"days": 2}))
	if err := c.Awaited(ctx, 48*time.Hour); err != nil { // it sleeps
		panic(err)
	}
	c.Pass(48 * time.Hour)
	out, err := run.Wait()
	fmt.Println(out.Text(), err)
	// Output: due since 2026-02-02 <nil>
}
