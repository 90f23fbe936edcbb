// Package wire writes effects for another process, which carries them out, and reads them there: as activities of a
// durable workflow, say.
//
// The effect that [Decode] returns has the identity, the digest and the request of the one that [Encode] took, so that a
// handler does the same with either. The types and schemas that it needs are in it: the other process needs no script.
// It answers by an [engine.Outcome], which has a form of its own: see [engine.DecodeOutcome].
//
// Effects that a handler outside of the composition carries out can be written: those of kind model, tool, mcp, exec, http,
// fs and env, and those of kind memory that take or save a session. All others belong to the run.
//
// A request names secrets and never holds them. But what a script writes out itself travels as it is: the literal
// headers, variables and arguments of MCP servers, see [remote.Server.Literals], and all that conversations say. Who
// stores effects, or sends them where others can read them, encrypts them.
//
// What is left behind: functions ([generable.Check.Holds], which holds for all values afterwards, and
// [remote.Server.Reconcile], which the run asks itself), and what a process knows of an effect that is under way.
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

// Version is that of the form that Encode writes. A form that programs of this version cannot read has a greater one; keys
// are added without one.
const Version = 1

// effect is the form of an effect. Types are indexes of the table, and values those of package codec.
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

	// One of these is there.
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
	Stands    map[int]string    `json:"stands,omitempty"` // what the first text of a message is short for
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

// server is a whole server: the JSON of a [remote.Server] is for people.
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
