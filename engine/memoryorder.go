package engine

import "slices"

// memoryUser is a [Func] of a tool that says whether it uses memory.
type memoryUser interface{ UsesMemory() bool }

// usesMemory reports whether a call reads or writes notes: by a tool of the agent's memory, or by one of
// the script that does so itself.
func (t *turns) usesMemory(c *ToolCall) bool {
	tool := t.sk.tool(c.Name)
	if tool == nil {
		return false
	}
	if f, ok := tool.Run.(memoryUser); ok {
		return f.UsesMemory()
	}
	return t.a.Memory != nil && slices.Contains(memoryToolNames, c.Name)
}

// lanes are the calls of an answer by what runs at once: each call by itself, but those that use memory
// one after the other, in the order of the answer, so that what was written is read by the call behind
// it, whatever the order of branches is. nil is the common case, in which each is by itself.
func (t *turns) lanes(calls []*ToolCall) [][]int {
	using := 0
	for _, c := range calls {
		if len(calls) > 1 && t.usesMemory(c) {
			using++
		}
	}
	if using < 2 {
		return nil
	}
	var lanes [][]int
	memory := -1
	for i, c := range calls {
		switch {
		case !t.usesMemory(c):
			lanes = append(lanes, []int{i})
		case memory < 0:
			memory = len(lanes)
			lanes = append(lanes, []int{i})
		default:
			lanes[memory] = append(lanes[memory], i)
		}
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
