// Package oauthtest provides an authorization server for tests, with the faults that real ones have.
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

// Server is an authorization server. [Server.Guard] is the part of an MCP server that requires its tokens. All of its
// secrets contain the word canary.
type Server struct {
	*httptest.Server
	Resource string // the URL of the MCP server; must be set before use

	// Faults and special cases, set before use or by Authorize.
	Meta      map[string]any // adds or replaces entries of the server's metadata
	Describes func() (status int, body map[string]any)
	Authorize func(answer url.Values) // changes the parameters of the redirect back to the client
	Token     http.HandlerFunc        // answers requests for tokens, unless it writes nothing
	Lives     int                     // lifetime of tokens in seconds; 0 leaves it out
	Wants     string                  // the scope that calls of tools need
	NoRefresh bool
	Assertion func(string) bool // checks the assertion of a client
	Challenge string            // added to the WWW-Authenticate header of the MCP server

	mu      sync.Mutex
	n       int
	codes   map[string]url.Values // the parameters of the requests for the codes
	good    map[string]string     // access tokens with their scopes
	refresh map[string]string     // refresh tokens with their scopes
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

// Guard passes on only requests with a valid token, and calls of tools only if the scope of the token is sufficient.
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

// Write writes a JSON response.
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

// agree acts for a user who is signed in and agrees to everything.
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

// Revoke makes the MCP server reject all tokens that were issued.
func (s *Server) Revoke(refreshToo bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.good)
	if refreshToo {
		clear(s.refresh)
	}
}

// Given returns the requests for tokens with a grant type.
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

// Asked returns the paths of the requests that the authorization server received.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Clients returns the registered clients.
func (s *Server) Clients() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.clients)
}

// Browse acts for a user who opens an address, agrees, and is redirected back.
func Browse(address string) error {
	res, err := http.Get(address)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
