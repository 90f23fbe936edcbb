package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/internal/text"
)

// maxGarbage bounds a server's standard output that is not a message.
const maxGarbage = 64 << 10

// BrokenMessage is an unreadable message of a server. It is kept whole, since a cut could leave half a secret at the
// end.
type BrokenMessage struct {
	why  string
	text []byte
}

func (e *BrokenMessage) Error() string {
	return "one of its messages is no JSON-RPC: " + e.why + ": " + string(e.text)
}

// ServerLines is the client's end of a server's streams, with one message per line. Lines that are not messages, such
// as the output of a package manager or a log, are kept with the server's last words and skipped, as long as there are
// few.
type ServerLines struct {
	lineStream
	words   *Tail
	intake  *Intake
	garbage int
}

// NewServerLines starts to read.
func NewServerLines(in io.ReadCloser, out io.WriteCloser, words *Tail, intake *Intake) *ServerLines {
	return &ServerLines{lineStream: newLineStream(&counted{in, intake}, out, int(intake.bounds.Message), false), words: words, intake: intake}
}

// Connect implements [sdk.Transport].
func (c *ServerLines) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// Read implements [sdk.Connection].
func (c *ServerLines) Read(ctx context.Context) (jsonrpc.Message, error) {
	return c.read(ctx, func(got inbound) error {
		err := got.err
		switch {
		case err == nil && got.cut && !IsJSON(got.line): // it ended while it wrote: what follows reports that
		case err == nil:
			err = c.take(got.line)
		case err == errLongFrame:
			err = c.intake.tooLarge()
		}
		if !errors.Is(err, io.EOF) {
			c.intake.Break(err)
		}
		return err
	})
}

// take queues the messages of a line.
func (c *ServerLines) take(line []byte) error {
	if !IsJSON(line) {
		if line[0] == '{' { // its answer would be waited for
			return &BrokenMessage{"it is broken, or half of one", line}
		}
		return c.pass(line)
	}
	if line[0] != '[' {
		return c.one(line, line)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(line, &items); err != nil || len(items) > MaxBatch {
		return &BrokenMessage{fmt.Sprintf("a list has at most %d", MaxBatch), line}
	}
	for _, item := range items {
		if err := c.one(item, line); err != nil {
			return err
		}
	}
	return nil
}

// one queues a message. An object that does not claim to be a message is skipped.
func (c *ServerLines) one(raw, line []byte) error {
	var claim struct {
		Version json.RawMessage `json:"jsonrpc"`
	}
	if raw[0] != '{' || json.Unmarshal(raw, &claim) != nil || claim.Version == nil {
		return c.pass(line)
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return &BrokenMessage{err.Error(), raw}
	}
	c.queue = append(c.queue, msg)
	return nil
}

// pass skips a line.
func (c *ServerLines) pass(line []byte) error {
	_, _ = c.words.Write(append(bytes.Clone(line), '\n')) // never fails
	if c.garbage += len(line) + 1; c.garbage > maxGarbage {
		return errGarbage
	}
	return nil
}

// Write implements [sdk.Connection].
func (c *ServerLines) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := encoded(ctx, msg)
	if err != nil {
		return err
	}
	return c.write(data)
}

// counted counts the bytes read, and returns a breach if there are too many.
type counted struct {
	io.ReadCloser
	intake *Intake
}

// Read implements io.Reader.
func (r *counted) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if breach := r.intake.count(n); breach != nil {
		return 0, breach
	}
	return n, err
}

// maxTail bounds how much of a server's output is kept for errors.
const maxTail = 2 << 10

// Tail keeps the last lines of a server's output that nobody reads, for the text of errors.
type Tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool // the beginning of the output was dropped
}

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > maxTail {
		p, t.cut = p[len(p)-maxTail:], true
	}
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text, t.cut = append(t.text[:0], t.text[over:]...), true
	}
	return n, nil
}

// Last returns the last few lines, joined in one line, without secrets.
func (t *Tail) Last(hidden *redact.Redactor) string {
	t.mu.Lock()
	said, cut := string(t.text), t.cut
	t.mu.Unlock()
	if cut {
		said = hidden.Behind(said)
	}
	var lines []string
	for l := range strings.SplitSeq(strings.ToValidUTF8(hidden.Text(said), ""), "\n") {
		if l = strings.TrimSpace(text.Plain(l)); l != "" {
			lines = append(lines, l)
		}
	}
	lines = lines[max(0, len(lines)-5):]
	out := strings.Join(lines, " | ")
	if r := []rune(out); len(r) > 600 {
		out = "…" + string(r[len(r)-600:])
	}
	return out
}
