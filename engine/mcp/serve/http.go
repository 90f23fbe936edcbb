package serve

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

const (
	// idleSession is how long a client may be silent before its session is dropped.
	idleSession = 30 * time.Minute
	// defaultStall is how long a body may take.
	defaultStall = 30 * time.Second
)

// HTTP returns a handler that serves any number of clients over streamable HTTP. With a token, requests without
// "Authorization: Bearer TOKEN" are refused with 401. Requests that a web page of another origin makes are refused with
// 403, and so are requests that reach this machine under the name of another. A body that is not a message is answered
// with 400 and a JSON-RPC error, an unknown session with 404 and such an error, a call larger than 16 MiB or another
// message larger than 64 KiB with 413, and a body that stalls, see [Options].Stall, with 408. A client that does not
// take its answer is disconnected after the same time. Beyond 1024 requests that wait for their answers, or 64 MiB of
// them, further ones are refused with 503. Beyond 1024 sessions the one unused for longest ends. A call ends when its
// client disconnects and when its session is deleted.
func (s *Server) HTTP(token string) http.Handler {
	handler := s.posted.followed(s.readable(refused(s.known.counted(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{SessionTimeout: idleSession, PropagateRequestCancellation: true, MaxRequestBodyBytes: transport.MaxFrame})))))
	if token != "" {
		handler = bearer(token, handler)
	}
	return http.NewCrossOriginProtection().Handler(s.written(handler))
}

// readable passes on requests that contain readable messages, and requests that are not JSON posts.
func (s *Server) readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := &timely{ReadCloser: r.Body, begun: time.Now(), stall: s.stall, conn: http.NewResponseController(w),
			take: func(n int) bool { return s.posted.take(r.Header.Get(postHeader), 0, n) }}
		if r.Body = body; r.ContentLength != 0 {
			body.allow()
		}
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method != http.MethodPost || err != nil || kind != "application/json" {
			next.ServeHTTP(w, r)
			return
		}
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, transport.MaxFrame))
		calls, no := messages(data)
		status := http.StatusBadRequest
		_, large := errors.AsType[*http.MaxBytesError](err)
		switch {
		case no == tooLong:
			status = http.StatusRequestEntityTooLarge
		case large:
			status, no = http.StatusRequestEntityTooLarge, transport.NoRequest(nil, "a message has at most %d MiB", transport.MaxFrame>>20)
		case errors.Is(err, os.ErrDeadlineExceeded):
			status, no = http.StatusRequestTimeout, transport.NoRequest(nil, "the body of the request did not arrive in time")
			w.Header().Set("Connection", "close")
		case errors.Is(err, errFull), err == nil && no == nil && !s.posted.take(r.Header.Get(postHeader), calls, 0):
			status, no = http.StatusServiceUnavailable, transport.NoRequest(nil, "%s", errFull.Error())
			w.Header().Set("Connection", "close")
		case err != nil: // the client is gone, or does not follow HTTP
			no = transport.ParseRefusal
		}
		if no != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write(no.Encode()) // the client may be gone
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		next.ServeHTTP(w, r)
	})
}

// timely is a body that must arrive in time: the sender may neither stop nor send it drop by drop.
type timely struct {
	io.ReadCloser
	conn  *http.ResponseController
	begun time.Time
	stall time.Duration
	take  func(n int) bool // reports whether n more bytes may be held
	read  int64
}

var errFull = errors.New("too much waits to be answered")

// allow sets the deadline for the next part. Without a connection there is no deadline.
func (b *timely) allow() {
	_ = b.conn.SetReadDeadline(b.begun.Add(allowed(b.stall, b.read)))
}

// allowed returns how long a number of bytes may take.
func allowed(stall time.Duration, bytes int64) time.Duration {
	return stall + time.Duration(bytes>>10)*stall>>10
}

func (b *timely) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if !b.take(n) {
		return 0, errFull
	}
	if err == nil {
		b.allow()
	} else if errors.Is(err, io.EOF) { // the answer may take any time
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// written disconnects a client that does not take its answer.
func (s *Server) written(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timely := &timelyWriter{ResponseWriter: w, conn: http.NewResponseController(w), stall: s.stall}
		defer timely.allow(0) // for what the server has buffered
		next.ServeHTTP(timely, r)
	})
}

// timelyWriter is an answer that must be taken in time.
type timelyWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	stall time.Duration
}

// allow sets the deadline for taking a part.
func (w *timelyWriter) allow(bytes int) {
	_ = w.conn.SetWriteDeadline(time.Now().Add(allowed(w.stall, int64(bytes))))
}

func (w *timelyWriter) Write(p []byte) (int, error) {
	w.allow(len(p))
	return w.ResponseWriter.Write(p)
}

func (w *timelyWriter) FlushError() error {
	w.allow(0)
	return w.conn.Flush()
}

// Unwrap is for [http.ResponseController].
func (w *timelyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// maxOther limits messages that are not tool calls: a session keeps the content of some.
const maxOther = 64 << 10

var tooLong = transport.NoRequest(nil, "a message that calls no tool has at most %d KiB", maxOther>>10)

// fits reports whether a message has an allowed length. It decodes the message as the SDK does.
func fits(raw []byte) bool {
	if len(raw) <= maxOther {
		return true
	}
	msg, err := jsonrpc.DecodeMessage(raw)
	call, ok := msg.(*jsonrpc.Request)
	return err != nil || ok && call.Method == "tools/call"
}

// messages counts the messages of a body, or returns why it cannot be read.
func messages(body []byte) (int, *transport.Refusal) {
	body = bytes.TrimSpace(body)
	if !transport.IsJSON(body) {
		return 0, transport.ParseRefusal
	}
	items := []json.RawMessage{body}
	if body[0] == '[' { // from older clients; the SDK supports it
		if items = nil; json.Unmarshal(body, &items) != nil || len(items) == 0 || len(items) > transport.MaxBatch {
			return 0, transport.NoRequest(nil, "a batch has 1 to %d messages", transport.MaxBatch)
		}
	} else if _, no := transport.Message(body); no != nil {
		return 1, no
	}
	if !slices.ContainsFunc(items, func(raw json.RawMessage) bool { return !fits(raw) }) {
		return len(items), nil
	}
	return 0, tooLong
}

// bearer passes on requests with the token. It compares hashes, in constant time.
func bearer(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(given)))
		if !strings.EqualFold(scheme, "bearer") || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="agentscript"`)
			http.Error(w, "this server wants its bearer token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
