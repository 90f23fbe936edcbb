package grant_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
)

// server serves requests on this machine until the test ends.
func server(t *testing.T, h http.HandlerFunc) (url, host string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

// TestHTTP: a request is sent as the script says, and the answer is a record.
func TestHTTP(t *testing.T) {
	url, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Two", "a")
		w.Header().Add("x-two", "b")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "%s %s %s|%s|%s|%s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), r.Header.Get("User-Agent"), body)
	})
	g := granted(t, grant.Net(host), grant.Env("API_TOKEN"), environment("API_TOKEN", "s3cr3t!"))
	ctx := t.Context()
	out := touch(t, ctx, g, "http.get", `{"url": "`+url+`/a?b=c"}`)
	gives(t, out, `"text":"GET /a?b=c ||agentscript|","truncated":false`)
	gives(t, out, `{"status":404,"headers":{"content-length":`)
	gives(t, out, `"x-two":"a, b"`)
	gives(t, touch(t, ctx, g, "http.post", `{"url": "`+url+`", "json": {"n": [1, null]}}`), `"text":"POST / |application/json|agentscript|{\"n\":[1,null]}"`)
	gives(t, touch(t, ctx, g, "http.request", `{"method": "put", "url": "`+url+`", "body": "x", "headers": {"content-type": "text/plain"}}`), `"text":"PUT / |text/plain|agentscript|x"`)

	// A secret reaches the server and is removed wherever it comes back.
	out = touch(t, ctx, g, "http.get", `{"url": ["`+url+`/?key=", {"env": "API_TOKEN"}], "headers": {"Authorization": ["Bearer ", {"env": "API_TOKEN"}]}}`)
	gives(t, out, `GET /?key=<secret API_TOKEN> Bearer <secret API_TOKEN>|`)
	gives(t, out, `"url":"`+url+`/?key=<secret API_TOKEN>"`)
	fails(t, touch(t, ctx, g, "http.get", `{"url": "`+url+`", "headers": {"A": [{"env": "OTHER_TOKEN"}]}}`), diag.UngrantedUse, "--allow-env OTHER_TOKEN")
}

// TestHTTPRefused: a host that is not granted receives nothing, and scripts cannot set the headers of the transport.
func TestHTTPRefused(t *testing.T) {
	url, host := server(t, func(http.ResponseWriter, *http.Request) { t.Error("it was asked") })
	_, port, _ := net.SplitHostPort(host)
	g := granted(t, grant.Net("api.example.com", "*:"+port, "*.localhost", "[::ffff:7f00:2]:1"))
	ctx := t.Context()
	fails(t, touch(t, ctx, g, "http.get", `{"url": "http://127.0.0.1:1/"}`), diag.UngrantedUse, "--allow-net 127.0.0.1:1")
	fails(t, touch(t, ctx, g, "http.get", `{"url": "https://example.com/"}`), diag.UngrantedUse, "--allow-net example.com")
	fails(t, touch(t, ctx, g, "http.get", `{"url": "file:///etc/passwd"}`), diag.TouchRefused, "scheme")
	fails(t, touch(t, ctx, g, "http.get", `{"url": "http://a:b@api.example.com/"}`), diag.TouchRefused, "name or password")
	for _, inside := range []string{"127.0.0.1", "localhost", "[::1]", "0.0.0.0", "169.254.169.254", "10.1.2.3", "192.168.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "224.0.0.1", "255.255.255.255"} {
		fails(t, touch(t, ctx, g, "http.get", `{"url": "http://`+inside+`:`+port+`/"}`), diag.TouchRefused, "which is no address of the public network")
	}
	for name, value := range map[string]string{"host": "evil.example.com", "Content-Length": "3", "transfer-encoding": "chunked", "Proxy-Authorization": "x", "a b": "c", "": "c", "A": `b\r\nC: d`} {
		fails(t, touch(t, ctx, g, "http.get", `{"url": "`+url+`", "headers": {"`+name+`": "`+value+`"}}`), diag.TouchRefused, "header")
	}
	none := granted(t)
	fails(t, touch(t, ctx, none, "http.get", `{"url": "`+url+`"}`), diag.UngrantedUse, "--allow-net "+host)
}

// TestHTTPRedirect: each host of a chain must be granted, and what was sent to one is not forwarded to another.
func TestHTTPRedirect(t *testing.T) {
	there, thereHost := server(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "key=%q referer=%q agent=%q", r.Header.Get("X-Key"), r.Referer(), r.UserAgent())
	})
	_, port, _ := net.SplitHostPort(thereHost)
	elsewhere := "http://localhost:" + port
	url, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case "/send":
			http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
		case "/inside":
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/again":
			http.Redirect(w, r, "/again", http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/done", http.StatusFound)
		default:
			fmt.Fprintf(w, "key=%q", r.Header.Get("X-Key"))
		}
	})
	g := granted(t, grant.Net(host, "localhost:"+port))
	ctx := t.Context()
	get := func(path string) engine.Outcome {
		return touch(t, ctx, g, "http.get", `{"url": "`+url+path+`", "headers": {"X-Key": "k"}}`)
	}
	gives(t, get("/here"), `"text":"key=\"k\""`)
	gives(t, get("/away?q=word"), `key=\"\" referer=\"\" agent=\"agentscript\"`)
	fails(t, get("/inside"), diag.UngrantedUse, "--allow-net 169.254.169.254")
	fails(t, get("/file"), diag.TouchRefused, "scheme")
	fails(t, get("/again"), diag.TouchRefused, "redirects to")
	fails(t, touch(t, ctx, g, "http.post", `{"url": "`+url+`/send", "body": "x"}`), diag.TouchRefused, "which would get what was sent")

	narrow := granted(t, grant.Net(host))
	fails(t, touch(t, ctx, narrow, "http.get", `{"url": "`+url+`/away"}`), diag.UngrantedUse, "--allow-net localhost:"+port)
	fails(t, touch(t, ctx, narrow, "http.get", `{"url": "`+url+`/away"}`), diag.UngrantedUse, "GET 127.0.0.1 redirects to another host")
	_ = there
}

// TestHTTPFaults: a server that does not answer, floods or lies costs at most the timeout and the cap.
func TestHTTPFaults(t *testing.T) {
	url, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/never":
			<-r.Context().Done()
		case "/flood":
			block := make([]byte, 1<<20)
			for range 1000 {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			block := make([]byte, 1<<20)
			for range packed() {
				if _, err := z.Write(block); err != nil {
					return
				}
			}
			z.Close()
		case "/short":
			w.Header().Set("Content-Length", "100")
			w.Write([]byte("ten bytes."))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		case "/header":
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
		case "/garbage":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Write([]byte("this is no HTTP\r\n\r\n"))
				conn.Close()
			}
		}
	})
	g := granted(t, grant.Net(host))
	ctx := t.Context()
	slow := touch(t, ctx, g, "http.get", `{"url": "`+url+`/never", "timeout": 0.3}`)
	fails(t, slow, diag.Timeout, "GET 127.0.0.1 did not end within 300ms")
	if slow.Err.Kind != engine.KindTimeout {
		t.Errorf("%s", slow.Err.Kind)
	}
	for _, path := range []string{"/flood", "/bomb"} {
		out := touch(t, ctx, g, "http.get", `{"url": "`+url+path+`"}`)
		gives(t, out, `"truncated":true`)
		r, _ := out.Value.AsRecord()
		if text, _ := r.At(2).AsStr(); len(text) != grant.DefaultOutputCap {
			t.Errorf("%s: %d bytes", path, len(text))
		}
	}
	fails(t, touch(t, ctx, g, "http.get", `{"url": "`+url+`/short"}`), diag.TouchFailed, "broke off the answer after 10 bytes of 100")
	fails(t, touch(t, ctx, g, "http.get", `{"url": "`+url+`/header"}`), diag.TouchFailed, "header")
	fails(t, touch(t, ctx, g, "http.get", `{"url": "`+url+`/garbage"}`), diag.TouchFailed, "GET 127.0.0.1 failed")
	gone, goneHost := server(t, nil)
	_, port, _ := net.SplitHostPort(goneHost)
	n, _ := strconv.Atoi(port)
	closed := granted(t, grant.Net("127.0.0.1"))
	_ = gone
	fails(t, touch(t, ctx, closed, "http.get", fmt.Sprintf(`{"url": "http://127.0.0.1:%d/?k=v"}`, 1+n%2)), diag.TouchFailed, "GET 127.0.0.1 failed")
}
