package compose

import (
	"slices"
	"sync"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// rooms counts the free slots in each stage of a stream.
type rooms struct {
	mu   sync.Mutex
	free []int
}

func (r *rooms) has(stage int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.free[stage] > 0
}

func (r *rooms) take(stage int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.free[stage] == 0 {
		return false
	}
	r.free[stage]--
	return true
}

// enter waits for a slot in a stage. An item that holds a slot does not wait for another: it leaves one stage before it
// enters the next.
func (r *rooms) enter(br engine.Branch, stage int) error {
	for !r.take(stage) {
		if err := br.Wait(func() bool { return r.has(stage) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *rooms) leave(br engine.Branch, stage int) {
	r.mu.Lock()
	r.free[stage]++
	r.mu.Unlock()
	br.Wake()
}

func streamItems(c *table.Call) (starlark.Value, error) {
	stages := c.Rest()
	if len(stages) == 0 {
		c.Problems.Add(table.NoStages(c.FuncSpan()))
		return nil, nil
	}
	limits := limits(c, len(stages))
	if len(c.Problems) > 0 {
		return nil, nil
	}
	items := table.Sequence(c.Arg("items"))
	if err := share(c, slices.Concat(items, stages)...); err != nil {
		return nil, err
	}
	busy := 0 // further items would only wait for a slot
	for _, n := range limits {
		busy += min(n, len(items))
	}
	free := &rooms{free: limits}
	out := newOutcomes(c, len(items))
	parts := func(i int) starlark.Tuple { return append(starlark.Tuple{items[i]}, stages...) }
	err := callsAt(c, parts).All(len(items), busy, func(i int, br engine.Branch) error {
		r, err := thread.Apart(c.Env, br, "the result of "+value.NameOf(stages[len(stages)-1]), func(thread *starlark.Thread) (starlark.Value, error) {
			v := items[i]
			for stage, f := range stages {
				if err := free.enter(br, stage); err != nil {
					return nil, err
				}
				var err error
				v, err = inRoom(func() { free.leave(br, stage) }, func() (starlark.Value, error) {
					return starlark.Call(thread, f, starlark.Tuple{v}, nil)
				})
				if err != nil {
					return nil, err
				}
			}
			return v, nil
		})
		return out.take(i, br, r, err)
	})
	if err != nil {
		return nil, err
	}
	return out.list(), nil
}

// inRoom leaves the stage even if do panics, since other items wait for the slot.
func inRoom(leave func(), do func() (starlark.Value, error)) (starlark.Value, error) {
	defer leave()
	return do()
}
