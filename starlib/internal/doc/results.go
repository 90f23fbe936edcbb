package doc

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// results are the values with members that builtins return, in the order of the reference.
var results = []*generable.Type{
	value.DecodedType,
	value.RepairType,
	value.FieldErrorType,
	value.StreamEventType,
	value.TokenType,
	flow.AttemptOf(generable.AnyT),
	engine.FailureType,
	flow.CritiqueOf(generable.AnyT),
	agent.ToolFailureType,
	agent.RemainingType,
	engine.ApprovalType,
	capability.CompletedType,
	capability.ResponseType,
	capability.FileStatType,
	double.CallType,
	double.MessageType,
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

// resultName omits the type arguments of a generic schema: Attempt for Attempt[any].
func resultName(t *generable.Type) string {
	name, _, _ := strings.Cut(t.Name, "[")
	return name
}

// referResults writes the section of the reference about the values that builtins return.
func referResults(t *table.Table, out *strings.Builder) {
	out.WriteString("\n## What builtins return\n\nThe members of values that builtins return or pass to functions. A member is read as `x.member`.\n")
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

// makersOf lists the builtins that return a value with this name.
func makersOf(t *table.Table, name string) string {
	var makers []string
	for _, b := range t.Rows() {
		if b.Returns == name && b.Name != name {
			makers = append(makers, "`"+b.QualifiedName()+"`")
		}
	}
	return strings.Join(makers, ", ")
}

// helpResult returns the help of a value that builtins return.
func helpResult(t *generable.Type) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n\n", resultName(t), t.Doc)
	for i := range t.Fields {
		f := &t.Fields[i]
		fmt.Fprintf(&out, "  %-10s %s: %s\n", f.Name, f.Type, f.Guide)
	}
	return strings.TrimRight(out.String(), "\n")
}
