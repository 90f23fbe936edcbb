package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxFrame bounds a message from the other side.
const MaxFrame = 16 << 20

// errLongFrame is the error for a line that is longer than a message may be.
var errLongFrame = errors.New("a message has more than 16 MiB")

// frames cuts a stream into messages, one per line. It holds at most one line, and of a line that is too long only one
// buffer.
type frames struct {
	r    *bufio.Reader
	max  int
	skip bool  // skip the rest of a line that is too long, so that the next one can be read
	err  error // the end of the stream
}

// inbound is one line or an error.
type inbound struct {
	line []byte
	err  error
	cut  bool // the stream ended within the line
}

// readLines reads the lines of a stream into a channel, until the stream ends or closed is closed: closing cannot
// interrupt a blocked read. The last item is an error.
func readLines(f *frames, closed <-chan struct{}) <-chan inbound {
	lines := make(chan inbound)
	go func() {
		for {
			line, err := f.next()
			select {
			case lines <- inbound{line, err, err == nil && f.err != nil}:
			case <-closed:
				return
			}
			if f.err != nil && err != nil {
				return
			}
		}
	}()
	return lines
}

func newFrames(r io.Reader, most int, skip bool) *frames {
	return &frames{r: bufio.NewReaderSize(r, 32<<10), max: most, skip: skip}
}

// next returns the next line that is not blank, without surrounding white space; the caller owns its bytes. Text before
// the end of the stream counts as a line even without a line break.
func (f *frames) next() ([]byte, error) {
	for f.err == nil {
		line, long := f.line()
		if long {
			return nil, errLongFrame
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
	return nil, f.err
}

func (f *frames) line() (line []byte, long bool) {
	for {
		part, err := f.r.ReadSlice('\n')
		switch {
		case long:
		case len(line)+len(bytes.TrimRight(part, "\r\n")) > f.max:
			line, long = nil, true
			if !f.skip {
				f.err = errLongFrame
				return nil, true
			}
		default:
			line = append(line, part...)
		}
		if err == nil {
			return line, long
		}
		if err != bufio.ErrBufferFull {
			if f.err = err; err != io.EOF {
				line = nil
			}
			return line, long
		}
	}
}
