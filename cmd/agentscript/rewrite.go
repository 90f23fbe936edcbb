package main

import (
	"io"
	"os"
)

// rewritable is what rewriting asks of a file.
type rewritable interface {
	io.WriterAt
	Truncate(size int64) error
}

// rewrite puts new text into a file that holds old. The file is written over and never emptied
// first, so that a disk that is full leaves the old text: putting that back takes no room.
func rewrite(f rewritable, old, new []byte) error {
	_, err := f.WriteAt(new, 0)
	if err == nil {
		err = f.Truncate(int64(len(new)))
	}
	if err != nil {
		_, _ = f.WriteAt(old, 0) // what went wrong first is what is told
		_ = f.Truncate(int64(len(old)))
	}
	return err
}

// rewriteFile does that with a file by name, which keeps its mode, its owner and its links.
func rewriteFile(name string, old, new []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := rewrite(f, old, new); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
