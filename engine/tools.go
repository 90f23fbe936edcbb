package engine

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// tools runs the calls of one turn and gives their results in order. What a model can mend,
// an unknown tool, bad arguments, a tool that failed, goes back to it as a result.
func (t *turns) tools(calls []*ToolCall) ([]Part, error) {
	if t.calls == nil {
		t.calls = map[string]int{}
	}
	ordinals := make([]int, len(calls))
	for i, c := range calls {
		ordinals[i] = t.calls[c.Name]
		t.calls[c.Name]++
	}
	results := make([]Part, len(calls))
	at := t.b.at
	err := t.b.sched.Par(len(calls), 0, func(i int, s Sched) error {
		c := calls[i]
		br := t.b.fork(s, at.child("tool", c.Name, ordinals[i]))
		return br.guard(func() error {
			text, failed, err := br.tool(t.find(c.Name), t.plan.tools, c, t.a.Name)
			if err != nil {
				return err
			}
			results[i] = Part{Kind: PartResult, Result: &ToolResult{CallID: c.ID, Name: c.Name, Text: text, IsError: failed}}
			return nil
		})
	})
	return results, err
}

func (t *turns) find(name string) *Tool {
	for _, tool := range t.plan.tools {
		if tool.Name == name {
			return tool
		}
	}
	return nil
}

// tool runs one call. The error ends the run; a failure that the model is to see is text.
func (b *Branch) tool(t *Tool, offered []*Tool, c *ToolCall, agent string) (text string, failed bool, err error) {
	if b.Wants(EventTool) {
		b.emit(Event{Kind: EventTool, Phase: PhaseStart, Name: c.Name, Text: c.Args})
		defer func() {
			ev := Event{Kind: EventTool, Phase: PhaseEnd, Name: c.Name, Text: text}
			if failed {
				ev.Err = Errorf(KindTool, diag.ToolFailed, "%s", text)
			}
			b.emit(ev)
		}()
	}
	if t == nil {
		names := make([]string, len(offered))
		for i, o := range offered {
			names[i] = o.Name
		}
		return fmt.Sprintf("error: there is no tool %q; the tools are: %s", c.Name, strings.Join(names, ", ")), true, nil
	}
	args := generable.Decode(t.Params, orEmptyObject(c.Args), generable.Options{})
	if !args.OK {
		return "error: bad arguments: " + args.Errors.Error(), true, nil
	}
	out, err := b.runTool(t, args.Value, agent)
	switch {
	case err == nil:
		return inputText(out, t.Returns), false, nil
	case IsControl(err), asError(err).Kind == KindBudget, asError(err).Kind == KindCancelled, asError(err).Kind == KindTimeout && b.sched.Err() != nil:
		return "", false, b.locate(err, nil)
	}
	return "error: " + asError(err).Message, true, nil
}

func orEmptyObject(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	return args
}

// runTool runs a tool of the script inline, any other as an effect.
func (b *Branch) runTool(t *Tool, args generable.Value, agent string) (generable.Value, error) {
	est := Estimate{ToolCalls: 1}
	if t.Run != nil {
		hold, err := Reserve(b, est)
		if err != nil {
			return args, err
		}
		defer hold.Settle(Usage{})
		out, err := b.invoke(t.Run, args)
		if err != nil {
			return out, err
		}
		return converted(out, orAny(t.Returns), "tool "+t.Name)
	}
	class := t.Class
	if class == "" {
		class = ClassOnce
	}
	out := b.do(&Effect{Kind: EffectTool, Name: t.Name, Agent: agent, Run: b.RunID(), At: b.at,
		Req: &ToolRequest{Args: args, Version: t.Version}, Class: class}, est)
	if out.Err != nil {
		return out.Value, out.Err
	}
	return converted(out.Value, orAny(t.Returns), "tool "+t.Name)
}
