package grant_test

import (
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/internal/hang"
)

// TestHTTPStalls: whatever a server does slowly, a request ends at its timeout and leaves nothing behind; a compressed
// answer is not larger than the cap when decompressed.
func TestHTTPStalls(t *testing.T) {
	url, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		flush := w.(http.Flusher).Flush
		switch r.URL.Path {
		case "/body":
			fmt.Fprint(w, "the beginning")
			flush()
			<-r.Context().Done()
		case "/drip":
			for r.Context().Err() == nil {
				fmt.Fprint(w, ".")
				flush()
				time.Sleep(20 * time.Millisecond)
			}
		case "/hints":
			for r.Context().Err() == nil {
				w.WriteHeader(http.StatusEarlyHints)
				time.Sleep(time.Millisecond)
			}
		case "/redirects":
			time.Sleep(50 * time.Millisecond)
			http.Redirect(w, r, "/redirects", http.StatusFound)
		case "/headers":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nX-Slow: ")
			for {
				if _, err := fmt.Fprint(conn, "x"); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			inner := gzip.NewWriter(z) // only the outer one is decompressed
			block := make([]byte, 1<<20)
			for range packed() {
				if _, err := inner.Write(block); err != nil {
					return
				}
			}
			inner.Close()
			z.Close()
		case "/broken":
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "this is not packed at all")
		case "/other":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "as it is")
		}
	})
	g := granted(t, grant.Net(host))
	slow := []string{"/body", "/drip", "/headers", "/hints", "/redirects"}
	outs := make([]engine.Outcome, len(slow))
	var all sync.WaitGroup
	for i, path := range slow {
		all.Go(func() { outs[i] = touch(t, t.Context(), g, "http.get", `{"url": "`+url+path+`", "timeout": 0.4}`) })
	}
	all.Wait()
	for _, out := range outs[:3] {
		fails(t, out, diag.Timeout, "did not end within 400ms")
	}
	if outs[3].Err == nil {
		t.Error("hints without an end give an answer")
	}
	if err := outs[4].Err; err == nil || err.Code != diag.Timeout && err.Code != diag.TouchRefused {
		t.Errorf("redirects without an end: %v", err)
	}
	out := get(t, g, url+"/packed")
	if r, ok := out.Value.AsRecord(); !ok {
		t.Error(out.Err)
	} else if text, _ := r.At(2).AsStr(); len(text) > grant.DefaultOutputCap {
		t.Errorf("%d bytes", len(text))
	}
	fails(t, get(t, g, url+"/broken"), diag.TouchFailed, "gzip")
	gives(t, get(t, g, url+"/other"), `"text":"as it is"`)
}

// packed returns how many MiB servers compress: fewer under -short, but more than an answer may have.
func packed() int {
	if testing.Short() {
		return 4
	}
	return 100
}

// trustedEnv makes this test a host that asks a server whose authority the environment names.
const trustedEnv = "AGENTSCRIPT_TEST_TRUSTED"

// TestHTTPSystemAuthorities: the system's certificate authorities are trusted, including those named by SSL_CERT_FILE
// where the system uses it. They are those of the host's environment; a script cannot set them.
func TestHTTPSystemAuthorities(t *testing.T) {
	if url := os.Getenv(trustedEnv); url != "" {
		g, err := grant.New(grant.Net(strings.TrimPrefix(url, "https://")))
		if err != nil {
			t.Fatal(err)
		}
		out := get(t, g, url)
		if out.Err != nil {
			fmt.Println("refused:", out.Err.Message)
			return
		}
		fmt.Println("reached")
		return
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system keeps its authorities itself")
	}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer s.Close()
	file := t.TempDir() + "/ca.pem"
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string][]string{"reached": {"SSL_CERT_FILE=" + file}, "refused: GET 127.0.0.1 failed: tls: failed to verify certificate": nil} {
		host := hang.Command(t, os.Args[0], "-test.run=^TestHTTPSystemAuthorities$")
		host.Env = append(append(os.Environ(), trustedEnv+"="+s.URL, "GORACE=atexit_sleep_ms=0"), env...)
		if out, err := host.Output(); err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%v: %q, %v, want %q", env, out, err, want)
		}
	}
}
