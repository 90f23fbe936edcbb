package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxFrame bounds a message of the other side.
const maxFrame = 16 << 20

// errLongFrame is a line that was passed over, since it is longer than a message may be. The next
// one can be read.
var errLongFrame = errors.New("a message has more than 16 MiB")

// frames cuts a stream into messages, each a line. It holds one line at most, and of one that is
// too long no more than a buffer.
type frames struct {
	r   *bufio.Reader
	max int
	err error // after which there is nothing more
}

func newFrames(r io.Reader, most int) *frames {
	return &frames{r: bufio.NewReaderSize(r, 32<<10), max: most}
}

// next is the next line that is not blank, without the white space around it; its bytes are the
// caller's. What stands before the end of the stream without a line break is a line as well.
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
		default:
			line = append(line, part...)
		}
		if err == nil {
			return line, long
		}
		if err != bufio.ErrBufferFull {
			f.err = err
			return line, long
		}
	}
}
