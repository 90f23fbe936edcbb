// Package transport carries MCP messages: as lines of a process's streams, at both ends, and as HTTP requests to one
// server. It limits what the other side may send.
package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// MaxOpen and MaxHeld limit the calls that were read and not yet answered: at the limit no more are read.
	MaxOpen = 1024
	MaxHeld = 64 << 20 // bytes of their messages
	// MaxBatch limits the messages of a batch.
	MaxBatch = 1000
)

// lineConn is the server's end of a client's streams, with one message per line. A line that is not a message is
// answered with an error, and reading continues. After the client's stream has ended, earlier calls are still answered
// for a limited time.
type lineConn struct {
	lineStream
	linger  time.Duration
	gone    func() // called when nobody waits for answers any more
	batches bool   // the client's protocol version supports them

	mu           sync.Mutex
	open         map[jsonrpc.ID]*openCall
	left         int           // calls whose answers are not written yet
	held         int           // bytes of their messages
	answered     chan struct{} // signals that a call was answered, or that the client does not take answers
	unresponsive bool
}

// openCall is a call that was read and not yet answered.
type openCall struct {
	size    int
	counted bool
	batch   *batch
}

// batch collects the answers to the calls of one line.
type batch struct {
	list    bool // false: the line is one message
	waits   int
	answers []json.RawMessage
}

// NewLineConn starts to read.
func NewLineConn(in io.ReadCloser, out io.WriteCloser, linger time.Duration, gone func()) *lineConn {
	return &lineConn{lineStream: newLineStream(in, out, MaxFrame, true), linger: linger, gone: gone,
		open: map[jsonrpc.ID]*openCall{}, answered: make(chan struct{}, 1)}
}

// Connect implements [sdk.Transport].
func (c *lineConn) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// Read implements [sdk.Connection].
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	return c.read(ctx, func(got inbound) error {
		switch got.err {
		case nil:
			c.take(got.line)
		case errLongFrame:
			c.refuse(NoRequest(nil, "a message has at most %d MiB, and is passed over", MaxFrame>>20))
		default:
			c.finish()
			return got.err
		}
		return nil
	})
}

// take queues the messages of a line and refuses what is not a message.
func (c *lineConn) take(line []byte) {
	if !IsJSON(line) {
		c.refuse(ParseRefusal)
		return
	}
	items, b := []json.RawMessage{line}, &batch{waits: 1} // one for take itself, until all messages are read
	if line[0] == '[' {
		items, b.list = nil, true
		if err := json.Unmarshal(line, &items); err != nil || !c.batches || len(items) == 0 || len(items) > MaxBatch {
			c.refuse(NoRequest(nil, "batches of up to %d messages are known to the protocol of 2025-03-26 and before: send each message on its own line", MaxBatch))
			return
		}
	}
	for _, item := range items {
		msg, no := Message(item)
		if no == nil {
			no = c.accept(msg, len(item), b)
		}
		if no != nil {
			c.mu.Lock()
			b.answers = append(b.answers, no.Encode())
			c.mu.Unlock()
		}
	}
	if all := c.gather(b, nil); all != nil {
		_ = c.write(all) // the next write and the end of the client's stream reveal that the client is gone
	}
}

// accept queues a message, waiting until there is room for it.
func (c *lineConn) accept(msg jsonrpc.Message, size int, b *batch) *Refusal {
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		if msg != nil {
			c.queue = append(c.queue, msg)
		}
		return nil
	}
	call := &openCall{size: size, batch: b, counted: req.Method != "subscriptions/listen"} // a subscription is answered when the client ends it
	if req.Method == "initialize" && !b.list {
		var hello struct {
			Version string `json:"protocolVersion"`
		}
		c.batches = json.Unmarshal(req.Params, &hello) == nil && (hello.Version == "2025-03-26" || hello.Version == "2024-11-05")
	}
	for {
		c.mu.Lock()
		if c.open[req.ID] != nil {
			c.mu.Unlock()
			return NoRequest(nil, "a call with its id is not answered yet")
		}
		if c.unresponsive || len(c.open) == 0 || b.list || len(c.open) < MaxOpen && c.held+size <= MaxHeld {
			break
		}
		c.mu.Unlock()
		select {
		case <-c.answered:
		case <-c.closed:
			return nil
		}
	}
	defer c.mu.Unlock()
	c.open[req.ID] = call
	c.held += size
	if call.counted {
		c.left++
	}
	b.waits++
	c.queue = append(c.queue, msg)
	return nil
}

// finish waits until the calls that were read are answered, at most for linger.
func (c *lineConn) finish() {
	defer c.gone()
	t := time.NewTimer(c.linger)
	defer t.Stop()
	for {
		c.mu.Lock()
		over := c.left == 0 || c.unresponsive
		c.mu.Unlock()
		if over {
			return
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-t.C:
			return
		}
	}
}

// Write implements [sdk.Connection].
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := encoded(ctx, msg)
	if err != nil {
		return err
	}
	var call *openCall
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		call = c.open[res.ID]
		delete(c.open, res.ID) // before its answer is sent: the client may then reuse the id
		c.mu.Unlock()
	}
	if call == nil {
		return c.write(data)
	}
	if all := c.gather(call.batch, data); all != nil {
		err = c.write(all)
	}
	c.mu.Lock()
	c.held -= call.size
	if call.counted {
		c.left--
	}
	c.mu.Unlock()
	c.tell()
	return err
}

// gather adds an answer to a batch, or ends its reading, and returns what to write once all answers are there.
func (c *lineConn) gather(b *batch, answer []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer != nil {
		b.answers = append(b.answers, answer)
	}
	if b.waits--; b.waits > 0 || len(b.answers) == 0 {
		return nil
	}
	if !b.list {
		return b.answers[0]
	}
	all, _ := json.Marshal(b.answers) // each was produced by an encoder
	return all
}

// refuse answers input that is not a message.
func (c *lineConn) refuse(no *Refusal) {
	_ = c.write(no.Encode()) // the next write and the end of the client's stream reveal that the client is gone
}

// write writes a line, and records if the client does not take it.
func (c *lineConn) write(data []byte) error {
	err := c.lineStream.write(data)
	if err != nil {
		c.mu.Lock()
		c.unresponsive = true
		c.mu.Unlock()
		c.tell()
	}
	return err
}

// tell wakes code that waits for answers to be written.
func (c *lineConn) tell() {
	select {
	case c.answered <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// lineStream is two streams of messages, one per line: the part that both ends share.
type lineStream struct {
	out     io.Writer
	lines   <-chan inbound
	queue   []jsonrpc.Message // messages of one line that were not returned yet
	closed  chan struct{}
	close   func() error
	writing *sync.Mutex
}

// newLineStream starts to read. A line longer than most bytes is skipped or, without skip, ends the stream.
func newLineStream(in io.ReadCloser, out io.WriteCloser, most int, skip bool) lineStream {
	closed := make(chan struct{})
	return lineStream{out: out, lines: readLines(newFrames(in, most, skip), closed), closed: closed, writing: new(sync.Mutex),
		close: sync.OnceValue(func() error {
			defer close(closed)
			return errors.Join(in.Close(), out.Close())
		})}
}

// read returns the next message. It calls take for each line, which queues the line's messages.
func (s *lineStream) read(ctx context.Context, take func(inbound) error) (jsonrpc.Message, error) {
	for len(s.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.closed:
			return nil, io.EOF
		case got := <-s.lines:
			if err := take(got); err != nil {
				return nil, err
			}
		}
	}
	msg := s.queue[0]
	s.queue = s.queue[1:]
	return msg, nil
}

// SessionID implements [sdk.Connection].
func (s *lineStream) SessionID() string { return "" }

// Close implements [sdk.Connection].
func (s *lineStream) Close() error { return s.close() }

// write writes a line.
func (s *lineStream) write(data []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(append(data, '\n'))
	return err
}

// encoded returns the encoded message, unless ctx has ended.
func encoded(ctx context.Context, msg jsonrpc.Message) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return jsonrpc.EncodeMessage(msg)
}
