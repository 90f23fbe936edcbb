package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// idleSession is how long a client may be silent before its session is forgotten.
const idleSession = 30 * time.Minute

// HTTP gives the handler of streamable HTTP, which serves any number of clients. With a token,
// requests without "Authorization: Bearer TOKEN" are refused with 401. Requests that a web page of
// another origin makes are refused with 403, and so are those that reach this machine under the
// name of another.
func (s *Server) HTTP(token string) http.Handler {
	handler := http.Handler(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{SessionTimeout: idleSession, MaxRequestBodyBytes: maxFrame, PropagateRequestCancellation: true}))
	if token != "" {
		handler = bearer(token, handler)
	}
	return http.NewCrossOriginProtection().Handler(handler)
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
