package engine

import "slices"

// lanes are the calls of an answer by what runs at once: each call by itself, but those of the agent's
// memory one after the other, in the order of the answer, so that what was written is read by the call
// behind it, whatever the order of branches is. nil is the common case, in which each is by itself.
func (t *turns) lanes(calls []*ToolCall) [][]int {
	if t.a.Memory == nil || len(calls) == 1 {
		return nil
	}
	memory := -1
	var lanes [][]int
	for i, c := range calls {
		switch {
		case !slices.Contains(memoryToolNames, c.Name):
			lanes = append(lanes, []int{i})
		case memory < 0:
			memory = len(lanes)
			lanes = append(lanes, []int{i})
		default:
			lanes[memory] = append(lanes[memory], i)
		}
	}
	if len(lanes) == len(calls) {
		return nil
	}
	return lanes
}

// atOnce runs the calls of an answer, at most limit at once.
func (t *turns) atOnce(calls []*ToolCall, limit int, call func(i int, s Sched) error) error {
	lanes := t.lanes(calls)
	if lanes == nil {
		return t.b.sched.Par(len(calls), limit, call)
	}
	return t.b.sched.Par(len(lanes), limit, func(n int, s Sched) error {
		for _, i := range lanes[n] {
			if err := call(i, s); err != nil {
				return err
			}
		}
		return nil
	})
}
