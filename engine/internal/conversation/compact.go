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

// due reports whether there are too many messages or too much text, and whether it is the text.
func due(c *agent.Compression, messages []model.Message) (yes, long bool) {
	if c.After > 0 && len(messages) > c.After {
		return true, false
	}
	long = c.Tokens > 0 && exec.TokensOf(messages) > int64(c.Tokens)
	return long, long
}

// cut returns the index at which the old messages end. At least Keep of the newest messages stay: fewer if they alone
// are too long, more if a call would be separated from its result. The newest message always stays.
func cut(c *agent.Compression, messages []model.Message) int {
	at := max(len(messages)-max(c.Keep, 1), 0)
	for at > 0 && holds(&messages[at], model.PartResult) { // its call comes before it
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

// compressed returns the request with a shorter conversation, if the conversation has become too long.
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
	if int(t.own) < at { // the input and the task stay: the conversation is about them
		end := int(t.own) + 1
		if t.Agent.HasTask() {
			end = min(end+1, at)
		}
		own = req.Messages[t.own:end]
		old = slices.Concat(req.Messages[:t.own], req.Messages[end:at])
	}
	if len(old) < 2 || long && exec.TokensOf(old) < int64(c.Tokens/4) {
		return req, nil // a replacement would hardly be shorter
	}
	short, how, err := t.inShort(c, req, old, turn)
	if err != nil {
		return nil, err
	}
	next := *req
	kept := append(append([]model.Message{model.TextMessage(model.RoleUser, short)}, own...), req.Messages[at:]...)
	for _, i := range []int{1, 1 + len(own)} { // the messages that they refer to are left out
		kept[i] = kept[i].Whole()
	}
	next.Replace(kept)
	t.Seen = 0
	t.own = max(t.own-int32(at), 0) + 1
	t.b.Tell(engine.EventHistory, &event.History{Name: t.Agent.Name, Text: fmt.Sprintf("%s of %d %s", text.CountInWords(len(old), "message"), len(req.Messages), how)})
	return &next, nil
}

// summarySystem instructs a model how to summarize a conversation.
const summarySystem = "You sum up a conversation so that it can be continued without its text. Keep what was asked and decided, names, numbers, " +
	"results of tools that are still of use, and what is open. Leave out greetings and repetition. Answer with the summary alone."

// summaryBegins is the beginning of the message that replaces earlier ones.
const summaryBegins = "Summary of the conversation before this:\n\n"

// inShort returns the replacement for old messages, and how it was made.
func (t *conversation) inShort(c *agent.Compression, req *model.Request, old []model.Message, turn int) (short, how string, err error) {
	if c.How != agent.CompressSummary {
		return "(" + text.CountInWords(len(old), "earlier message") + " left out)", "left out", nil
	}
	m := cmp.Or(t.b.Run.Spec.Named(c.Model), req.Model)
	sum := &model.Request{Model: m, System: summarySystem, Messages: []model.Message{model.TextMessage(model.RoleUser, "Sum up:\n\n"+transcribed(old, 0))}, Fallbacks: req.Fallbacks}
	name := t.Agent.Name + ".summary" // a separate name, like that of a router's call, so that its answers can be scripted separately
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
	if _, ends := t.b.Catch(failed); ends != nil { // the branch or the run must stop
		return "", "", ends
	}
	return summaryBegins + transcribed(old, maxExtracted), "cut short, as the summary failed: " + failed.Message, nil
}

// maxExtracted bounds, in runes, what is kept of each message without a summary.
const maxExtracted = 160

// transcribed writes messages for a model that reads about them: at most the given number of runes of each, 0 for all.
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
			case p.Kind == model.PartAudio:
				said = append(said, "(a sound)")
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
