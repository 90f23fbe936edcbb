package doc

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
)

// results are the values with members that builtins return, in the order of the reference.
var results = []*generable.Type{
	shape("Decoded", "What a text of a model was read as: T.decode and stream.close return it",
		member("ok", generable.BoolT, "whether a value was read that fits"),
		member("value", generable.AnyT, "the value; None when none fits"),
		member("repairs", generable.ListOfType(generable.AnyT), "what was changed to read it, each a Repair"),
		member("errors", generable.ListOfType(generable.AnyT), "what does not fit, each a FieldError"),
		member("cost", generable.IntT, "what the repairs cost together"),
		member("partial", generable.AnyT, "what is known of a value that does not fit"),
		member("complaint", generable.StrT, "the text to ask the model again with; empty when ok")),
	shape("Repair", "One change that the decoder made",
		member("kind", generable.StrT, "unquoted, truncated, enum-fold and others: docs/decoding.md lists them"),
		member("path", generable.StrT, "where in the value: .plan.steps[2]"),
		member("before", generable.StrT, "what was written"),
		member("after", generable.StrT, "what was read")),
	shape("FieldError", "One thing that does not fit a type",
		member("path", generable.StrT, "where in the value: .plan.steps[2]"),
		member("expected", generable.StrT, "what the type wants"),
		member("got", generable.StrT, "what was written"),
		member("hint", generable.StrT, "what to do about it; may be empty"),
		member("message", generable.StrT, "all of it as one sentence")),
	shape("StreamEvent", "What became known while a text arrived: stream.feed returns a list of them",
		member("kind", generable.StrT, "text, field, item, variant, repair or reset"),
		member("path", generable.StrT, "where in the value"),
		member("text", generable.StrT, "the text that arrived, of kind text"),
		member("value", generable.AnyT, "the value that is complete, of kinds field and item")),
	shape("Token", "A piece of an answer: agent(on_token = ...) is called with it",
		member("kind", generable.StrT, "text, reasoning or call"),
		member("text", generable.StrT, "the piece"),
		member("tool", generable.StrT, "of kind call, the tool's name"),
		member("attempt", generable.IntT, "which attempt of the call it belongs to, from 1")),
	flow.AttemptOf(generable.AnyT),
	engine.FailureType,
	flow.CritiqueOf(generable.AnyT),
	agent.ToolFailureType,
	agent.RemainingType,
	engine.ApprovalType,
	capability.CompletedType,
	capability.ResponseType,
	capability.FileStatType,
}

func shape(name, doc string, members ...generable.Field) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: name, Doc: doc, Fields: members}
}

func member(name string, t *generable.Type, guide string) generable.Field {
	return generable.Field{Name: name, Type: t, Guide: guide}
}

// Result returns the schema of the values that builtins return under a name, such as HTTPResponse.
func Result(name string) (*generable.Type, bool) {
	for _, t := range results {
		if resultName(t) == name {
			return t, true
		}
	}
	return nil, false
}

// resultName leaves out what a generic schema is made of: Attempt of Attempt[any].
func resultName(t *generable.Type) string {
	name, _, _ := strings.Cut(t.Name, "[")
	return name
}

// referResults writes the section of the reference about what builtins return.
func referResults(t *table.Table, out *strings.Builder) {
	out.WriteString("\n## What builtins return\n\nThe members of values that builtins return or call functions with. A value is read by `x.member`.\n")
	for _, r := range results {
		name := resultName(r)
		fmt.Fprintf(out, "\n### Members of %s\n\n%s.", name, r.Doc)
		if makers := makersOf(t, name); makers != "" {
			fmt.Fprintf(out, " Returned by %s.", makers)
		}
		out.WriteString("\n\n| member | is | |\n|---|---|---|\n")
		for i := range r.Fields {
			f := &r.Fields[i]
			fmt.Fprintf(out, "| `%s` | %s | %s |\n", f.Name, cell(f.Type.String()), cell(f.Guide))
		}
	}
}

// makersOf lists the builtins that return a value of this name.
func makersOf(t *table.Table, name string) string {
	var makers []string
	for _, b := range t.Rows() {
		if b.Returns == name && b.Name != name {
			makers = append(makers, "`"+b.QualifiedName()+"`")
		}
	}
	return strings.Join(makers, ", ")
}

// helpResult is the help of a value that builtins return.
func helpResult(t *generable.Type) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n\n", resultName(t), t.Doc)
	for i := range t.Fields {
		f := &t.Fields[i]
		fmt.Fprintf(&out, "  %-10s %s: %s\n", f.Name, f.Type, f.Guide)
	}
	return strings.TrimRight(out.String(), "\n")
}
