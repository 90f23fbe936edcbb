package sqlite

import (
	"time"

	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// KeepLog lets the log grow as long as the file is open.
func KeepLog() Option { return func(_ *Store, set *db.Settings) { set.KeepWAL = true } }

// Busy sets how long a write waits for one of another process.
func Busy(d time.Duration) Option { return func(_ *Store, set *db.Settings) { set.Busy = d } }

// MaxPages limits the file to n pages.
func MaxPages(n int) Option { return func(_ *Store, set *db.Settings) { set.MaxPages = n } }

// Slow simulates a slow disk: wait is called before each commit.
func Slow(wait func()) Option { return func(_ *Store, set *db.Settings) { set.Slow = wait } }

// Expire makes the owner of a run one that does not answer.
func (s *Store) Expire(id string) { s.HeldBy(id, "expired", time.Unix(0, 1)) }

// HeldBy makes an owner on another machine the holder of a run, until its lease of 20 ms ends.
func (s *Store) HeldBy(id, holder string, until time.Time) {
	err := s.file.Do(func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO holders (name, host, locked, lease, until, beat) VALUES (?, '', 0, 20000000, ?, 1) ON CONFLICT DO NOTHING", holder, until.UnixNano()); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE runs SET holder = ? WHERE id = ?", holder, id)
		return err
	})
	if err != nil {
		panic(err)
	}
}

// Poll is how often a store checks what happened to its runs.
const Poll = poll
