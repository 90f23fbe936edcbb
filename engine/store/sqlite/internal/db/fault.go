package db

import (
	"errors"
	"io/fs"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Failed returns a typed error for an error of the file, with advice on what to do.
func (f *File) Failed(what string, err error) error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return own
	}
	if err == nil {
		return nil
	}
	e := engine.Errorf(engine.KindStore, diag.StoreFailed, "cannot %s the store %s: %w", what, f.Path, err)
	switch Code(err) {
	case lib.SQLITE_BUSY:
		e.Help = "another process has held it for " + f.busy.String() + ": let it end, or see what it does"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		e.Help = "the file is damaged or no database: restore it from a copy, or name another file"
	case lib.SQLITE_FULL, lib.SQLITE_IOERR:
		e.Help = "see that the disk has room and can be written"
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN:
		e.Help = "see that the file and its directory can be written"
	default:
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			e.Help = "name a file in a directory that can be written"
		}
	}
	return e
}

// Code returns the primary result code of an SQLite error, or 0 for other errors.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// IsBusy reports whether somebody else holds a lock that was needed.
func IsBusy(err error) bool { return Code(err) == lib.SQLITE_BUSY }

// refusal is the reason why a write changed nothing.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// Refuse marks the error of a write that has changed nothing, so that the other writes of its transaction remain.
func Refuse(err error) error { return refusal{err} }
