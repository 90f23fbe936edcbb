//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tap is a proxy before a server that records what is sent to models, as transmitted.
func tap(t *testing.T, base string) (address string, sent func() [][]byte) {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1}
	var mu sync.Mutex
	var bodies [][]byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			mu.Lock()
			bodies = append(bodies, body)
			mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() [][]byte {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(bodies)
	}
}

// What a request says about calling tools, in one word for all wire formats.
const (
	auto     = "auto"
	none     = "none"
	required = "required"
)

// choice reads from a request whether tools may or must be called, and which.
func choice(t *testing.T, model string, body []byte) string {
	t.Helper()
	var r struct {
		Tools  []json.RawMessage `json:"tools"`
		Choice json.RawMessage   `json:"tool_choice"`
		Config struct {
			Calling struct {
				Mode    string   `json:"mode"`
				Allowed []string `json:"allowedFunctionNames"`
			} `json:"functionCallingConfig"`
		} `json:"toolConfig"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	var named struct {
		Type     string `json:"type"`
		Name     string `json:"name"` // Anthropic
		Function struct {
			Name string `json:"name"`
		} `json:"function"` // OpenAI
	}
	word := ""
	if json.Unmarshal(r.Choice, &word) != nil && len(r.Choice) > 0 {
		if err := json.Unmarshal(r.Choice, &named); err != nil {
			t.Fatal(err)
		}
		word = named.Type
	}
	if strings.HasPrefix(model, "google/") {
		word = strings.ToLower(r.Config.Calling.Mode)
		named.Name = strings.Join(r.Config.Calling.Allowed, " ")
	}
	switch name := named.Name + named.Function.Name; {
	case len(r.Tools) == 0:
		return none
	case name != "":
		return required + " " + name
	case word == "any", word == "required":
		return required
	case word == "" || word == "auto":
		return auto
	default:
		return word
	}
}
