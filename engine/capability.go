package engine

import (
	"encoding/json"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// The kinds of effects by which a script touches the world outside of its run. Each is there
// only as far as the host granted it, see [Grants].
const (
	EffectExec EffectKind = "exec" // a command, without a shell
	EffectHTTP EffectKind = "http"
	EffectFS   EffectKind = "fs"
	EffectEnv  EffectKind = "env"
)

// Grants is what a host lets scripts touch, and what does it. It is the handler of the four
// kinds above.
type Grants interface {
	Handler
	// Allows reports whether a use is granted. One whose target only a run knows is allowed
	// when some target would be.
	Allows(u Use) bool
}

// Operation is one thing that a capability can do.
type Operation struct {
	Kind    EffectKind
	Name    string // "run"; "get", "post", "request"; "read", "write", ...; "get", "secret"
	Class   Class
	Returns *generable.Type
}

// TouchRequest asks for one operation of a capability: the [Payload] of these effects.
type TouchRequest struct {
	Op string // [Operation].Name

	// Args are the arguments by name, without those that were not given. A text among them may
	// be a list of texts and of secrets, records of [SecretType]: only the handler knows what
	// these stand for, so that no secret is in a request, an event or a record.
	Args *generable.Map
}

// Digest implements [Payload].
func (r *TouchRequest) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon([]byte(r.Op+"\x00"), r.Args.Value()))
}

// MarshalJSON encodes the operation and its arguments.
func (r *TouchRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Op   string          `json:"op"`
		Args json.RawMessage `json:"args"`
	}{r.Op, generable.AppendJSON(nil, r.Args.Value(), nil)})
}

// Touch carries out an operation as an effect, at the next place of its kind in the callback
// that runs: main/fs:read#0. The name is what the effect is called by, for people: the command,
// the method of HTTP. It counts as no tool call; what bounds it is the time of the run and its
// own. What it gave is recorded, and a replay touches nothing.
func (b *branch) Touch(op *Operation, name string, class Class, args *generable.Map) (generable.Value, error) {
	if err := b.sched.Err(); err != nil {
		return generable.Value{}, b.locate(err, nil)
	}
	word := string(op.Kind)
	e := (&inFlight{effect: Effect{Kind: op.Kind, Name: name, Run: b.RunID(), Class: class, Req: &TouchRequest{Op: op.Name, Args: args},
		At: b.inCallback().child(word, op.Name, b.ordinal(callKey{word, op.Name}))}}).begin()
	if err := b.outdoes(e, op); err != nil {
		return generable.Value{}, b.locate(err, nil)
	}
	out := b.do(e, &ask{})
	if out.Err != nil {
		return generable.Value{}, b.locate(out.Err, nil)
	}
	return converted(out.Value, op.Returns, word+"."+op.Name)
}

// notGranted is the error of a use that a run came to and nothing grants.
func notGranted(u Use) *Error {
	return Errorf(KindTool, diag.UngrantedUse, "%s is not granted", u).WithHelp("run it with %s", u.Flag())
}

// Ungranted is the outcome of an effect that nothing grants.
func Ungranted(u Use) Outcome { return Failed(notGranted(u)) }
