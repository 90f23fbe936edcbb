package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// maxAnswer bounds one answer, far above what any model generates.
const maxAnswer = 64 << 20

// errNoContent is the error of an answer with status 2xx without a body: the server, or a proxy before it, gave up.
var errNoContent = errors.New("the answer has no content at all")

// malformed is the error of an answer that violates its format.
type malformed struct{ what string }

func (m *malformed) Error() string { return m.what }

// decode reads an answer with status 2xx, whole or streamed, whatever was requested: servers answer a request for a
// stream with a whole answer, and vice versa. It returns nil if the answer is complete or contains an error object,
// which is then in a.failure.
func decode(d Form, src io.Reader, a *answer) error {
	r := bufio.NewReader(http.MaxBytesReader(nil, io.NopCloser(src), maxAnswer))
	first, err := firstByte(r)
	_, lines := d.(*Ollama) // JSON objects one after the other, not SSE
	switch {
	case errors.Is(err, io.EOF):
		return errNoContent
	case err != nil:
		return err
	case first == 0:
		err = decodeStream(d, a, func() (json.RawMessage, error) { return nextFrame(r, a) })
	case first == '{' && lines:
		err = decodeStream(d, a, nextLine(r))
	case first == '{' || first == '[':
		err = decodeDocument(d, r, a)
	case first == ':' || first >= 'a' && first <= 'z':
		err = decodeEvents(d, r, a)
	default:
		return &malformed{"the answer is neither JSON nor an event stream"}
	}
	if a.failure != nil {
		return nil
	}
	if a.ended && err != nil {
		// The whole answer had arrived; what broke contained only usage.
		var m *malformed
		if !errors.As(err, &m) {
			return nil
		}
	}
	return err
}

// firstByte skips white space and a byte order mark, and peeks at the next byte.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			continue
		}
		return b, r.UnreadByte()
	}
}

func decodeDocument(d Form, r io.Reader, a *answer) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	data = bytes.TrimSpace(data)
	if !json.Valid(data) {
		var whole json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(data)).Decode(&whole); errors.Is(err, io.ErrUnexpectedEOF) {
			return err // its beginning is valid: the rest did not arrive
		}
		return &malformed{"the answer is not valid JSON"}
	}
	if a.failed(data) {
		return nil
	}
	return d.document(data, a)
}

// decodeStream takes the pieces of a stream until its end. It ignores a nil piece.
func decodeStream(d Form, a *answer, next func() (json.RawMessage, error)) error {
	for {
		data, err := next()
		switch {
		case errors.Is(err, io.EOF) && a.ended:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case data == nil:
			continue
		}
		if a.failed(data) {
			return nil
		}
		if err := a.take(d, data); err != nil {
			return err
		}
	}
}

// take takes a piece of a stream.
func (a *answer) take(d Form, data []byte) error {
	if err := d.event(data, a); err != nil {
		return err
	}
	return a.crowded()
}

// nextLine reads consecutive JSON objects.
func nextLine(r io.Reader) func() (json.RawMessage, error) {
	dec := json.NewDecoder(r)
	return func() (data json.RawMessage, err error) {
		var syntax *json.SyntaxError
		if err = dec.Decode(&data); errors.As(err, &syntax) {
			err = &malformed{"the stream holds something that is not valid JSON"}
		}
		return data, err
	}
}

// errorEvent is the name of an event that ends a stream with a failure, whatever its data.
const errorEvent = "error"

// decodeEvents reads server-sent events. An event whose data is one line is taken at once, as some servers omit the
// blank line between events. Data over several lines is taken and parsed at the blank line, so that the work stays
// linear.
func decodeEvents(d Form, r *bufio.Reader, a *answer) error {
	var pending []byte
	marked := false // [DONE] was seen
	event := ""     // the name of the event
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		atEnd := err != nil
		line = bytes.TrimRight(line, "\r\n")
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		whole := false // pending may be a complete event
		switch string(name) {
		case "": // a comment, or the blank line that ends an event
			if len(line) == 0 && len(pending) > 0 && !json.Valid(pending) {
				switch {
				case event == errorEvent:
					a.failure = a.inAnswer(pending)
					return nil
				case atEnd:
					return io.ErrUnexpectedEOF
				}
				return &malformed{"the stream holds an event that is not valid JSON"}
			}
			whole = len(line) == 0
		case "data":
			whole = len(pending) == 0
			if !whole {
				pending = append(pending, '\n')
			}
			pending = append(pending, value...)
		case "error": // llama.cpp reports errors this way, with status 200
			if !a.failed(value) {
				a.failure = a.inAnswer(value)
			}
			return nil
		case "event":
			event = string(value)
		case "id", "retry":
		default:
			if atEnd && fieldCut(string(line)) {
				return io.ErrUnexpectedEOF
			}
			return &malformed{"the stream is no event stream"}
		}
		switch {
		case len(pending) == 0 || !whole && !atEnd:
		case string(pending) == "[DONE]":
			a.done()
			marked, pending = true, nil
		case json.Valid(pending):
			if a.failed(pending) {
				return nil
			}
			if event == errorEvent {
				a.failure = a.inAnswer(pending)
				return nil
			}
			if pending[0] == '{' || pending[0] == '[' { // otherwise it only keeps the connection open
				if err := a.take(d, pending); err != nil {
					return err
				}
			}
			pending = pending[:0]
		}
		if len(line) == 0 {
			event = ""
		}
		if atEnd {
			if !a.ended || len(pending) > 0 && !marked {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
	}
}

// fieldCut reports whether the last line of a stream may be the beginning of a field name.
func fieldCut(line string) bool {
	return slices.ContainsFunc([]string{"data", "error", "event", "id", "retry"}, func(name string) bool { return strings.HasPrefix(name, line) })
}

// failed looks for an error object instead of an answer, or next to one.
func (a *answer) failed(data []byte) bool {
	if !bytes.Contains(data, []byte(`"error"`)) && !bytes.Contains(data, []byte(`"detail"`)) {
		return false
	}
	probe := data
	if data[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil || len(list) == 0 {
			return false
		}
		probe = list[0]
	}
	var top struct {
		Error   json.RawMessage  `json:"error"`
		Detail  json.RawMessage  `json:"detail"`
		Object  json.RawMessage  `json:"object"`
		Choices json.RawMessage  `json:"choices"`
		Message json.RawMessage  `json:"message"`
		Usage   *completionUsage `json:"usage"`
	}
	if json.Unmarshal(probe, &top) != nil {
		return false
	}
	switch {
	case !empty(top.Error):
	case text(top.Object) == "error" && empty(top.Choices): // the error is next to it, as with vLLM
	case empty(top.Detail) || !empty(top.Choices) || !empty(top.Message):
		return false
	}
	a.failure = a.inAnswer(probe)
	if u := top.Usage; u != nil && u.In != nil && !empty(top.Choices) { // what was spent until then
		a.usage = u.normal()
	}
	return true
}

func (a *answer) inAnswer(data []byte) *failure {
	return classify(a.provider, 200, http.Header{}, []byte(a.keys.String(string(data))), time.Time{})
}

func empty(raw json.RawMessage) bool {
	switch strings.TrimSpace(string(raw)) {
	case "", "null", `""`, "{}", "[]", "false":
		return true
	}
	return false
}

// Decode decodes a recorded answer. Nothing is generated, filled in or judged beyond what makes it an answer.
func (p *Plan) Decode(status int, header http.Header, body io.Reader) (*model.Response, *engine.Error) {
	a := newAnswer(p)
	if f := p.read(status, header, body, a); f != nil {
		return nil, p.error(f)
	}
	return a.named(header), nil
}

func (a *answer) named(header http.Header) *model.Response {
	r := a.response()
	r.RequestID = cmp.Or(requestID(header), r.RequestID)
	return r
}

// maxErrorBody limits how much of a refusal is read.
const maxErrorBody = 64 << 10

// read reads an answer of any status into a. If reading fails, it returns a failure whose cause is the reader's error;
// the transport knows better why it failed, and adds that.
func (p *Plan) read(status int, header http.Header, body io.Reader, a *answer) *failure {
	if status < 200 || status >= 300 {
		data, err := io.ReadAll(io.LimitReader(body, maxErrorBody))
		f := classify(p.Provider, status, header, []byte(p.Keys.String(string(data))), time.Now())
		f.cause = err
		return f
	}
	err := decode(cmp.Or(p.Form, Form(p.Dialect)), body, a)
	f := a.failure
	switch {
	case f != nil:
	case err == nil:
		return nil
	default:
		f = unreadable(err, header)
	}
	f.requestID = cmp.Or(requestID(header), f.requestID)
	f.raw = a.text.String()
	if a.usage != nil {
		f.usage = *a.usage
	}
	return f
}

func unreadable(err error, header http.Header) *failure {
	f := &failure{kind: engine.KindTruncated, what: "the connection ended before the answer did", retryable: true, cause: err}
	var m *malformed
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, errNoContent):
		f.kind, f.what = engine.KindBadResponse, err.Error()
	case errors.As(err, &large):
		f.kind, f.what, f.retryable = engine.KindBadResponse, fmt.Sprintf("the answer is larger than %d MB", maxAnswer>>20), false
	case errors.As(err, &m):
		f.kind, f.what, f.retryable = engine.KindBadResponse, m.what, false
		if t := header.Get("Content-Type"); t != "" && !strings.Contains(t, "json") && !strings.Contains(t, "event-stream") {
			f.what += ": its content type is " + quote(t)
		}
	}
	return f
}
