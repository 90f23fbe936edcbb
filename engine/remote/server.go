// Package remote declares the MCP servers whose tools agents call.
//
// A [Server] is data and never a connection: composing a flow contacts nobody, and another process can make the
// calls. Package mcp carries out the two effects that result from it: a [ListRequest] asks for the server's tools,
// and an [engine.ToolRequest] that names the server calls one.
package remote

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// The ways to reach a server.
const (
	TransportStdio = "stdio" // a process, over its standard input and output
	TransportAuto  = "auto"  // streamable HTTP, or else the older SSE
	TransportHTTP  = "http"
	TransportSSE   = "sse"
)

// DefaultTimeout is how long a server may take to start, to complete the handshake and to list its tools.
const DefaultTimeout = 30 * time.Second

// DefaultCallTimeout is how long one call of a server's tool may take.
const DefaultCallTimeout = 5 * time.Minute

// Reconcile is a function that knows whether a call of a tool was carried out: an [agent.Judge].
type Reconcile interface{ Info() engine.FuncInfo }

// Server declares an MCP server: data, never a connection, so that composing contacts
// nobody and another process can make the calls. It is immutable.
type Server struct {
	Name      string    `json:"name"`              // as in server.tool
	Transport string    `json:"transport"`         // one of those above
	Command   string    `json:"command,omitempty"` // of a process; "" for a server at a URL
	Args      []string  `json:"args,omitempty"`    // of the command
	Env       []Setting `json:"env,omitempty"`     // of the process, in addition to the few variables that every process gets
	URL       string    `json:"url,omitempty"`     // http or https
	Headers   []Setting `json:"headers,omitempty"` // of every request to that URL's host
	OAuth     *OAuth    `json:"oauth,omitempty"`   // how to obtain the token for that URL; nil if headers contain it

	Timeout   time.Duration    `json:"-"`
	Call      time.Duration    `json:"-"` // of one call
	Tools     []string         `json:"-"` // globs of the tools that agents get; a glob that begins with ! excludes tools. None means all
	Class     engine.Class     `json:"-"` // of its tools; "" is once
	OnUnknown engine.OnUnknown `json:"-"` // what to do when it is unknown whether a call was carried out
	Reconcile Reconcile        `json:"-"` // called in that case, before all else; nil: nobody is
	Untrusted bool             `json:"-"` // its tools return text from outside; see [agent.Tool]
	Span      diag.Span        `json:"-"`

	once sync.Once
	id   [32]byte
}

// Setting is a header or variable. A secret is named, never contained: the process that has the value looks it up
// when it is used, so that it is in no request, digest, event or record.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value,omitempty"`  // literal; with a secret, what precedes it, such as "Bearer "
	Secret string `json:"secret,omitempty"` // the name under which the host keeps it, "" if there is none
}

// Digest returns a hash of what determines which server is meant and how it is reached.
func (s *Server) Digest() [32]byte {
	s.once.Do(func() {
		b := abi.AppendText(nil, s.Name)
		for _, t := range []string{s.Transport, s.Command, s.URL} {
			b = abi.AppendText(b, t)
		}
		for _, a := range s.Args {
			b = abi.AppendText(append(b, 'a'), a)
		}
		for _, list := range [][]Setting{s.Env, s.Headers} {
			b = append(b, '/')
			for _, e := range list {
				b = abi.AppendText(abi.AppendText(abi.AppendText(b, e.Name), e.Value), e.Secret)
			}
		}
		if s.OAuth != nil {
			b = s.OAuth.appendDigest(b)
		}
		s.id = abi.Hash(b)
	})
	return s.id
}

// plainServer is a server without its methods.
type plainServer Server

// jsonServer is the form of a server that people and programs read.
type jsonServer struct {
	*plainServer
	Timeout string `json:"timeout,omitempty"`
	Call    string `json:"call_timeout,omitempty"`
}

// MarshalJSON encodes how the server is reached, with secrets by name and without literals that are secrets.
func (s *Server) MarshalJSON() ([]byte, error) {
	out := jsonServer{plainServer: (*plainServer)(s.Shown())}
	if s.Timeout > 0 {
		out.Timeout = s.Timeout.String()
	}
	if s.Call > 0 {
		out.Call = s.Call.String()
	}
	return json.Marshal(out)
}

// ListRequest asks a server for its tools. [EncodeTools] makes the outcome's value.
type ListRequest struct {
	Server *Server `json:"server"`
}

// Digest implements [engine.Payload].
func (r *ListRequest) Digest() [32]byte { return r.Server.Digest() }

// Rewritten implements [redact.Rewritten].
func (r *ListRequest) Rewritten(f func(string) string) engine.Payload {
	s := r.Server
	own := &Server{Name: f(s.Name), Transport: s.Transport, Command: f(s.Command), URL: f(s.URL), OAuth: s.OAuth,
		Timeout: s.Timeout, Call: s.Call, Tools: s.Tools, Class: s.Class, Untrusted: s.Untrusted, Span: s.Span}
	for _, arg := range s.Args {
		own.Args = append(own.Args, f(arg))
	}
	own.Env, own.Headers = rewritten(s.Env, f), rewritten(s.Headers, f)
	return &ListRequest{Server: own}
}

func rewritten(settings []Setting, f func(string) string) (out []Setting) {
	for _, s := range settings {
		s.Name, s.Value = f(s.Name), f(s.Value)
		out = append(out, s)
	}
	return out
}

// Tool is a tool as its server describes it. The schemas are the server's own text.
type Tool struct {
	Name, Description string
	Input, Output     string // JSON Schemas; Output is "" if the server provides none
}

// EncodeTools returns the value in which a server's list of tools is recorded.
func EncodeTools(tools []Tool) generable.Value {
	items := make([]generable.Value, len(tools))
	for i, t := range tools {
		m := generable.NewMap(4)
		m.Set("name", generable.StrOf(t.Name))
		m.Set("description", generable.StrOf(t.Description))
		m.Set("input", generable.StrOf(t.Input))
		m.Set("output", generable.StrOf(t.Output))
		items[i] = m.Value()
	}
	return generable.NewList(items).Value()
}

// DecodeTools decodes what [EncodeTools] made. Records may have been edited by hand.
func DecodeTools(v generable.Value) ([]Tool, error) {
	l, ok := v.AsList()
	if !ok {
		return nil, badList("it is " + v.TypeName())
	}
	tools := make([]Tool, l.Len())
	for i := range tools {
		m, ok := l.At(i).AsMap()
		if !ok {
			return nil, badList("entry " + strconv.Itoa(i) + " is " + l.At(i).TypeName())
		}
		t := &tools[i]
		for key, to := range map[string]*string{"name": &t.Name, "description": &t.Description, "input": &t.Input, "output": &t.Output} {
			item, has := m.Get(key)
			if *to, ok = item.AsStr(); has && !ok {
				return nil, badList("the " + key + " of entry " + strconv.Itoa(i) + " is " + item.TypeName())
			}
		}
	}
	return tools, nil
}

func badList(why string) *engine.Error {
	return engine.Errorf(engine.KindReplay, diag.ServerTools, "what is recorded as a server's list of tools is not one: %s", why).
		WithHelp("record the run again")
}

// The grant types of OAuth 2.1 for obtaining a token.
const (
	GrantAuthorizationCode = "authorization_code" // a person signs in with a browser, once
	GrantClientCredentials = "client_credentials" // the program has its own account
)

// OAuth describes how the token of a server at a URL is obtained. Like the rest of a [Server] it is
// data and holds no secret.
type OAuth struct {
	Grant  string   `json:"grant"`
	ID     string   `json:"id,omitempty"`     // of the client at the authorization server, or the URL of its metadata document; "" registers one
	Secret string   `json:"secret,omitempty"` // the name under which the host keeps the client's secret, "" if it has none
	Key    string   `json:"key,omitempty"`    // the name of the private key with which it identifies itself instead
	Scopes []string `json:"scopes,omitempty"` // the requested scopes; none means those that the server names
	Issuer string   `json:"issuer,omitempty"` // the authorization server that is trusted; "" is the one that the server names
}

// appendDigest appends what distinguishes one way of obtaining a token from another.
func (o *OAuth) appendDigest(b []byte) []byte {
	for _, text := range []string{"oauth", o.Grant, o.ID, o.Secret, o.Key, o.Issuer} {
		b = abi.AppendText(b, text)
	}
	for _, scope := range o.Scopes {
		b = abi.AppendText(append(b, 's'), scope)
	}
	return b
}

// IsDocument reports whether the client's id is the URL of its metadata document.
func (o *OAuth) IsDocument() bool { return strings.HasPrefix(o.ID, "https://") }

// Confidential reports whether only its host sees what is sent to a URL: over TLS, or on this machine.
func Confidential(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback())
}

// At sets the position of a failure to where the script declares the server.
func (s *Server) At(e *engine.Error) *engine.Error {
	if e.Pos.IsValid() || !s.Span.IsValid() || engine.IsControl(e) {
		return e
	}
	own := *e
	own.Pos = s.Span.Pos
	return &own
}

// Label implements [engine.ToolServer].
func (s *Server) Label() string { return s.Name }

// maxName is the maximum length of a server's name.
const maxName = 32

// NameOf returns a name as one of a server, which is part of server.tool and of the name under which a model calls a
// tool: characters that are not allowed there become _, and a name that is too long is cut. A valid name stays
// unchanged.
func NameOf(name string) string {
	b := []byte(name)
	for i, c := range b {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			b[i] = '_'
		}
	}
	return string(b[:min(len(b), maxName)])
}
