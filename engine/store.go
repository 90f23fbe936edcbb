package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/engine/model"
)

// Store keeps runs: what each began with, its steps in the order in which they were committed, the signals that were
// sent to it, and how it ended. It is safe for concurrent use by many processes. Its errors are *[Error] of
// [KindStore], or of [KindInput] for a run or bundle that does not exist.
//
// What a call committed survives the death of the process and, if the store says so, a loss of power. Rows become
// durable in the order in which they were committed, so that whatever is found later was committed after everything
// that it depends on. The package engine/store/storetest tests implementations against this contract.
//
// A call whose context has already ended does nothing. Once a change is under way, nothing ends it; [OpenRun.Put] and
// [OpenRun.End] ignore their contexts. Values are bytes to a store; nil and empty are the same. Times are kept to the
// nanosecond and returned in UTC. What was passed to a store must not be changed afterwards.
type Store interface {
	// CreateRun creates a run and takes it. No run with that id may exist. An id is 1 to 128 bytes of printable text
	// without spaces; see [store.CheckRunID].
	CreateRun(ctx context.Context, head RunHead, by Owner) (OpenRun, error)

	// TakeRun takes a run that nobody holds: one that has an end, or whose owner gave it back, has died on this
	// machine, or let its lease expire; finding out the last may take some time. TakeRun begins a new epoch: what an
	// earlier owner still writes changes nothing. If the run is held, the error has the code diag.RunHeld and says by
	// whom and until when. A run that had an end is running again; if it is given back before anything is put, it
	// becomes what it was.
	TakeRun(ctx context.Context, id string, by Owner) (OpenRun, error)

	// Run describes a run.
	Run(ctx context.Context, id string) (RunInfo, error)

	// Runs describes the runs that a filter selects, newest first. It leaves out Input, Args, Settings, Session,
	// ParentSeq, Result, Text and Err, most of which may be large; Run returns them.
	Runs(ctx context.Context, f RunFilter) ([]RunInfo, error)

	// Steps calls each for the steps of a run whose Seq is greater than after, in the order of Seq, until each
	// returns an error. It may be called while the run proceeds; a step that is replaced meanwhile may then come
	// twice, in its old and its new form. Steps may share maps of types, which must not be changed.
	Steps(ctx context.Context, id string, after int64, each func(Step) error) error

	// Signal sends a signal to a run, whether or not somebody holds the run, and returns the signal as it is stored.
	// If the run already has a signal with the same Dedup, nothing is stored and Signal returns that one: the caller
	// compares them.
	Signal(ctx context.Context, id string, s Signal) (Signal, error)

	// Signals returns the signals of a run, in the order in which they were stored.
	Signals(ctx context.Context, id string) ([]Signal, error)

	// CancelRun asks the owner of a run to end it: [OpenRun.Done] is closed within a second, in any process. The
	// first reason stays, and also applies to the next owner if this one does not end the run. CancelRun itself ends
	// a run that nobody holds. It does not change a run that has ended.
	CancelRun(ctx context.Context, id, reason string) error

	// DeleteRun removes a run that nobody holds, with everything that no other run needs.
	DeleteRun(ctx context.Context, id string) error

	// PutBundle stores the files of a script under its hash. A bundle that is already there stays as it is. It is
	// removed with the last run that has it, but not before the run for which it is put can be created.
	PutBundle(ctx context.Context, hash string, b Bundle) error

	// Bundle returns the files that PutBundle kept.
	Bundle(ctx context.Context, hash string) (Bundle, error)

	// Close closes the store. Open runs must be closed before.
	Close() error
}

// OpenRun is a run that its process holds. Its methods are safe for concurrent use. Once another owner has taken the
// run, Put and End fail with the code diag.RunLost, and nothing more is written.
type OpenRun interface {
	// Info describes the run as it was when it was taken: how it had ended, and what it held. Owner, Live and Epoch
	// are those of the new epoch.
	Info() RunInfo

	// Put writes a step with the next Seq of the run, in place of one with the same id. If sync is true, Put returns
	// when the step and everything that was put before are as durable as the store makes them. Otherwise it may
	// return before the step is written; if it cannot be written, a later call reports that. After a failure nothing
	// more is written to the run, so that what is found later is complete up to there. The run must then be closed,
	// and can be taken again.
	Put(ctx context.Context, s Step, sync bool) error

	// Done is closed when the run must stop: another owner has taken it, or it must be cancelled. Err returns the
	// reason, nil before that. A run that must be cancelled can still be written to and ended.
	Done() <-chan struct{}
	Err() error

	// Signalled receives after signals were stored for the run. The receiver reads them with [Store.Signals].
	Signalled() <-chan struct{}

	// End records how the run ended and gives it back. Status must not be [RunRunning]. A zero time means now.
	End(ctx context.Context, e RunEnd) error

	// Close gives the run back as it is. It does nothing after End, or to a run that was lost.
	Close() error
}

// Owner is the process that holds a run. With it, others on its machine can see whether the process is alive.
type Owner struct {
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	Name string `json:"name,omitempty"` // for people
}

// RunHead is what a run began with. It never changes.
type RunHead struct {
	ID       string          `json:"run"`
	Bundle   string          `json:"bundle,omitempty"` // the hash of the script with everything that it loads and reads
	ABI      int             `json:"abi"`              // the version of positions and ids
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

// RunStatus is the state of a run.
type RunStatus string

// The states of a run. A run whose process died is running, and nobody holds it.
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

	Owner   Owner       `json:"owner,omitzero"` // the process that holds it; zero: nobody
	Live    bool        `json:"live"`           // its owner is alive, as far as this machine can see
	Epoch   int64       `json:"epoch"`          // how often it was taken
	Until   time.Time   `json:"until,omitzero"` // the end of its owner's lease, if there are leases
	Updated time.Time   `json:"updated"`
	Steps   int         `json:"steps"`
	Waiting int         `json:"waiting,omitempty"` // steps in state [StepWaiting]
	Usage   model.Usage `json:"usage"`             // of all steps
	Cancel  string      `json:"cancel,omitempty"`  // why it must be cancelled
}

// RunFilter selects runs. The zero filter selects all.
type RunFilter struct {
	Status []RunStatus // nil: any
	Script string      // a part of its path
	Parent string
	Prefix string    // of the id
	Since  time.Time // begun at this time or later
	Until  time.Time // begun before
	Limit  int       // 0: all
}

// StepState is the state of a step.
type StepState string

// The states of a step.
const (
	StepIntent  StepState = "intent"  // its effect may have begun: it is of class once, and has no outcome
	StepWaiting StepState = "waiting" // it needs an answer from outside
	StepDone    StepState = "done"
	StepFailed  StepState = "failed" // it failed, and as far as is known the script did not continue after that
	StepCaught  StepState = "caught" // it failed, and the script continued after that, or an answer from outside says that it failed
	StepLeft    StepState = "left"   // it needed an answer, and the run continued without one: it belongs to the loser of a race
)

// Step is a row of a run: an effect and its outcome.
type Step struct {
	Seq     int64             `json:"seq,omitempty"` // counts the writes of the run; the store sets it
	ID      string            `json:"id"`            // as [Effect.ID]
	State   StepState         `json:"state"`
	Kind    EffectKind        `json:"kind"`
	Name    string            `json:"name,omitempty"`
	Agent   string            `json:"agent,omitempty"`
	Class   Class             `json:"class,omitempty"`
	Key     string            `json:"key,omitempty"` // identifies the request, regardless of its position
	Request json.RawMessage   `json:"request,omitempty"`
	Types   map[string]string `json:"types,omitempty"`   // the schemas of the request, by what they describe
	Outcome json.RawMessage   `json:"outcome,omitempty"` // as [Outcome.MarshalJSON] writes it
	Usage   model.Usage       `json:"usage,omitzero"`
	Taken   int64             `json:"taken,omitempty"` // the Seq of the last signal that it took
	Begun   time.Time         `json:"begun,omitzero"`
	Ended   time.Time         `json:"ended,omitzero"`
}

// Signal is what was sent to a run from outside: an answer to a step, or a value for a wait with a name.
type Signal struct {
	Seq   int64           `json:"seq"`             // within the run, from 1; the store sets it
	Step  string          `json:"step,omitempty"`  // the id of the step that it answers, or
	Name  string          `json:"name,omitempty"`  // the name of a wait
	Dedup string          `json:"dedup,omitempty"` // signals of one run that share it are the same; "": the signal is unique
	Value json.RawMessage `json:"value,omitempty"`
	By    string          `json:"by,omitempty"` // who sent it
	At    time.Time       `json:"at"`
}

// Bundle is a script with all the files that it loads and reads, by their paths below its root.
type Bundle struct {
	Entry string            `json:"entry"`
	Files map[string][]byte `json:"files"`
}

// SessionStore keeps what outlives a run, under the id of a session. It is safe for concurrent use. Its errors are
// *[Error] of [KindStore], or of [KindInput] for an invalid id.
type SessionStore interface {
	// OpenSession takes a session for one run, and creates the session if it does not exist. Until it is closed,
	// nobody else can take it, in this process or another. The session belongs to the script with which it was
	// created; another script is refused. An id must pass [session.CheckID].
	OpenSession(ctx context.Context, id, script string) (OpenSession, error)

	// Sessions lists the sessions by id. If it fails, it also returns those that could be read.
	Sessions(ctx context.Context) ([]SessionInfo, error)

	// ReadSession returns the entries of a session by key, even while a run has the session open.
	ReadSession(ctx context.Context, id string) (map[string]Entry, error)

	// DeleteSession deletes a session that no run has open.
	DeleteSession(ctx context.Context, id string) error
}

// OpenSession is a session that a run has taken: entries by key.
type OpenSession interface {
	// Load returns an entry, or the zero Entry if there is none.
	Load(ctx context.Context, key string) (Entry, error)

	// Save replaces an entry under the next version, and returns when that is as durable as the store makes it. op is
	// the idempotency key: what was saved under it before is not saved again, and Save returns the entry as it is.
	// Keys and texts are bytes, which come back unchanged.
	Save(ctx context.Context, key, op, text string) (Entry, error)

	// Close lets other runs take the session. Saving after it fails.
	Close() error
}

// Entry is what a session holds under a key. Each save assigns the next version.
type Entry struct {
	Text    string `json:"text"`
	Version int64  `json:"version"` // from 1; 0: there is no entry
}

// SessionInfo describes a session.
type SessionInfo struct {
	ID      string    `json:"id"`
	Script  string    `json:"script"`
	Updated time.Time `json:"updated"` // the time of the last save; zero if the store keeps no time
	Bytes   int64     `json:"bytes"`
	Entries int       `json:"entries"`
}
