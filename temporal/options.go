package temporal

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// Options configure workers and clients. Workers and clients that work together must have the same task queue, blobs
// and codec.
type Options struct {
	Namespace string     // of the client; "" is "default"
	TaskQueue string     // "" is "agentscript"
	Blobs     blob.Store // holds values larger than [Options.Inline]; nil is an error
	Codec     Codec      // encrypts what is stored in histories and in blobs; nil stores it as it is

	// Sessions stores the sessions of runs, see [agentscript.Session]. It applies to workers, all of which must have the
	// same store; a file of engine/store/sqlite will do if all workers are on one machine. nil refuses runs that have a
	// session.
	Sessions engine.SessionStore

	// Settings turns the settings that a run was started with into its options: limits, models, rules. It is called on
	// each worker, with the run's own settings, and must return the same options for the same settings. nil ignores
	// them.
	Settings func(head engine.RunHead, settings json.RawMessage) ([]agentscript.RunOption, error)

	// Held returns the part of those settings that bounds the run's effects on the outside world: the grants of the
	// run. On a worker, Within returns the engine that carries out effects within that bound, and done, which is called
	// when the engine is no longer needed. If the error of Within is an [engine.Error], another worker tries. If Held
	// is nil, the worker's own engine carries out all effects.
	Held   func(head engine.RunHead, settings json.RawMessage) ([]byte, error)
	Within func(held []byte) (e *agentscript.Engine, done func(), err error)

	// Listed publishes the status of runs as search attributes, so that the server can search by it, in addition to the
	// memo that lists show. The namespace must have the attributes that [Attributes] returns. Tenant is for whom the
	// runs are. Both apply to clients that start runs.
	Listed bool
	Tenant string

	// Pin keeps what a run is granted on one worker: its files, commands and MCP servers that are processes. When that
	// worker is lost, they fail with AS786. It applies to clients that start runs.
	Pin bool

	// FindWorker is how long a run looks for another worker when one lacks something: a grant, a tool, a key, a blob.
	// After that, what was refused fails with an error that names what each worker lacks. 0 is 30 s, or 3 s if the
	// queue has no other worker; a negative value asks no other worker. It applies to clients that start runs.
	FindWorker time.Duration

	// Listen returns the listener of a run, on the worker that carries it out. The listener receives nothing while the
	// worker replays the history. nil listens to no run.
	Listen func(run string) engine.Listener

	// Stream receives what models write, as they write it, on the worker that calls them. It bypasses the history.
	// Several effects call it at once, and it must return quickly. If it is nil, answers arrive as a whole.
	Stream func(Piece)

	// Log receives a line when a run begins or ends and when something is refused, on workers. nil is the client's log.
	Log *slog.Logger

	Heartbeat time.Duration // a worker reports at least this often that an effect is still running; 0 is 10 s
	Longest   time.Duration // the longest time of one effect; 0 is a day
	Inline    int           // values of up to this many bytes are stored in the history itself; 0 is 32 KiB

	// The following apply to clients that start runs: a run has the same values on all workers.
	AtOnce int // effects of one run that are under way at once; 0 is 200
	Events int // of a history, after which the run continues as new; 0 is 4,000
	Size   int // bytes of a history, after which the run continues as new; 0 is 4 MiB
}

// Piece is a piece of a model's answer. When a worker is lost, the next attempt begins the answer anew: a program that
// shows it must drop the pieces of the previous attempt.
type Piece struct {
	Run, Step string
	Attempt   int
	engine.Token
}

// Codec encodes values before they are stored where others may see them, and decodes them. It is safe for concurrent
// use.
type Codec = vault.Codec

func (o Options) withDefaults() Options {
	set := func(to *int, n int) {
		if *to <= 0 {
			*to = n
		}
	}
	set(&o.AtOnce, 200)
	set(&o.Inline, 32<<10)
	set(&o.Events, 4000)
	set(&o.Size, 4<<20)
	o.TaskQueue, o.Namespace = cmp.Or(o.TaskQueue, "agentscript"), cmp.Or(o.Namespace, "default")
	if o.Heartbeat <= 0 {
		o.Heartbeat = 10 * time.Second
	}
	if o.Longest <= 0 {
		o.Longest = 24 * time.Hour
	}
	return o
}

func (o Options) vault() *vault.Vault {
	return &vault.Vault{Blobs: o.Blobs, Codec: o.Codec, Inline: o.Inline}
}

// maxTaskBytes bounds the bytes that one workflow task sends; the server accepts 4 MB.
const maxTaskBytes = 1 << 20

// initialPauses is how often a run may pause while it computes in its first history. After that, it continues as new:
// the tasks of the next history may take longer, and it may pause pausesFactor times as often. A pause comes after
// about 10,000 steps of the interpreter, or when a node is called.
const (
	initialPauses = 2000
	pausesFactor  = 4
)

func (o Options) limits() world.Limits {
	return world.Limits{AtOnce: o.AtOnce, Bytes: maxTaskBytes, Events: o.Events, Size: o.Size, Pauses: initialPauses}
}
