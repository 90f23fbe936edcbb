//go:build unix

package mcp_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/remote"
)

// wire is a hand-written server that violates the protocol.
type wire struct {
	mode string
	much int                    // the size of too large messages
	say  func(text string) bool // sends a message, or something that is not one; false if nobody listens
	die  func()                 // does not return
	died func() bool            // reports whether it died before, and marks it as dead
}

// wireMessage is the relevant part of a client's message.
type wireMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// begin does what the server does before it has read anything.
func (w *wire) begin() {
	switch w.mode {
	case "silent":
		stay()
	case "gone":
		w.die()
	case "garbage":
		for w.say("this is no message " + strings.Repeat("x", 500)) {
		}
	case "broken":
		w.say(`{"jsonrpc": "2.0", "id": 1, "result": {`)
		w.say(`nothing`)
		w.say(`{]`)
	case "huge":
		w.say(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", w.much) + `"}}`)
	}
}

func (w *wire) answer(m wireMessage) {
	switch m.Method {
	case "initialize":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"wire","version":"1"}}}`, m.ID)
	case "tools/list":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, wireTools(w.mode))
	case "tools/call":
		if w.mode == "blabs" {
			w.blab(m)
			return
		}
		w.call(m.ID)
	default:
		w.sayf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, m.ID)
	}
}

func (w *wire) sayf(format string, args ...any) bool { return w.say(fmt.Sprintf(format, args...)) }

func (w *wire) call(id json.RawMessage) {
	const notice = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
	switch w.mode {
	case "once":
		if !w.died() {
			w.die()
		}
	case "dies":
		w.die()
	case "liar":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"n":"many"}}}`, id)
		return
	case "nonsense":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":"text"}}`, id)
		return
	case "fails":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"why":"no ink"},"isError":true}}`, id)
		return
	case "mum":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"isError":true}}`, id)
		return
	case "refuses":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32005,"message":"no such city"}}`, id) // a code that the SDK reserves
		return
	case "floods":
		for large := strings.Replace(notice, `"x"`, `"`+strings.Repeat("x", 1<<20)+`"`, 1); w.say(large); {
		}
		return
	case "chatters": // a few thousand notifications before the answer are not a flood
		for range w.much >> 13 {
			w.say(notice)
		}
	case "halves": // a message is cut off in the middle of the call
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[`, id)
	case "swells":
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, id, strings.Repeat("x", w.much))
		return
	case "prints": // lines that are not messages, and the answer
		for _, line := range []string{"debug: about to answer", "", "[info] soon", `{"level":"info","msg":"now"}`, "7", "null", "[]", "[1]"} {
			w.say(line)
		}
	case "strays": // answers that nobody waits for
		w.say(`{"jsonrpc":"2.0","id":"nobody","result":{}}`)
		w.say(`{"jsonrpc":"2.0","id":999,"error":{"code":1,"message":"x"}}`)
	case "hangs":
		return
	}
	w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"went"}]}}`, id)
}

// blab repeats the process's secret in every possible place of a call.
func (w *wire) blab(m wireMessage) {
	token := os.Getenv("TOKEN")
	quoted, _ := json.Marshal(token)
	w.sayf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%s}}`, m.Params.Meta.ProgressToken, quoted)
	switch m.Params.Name {
	case "go":
		twice, _ := json.Marshal(string(quoted) + " " + url.QueryEscape(token) + " " + base64.StdEncoding.EncodeToString([]byte("me:"+token)))
		w.sayf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, m.ID, twice)
	case "refuse":
		long, _ := json.Marshal(strings.Repeat("x", 400-len(token)/2) + token)
		w.sayf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":%s}}`, m.ID, long)
	case "break":
		w.say(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 200-len(token)/2) + token)
	case "die":
		fmt.Fprint(os.Stderr, token+strings.Repeat("\n", 2<<10-len(token)/2))
		leave(3)
	}
}

// wireServer is the server over the streams of this process.
func wireServer(mode string) {
	if pids := os.Getenv("PIDS"); pids != "" { // of the server, of its parent, and of their group's leader
		if err := os.WriteFile(pids, fmt.Appendln(nil, os.Getpid(), os.Getppid(), syscall.Getpgrp()), 0o600); err != nil {
			leave(1)
		}
	}
	if mode == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	file := os.Getenv("DIED")
	much, _ := strconv.Atoi(os.Getenv("MUCH"))
	w := &wire{mode: mode, much: much,
		say: func(text string) bool {
			_, err := fmt.Println(text)
			return err == nil
		},
		die: func() {
			if mode == "gone" {
				fmt.Fprintln(os.Stderr, "no configuration found: "+os.Getenv("TOKEN"))
				leave(7)
			}
			fmt.Fprintln(os.Stderr, "out of memory")
			leave(3)
		},
		died: func() bool {
			_, err := os.Stat(file)
			if err != nil && os.WriteFile(file, nil, 0o600) != nil {
				leave(1)
			}
			return err == nil
		},
	}
	if mode == "silent" {
		_, _ = fmt.Fprintln(os.Stderr, "I will not talk")
	}
	w.begin()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var m wireMessage
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		if m.Method == "initialize" {
			w.say("npm notice: a new version is there")
		}
		w.answer(m)
	}
	if mode == "stubborn" {
		stay()
	}
}

// stay never ends: the runtime would report select {} as a deadlock.
func stay() {
	for {
		time.Sleep(time.Hour)
	}
}

// wired returns the server in a mode with a transport.
func wired(t *testing.T, mode, transport string) *remote.Server {
	t.Helper()
	if transport == remote.TransportStdio {
		return process(t, mode)
	}
	h := &wireHTTP{mode: mode, sse: transport == remote.TransportSSE, over: make(chan struct{})}
	s := httptest.NewServer(h)
	s.Config.ErrorLog = nil
	t.Cleanup(func() {
		close(h.over)
		s.CloseClientConnections()
		s.Close()
	})
	return &remote.Server{Name: mode, URL: s.URL, Transport: transport}
}

// wireHTTP is the server at a URL, in the newer way or with one separate stream for all answers.
type wireHTTP struct {
	mode string
	sse  bool
	over chan struct{}

	mu   sync.Mutex
	died bool
	to   http.ResponseWriter // of the stream
	drop chan struct{}       // ends the stream abruptly
}

func (h *wireHTTP) wire(w http.ResponseWriter, die func()) *wire {
	return &wire{mode: h.mode, much: tooMuch(), die: die,
		say: func(text string) bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.sse && h.to != w {
				return false // the stream has ended
			}
			_, err := fmt.Fprintf(w, "event: message\ndata: %s\n\n", text)
			return err == nil && http.NewResponseController(w).Flush() == nil
		},
		died: func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			before := h.died
			h.died = true
			return before
		}}
}

// ServeHTTP implements http.Handler.
func (h *wireHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && h.sse:
		h.stream(w, r)
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m wireMessage
	if body, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if m.ID == nil || h.sse {
		w.WriteHeader(http.StatusAccepted)
		_ = http.NewResponseController(w).Flush() // a client that is gone ends the request
	}
	if m.ID == nil {
		return
	}
	to, die := w, func() { panic(http.ErrAbortHandler) }
	if h.sse {
		h.mu.Lock()
		drop := h.drop
		to, die = h.to, func() { close(drop); panic(http.ErrAbortHandler) }
		h.mu.Unlock()
	} else {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	speaker := h.wire(to, die)
	if m.Method == "initialize" && h.mode != "silent" {
		speaker.begin()
	}
	if h.mode != "silent" {
		speaker.answer(m)
	}
	if h.mode == "silent" || h.mode == "hangs" && m.Method == "tools/call" {
		select {
		case <-r.Context().Done():
		case <-h.over:
		}
	}
}

func (h *wireHTTP) stream(w http.ResponseWriter, r *http.Request) {
	drop := make(chan struct{})
	h.mu.Lock()
	h.to, h.drop = w, drop
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: endpoint\ndata: /say\n\n")
	_ = http.NewResponseController(w).Flush() // a client that is gone ends the request
	h.mu.Unlock()
	defer func() { // nothing is written after the end
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.to == w {
			h.to = nil
		}
	}()
	select {
	case <-drop:
		panic(http.ErrAbortHandler)
	case <-r.Context().Done():
	case <-h.over:
	}
}

func wireTools(mode string) string {
	tool := func(name, schema string) string {
		return fmt.Sprintf(`{"name":%q,"description":"d","inputSchema":%s}`, name, schema)
	}
	const empty = `{"type":"object"}`
	switch mode {
	case "noobject":
		return `{"tools":[` + tool("a", `{"type":"string"}`) + `]}`
	case "large":
		return `{"tools":[` + tool("a", `{"type":"object","description":"`+strings.Repeat("x", 1<<20)+`"}`) + `]}`
	case "twice":
		return `{"tools":[` + tool("a", empty) + `,` + tool("a", empty) + `]}`
	case "endless":
		return `{"tools":[` + tool("a", empty) + `],"nextCursor":"again"}`
	case "odd":
		return `{"tools":[` + strings.Join([]string{
			tool("cyclic", `{"type":"object","properties":{"next":{"$ref":"#"}}}`),
			tool("remote", `{"type":"object","properties":{"x":{"$ref":"https://example.com/schema.json"}}}`),
			tool("two words", empty), tool("two_words", empty), tool("dotted.name/x", empty), tool("7up", empty),
			tool(strings.Repeat("long", 30), empty), tool(strings.Repeat("long", 30)+"er", empty),
			tool("pattern", `{"type":"object","properties":{"x":{"type":"string","pattern":"^(?!a)"}},"required":["x"]}`),
		}, ",") + `]}`
	case "blabs":
		schema, _ := json.Marshal(map[string]any{"type": "object", "description": os.Getenv("TOKEN"), "enum": []any{"a", "b"}})
		return `{"tools":[` + tool("go", string(schema)) + `,` + tool("refuse", empty) + `,` + tool("break", empty) + `,` + tool("die", empty) + `]}`
	case "liar":
		return `{"tools":[{"name":"lie","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}`
	}
	return `{"tools":[` + tool("go", empty) + `]}`
}
