package redact

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/generable"
)

// Known tracks the secrets of a run: those that its handlers hold now, and those they held before. A nil Known
// has none.
//
// Nothing else in the run contains them: they are removed from everything that enters, the input and the
// outcomes of effects, so that a script never sees them. For secrets that a script writes literally, they are
// also removed from each request before its digest is computed, and from events and errors.
type Known struct {
	of  func() []string
	set atomic.Pointer[Set]

	mu    sync.Mutex
	keys  []string
	files map[string]bool // paths of files from which secrets were removed on reading; nil: none
}

// mostKept bounds the replaced secrets, such as renewed tokens, that are still searched for.
const mostKept = 64

// Knows returns a Known for the secrets that of reports, nil if of is nil. [Known.Look] calls it.
func Knows(of func() []string) *Known {
	if of == nil {
		return nil
	}
	return &Known{of: of}
}

// Look updates the set of secrets.
func (k *Known) Look() {
	if k == nil {
		return
	}
	keys := k.of()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, old := range k.keys {
		if len(keys) < mostKept && !slices.Contains(keys, old) {
			keys = append(keys[:len(keys):len(keys)], old)
		}
	}
	k.keys = keys
	k.set.Store(New(keys))
}

// Set returns the secrets, nil if there are none.
func (k *Known) Set() *Set {
	if k == nil {
		return nil
	}
	return k.set.Load()
}

// Text returns a text without the secrets.
func (k *Known) Text(text string) string { return k.Set().String(text) }

// Effect removes secrets from the request of an effect. It must run before the effect's id is computed.
//
//go:noinline
func (k *Known) Effect(e *engine.Effect) {
	if set := k.Set(); set != nil {
		e.Req = set.Request(e.Req)
		if e.Kind != engine.EffectModel {
			e.Name = set.String(e.Name)
		}
	}
}

// Outcome removes secrets from the outcome of an effect. The call may have produced new secrets: a key that
// was looked up for it, or a renewed token.
//
//go:noinline
func (k *Known) Outcome(e *engine.Effect, out *engine.Outcome) {
	if e.Kind == engine.EffectModel || e.ByServer() == engine.EffectMCP {
		k.Look()
	}
	set := k.Set()
	if set == nil || !set.Outcome(out) {
		return
	}
	if r, ok := e.Req.(*capability.Request); ok && e.Kind == engine.EffectFS && r.Op == "read" {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.files == nil {
			k.files = map[string]bool{}
		}
		k.files[fileOf(r.Args)] = true
	}
}

func fileOf(args *generable.Map) string {
	at, _ := args.Get("path")
	name, _ := at.AsStr()
	return path.Clean(name)
}

// Into returns a context for an effect that truncates its result, see [SetOf], a sink that receives no
// secrets, and a function that flushes the sink, nil if there is nothing to flush.
//
//go:noinline
func (k *Known) Into(ctx context.Context, e *engine.Effect, sink engine.Sink) (context.Context, engine.Sink, func()) {
	set := k.Set()
	if _, touches := e.Req.(*capability.Request); touches && set != nil {
		ctx = context.WithValue(ctx, setKey{}, set)
	}
	if set == nil || sink == nil {
		return ctx, sink, nil
	}
	t := &Tokens{Keys: set, Sink: sink}
	return ctx, t.Add, t.Close
}

type setKey struct{}

// SetOf returns the secrets of the run that called a handler, nil if there are none. A handler that truncates
// text must remove them first, so that no part of one remains.
func SetOf(ctx context.Context) *Set {
	set, _ := ctx.Value(setKey{}).(*Set)
	return set
}

// Spoils returns the error for writing a text without secrets to a file from which they were removed on
// reading: the file would lose them.
func (k *Known) Spoils(op *capability.Operation, args *generable.Map) error {
	if k.Set() == nil || op.Kind != engine.EffectFS || op.Name != "write" {
		return nil
	}
	name := fileOf(args)
	text, _ := args.Get("text")
	written, _ := text.AsStr()
	k.mu.Lock()
	read := k.files[name]
	k.mu.Unlock()
	if !read || !strings.Contains(written, Marker) {
		return nil
	}
	return engine.Errorf(engine.KindTool, diag.TouchRefused, "fs.write: %q holds a secret, which the script does not see: writing the text with %s in its place would lose it", name, Marker).
		WithHelp("have the script write another file, or change this one outside of the run")
}
