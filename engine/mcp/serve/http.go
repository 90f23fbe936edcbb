package serve

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// idleSession is how long a client may be silent before its session is forgotten.
const idleSession = 30 * time.Minute

// HTTP gives the handler of streamable HTTP, which serves any number of clients. With a token,
// requests without "Authorization: Bearer TOKEN" are refused with 401. Requests that a web page of
// another origin makes are refused with 403, and so are those that reach this machine under the
// name of another. What is no message is answered with 400 and a JSON-RPC error, what is larger
// than 16 MiB with 413.
func (s *Server) HTTP(token string) http.Handler {
	handler := readable(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{SessionTimeout: idleSession, PropagateRequestCancellation: true}))
	if token != "" {
		handler = bearer(token, handler)
	}
	return http.NewCrossOriginProtection().Handler(handler)
}

// readable lets through what can be read as messages, and what is none to be read.
func readable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method != http.MethodPost || err != nil || kind != "application/json" {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, transport.MaxFrame))
		status, no := http.StatusBadRequest, unread(body)
		_, large := errors.AsType[*http.MaxBytesError](err)
		switch {
		case large:
			status, no = http.StatusRequestEntityTooLarge, transport.NoRequest(nil, "a message has at most %d MiB", transport.MaxFrame>>20)
		case err != nil: // the client is gone, or does not keep to HTTP
			no = transport.ParseRefusal
		}
		if no != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write(no.Encode()) // a client that is gone does not want it
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// unread is why a body cannot be read, nil when it can.
func unread(body []byte) *transport.Refusal {
	body = bytes.TrimSpace(body)
	if !transport.IsJSON(body) {
		return transport.ParseRefusal
	}
	if body[0] == '[' { // of older clients, which the SDK knows
		return nil
	}
	_, no := transport.Message(body)
	return no
}

// bearer lets through who knows the token. It compares hashes, in a time that tells nothing of it.
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
