package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// shares adds a call that has come to an answer to what agents share. Its frame is not to be one
// with that of [conversation.run], on which parked runs stand.
//
//go:noinline
func (t *conversation) shares(req *model.Request, parts []model.Part, err error) {
	if err == nil && t.sk.History.Shares() {
		t.b.Thread = req.Thread(parts)
	}
}

// continued puts what was said before in front of an agent's first request.
func (t *conversation) continued(req *model.Request) (*model.Request, error) {
	if c := t.b.Thread; c != nil && t.sk.History.Shares() {
		input := req.Messages
		if len(req.Tools) == 0 && hasCalls(c.Messages) {
			req.Replace(withoutCalls(c.Messages))
		} else {
			req.Resume(c)
		}
		t.own = len(req.Messages)
		req = req.Extend(input...)
	}
	return t.compressed(req, 0)
}

func hasCalls(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool { return holds(&m, model.PartCall) || holds(&m, model.PartResult) })
}

// withoutCalls tells of calls and results in words, for an agent that has no tools: providers
// refuse calls where no tool is declared. Thoughts belong to the calls and go with them.
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

// memoryUser is a [engine.Func] of a tool that says whether it uses memory.
type memoryUser interface{ UsesMemory() bool }

// usesMemory reports whether a call reads or writes notes: by a tool of the agent's memory, or by one of
// the script that does so itself.
func (t *conversation) usesMemory(c *model.ToolCall) bool {
	tool := t.sk.tool(c.Name)
	if tool == nil {
		return false
	}
	f, ok := tool.Run.(memoryUser)
	return ok && f.UsesMemory()
}

// lanes are the calls of an answer by what runs at once: each call by itself, but those that use memory
// one after the other, in the order of the answer, so that what was written is read by the call behind
// it, whatever the order of branches is. nil is the common case, in which each is by itself.
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

// atOnce runs the calls of an answer, at most limit at once.
func (t *conversation) atOnce(calls []*model.ToolCall, limit int, call func(i int, s engine.Sched) error) error {
	lanes := t.lanes(calls)
	if lanes == nil {
		return t.b.Sched.Par(len(calls), limit, call)
	}
	return t.b.Sched.Par(len(lanes), limit, func(n int, s engine.Sched) error {
		for _, i := range lanes[n] {
			if err := call(i, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// due tells whether messages are too many or too long, and whether it is their length.
func due(c *agent.Compression, messages []model.Message) (yes, long bool) {
	if c.After > 0 && len(messages) > c.After {
		return true, false
	}
	long = c.Tokens > 0 && exec.TokensOf(messages) > int64(c.Tokens)
	return long, long
}

// cut is where what is old ends: behind it stay at least Keep of the newest messages, less when
// they alone are too long, and more where a call would be parted from its result. The newest
// message always stays.
func cut(c *agent.Compression, messages []model.Message) int {
	at := max(len(messages)-max(c.Keep, 1), 0)
	for at > 0 && holds(&messages[at], model.PartResult) { // its call stands before it
		at--
	}
	for c.Tokens > 0 && exec.TokensOf(messages[at:]) > int64(c.Tokens/2) {
		next := at + 1
		for next < len(messages) && holds(&messages[next], model.PartResult) {
			next++
		}
		if next == len(messages) {
			break
		}
		at = next
	}
	return at
}

// holds reports whether a message has a part of a kind.
func holds(m *model.Message, kind model.PartKind) bool {
	return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.Kind == kind })
}

// compressed is the request with a shorter conversation, where that has become too long.
func (t *conversation) compressed(req *model.Request, turn int) (*model.Request, error) {
	if !t.sk.History.Compresses() {
		return req, nil
	}
	c := t.sk.History.Compress
	yes, long := due(c, req.Messages)
	if !yes {
		return req, nil
	}
	at := cut(c, req.Messages)
	old, own := req.Messages[:at], []model.Message(nil)
	if t.own < at { // the input is what it is all about
		own = req.Messages[t.own : t.own+1]
		old = append(append([]model.Message(nil), req.Messages[:t.own]...), req.Messages[t.own+1:at]...)
	}
	if len(old) < 2 || long && exec.TokensOf(old) < int64(c.Tokens/4) {
		return req, nil // what would stand for it is hardly shorter
	}
	short, how, err := t.inShort(c, req, old, turn)
	if err != nil {
		return nil, err
	}
	next := *req
	next.Replace(append(append([]model.Message{model.TextMessage(model.RoleUser, short)}, own...), req.Messages[at:]...))
	t.Seen = 0
	t.own = max(t.own-at, 0) + 1
	t.b.Tell(engine.EventHistory, &event.History{Name: t.Agent.Name, Text: fmt.Sprintf("%s of %d %s", text.CountInWords(len(old), "message"), len(req.Messages), how)})
	return &next, nil
}

// summarySystem tells a model how to sum up a conversation.
const summarySystem = "You sum up a conversation so that it can be continued without its text. Keep what was asked and decided, names, numbers, " +
	"results of tools that are still of use, and what is open. Leave out greetings and repetition. Answer with the summary alone."

// summaryBegins stands before what stands for earlier messages.
const summaryBegins = "Summary of the conversation before this:\n\n"

// inShort is what stands for old messages, and how it came about.
func (t *conversation) inShort(c *agent.Compression, req *model.Request, old []model.Message, turn int) (short, how string, err error) {
	if c.How != agent.CompressSummary {
		return "(" + text.CountInWords(len(old), "earlier message") + " left out)", "left out", nil
	}
	m := cmp.Or(c.Model, req.Model)
	sum := &model.Request{Model: m, System: summarySystem, Messages: []model.Message{model.TextMessage(model.RoleUser, "Sum up:\n\n"+transcribed(old, 0))}, Fallbacks: req.Fallbacks}
	name := t.Agent.Name + ".summary" // told apart as a router's call is: other answers are scripted for it
	out := t.b.Do((&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectModel, Name: m, Agent: name, Run: t.b.RunID(), At: t.b.At.Child("llm", "summary", turn),
		Req: sum, Class: engine.ClassIdempotent}}).Begin(), &exec.Ask{Want: exec.Estimate{units.ModelCalls: 1}})
	t.usage = t.usage.Add(out.Usage)
	failed := out.Err
	if failed == nil {
		if err := finished(out.Response, name); err != nil {
			failed = engine.AsError(err)
		}
	}
	if failed == nil {
		return summaryBegins + strings.TrimSpace(out.Response.Text()), "summed up", nil
	}
	if t.b.Catch(failed) == nil { // the branch is to stop, or the run
		return "", "", failed
	}
	return summaryBegins + transcribed(old, maxExtracted), "cut short, as the summary failed: " + failed.Message, nil
}

// maxExtracted bounds in runes what is kept of each message when nobody sums them up.
const maxExtracted = 160

// transcribed writes messages for a model that is to read about them: at most so many runes of each,
// 0 for all.
func transcribed(messages []model.Message, most int) string {
	var b strings.Builder
	for i := range messages {
		var said []string
		for _, p := range messages[i].Parts {
			switch {
			case p.Kind == model.PartText:
				said = append(said, p.Text)
			case p.Kind == model.PartImage:
				said = append(said, "(a picture)")
			case p.Call != nil:
				said = append(said, "(calls "+p.Call.Name+" with "+p.Call.Args+")")
			case p.Result != nil:
				said = append(said, "("+p.Result.Name+" gave: "+p.Result.Text+")")
			}
		}
		line := strings.Join(said, " ")
		if rest, ok := strings.CutPrefix(line, summaryBegins); ok {
			line = rest
		} else if most > 0 {
			line = text.Clip(strings.Join(strings.Fields(line), " "), most)
		}
		if line != "" {
			b.WriteString(string(messages[i].Role) + ": " + line + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
