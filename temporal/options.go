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

// Options of workers and clients. Those that have to do with each other must have the same task queue, blobs and codec.
type Options struct {
	Namespace string     // of the client; "" is "default"
	TaskQueue string     // "" is "agentscript"
	Blobs     blob.Store // keeps what is larger than [Options.Inline]; nil is an error
	Codec     Codec      // encrypts what is kept in histories and in blobs; nil keeps it as it is

	// Sessions keeps the sessions of runs, see [agentscript.Session]: on workers, all of which must have the same ones. It can
	// be a file of engine/store/sqlite where all workers are on one machine. nil refuses runs that have a session.
	Sessions engine.SessionStore

	// Settings makes of the settings that a run was started with its options: limits, models, rules. It is called on each
	// worker, with the run's own settings, and must return the same for the same. nil ignores them.
	Settings func(head engine.RunHead, settings json.RawMessage) ([]agentscript.RunOption, error)

	// Held returns what of those settings the effects of the run are held to that touch the world: the grants of the run. Within
	// returns the engine that carries them out so on a worker, and calls done when it is not needed any more; an error that is an
	// [engine.Error] has another worker try. nil has the worker's own engine carry them out.
	Held   func(head engine.RunHead, settings json.RawMessage) ([]byte, error)
	Within func(held []byte) (e *agentscript.Engine, done func(), err error)

	// Listed has the server search for how runs stand: what lists show anyway is in search attributes as well, which [Attributes]
	// names and the namespace must have. It is for clients that start runs, as is Tenant, for whom they are.
	Listed bool
	Tenant string

	// Pin has what a run is granted stay on one worker: its files, commands and MCP servers that are processes. When that
	// worker is lost they fail with AS786. It is for clients that start runs.
	Pin bool

	// FindWorker is how long a run looks for another worker where one lacks something: a grant, a tool, a key, a blob. After that
	// what was refused fails, and names what each worker lacks. 0 is 30 s, or 3 s where the queue has no other worker; less than 0 asks no
	// other one. It is for clients that start runs.
	FindWorker time.Duration

	// Listen returns who watches a run on the worker that carries it out. While the worker repeats what is in the history it
	// hears nothing. nil watches none.
	Listen func(run string) engine.Listener

	// Stream receives what models write as they do, on the worker that asks them: it passes beside the history. It is called
	// by several effects at once, and must be quick. nil has answers come as a whole.
	Stream func(Piece)

	// Log has lines of when runs begin and end and what is refused, on workers. nil is the log of the client.
	Log *slog.Logger

	Heartbeat time.Duration // how often a worker says that an effect goes on, at least; 0 is 10 s
	Longest   time.Duration // of one effect; 0 is a day
	Inline    int           // bytes of a value that stand in the history at most; 0 is 32 KiB

	// These are for clients that start runs: a run has the same on all workers.
	AtOnce int // effects of one run under way; 0 is 200
	Events int // of a history, after which a run goes on in a new one; 0 is 4,000
	Size   int // bytes of a history, likewise; 0 is 4 MiB
}

// Piece is a piece of an answer of a model. When a worker is lost the answer begins anew, with the next attempt: who shows
// it drops what came of the one before.
type Piece struct {
	Run, Step string
	Attempt   int
	engine.Token
}

// Codec makes of what is kept what others may see, and the reverse. It is safe for concurrent use.
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

// sentAtOnce bounds what one task of a workflow sends, of which the server takes 4 MB.
const sentAtOnce = 1 << 20

// firstPauses is how often a run pauses while it computes before it goes on in a history whose tasks may take longer, and may pause
// morePauses times as often: a pause comes after some 10,000 steps of the interpreter, or when a node is called.
const (
	firstPauses = 2000
	morePauses  = 4
)

func (o Options) limits() world.Limits {
	return world.Limits{AtOnce: o.AtOnce, Bytes: sentAtOnce, Events: o.Events, Size: o.Size, Pauses: firstPauses}
}
