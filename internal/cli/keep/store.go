package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Store is the store of one command. It opens its file when a run first needs it. A store that nobody named does not
// break a run: if it cannot be used, there is one warning, and the run continues without it.
type Store struct {
	c       *term.Console
	place   setup.StorePlace
	lenient bool

	// Counts counts what a continued run takes from before; nil for a new run.
	Counts *Counts

	// Reuses reports whether a fork may be answered from a step of the run that it is a fork of; nil: from all steps.
	Reuses func(run string, s engine.Step) bool

	over  engine.Store // used instead of a file; nil for none
	lines Lines        // for commands about its runs

	mu     sync.Mutex
	open   *sqlite.Store
	tidy   context.CancelFunc // ends the removal of old runs in the background
	tidied chan struct{}
	lost   bool                // nothing is stored any more
	runs   map[string]*openRun // begun or taken here
	files  map[string]file     // runs that are read from files, by id
	record string              // the file of --record
}

var _ engine.Store = (*Store)(nil)

// New returns a store without a place.
func New(c *term.Console) *Store {
	return &Store{c: c, place: setup.StorePlace{Off: true}, runs: map[string]*openRun{}}
}

// Lines says how to write commands about the runs of a store that is not in a file.
type Lines struct {
	Verb  string // "agentscript temporal runs"
	Flags string // name the same store; "" if it is found without flags
}

// Over returns a store that uses another one instead of a file: its runs are carried out elsewhere.
func Over(c *term.Console, s engine.Store, lines Lines) *Store {
	return &Store{c: c, over: s, lines: lines, runs: map[string]*openRun{}}
}

// Use determines where to keep a run with these flags. A run with prepared answers is kept only if a flag names a
// store. A named store is opened now, so that nothing is done if it cannot be opened.
func (s *Store) Use(ctx context.Context, o *setup.RunFlags) error {
	s.record = o.Calls.Record
	prepared := o.Scripted != "" || o.Mock.On
	switch {
	case o.Ephemeral, o.Watch, o.Calls.Replay != "", prepared && o.Store == "":
		return nil
	}
	if s.place = setup.FindStore(s.c, o.Store); s.place.Off {
		return nil
	}
	if s.lenient = !s.place.Named; s.lenient {
		return nil
	}
	_, err := s.opened(ctx)
	return setup.StoreFailure(err)
}

// Options returns the options for a run that is kept as [Store.Use] has determined.
func (s *Store) Options() []agentscript.RunOption {
	if s.place.Off {
		return []agentscript.RunOption{agentscript.Ephemeral()}
	}
	return []agentscript.RunOption{agentscript.ParkRun()}
}

// At returns a store that must already exist, for verbs that read runs. It returns nil if there is no store.
func At(ctx context.Context, c *term.Console, flag string) (*Store, setup.StorePlace, error) {
	p := setup.FindStore(c, flag)
	switch {
	case p.Off || p.Missing() && !p.Named:
		return nil, p, nil
	case p.Missing():
		return nil, p, term.Usagef("agentscript run --store "+p.Path+" makes it", "%s %s: there is no such file", p.From, p.Path)
	}
	if p.Empty() { // opening it would turn it into a store
		if !p.Named {
			return nil, p, nil
		}
		return nil, p, term.Usagef("agentscript run --store "+text.ShellWord(p.Path)+" makes one of it", "%s %s: it is empty, and no store of runs", p.From, p.Path)
	}
	s := New(c)
	s.place = p
	_, err := s.opened(ctx)
	if err != nil {
		return nil, p, setup.StoreFailure(err)
	}
	return s, p, nil
}

// To returns a store into which runs are imported. It is created if it does not exist.
func To(ctx context.Context, c *term.Console, flag string) (*Store, error) {
	s := Beside(c, flag)
	if _, err := s.opened(ctx); err != nil {
		return nil, setup.StoreFailure(err)
	}
	return s, nil
}

// Beside returns a store for runs that are read from files; see [Store.Read]. It is opened, and created, when another
// run, or what is begun from these runs, needs it.
func Beside(c *term.Console, flag string) *Store {
	s := New(c)
	s.place = setup.FindStore(c, flag)
	return s
}

// Missing reports whether the store does not exist yet.
func (s *Store) Missing() bool { return s.over == nil && (s.place.Off || s.place.Missing()) }

// Keeps reports whether runs are kept, as far as is known.
func (s *Store) Keeps() bool { return !s.place.Off }

// Flag returns the value of --store with which another command uses the same store, or "" if it does that by default.
func (s *Store) Flag() string {
	if s.place.From != "--store" {
		return ""
	}
	return s.place.Path
}

// Began reports whether a run was begun or taken in the store, and is in it.
func (s *Store) Began(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[run]
	return r != nil && (!s.lost || r.stays())
}

func (s *Store) began(run string, open engine.OpenRun, taken bool) engine.OpenRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs[run] = &openRun{OpenRun: open, of: s, taken: taken}
	return s.runs[run]
}

// OpenFile opens the store in a file. If it is the file of the runs, it returns their store. It is a [setup.Opener].
func (s *Store) OpenFile(ctx context.Context, path string) (*sqlite.Store, func() error, error) {
	if !s.place.Off && sameFile(s.place.Path, path) {
		db, err := s.file(ctx)
		return db, func() error { return nil }, err
	}
	db, err := sqlite.Open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	return db, db.Close, nil
}

// sameFile reports whether two paths, of files that may not exist yet, refer to the same file.
func sameFile(a, b string) bool {
	whole := func(path string) string {
		at, err := filepath.Abs(path)
		if err != nil {
			return path
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(at)); err == nil {
			return filepath.Join(dir, filepath.Base(at))
		}
		return at
	}
	return a == b || whole(a) == whole(b)
}

// opened returns the store that holds the runs.
func (s *Store) opened(ctx context.Context) (engine.Store, error) {
	if s.over != nil {
		return s.over, nil
	}
	return s.file(ctx)
}

// file opens the file.
func (s *Store) file(ctx context.Context) (*sqlite.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open != nil {
		return s.open, nil
	}
	if s.place.Off {
		return nil, term.Usagef("name one with --store", "%s is off: there is no store of runs", s.place.From)
	}
	if s.place.Path == "" {
		return nil, engine.Errorf(engine.KindStore, diag.StoreFailed, "there is no directory for runs: %s is not set", s.place.Lacks).
			WithHelp("set XDG_STATE_HOME, or name a file with --store")
	}
	isNew := s.place.Missing()
	if dir := filepath.Dir(s.place.Path); isNew && s.place.Named { // only the user's default directory is created
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, term.Usagef("make it first, or name another file", "%s %s: there is no directory %s", s.place.From, s.place.Path, dir)
		}
	}
	db, err := sqlite.Open(ctx, s.place.Path)
	if err != nil {
		return nil, err
	}
	s.open = db
	if !isNew && s.lenient { // an existing file may hold only sessions
		first, err := db.Runs(ctx, engine.RunFilter{Limit: 1})
		isNew = err == nil && len(first) == 0
	}
	if s.lenient { // the user's default store, which nobody else cleans up
		s.collects(db)
	}
	if isNew && !s.place.Named { // shown even if progress is not
		s.tell(&diag.Diagnostic{Severity: diag.Info, Message: "runs are kept from now on, for 30 days, in " + s.place.Path,
			Help: []string{"agentscript runs ls lists them; --ephemeral keeps one run from it, and " + setup.StoreVariable + "=off all"}})
	}
	return db, nil
}

// tell reports something while a run is in progress.
func (s *Store) tell(d *diag.Diagnostic) {
	defer s.c.Alone()()
	s.c.Report(diag.List{d}, nil)
}

// pass reports whether a run may continue unkept after a failure of the store. The first failure is reported.
func (s *Store) pass(err error) bool {
	e, ok := errors.AsType[*engine.Error](err)
	if !s.lenient || !ok || e.Code != diag.StoreFailed {
		return false
	}
	s.mu.Lock()
	first := !s.lost
	s.lost = true
	s.mu.Unlock()
	if first {
		s.tell(&diag.Diagnostic{Severity: diag.Warning, Code: e.Code, Message: fmt.Sprintf("this run is not kept: %s", e.Message),
			Help: []string{"it continues anyway; name another file with --store, or turn this off with --ephemeral or " + setup.StoreVariable + "=off"}})
	}
	return true
}

// Dry makes the store keep nothing until done is called.
func (s *Store) Dry() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lost = false
	}
}

func (s *Store) unkept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// PutBundle implements [engine.Store].
func (s *Store) PutBundle(ctx context.Context, hash string, b engine.Bundle) error {
	if s.unkept() {
		return nil
	}
	db, err := s.opened(ctx)
	if err == nil {
		err = db.PutBundle(ctx, hash, b)
	}
	if s.pass(err) {
		return nil
	}
	return err
}

// CreateRun implements [engine.Store].
func (s *Store) CreateRun(ctx context.Context, head engine.RunHead, by engine.Owner) (engine.OpenRun, error) {
	if s.unkept() {
		return journal.Nowhere(head), nil
	}
	db, err := s.opened(ctx)
	if err != nil && s.pass(err) {
		return journal.Nowhere(head), nil
	} else if err != nil {
		return nil, err
	}
	r, err := db.CreateRun(ctx, head, by)
	if err != nil && s.pass(err) {
		return journal.Nowhere(head), nil
	} else if err != nil {
		return nil, err
	}
	return s.began(head.ID, r, false), nil
}

// TakeRun implements [engine.Store].
func (s *Store) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	db, err := s.opened(ctx)
	if err != nil {
		return nil, err
	}
	r, err := db.TakeRun(ctx, id, by)
	if err != nil {
		return nil, err
	}
	return s.began(id, r, true), nil
}

// Run implements [engine.Store].
func (s *Store) Run(ctx context.Context, id string) (engine.RunInfo, error) {
	db, err := s.holder(ctx, id)
	if err != nil {
		return engine.RunInfo{}, err
	}
	return db.Run(ctx, id)
}

// Runs implements [engine.Store].
func (s *Store) Runs(ctx context.Context, f engine.RunFilter) ([]engine.RunInfo, error) {
	db, err := s.opened(ctx)
	if err != nil {
		return nil, err
	}
	return db.Runs(ctx, f)
}

// Steps implements [engine.Store].
func (s *Store) Steps(ctx context.Context, id string, after int64, each func(engine.Step) error) error {
	db, err := s.holder(ctx, id)
	if err != nil {
		return err
	}
	return db.Steps(ctx, id, after, func(step engine.Step) error {
		if s.Reuses != nil && !s.Reuses(id, step) {
			return nil
		}
		return each(step)
	})
}

// Signal implements [engine.Store].
func (s *Store) Signal(ctx context.Context, id string, sig engine.Signal) (engine.Signal, error) {
	db, err := s.opened(ctx)
	if err != nil {
		return engine.Signal{}, err
	}
	return db.Signal(ctx, id, sig)
}

// Deliver implements [journal.Mailbox].
func (s *Store) Deliver(ctx context.Context, run string, l journal.Letter) error {
	db, err := s.opened(ctx)
	if err != nil {
		return err
	}
	return journal.Deliver(ctx, db, run, l)
}

// Signals implements [engine.Store].
func (s *Store) Signals(ctx context.Context, id string) ([]engine.Signal, error) {
	if s.unkept() {
		return nil, nil
	}
	db, err := s.holder(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := db.Signals(ctx, id)
	if s.pass(err) {
		return nil, nil
	}
	return all, err
}

// CancelRun implements [engine.Store].
func (s *Store) CancelRun(ctx context.Context, id, reason string) error {
	db, err := s.opened(ctx)
	if err != nil {
		return err
	}
	return db.CancelRun(ctx, id, reason)
}

// DeleteRun implements [engine.Store].
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	db, err := s.opened(ctx)
	if err != nil {
		return err
	}
	return db.DeleteRun(ctx, id)
}

// Bundle implements [engine.Store].
func (s *Store) Bundle(ctx context.Context, hash string) (engine.Bundle, error) {
	for _, f := range s.files {
		if b, err := f.Bundle(ctx, hash); err == nil {
			return b, nil
		}
	}
	db, err := s.opened(ctx)
	if err != nil {
		return engine.Bundle{}, err
	}
	return db.Bundle(ctx, hash)
}

// PutRun stores a run that was made elsewhere, whole or not at all.
func (s *Store) PutRun(ctx context.Context, w store.Whole) error {
	db, err := s.file(ctx)
	if err != nil {
		return err
	}
	return db.PutRun(ctx, w)
}

// settled is how long a run lasts before old runs are removed: the shortest commands wait for nothing.
const settled = 300 * time.Millisecond

// collects removes old runs in the background, for as long as the command lasts.
func (s *Store) collects(db *sqlite.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	s.tidy, s.tidied = cancel, make(chan struct{})
	go func() {
		defer close(s.tidied)
		select {
		case <-ctx.Done():
			return
		case <-time.After(settled):
		}
		_, _ = db.Collect(ctx, sqlite.DefaultRetention()) // what cannot be removed now is removed another time
	}()
}

// Collect removes the runs that keep does not retain.
func (s *Store) Collect(ctx context.Context, keep sqlite.Retention) (sqlite.Collected, error) {
	db, err := s.file(ctx)
	if err != nil {
		return sqlite.Collected{}, err
	}
	return db.Collect(ctx, keep)
}

// Close implements [engine.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		return nil
	}
	db := s.open
	s.open, s.lost = nil, true
	if s.tidy != nil {
		s.tidy()
		<-s.tidied
	}
	return db.Close()
}
