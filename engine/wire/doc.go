// Package wire encodes effects for another process that executes them, and decodes them there, for example as
// activities of a durable workflow.
//
// The effect that [Decode] returns has the identity, the digest and the request of the one passed to [Encode], so a
// handler treats both alike. It contains the types and schemas that it needs: the other process needs no script. The
// answer is an [engine.Outcome], which has its own encoding: see [engine.DecodeOutcome].
//
// Encode accepts the effects that a handler outside of the composition executes: those of kind model, tool, mcp, exec,
// http, fs and env, and those of kind memory that take or save a session. All others belong to the run.
//
// A request names secrets and never contains them. But literals in a script are encoded as they are: the literal
// headers, variables and arguments of MCP servers, see [remote.Server.Literals], and the text of conversations. Encrypt
// effects before storing them or sending them where others can read them.
//
// The encoding leaves out functions ([generable.Check.Holds], which then holds for all values, and
// [remote.Server.Reconcile], which the run calls itself), and what a process knows about an effect in progress.
package wire

import (
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/session"
)

// Version is the version of the form that Encode writes. It increases when programs of this version cannot read the
// form; added keys do not change it.
const Version = 1

// effect is the encoded form of an effect. Types are indexes into the table, and values have the form of package codec.
type effect struct {
	Version   int               `json:"v"`
	Kind      engine.EffectKind `json:"kind"`
	Name      string            `json:"name,omitempty"`
	Agent     string            `json:"agent,omitempty"`
	Run       string            `json:"run,omitempty"`
	At        string            `json:"at,omitempty"` // the path
	Class     engine.Class      `json:"class,omitempty"`
	Stream    bool              `json:"stream,omitempty"`
	Short     bool              `json:"short,omitempty"`
	OnUnknown string            `json:"onUnknown,omitempty"`
	Returns   *int              `json:"returns,omitempty"`
	MaxOut    int32             `json:"maxOut,omitempty"`
	Timeout   time.Duration     `json:"timeout,omitempty"` // in nanoseconds
	Types     json.RawMessage   `json:"types,omitempty"`

	// Exactly one of these is set.
	Model      *modelRequest `json:"model,omitempty"`
	Tool       *toolRequest  `json:"tool,omitempty"`
	List       *server       `json:"list,omitempty"`
	Capability *operation    `json:"capability,omitempty"`

	Session *session.Request `json:"session,omitempty"`
}

type modelRequest struct {
	Model     string            `json:"model,omitempty"`
	System    string            `json:"system,omitempty"`
	Messages  []model.Message   `json:"messages"`
	Stands    map[int]string    `json:"stands,omitempty"` // by index of the message: the full text that its first part is short for
	Tools     []toolDef         `json:"tools,omitempty"`
	Choice    *model.ToolChoice `json:"choice,omitempty"`
	Output    *output           `json:"output,omitempty"`
	Params    *model.Params     `json:"params,omitempty"`
	Extra     *string           `json:"extra,omitempty"` // of the parameters, byte by byte
	Fallbacks []string          `json:"fallbacks,omitempty"`
}

type toolDef struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Params      *int     `json:"params,omitempty"`
	Schema      string   `json:"schema,omitempty"`
	After       []string `json:"after,omitempty"`
}

type output struct {
	Type       *int             `json:"type,omitempty"`
	Structured model.Structured `json:"structured,omitempty"`
	Enough     *condition       `json:"enough,omitempty"`
}

// condition is a predicate.
type condition struct {
	Op    string          `json:"op"`
	Field string          `json:"field,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Fold  bool            `json:"fold,omitempty"`
	Exact bool            `json:"exact,omitempty"`
	Of    []*condition    `json:"of,omitempty"`
}

type toolRequest struct {
	Args    json.RawMessage `json:"args"`
	Version string          `json:"version,omitempty"`
	Server  *server         `json:"server,omitempty"`
	Tool    string          `json:"tool,omitempty"`
}

type operation struct {
	Op   string          `json:"op"`
	Args json.RawMessage `json:"args"`
}

// server contains all of a server: the JSON of a [remote.Server] is only for people.
type server struct {
	Name      string           `json:"name"`
	Transport string           `json:"transport,omitempty"`
	Command   string           `json:"command,omitempty"`
	Args      []string         `json:"args,omitempty"`
	Env       []remote.Setting `json:"env,omitempty"`
	URL       string           `json:"url,omitempty"`
	Headers   []remote.Setting `json:"headers,omitempty"`
	OAuth     *remote.OAuth    `json:"oauth,omitempty"`
	Timeout   time.Duration    `json:"timeout,omitempty"`
	Call      time.Duration    `json:"call,omitempty"`
	Tools     []string         `json:"tools,omitempty"`
	Class     engine.Class     `json:"class,omitempty"`
	OnUnknown string           `json:"onUnknown,omitempty"`
	Untrusted bool             `json:"untrusted,omitempty"`
	Span      *diag.Span       `json:"span,omitempty"`
}
