// Package llmtest is a fake provider for tests: an HTTP server that speaks OpenAI's chat completions, Anthropic's
// messages, Google's generateContent and Ollama's chat, plain and streamed. It sends replies from a list, with the
// faults of real servers, and records the requests that it receives.
package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault is the way in which a reply fails.
type Fault string

// The faults. Those that act midway do so after half of the reply.
const (
	None         Fault = ""
	StallHeaders Fault = "stall_headers" // nothing is sent
	StallStream  Fault = "stall_stream"  // the reply stops midway, the connection stays
	Cut          Fault = "cut"           // the connection is closed midway
	End          Fault = "end"           // the reply ends midway as if it were complete
	Reset        Fault = "reset"         // the connection is closed before anything is sent
	Garbage      Fault = "garbage"       // the second half of the reply is not JSON
	NoChoices    Fault = "no_choices"    // a completion without any choice
	NoEnd        Fault = "no_end"        // the end marker is missing
)

// Reply is one answer of the server.
type Reply struct {
	Text      string
	Reasoning string
	Signature string // of the reasoning: Anthropic and Gemini
	Refusal   string // OpenAI only
	Calls     []Call
	Finish    string // the provider's word; default stop, or tool_calls
	In, Out   int    // usage; none is reported when both are 0
	Model     string // default: the requested one

	Status  int               // default 200; for others Body is sent unchanged
	Header  map[string]string // added
	Body    string            // sent in place of an answer
	Type    string            // content type, if not the usual one
	Fault   Fault
	Delay   time.Duration // before the reply
	Plain   bool          // answer plainly even if a stream was requested
	Repeat  bool          // answers all further requests too
	ByRunes bool          // stream rune by rune instead of word by word
}

// Call is a tool call of a reply.
type Call struct {
	ID, Name, Args string
}

// Request is a request that the server got.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// JSON returns the request's body decoded.
func (r *Request) JSON() (map[string]any, error) {
	var m map[string]any
	err := json.Unmarshal(r.Body, &m)
	return m, err
}

// Server is the fake provider.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	replies  []Reply
	requests []Request
	closing  chan struct{}
}

// New starts a server that sends the replies in order. When none is left, requests are answered with status 500. The
// caller must close it.
func New(replies ...Reply) *Server {
	s := &Server{replies: replies, closing: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends all stalled replies and the server.
func (s *Server) Close() {
	close(s.closing)
	s.Server.Close()
}

// OpenAI returns the base URL for OpenAI's dialect.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Anthropic returns the base URL for Anthropic's dialect.
func (s *Server) Anthropic() string { return s.URL }

// Ollama returns the base URL for Ollama's dialect.
func (s *Server) Ollama() string { return s.URL }

// Gemini returns the base URL for Gemini's dialect.
func (s *Server) Gemini() string { return s.URL + "/v1beta" }

// Requests returns the requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) next(r Request) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.replies) == 0 {
		return Reply{}, false
	}
	reply := s.replies[0]
	if !reply.Repeat {
		s.replies = s.replies[1:]
	}
	return reply, true
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	reply, ok := s.next(Request{r.URL.Path, r.Header.Clone(), body})
	if !ok {
		http.Error(w, `{"error":{"message":"llmtest: no reply is left"}}`, http.StatusInternalServerError)
		return
	}
	select {
	case <-time.After(reply.Delay):
	case <-r.Context().Done():
		return
	}
	for k, v := range reply.Header {
		w.Header().Set(k, v)
	}
	switch reply.Fault {
	case StallHeaders:
		s.stall(r)
		return
	case Reset:
		hangUp(w)
		return
	}
	if reply.Status != 0 && reply.Status != http.StatusOK || reply.Body != "" {
		contentType(w, reply, "application/json")
		w.WriteHeader(max(reply.Status, http.StatusOK))
		_, _ = io.WriteString(w, reply.Body) // the client may be gone
		return
	}
	var asked struct {
		Model  string `json:"model"`
		Stream *bool  `json:"stream"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, `{"error":{"message":"the request is no JSON"}}`, http.StatusBadRequest)
		return
	}
	if reply.Model == "" {
		reply.Model = asked.Model
	}
	stream, streamType := asked.Stream != nil && *asked.Stream, "text/event-stream"
	var write func(r Reply, stream bool) []string
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/chat/completions"):
		write = openAI
	case strings.HasSuffix(path, "/v1/messages"):
		write = anthropic
	case strings.HasSuffix(path, "/api/chat"):
		write, stream, streamType = ollama, stream || asked.Stream == nil, "application/x-ndjson"
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		_, model, _ := strings.Cut(path, "/models/")
		reply.Model, _, _ = strings.Cut(model, ":")
		write, stream = gemini, strings.HasSuffix(path, ":streamGenerateContent")
	default:
		http.NotFound(w, r)
		return
	}
	if stream = stream && !reply.Plain; !stream {
		streamType = "application/json"
	}
	contentType(w, reply, streamType)
	s.send(w, r, reply.Fault, write(reply, stream))
}

func contentType(w http.ResponseWriter, reply Reply, usual string) {
	w.Header().Set("Content-Type", cmp.Or(reply.Type, usual))
}

// send writes the pieces, flushing each, and produces the fault at half of the text.
func (s *Server) send(w http.ResponseWriter, r *http.Request, fault Fault, pieces []string) {
	all := strings.Join(pieces, "")
	half, sent := len(all)/2, 0
	write := func(text string) {
		_, _ = io.WriteString(w, text) // the client may be gone
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	for _, p := range pieces {
		midway := fault == StallStream || fault == Cut || fault == End || fault == Garbage
		if midway && sent+len(p) > half {
			write(p[:half-sent])
			switch fault {
			case StallStream:
				s.stall(r)
			case Cut:
				hangUp(w)
			case Garbage:
				write("\x00\n\n")
			}
			return
		}
		write(p)
		sent += len(p)
	}
}

func (s *Server) stall(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closing:
	}
}

// hangUp closes the connection under the reply.
func hangUp(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := h.Hijack()
	if err != nil {
		return
	}
	_ = conn.Close() // nothing more can be done with it
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf(`{"error":%q}`, err.Error())
	}
	return string(data)
}

// finish returns the reply's finish reason, or the usual one.
func (r *Reply) finish(usual, afterCalls string) string {
	if len(r.Calls) > 0 {
		usual = afterCalls
	}
	return cmp.Or(r.Finish, usual)
}

// counted reports whether the reply has usage.
func (r *Reply) counted() bool { return r.In != 0 || r.Out != 0 }

// words cuts a text into pieces whose concatenation is the text.
func (r *Reply) words(text string) []string {
	if text == "" {
		return nil
	}
	if r.ByRunes {
		return strings.Split(text, "")
	}
	return strings.SplitAfter(text, " ")
}
