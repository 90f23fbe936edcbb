package mcp

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineStream is two streams of messages, each a line: what both ends have in common.
type lineStream struct {
	in      io.ReadCloser
	out     io.WriteCloser
	lines   <-chan inbound
	closed  chan struct{}
	once    sync.Once
	writing sync.Mutex
}

// begin begins to read.
func (s *lineStream) begin(skip bool) {
	s.closed = make(chan struct{})
	s.lines = readLines(s.in, skip, s.closed)
}

// SessionID implements [sdk.Connection].
func (s *lineStream) SessionID() string { return "" }

// Close implements [sdk.Connection].
func (s *lineStream) Close() error {
	var err error
	s.once.Do(func() {
		err = errors.Join(s.in.Close(), s.out.Close())
		close(s.closed)
	})
	return err
}

// write writes a line.
func (s *lineStream) write(data []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(append(data, '\n'))
	return err
}

// encoded is the line of a message, as long as it may be sent.
func encoded(ctx context.Context, msg jsonrpc.Message) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return jsonrpc.EncodeMessage(msg)
}
