package engine

import (
	"strings"

	"github.com/agentscript/agentscript/internal/text"
)

// summarySystem tells a model how to sum up a conversation.
const summarySystem = "You sum up a conversation so that it can be continued without its text. Keep what was asked and decided, names, numbers, " +
	"results of tools that are still of use, and what is open. Leave out greetings and repetition. Answer with the summary alone."

// summaryBegins stands before what stands for earlier messages.
const summaryBegins = "Summary of the conversation before this:\n\n"

// inShort is what stands for old messages, and how it came about.
func (t *turns) inShort(c *Compression, req *Request, old []Message, turn int) (short, how string, err error) {
	if c.How != CompressSummary {
		return "(" + text.CountInWords(len(old), "earlier message") + " left out)", "left out", nil
	}
	model := req.Model
	if c.Model != "" {
		model = c.Model
	}
	sum := &Request{Model: model, System: summarySystem, Messages: []Message{TextMessage(RoleUser, "Sum up:\n\n"+transcribed(old, 0))}, Fallbacks: req.Fallbacks}
	name := t.a.Name + ".summary" // told apart as a router's call is: other answers are scripted for it
	out := t.b.do((&inFlight{effect: Effect{Kind: EffectModel, Name: model, Agent: name, Run: t.b.RunID(), At: t.b.at.child("llm", "summary", turn),
		Req: sum, Class: ClassIdempotent}}).begin(), &ask{want: estimate{resModelCalls: 1}})
	t.usage = t.usage.Add(out.Usage)
	failed := out.Err
	if failed == nil {
		if err := finished(out.Response, name); err != nil {
			failed = asError(err)
		}
	}
	if failed == nil {
		return summaryBegins + strings.TrimSpace(out.Response.Text()), "summed up", nil
	}
	if t.b.Catch(failed) == nil { // the branch is to stop, or the run
		return "", "", failed
	}
	return summaryBegins + transcribed(old, mostExtracted), "cut short, as the summary failed: " + failed.Message, nil
}

// mostExtracted bounds in runes what is kept of each message when nobody sums them up.
const mostExtracted = 160

// transcribed writes messages for a model that is to read about them: at most so many runes of each,
// 0 for all.
func transcribed(messages []Message, most int) string {
	var b strings.Builder
	for i := range messages {
		var said []string
		for _, p := range messages[i].Parts {
			switch {
			case p.Kind == PartText:
				said = append(said, p.Text)
			case p.Kind == PartImage:
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
