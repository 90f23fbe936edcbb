package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxFrame bounds a message of the other side.
const MaxFrame = 16 << 20

// errLongFrame is a line that is longer than a message may be.
var errLongFrame = errors.New("a message has more than 16 MiB")

// frames cuts a stream into messages, each a line. It holds one line at most, and of one that is
// too long no more than a buffer.
type frames struct {
	r    *bufio.Reader
	max  int
	skip bool  // a line that is too long is passed over to its end, and the next one can be read
	err  error // after which there is nothing more
}

// inbound is one line, or why there is none.
type inbound struct {
	line []byte
	err  error
	cut  bool // the stream ended within the line
}

// readLines reads the lines of a stream into a channel, until there is nothing more or closed is:
// a read is not ended by the end of what waits for it. The last that is sent is an error.
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

// next is the next line that is not blank, without the white space around it; its bytes are the
// caller's. What comes before the end of the stream without a line break is a line as well.
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
