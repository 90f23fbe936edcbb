package sqlite

import "github.com/agentscript/agentscript/engine/store/sqlite/internal/db"

// Expire has the owner of a run be one that does not answer.
func (s *Store) Expire(id string) {
	err := s.file.Do(func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO holders (name, host, locked, lease, until, beat) VALUES ('expired', '', 0, 20000000, 1, 1) ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE runs SET holder = 'expired' WHERE id = ?", id)
		return err
	})
	if err != nil {
		panic(err)
	}
}
