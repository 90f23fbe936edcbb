package conversation

import (
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// shares adds a call with its answer to the thread that agents share. Its frame must not merge with that of
// [conversation.run], on which parked runs wait.
//
//go:noinline
func (t *conversation) shares(req *model.Request, parts []model.Part, v generable.Value, err error) {
	if err == nil && t.sk.History.Shares() {
		t.b.Thread = req.Thread(parts)
		if t.read {
			given := v // a copy, which agents that share nothing need not make
			t.b.Thread.Given = &given
		}
	}
}

// continued puts the shared conversation before an agent's first request.
func (t *conversation) continued(req *model.Request) (*model.Request, error) {
	if c := t.b.Thread; c != nil && t.sk.History.Shares() {
		input := req.Messages
		if c.Given != nil && generable.Equal(*c.Given, t.input) {
			input[0].HandOver(model.InputText(t.input, t.sk.In))
		}
		if len(req.Tools) == 0 && hasCalls(c.Messages) {
			req.Replace(withoutCalls(c.Messages))
		} else {
			req.Resume(c)
		}
		t.own = int32(len(req.Messages))
		req = req.Extend(input...)
	}
	return t.compressed(req, 0)
}

func hasCalls(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool { return holds(&m, model.PartCall) || holds(&m, model.PartResult) })
}

// withoutCalls puts calls and results into words, for an agent that has no tools: providers refuse calls if no tool is
// declared. Reasoning belongs to the calls and is dropped with them.
func withoutCalls(messages []model.Message) []model.Message {
	out := make([]model.Message, 0, len(messages))
	for i := range messages {
		m := &messages[i]
		if !hasCalls(messages[i : i+1]) {
			out = append(out, *m)
			continue
		}
		said := model.Message{Role: m.Role}
		if m.Role == model.RoleTool {
			said.Role = model.RoleUser
		}
		for j := range m.Parts {
			switch p := m.Parts[j]; p.Kind {
			case model.PartReasoning:
			case model.PartCall:
				said.Parts = append(said.Parts, model.Part{Kind: model.PartText, Text: "(called " + p.Call.Name + " with " + p.Call.Args + ")"})
			case model.PartResult:
				said.Parts = append(said.Parts, model.Part{Kind: model.PartText, Text: "(" + p.Result.Name + " gave: " + p.Result.Text + ")"})
			default:
				p.Opaque = nil
				said.Parts = append(said.Parts, p)
			}
		}
		out = append(out, said)
	}
	return out
}

// memoryUser is an [engine.Func] of a tool that knows whether it uses memory.
type memoryUser interface{ UsesMemory() bool }

// usesMemory reports whether a call reads or writes notes: by a tool of the agent's memory, or by a tool of the script
// that uses memory.
func (t *conversation) usesMemory(c *model.ToolCall) bool {
	tool := t.sk.tool(c.Name)
	if tool == nil {
		return false
	}
	f, ok := tool.Run.(memoryUser)
	return ok && f.UsesMemory()
}

// lanes divides the calls of an answer into what runs concurrently. Calls that use memory run one after the other, in
// the order of the answer, so that a later call reads what an earlier one wrote, whatever the order of branches. Every
// other call is a lane by itself; nil, the common case, means that all are.
func (t *conversation) lanes(calls []*model.ToolCall) [][]int {
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

// atOnce runs the calls of an answer, at most limit concurrently.
func (t *conversation) atOnce(calls []*model.ToolCall, limit int, call func(i int, s engine.Sched) error) error {
	lanes := t.lanes(calls)
	if lanes == nil {
		return t.b.Par(len(calls), limit, call)
	}
	return t.b.Par(len(lanes), limit, func(n int, s engine.Sched) error {
		for _, i := range lanes[n] {
			if err := call(i, s); err != nil {
				return err
			}
		}
		return nil
	})
}
