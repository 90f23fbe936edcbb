package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxUnasked bounds what a server sends between the beginnings and ends of calls.
	maxUnasked = 32 << 20
	// maxGarbage bounds what it writes to its standard output that is no message.
	maxGarbage = 64 << 10
)

var (
	errGarbage = errors.New("it writes what is no message to its standard output")
	errFlood   = fmt.Errorf("it sent more than %d MB that nobody asked for", maxUnasked>>20)
)

// brokenMessage is a message of a server that cannot be read. It is whole, since what is cut might
// end in half a secret.
type brokenMessage struct {
	why  string
	text []byte
}

func (e *brokenMessage) Error() string {
	return "one of its messages is no JSON-RPC: " + e.why + ": " + string(e.text)
}

// serverLines is the client's end of a server's streams, a message a line. Lines that are no message,
// such as what a package manager or a log prints, are kept with the server's words and passed over,
// as long as they are few. What ends the session is told to broke as well.
type serverLines struct {
	lineStream
	words *tail
	broke func(error)

	queue   []jsonrpc.Message // that were read and not yet given, of one line
	garbage int
}

// Connect implements [sdk.Transport].
func (c *serverLines) Connect(context.Context) (sdk.Connection, error) {
	c.begin(false)
	return c, nil
}

// Read implements [sdk.Connection].
func (c *serverLines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case got := <-c.lines:
			err := got.err
			if err == nil && !(got.cut && !isJSON(got.line)) { // it ended while it wrote: that is said by what follows
				err = c.take(got.line)
			}
			switch {
			case err == nil:
				continue
			case err == errLongFrame:
				err = errHuge
			}
			if !errors.Is(err, io.EOF) {
				c.broke(err)
			}
			return nil, err
		}
	}
	msg := c.queue[0]
	c.queue = c.queue[1:]
	return msg, nil
}

// take puts the messages of a line into the queue.
func (c *serverLines) take(line []byte) error {
	if !isJSON(line) {
		if line[0] == '{' { // whose answer would be waited for
			return &brokenMessage{"it is broken, or half of one", line}
		}
		return c.pass(line)
	}
	if line[0] != '[' {
		return c.one(line, line)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(line, &items); err != nil || len(items) > maxBatch {
		return &brokenMessage{fmt.Sprintf("a list has at most %d", maxBatch), line}
	}
	for _, item := range items {
		if err := c.one(item, line); err != nil {
			return err
		}
	}
	return nil
}

// one puts a message into the queue. An object that does not claim to be a message is none.
func (c *serverLines) one(raw, line []byte) error {
	var claim struct {
		Version json.RawMessage `json:"jsonrpc"`
	}
	if raw[0] != '{' || json.Unmarshal(raw, &claim) != nil || claim.Version == nil {
		return c.pass(line)
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return &brokenMessage{err.Error(), raw}
	}
	c.queue = append(c.queue, msg)
	return nil
}

// pass passes a line over.
func (c *serverLines) pass(line []byte) error {
	_, _ = c.words.Write(append(bytes.Clone(line), '\n')) // never fails
	if c.garbage += len(line) + 1; c.garbage > maxGarbage {
		return errGarbage
	}
	return nil
}

// Write implements [sdk.Connection].
func (c *serverLines) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := encoded(ctx, msg)
	if err != nil {
		return err
	}
	return c.write(data)
}

// counted counts what is read, and ends when that is a flood.
type counted struct {
	io.ReadCloser
	received *atomic.Int64
}

// Read implements io.Reader.
func (r *counted) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.received.Add(int64(n)) > maxUnasked {
		return 0, errFlood
	}
	return n, err
}
