package typing

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// FieldHelp proposes fields of a schema in the place of one that it lacks.
func FieldHelp(d *diag.Diagnostic, name string, t *generable.Type, more string) {
	if hint := diag.DidYouMean(name, t.FieldNames()); hint != "" {
		d.Helpf("%s", hint)
		return
	}
	names := "it has no fields"
	if len(t.Fields) > 0 {
		names = "its fields are " + strings.Join(t.FieldNames(), ", ")
	}
	d.Helpf("%s%s", names, more)
}

// Routes writes the routes that a branch over t needs, the first few of them.
func Routes(t *generable.Type) string {
	const most = 4
	var b strings.Builder
	for i, key := range Keys(Cases(t)) {
		if i == most {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key + ": handler")
	}
	return b.String()
}
