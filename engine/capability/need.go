package capability

import (
	"cmp"
	"encoding/json"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Need is something outside of a script that the script uses. It must be granted before the script runs.
type Need struct {
	Use
	Script string    // the entry file
	Server string    // the MCP server that needs it; "" if the script itself does
	Span   diag.Span // where the script mentions it first
}

// word returns the kind of need as a manifest lists it.
func (n Need) word() string {
	switch {
	case n.Kind == engine.EffectExec:
		return "exec"
	case n.Kind == engine.EffectHTTP:
		return "net"
	case n.Kind == engine.EffectEnv:
		return "env"
	case n.Writes():
		return "write"
	}
	return "read"
}

// MarshalJSON writes
//
//	{"script":…,"kind":"exec","target":"npx","grant":"--allow-exec npx","server":"files","file":…,"line":…,"col":…,"len":…}
//
// A target that is known only to a run is "*".
func (n Need) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Script string `json:"script,omitempty"`
		Kind   string `json:"kind"`
		Target string `json:"target"`
		Grant  string `json:"grant"`
		Server string `json:"server,omitempty"`
		diag.Pos
		Len int `json:"len,omitempty"`
	}{n.Script, n.word(), cmp.Or(n.Target, "*"), n.Flag(), n.Server, n.Span.Pos, n.Span.Len})
}
