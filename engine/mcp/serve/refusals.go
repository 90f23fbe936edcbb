package serve

import (
	"net/http"
	"strings"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// refused turns plain-text error answers into JSON-RPC errors with the same text.
func refused(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&refusing{ResponseWriter: w}, r)
	})
}

type refusing struct {
	http.ResponseWriter
	plain bool // what is written is the text of an error
}

func (w *refusing) WriteHeader(status int) {
	if h := w.Header(); status >= http.StatusBadRequest && strings.HasPrefix(h.Get("Content-Type"), "text/plain") {
		w.plain = true
		h.Set("Content-Type", "application/json")
		h.Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *refusing) Write(p []byte) (int, error) {
	if !w.plain {
		return w.ResponseWriter.Write(p)
	}
	if _, err := w.ResponseWriter.Write(transport.NoRequest(nil, "%s", strings.TrimSpace(string(p))).Encode()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap is for [http.ResponseController].
func (w *refusing) Unwrap() http.ResponseWriter { return w.ResponseWriter }
