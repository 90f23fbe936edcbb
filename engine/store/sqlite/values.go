package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

const (
	// inline is the size in bytes up to which a value is stored in its row. Larger values are stored once, by digest.
	inline = 64 << 10
	// inlineTypes is the same limit for the types of a step, which many steps share.
	inlineTypes = 512
)

// blob is a value stored outside its row.
type blob struct {
	sha  []byte
	data []byte
}

// values converts values to their stored form, and collects those that are stored outside their rows.
type values struct{ blobs []blob }

// stored returns what a row holds for a value: NULL, a text, or the digest of a blob.
func (v *values) stored(data []byte, limit int) any {
	switch {
	case len(data) == 0:
		return nil
	case len(data) <= limit:
		return string(data)
	}
	sum := sha256.Sum256(data)
	v.blobs = append(v.blobs, blob{sum[:], data})
	return sum[:]
}

// keep writes the collected blobs. owner is the number of a run, or the negated number of a bundle.
func (v *values) keep(tx *db.Tx, owner int64) error {
	for _, b := range v.blobs {
		var there int
		err := tx.Row("SELECT 1 FROM blobs WHERE sha = ?", []any{b.sha}, &there)
		if errors.Is(err, sql.ErrNoRows) {
			_, err = tx.Exec("INSERT INTO blobs (sha, data) VALUES (?, ?)", b.sha, b.data)
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO refs (run, sha) VALUES (?, ?) ON CONFLICT DO NOTHING", owner, b.sha); err != nil {
			return err
		}
	}
	return nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// loaded returns the value that a row holds, directly or by digest.
func loaded(ctx context.Context, q querier, stored any) ([]byte, error) {
	switch v := stored.(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(v), nil
	case []byte:
		var data []byte
		err := q.QueryRowContext(ctx, "SELECT data FROM blobs WHERE sha = ?", v).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("the value %x is gone", v)
		}
		return data, err
	}
	return nil, fmt.Errorf("a value is kept as %T", stored)
}
