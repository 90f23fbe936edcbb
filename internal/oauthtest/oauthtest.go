// Package oauthtest is an authorization server for tests, with the faults that such servers have.
package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Server is an authorization server, and what an MCP server that wants its tokens does. All that is
// secret in it has canary in it.
type Server struct {
	*httptest.Server
	Resource string // the URL of the MCP server, set before it is used

	// What is wrong or special, set before it is used or by Authorize.
	Meta      map[string]any // over what the server says of itself
	Describes func() (status int, body map[string]any)
	Authorize func(answer url.Values) // changes with what the browser is sent back
	Token     http.HandlerFunc        // gives tokens, where it answers
	Lives     int                     // seconds that a token lives; 0 says nothing
	Wants     string                  // the scope of calls of tools
	NoRefresh bool
	Assertion func(string) bool // judges what a client says of itself
	Challenge string            // behind what the MCP server says when it refuses

	mu      sync.Mutex
	n       int
	codes   map[string]url.Values // of the request for them
	good    map[string]string     // access tokens and their scope
	refresh map[string]string     // refresh tokens and their scope
	asked   []string
	grants  []url.Values
	clients []map[string]any
}

// New starts an authorization server.
func New() *Server {
	s := &Server{codes: map[string]url.Values{}, good: map[string]string{}, refresh: map[string]string{}, Lives: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", s.describe)
	mux.HandleFunc("/register", s.register)
	mux.HandleFunc("/authorize", s.agree)
	mux.HandleFunc("/token", s.give)
	mux.HandleFunc("/revoke", func(rw http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.good, r.PostFormValue("token"))
		delete(s.refresh, r.PostFormValue("token"))
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.Path)
		s.mu.Unlock()
		mux.ServeHTTP(rw, r)
	}))
	return s
}

// Guard lets those alone in that have a token, as far as it covers what they want.
func (s *Server) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
			status, body := 200, map[string]any{"resource": s.Resource, "authorization_servers": []string{s.URL}}
			if s.Describes != nil {
				status, body = s.Describes()
			}
			Write(rw, status, body)
			return
		}
		s.mu.Lock()
		scope, ok := s.good[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		wants := s.Wants
		s.mu.Unlock()
		says := `Bearer resource_metadata="` + s.Resource + `/.well-known/oauth-protected-resource"` + s.Challenge
		if !ok {
			rw.Header().Set("WWW-Authenticate", says)
			http.Error(rw, "who are you?", http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if wants != "" && strings.Contains(string(body), `"tools/call"`) && !slices.Contains(strings.Fields(scope), wants) {
			rw.Header().Set("WWW-Authenticate", says+`, error="insufficient_scope", scope="`+wants+`"`)
			http.Error(rw, "not that", http.StatusForbidden)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		next.ServeHTTP(rw, r)
	})
}

// Write answers with JSON.
func Write(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body)
}

func (s *Server) describe(rw http.ResponseWriter, _ *http.Request) {
	meta := map[string]any{"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke", "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_post"}}
	for key, value := range s.Meta {
		meta[key] = value
	}
	Write(rw, 200, meta)
}

func (s *Server) register(rw http.ResponseWriter, r *http.Request) {
	var client map[string]any
	_ = json.NewDecoder(r.Body).Decode(&client)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients = append(s.clients, client)
	client["client_id"], client["client_secret"] = fmt.Sprintf("client-%d", len(s.clients)), "canary-client"
	Write(rw, 201, client)
}

// agree is the person, who is signed in and agrees to everything.
func (s *Server) agree(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	s.n++
	code := fmt.Sprintf("canary-code-%d", s.n)
	s.codes[code] = q
	answer := url.Values{"code": {code}, "state": {q.Get("state")}}
	if s.Authorize != nil {
		s.Authorize(answer)
	}
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

func (s *Server) give(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	s.grants = append(s.grants, r.PostForm)
	s.mu.Unlock()
	if s.Token != nil {
		rec := httptest.NewRecorder()
		rec.Code = 0
		if s.Token(rec, r); rec.Code != 0 {
			for name, values := range rec.Header() {
				rw.Header()[name] = values
			}
			rw.WriteHeader(rec.Code)
			_, _ = rw.Write(rec.Body.Bytes())
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	no := func(code string) {
		Write(rw, 400, map[string]any{"error": code, "error_description": "because of " + r.PostForm.Get("refresh_token") + r.PostForm.Get("code") + r.PostForm.Get("client_secret")})
	}
	scope := r.PostForm.Get("scope")
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		q, ok := s.codes[r.PostForm.Get("code")]
		delete(s.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || q.Get("redirect_uri") != r.PostForm.Get("redirect_uri") || q.Get("client_id") != r.PostForm.Get("client_id") {
			no("invalid_grant")
			return
		}
		scope = q.Get("scope")
	case "refresh_token":
		token := r.PostForm.Get("refresh_token")
		was, ok := s.refresh[token]
		delete(s.refresh, token)
		if !ok {
			no("invalid_grant")
			return
		}
		scope = was
	case "client_credentials":
		by := r.PostForm.Get("client_secret") == "canary-account"
		if s.Assertion != nil && r.PostForm.Get("client_assertion_type") == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
			by = s.Assertion(r.PostForm.Get("client_assertion"))
		}
		if !by {
			no("invalid_client")
			return
		}
	}
	s.n++
	access, refresh := fmt.Sprintf("canary-access-%d", s.n), fmt.Sprintf("canary-refresh-%d", s.n)
	body := map[string]any{"access_token": access, "token_type": "bearer", "scope": scope}
	s.good[access] = scope
	if s.Lives > 0 {
		body["expires_in"] = s.Lives
	}
	if !s.NoRefresh && r.PostForm.Get("grant_type") != "client_credentials" {
		s.refresh[refresh] = scope
		body["refresh_token"] = refresh
	}
	Write(rw, 200, body)
}

// Revoke has the MCP server take no token that was given.
func (s *Server) Revoke(refreshToo bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.good)
	if refreshToo {
		clear(s.refresh)
	}
}

// Given are the requests for tokens of a grant.
func (s *Server) Given(grant string) (out []url.Values) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.grants {
		if g.Get("grant_type") == grant {
			out = append(out, g)
		}
	}
	return out
}

// Asked are the paths that the authorization server was asked for.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Clients are those that were registered.
func (s *Server) Clients() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.clients)
}

// Browse is a person who opens an address, agrees, and is sent back.
func Browse(address string) error {
	res, err := http.Get(address)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
