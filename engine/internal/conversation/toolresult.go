package conversation

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// capped cuts a text that is longer than a model may see, and adds a note.
func capped(text string, most int) string {
	if most <= 0 {
		most = agent.DefaultMaxResult
	}
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + fmt.Sprintf("\n\n[cut off: these are the first %d of %d bytes; ask for less at once]", cut, len(text))
}

// blame adds to the failure of a call which call it is and what can be done, for the reader of the error.
func blame(b *exec.Branch, e *engine.Error, sk *skillPlan, tool string, runs int) *engine.Error {
	own := *engine.AsError(b.Locate(e, nil))
	if own.Tool == nil {
		own.Tool = &engine.FailedCall{Agent: sk.agent.Name, Skill: sk.Name, Name: text.Clip(tool, agent.MaxToolName), Attempt: runs}
	}
	if own.Help == "" {
		own.Help = "correct such calls before the model sees them: tool(f, on_error = fix(...))"
	}
	return &own
}

// withPictures returns a request with the pictures that the tools of its last turn returned. Most providers accept only
// text as the result of a tool, so the pictures follow in a separate message. Each part of it names its call, for
// providers that accept pictures inside results.
func withPictures(req *model.Request, results []model.Part) *model.Request {
	msg := model.Message{Role: model.RoleUser}
	for _, p := range results {
		r := p.Result
		pictures := r.TakePictures()
		if len(pictures) == 0 {
			continue
		}
		msg.Parts = append(msg.Parts, model.Part{Kind: model.PartText, Text: "What " + text.Clip(r.Name, agent.MaxToolName) + " gave beside its text:", Of: &r.CallID})
		for i := range pictures {
			msg.Parts = append(msg.Parts, model.Part{Kind: model.PartImage, Image: &pictures[i], Of: &r.CallID})
		}
	}
	if msg.Parts == nil {
		return req
	}
	return req.Extend(msg)
}

// picturesIn returns the pictures in a value, nil if it contains none.
func picturesIn(v generable.Value) []model.Image {
	if !model.HoldsPictures(v) {
		return nil
	}
	var images []model.Image
	model.WithoutPictures(v, &images)
	return images
}

// escalates executes the verdict of a model that called the tool escalate: people are notified, and the model receives
// a confirmation. In a fixer, the verdict is the failure that ends it. It returns other errors unchanged.
func escalates(b *exec.Branch, err error) (generable.Value, error) {
	e, ok := err.(*engine.Error)
	if !ok || !e.Decides() || !e.Verdict.Escalate {
		return generable.Value{}, err
	}
	v, said := *e.Verdict, string(e.Verdict.Severity)
	var known bool
	if v.Severity, known = agent.ParseSeverity(said); !known {
		b.Tell(engine.EventRepair, &event.Repair{Name: "escalate", Text: "severity " + strconv.Quote(text.Clip(said, exec.MaxShown)) + " → " + string(v.Severity)})
	}
	if b.Recovering {
		own := *e
		own.Verdict = &v
		return generable.Value{}, &own
	}
	b.Tell(engine.EventEscalation, &event.Escalation{Text: v.Reason, Severity: v.Severity})
	return generable.StrOf("Escalated with severity " + string(v.Severity) + ": " + v.Reason), nil
}

// escalated returns what a model sees of a call whose recovery was handed to people.
func escalated(b *exec.Branch, tool string, r *agent.Remedy, failure *engine.Error) *engine.Error {
	reason, severity := reason(r, failure), cmp.Or(r.Severity, engine.SeverityHigh)
	b.Tell(engine.EventEscalation, &event.Escalation{Name: tool, Text: reason, Severity: severity})
	return engine.Errorf(engine.KindTool, diag.ToolEscalated, "tool %q failed and was escalated with severity %s: %s. Correct the arguments and call it again, or go on without it", tool, severity, reason).
		WithHelp("see the escalation in the events, and what the tool failed by")
}
