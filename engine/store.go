package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/engine/model"
)

// Store keeps runs: what each began with, its steps in the order in which they were committed, the signals that were
// sent to it, and how it ended. It is safe for concurrent use by many processes. Its errors are *[Error] of [KindStore];
// of [KindInput] for a run or bundle that is not there.
//
// What a call committed survives the death of the process, and, where the store says so, a loss of power: rows become
// durable in the order in which they were committed, so that whatever is found later was committed after all that it
// depends on. The package engine/store/storetest holds an implementation to what is written here.
//
// A context that has ended before a call keeps the call from beginning; once a change is under way nothing ends it, and
// [OpenRun.Put] and [OpenRun.End] do not look at theirs. Values are bytes to a store; nil and empty are one. Times
// come back to the nanosecond, in UTC. What a store was given must not be changed after.
type Store interface {
	// CreateRun makes a run and takes it. A run with that id must not be there. An id is 1 to 128 bytes of
	// printable text without spaces, see [store.CheckRunID].
	CreateRun(ctx context.Context, head RunHead, by Owner) (OpenRun, error)

	// TakeRun takes a run that nobody holds: one that has an end, or whose owner gave it back, has died on this
	// machine, or has let its lease run out; that it has may take some time to find out. It begins a new epoch: what
	// an earlier owner still writes changes nothing. The error for a run that is held says by whom and until when,
	// and has the code diag.RunHeld. A run that has an end is running again; if it is given back before anything is
	// put, it is what it was.
	TakeRun(ctx context.Context, id string, by Owner) (OpenRun, error)

	// Run describes a run.
	Run(ctx context.Context, id string) (RunInfo, error)

	// Runs describes the runs that a filter lets through, the newest first. It leaves out Input, Args, Settings, Session,
	// ParentSeq, Result, Text and Err, most of which may be large; Run returns them.
	Runs(ctx context.Context, f RunFilter) ([]RunInfo, error)

	// Steps calls each for the steps of a run whose Seq is above after, in the order of Seq, until it returns an error.
	// It may be called while the run goes on; a step that is replaced meanwhile may then come twice, as it was and as
	// it is. Maps of types may be shared by steps, and must not be changed.
	Steps(ctx context.Context, id string, after int64, each func(Step) error) error

	// Signal sends a signal to a run, whoever holds it, and returns it as it is stored. One with the same Dedup
	// that is there already is returned in its place and nothing is stored: the caller compares the two.
	Signal(ctx context.Context, id string, s Signal) (Signal, error)

	// Signals returns the signals of a run, in the order in which they were stored.
	Signals(ctx context.Context, id string) ([]Signal, error)

	// CancelRun asks the owner of a run to end it: [OpenRun.Done] is closed within a second, in any process. The first
	// reason stays, and holds for the next owner where this one does not end the run. A run that nobody holds is ended
	// here; of one that has ended nothing changes.
	CancelRun(ctx context.Context, id, reason string) error

	// DeleteRun removes a run that nobody holds, with all that no other run needs.
	DeleteRun(ctx context.Context, id string) error

	// PutBundle keeps the files of a script under its hash. One that is there is left as it is. It is removed with
	// the last run that has it, and not before the run that it is put for can be made.
	PutBundle(ctx context.Context, hash string, b Bundle) error

	// Bundle returns the files that PutBundle kept.
	Bundle(ctx context.Context, hash string) (Bundle, error)

	// Close ends the use of the store. Runs that are open must be closed before.
	Close() error
}

// OpenRun is a run that its process holds. Its methods are safe for concurrent use. Once the run was taken by another
// owner, every method fails with the code diag.RunLost, and nothing is written any more.
type OpenRun interface {
	// Info describes the run as it was found when it was taken: how it had ended, and what was in it. Owner, Live and
	// Epoch are those that began then.
	Info() RunInfo

	// Put writes a step, over one of the same id, with the next Seq of the run. If sync is true it returns when the step
	// and all that was put before are as durable as the store makes them; else it may return before the step is
	// written, and a later call reports that it could not be. After a failure nothing more is written to the run, so that
	// what is found later is whole up to there; it is to be closed, and can be taken again.
	Put(ctx context.Context, s Step, sync bool) error

	// Done is closed when the run must stop: it was taken by another owner, or it was to be cancelled. Err says why, nil
	// before; a run that was cancelled can still be written to, and ended.
	Done() <-chan struct{}
	Err() error

	// Signalled receives after signals were stored for the run. A receiver asks [Store.Signals] what they are.
	Signalled() <-chan struct{}

	// End writes how the run ended and gives it back. Status is not [RunRunning]. A time of zero is now.
	End(ctx context.Context, e RunEnd) error

	// Close gives the run back as it is. It does nothing after End, nor to a run that was lost.
	Close() error
}

// Owner is the process that holds a run, so that others on its machine can see whether it lives.
type Owner struct {
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	Name string `json:"name,omitempty"` // for people
}

// RunHead is what a run began with. It never changes.
type RunHead struct {
	ID       string          `json:"run"`
	Bundle   string          `json:"bundle,omitempty"` // the hash of the script with all that it loads and reads
	ABI      int             `json:"abi"`              // of positions and ids
	Script   string          `json:"script"`           // the path of the entry, for people
	Entry    string          `json:"entry"`            // the global that was run: "main"
	Seed     uint64          `json:"seed,string"`      // of random numbers and ids
	Input    json.RawMessage `json:"input,omitempty"`  // of a node, in its typed form
	Args     json.RawMessage `json:"args,omitempty"`   // of a function: a list in typed form
	Settings json.RawMessage `json:"settings,omitempty"`
	Session  json.RawMessage `json:"session,omitempty"` // what the session held when the run took it
	Parent   string          `json:"parent,omitempty"`  // the run that this one is a fork of
	// ParentSeq is the Seq of the last step of Parent that the fork may take.
	ParentSeq int64     `json:"parentSeq,omitempty"`
	Begun     time.Time `json:"begun"`
}

// RunStatus says how far a run is.
type RunStatus string

// The states of a run. One whose process died is running, and nobody holds it.
const (
	RunRunning   RunStatus = "running"
	RunParked    RunStatus = "parked" // it waits for answers
	RunDone      RunStatus = "done"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
)

// RunEnd is how a run ended, or why it stopped for now.
type RunEnd struct {
	Status RunStatus       `json:"status"`
	Result json.RawMessage `json:"result,omitempty"` // in its typed form
	Text   string          `json:"text,omitempty"`   // the result as it was printed
	Err    json.RawMessage `json:"error,omitempty"`  // an *[Error]
	At     time.Time       `json:"ended"`
}

// RunInfo describes a run as it is now.
type RunInfo struct {
	RunHead
	RunEnd // At is zero while it has not ended

	Owner   Owner       `json:"owner,omitzero"` // that holds it; zero: nobody does
	Live    bool        `json:"live"`           // its owner is alive, as far as this machine can see
	Epoch   int64       `json:"epoch"`          // how often it was taken
	Until   time.Time   `json:"until,omitzero"` // the end of its owner's lease, where there are leases
	Updated time.Time   `json:"updated"`
	Steps   int         `json:"steps"`
	Waiting int         `json:"waiting,omitempty"` // steps in state [StepWaiting]
	Usage   model.Usage `json:"usage"`             // of all steps
	Cancel  string      `json:"cancel,omitempty"`  // why it is to be cancelled
}

// RunFilter selects runs. The zero filter selects all.
type RunFilter struct {
	Status []RunStatus // nil: any
	Script string      // a part of its path
	Parent string
	Prefix string    // of the id
	Since  time.Time // begun then or later
	Until  time.Time // begun before
	Limit  int       // 0: all
}

// StepState says how far a step is.
type StepState string

// The states of a step.
const (
	StepIntent  StepState = "intent"  // its effect may have begun: it is of class once, and has no outcome
	StepWaiting StepState = "waiting" // it needs an answer from outside
	StepDone    StepState = "done"
	StepFailed  StepState = "failed" // nothing went on from the failure, as far as is known
	StepCaught  StepState = "caught" // it failed, and the script went on from that, or an answer from outside says so
	StepLeft    StepState = "left"   // it needed an answer, and the run went on without one: it is of the loser of a race
)

// Step is a row of a run: an effect, and what came of it.
type Step struct {
	Seq     int64             `json:"seq,omitempty"` // counts the writes of the run; the store sets it
	ID      string            `json:"id"`            // as [Effect.ID]
	State   StepState         `json:"state"`
	Kind    EffectKind        `json:"kind"`
	Name    string            `json:"name,omitempty"`
	Agent   string            `json:"agent,omitempty"`
	Class   Class             `json:"class,omitempty"`
	Key     string            `json:"key,omitempty"` // of the request alone, whatever its position
	Request json.RawMessage   `json:"request,omitempty"`
	Types   map[string]string `json:"types,omitempty"`   // the schemas of the request, by what they are of
	Outcome json.RawMessage   `json:"outcome,omitempty"` // as [Outcome.MarshalJSON] writes it
	Usage   model.Usage       `json:"usage,omitzero"`
	Taken   int64             `json:"taken,omitempty"` // the Seq of the last signal that was taken for it
	Begun   time.Time         `json:"begun,omitzero"`
	Ended   time.Time         `json:"ended,omitzero"`
}

// Signal is what was sent to a run from outside: an answer to a step, or a value that it waits for by a name.
type Signal struct {
	Seq   int64           `json:"seq"`             // within the run, from 1; the store sets it
	Step  string          `json:"step,omitempty"`  // the id of the step that it answers, or
	Name  string          `json:"name,omitempty"`  // the name that a wait has
	Dedup string          `json:"dedup,omitempty"` // signals of one run that share it are the same; "": it is like no other
	Value json.RawMessage `json:"value,omitempty"`
	By    string          `json:"by,omitempty"` // who sent it
	At    time.Time       `json:"at"`
}

// Bundle is a script with all the files that it loads and reads, by their paths below its root.
type Bundle struct {
	Entry string            `json:"entry"`
	Files map[string][]byte `json:"files"`
}

// SessionStore keeps what outlives a run, by the id of a session. It is safe for concurrent use.
// Its errors are *[Error] of [KindStore], or of [KindInput] for what is not an id.
type SessionStore interface {
	// OpenSession takes a session for one run, and makes it when there is none. Until it is closed
	// nobody else can take it, in this process or another. The script names what the session
	// belongs to; another script is refused. An id must pass [session.CheckID].
	OpenSession(ctx context.Context, id, script string) (OpenSession, error)

	// Sessions lists the sessions by id. With an error it returns those that could be read.
	Sessions(ctx context.Context) ([]SessionInfo, error)

	// ReadSession returns the entries of a session by their keys, also while a run has it open.
	ReadSession(ctx context.Context, id string) (map[string]Entry, error)

	// DeleteSession deletes a session that no run has open.
	DeleteSession(ctx context.Context, id string) error
}

// OpenSession is a session that a run has taken: entries by key.
type OpenSession interface {
	// Load returns an entry, the zero Entry when there is none.
	Load(ctx context.Context, key string) (Entry, error)

	// Save replaces an entry, under the next version, and returns when that is as durable as the store
	// makes it. op is the idempotency key: what was saved under it before is not saved again, and the
	// entry is returned as it is. Keys and texts are bytes, which come back as they were.
	Save(ctx context.Context, key, op, text string) (Entry, error)

	// Close lets other runs take the session. Saving after it fails.
	Close() error
}

// Entry is what a session holds under a key. Each time it is saved it gets the next version.
type Entry struct {
	Text    string `json:"text"`
	Version int64  `json:"version"` // from 1; 0: there is none
}

// SessionInfo describes a session.
type SessionInfo struct {
	ID      string    `json:"id"`
	Script  string    `json:"script"`
	Updated time.Time `json:"updated"` // when something was saved last; zero where a store keeps no time
	Bytes   int64     `json:"bytes"`
	Entries int       `json:"entries"`
}
