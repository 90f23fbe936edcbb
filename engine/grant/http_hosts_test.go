package grant_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
)

// proxy is an HTTP proxy that records requests and answers them itself.
type proxy struct {
	mu    sync.Mutex
	asked []string
}

func newProxy(t *testing.T) (*proxy, string) {
	p := &proxy{}
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, r.Method+" "+r.Host)
		if r.Method == http.MethodConnect {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, "by the proxy")
	})
	return p, url
}

func (p *proxy) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) == 0 {
		return ""
	}
	last := p.asked[len(p.asked)-1]
	p.asked = nil
	return last
}

// get requests a URL, which is inserted into JSON unchanged.
func get(t *testing.T, g engine.Handler, url string) engine.Outcome {
	t.Helper()
	return touch(t, t.Context(), g, "http.get", `{"url": "`+url+`"}`)
}

// TestHTTPEnvironmentProxy: a proxy named in the environment receives nothing.
func TestHTTPEnvironmentProxy(t *testing.T) {
	p, address := newProxy(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		t.Setenv(name, address)
	}
	t.Setenv("NO_PROXY", "")
	url, host := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "itself") })
	g := granted(t, grant.Net(host, "api.example.com"))
	gives(t, get(t, g, url), `"text":"itself"`)
	fails(t, get(t, g, "http://elsewhere.example.com/"), diag.UngrantedUse, "--allow-net elsewhere.example.com")
	if asked := p.last(); asked != "" {
		t.Errorf("the proxy was asked for %s", asked)
	}
}

// TestHTTPHosts: however an address is written, only the granted host is asked. A proxy stands for the network, and
// records what would be asked.
func TestHTTPHosts(t *testing.T) {
	p, address := newProxy(t)
	g := granted(t, grant.Proxy(address), grant.Net("api.example.com", "*.Example.ORG", "xn--mnchen-3ya.example:8080", "[2001:4860::8888]", "192.0.2.7"))
	for url, want := range map[string]string{
		"http://api.example.com/":                  "GET api.example.com",
		"HTTP://API.Example.COM/a":                 "GET API.Example.COM",
		"http://api.example.com./":                 "GET api.example.com.",
		"http://api.example.com:80/":               "GET api.example.com:80",
		"http://api.example.com:/":                 "GET api.example.com",
		"http://api.example.com:8080/":             "GET api.example.com:8080",
		"https://api.example.com/":                 "CONNECT api.example.com:443",
		"http://a.b.example.org/":                  "GET a.b.example.org",
		"http://xn--mnchen-3ya.example:8080/":      "GET xn--mnchen-3ya.example:8080",
		"http://XN--MNCHEN-3YA.example:8080/":      "GET XN--MNCHEN-3YA.example:8080",
		"http://[2001:4860:0:0:0:0:0:8888]/":       "GET [2001:4860:0:0:0:0:0:8888]",
		"http://[2001:4860::8888]:81/":             "GET [2001:4860::8888]:81",
		"http://192.0.2.7/":                        "GET 192.0.2.7",
		"http://[::ffff:192.0.2.7]/":               "GET [::ffff:192.0.2.7]",
		"http://api.example.com/@evil.example":     "GET api.example.com",
		"http://api.example.com?@evil.example":     "GET api.example.com",
		"http://api.example.com#@evil.example/":    "GET api.example.com",
		"http://api.example.com/../../etc/passwd":  "GET api.example.com",
		"http://evil.example/":                     "AS758",
		"http://api.example.com.evil.example/":     "AS758",
		"http://evilapi.example.com/":              "AS758",
		"http://api.example.com../":                "AS761",
		"http://example.org/":                      "AS758",
		"http://xn--mnchen-3ya.example/":           "AS758",
		"http://192.0.2.8/":                        "AS758",
		"http://[2001:4860::8889]/":                "AS758",
		"http://api.example.com@evil.example/":     "AS761",
		"http://api.example.com:80@evil.example/":  "AS761",
		"http://api.example.com:pass@192.0.2.7/":   "AS761",
		"http://@api.example.com/":                 "AS761",
		"http://münchen.example:8080/":             "AS761",
		"http://api。example。com/":                  "AS761",
		"http://ⓐpi.example.com/":                  "AS761",
		"http://api.example.com:0/":                "AS761",
		"http://api.example.com:65536/":            "AS761",
		"http://[2001:4860::8888%25eth0]/":         "AS761",
		"http://3221225991/":                       "AS761",
		"http://0xc0000207/":                       "AS761",
		"http://192.0.519/":                        "AS761",
		"http://192.0.2.07/":                       "AS761",
		"http://0300.0.2.7/":                       "AS761",
		"http:///path":                             "AS761",
		"http:api.example.com":                     "AS761",
		"//api.example.com/":                       "AS761",
		"ftp://api.example.com/":                   "AS761",
		"gopher://api.example.com/":                "AS761",
		"http+unix://api.example.com/":             "AS761",
		"http://ex%61mple.com/":                    "AS759",
		"http://api.example.com%2eevil.example/":   "AS759",
		"http://api.example.com\\\\@evil.example/": "AS759",
		"http://api.example.com\\u0000.evil/":      "AS759",
		"http://api.example.com\\r\\nHost: evil/":  "AS759",
		"http://api.example.com:80:81/":            "AS759",
		"http://[::1/":                             "AS759",
	} {
		out, got := get(t, g, url), p.last()
		if out.Err != nil && !strings.HasPrefix(want, "CONNECT") {
			if got != "" {
				t.Errorf("%s: refused, and asked for as %s", url, got)
			}
			got = string(out.Err.Code)
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", url, got, want, out.Err)
		}
	}
}

// TestHTTPProxyInward: with all hosts granted, addresses that name the proxy's own network are not requested, as far as
// the text of the address shows it.
func TestHTTPProxyInward(t *testing.T) {
	p, address := newProxy(t)
	g := granted(t, grant.Proxy(address), grant.Net("*", "10.0.0.7"))
	for url, want := range map[string]string{
		"http://example.com/":            "GET example.com",
		"http://10.0.0.7/":               "GET 10.0.0.7",
		"http://10.0.0.8/":               "AS761",
		"http://127.0.0.1/":              "AS761",
		"http://169.254.169.254/latest/": "AS761",
		"http://[::1]/":                  "AS761",
		"http://[::ffff:7f00:1]/":        "AS761",
		"http://localhost/":              "AS761",
		"http://a.LOCALHOST./":           "AS761",
		"http://127.1/":                  "AS761",
		"http://2130706433/":             "AS761",
		"http://0x7f.0x1/":               "AS761",
	} {
		out, got := get(t, g, url), p.last()
		if out.Err != nil {
			got += string(out.Err.Code)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// names answers all DNS queries with IPv4 addresses while the test runs.
func names(t *testing.T, addresses map[string][]string) (asked func() int) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	was, n := net.DefaultResolver, 0
	var mu sync.Mutex
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = was
		conn.Close()
	})
	go func() {
		buf := make([]byte, 512)
		for {
			size, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			q := buf[12:size]
			var labels []string
			at := 0
			for q[at] != 0 {
				labels = append(labels, string(q[at+1:at+1+int(q[at])]))
				at += 1 + int(q[at])
			}
			answer := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[:at+5]...)
			if binary.BigEndian.Uint16(q[at+1:]) == 1 {
				mu.Lock()
				n++
				mu.Unlock()
				for _, a := range addresses[strings.ToLower(strings.Join(labels, "."))] {
					ip := netip.MustParseAddr(a).As4()
					answer = append(append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), ip[:]...)
					answer[7]++
				}
			}
			conn.WriteTo(answer, from)
		}
	}()
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// TestHTTPResolved: a granted name that resolves to an internal address is refused, whatever other addresses it has,
// and also after a redirect. If the address is granted as well, the request is made. A name is looked up once per
// connection: the address that was checked is the one connected to.
func TestHTTPResolved(t *testing.T) {
	url, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/inside" {
			http.Redirect(w, r, "http://meta.example.test/", http.StatusFound)
			return
		}
		fmt.Fprint(w, "reached by ", r.Host)
	})
	_, port, _ := net.SplitHostPort(host)
	asked := names(t, map[string][]string{"inside.example.test": {"127.0.0.1"}, "two.example.test": {"10.0.0.1", "127.0.0.1"}, "meta.example.test": {"169.254.169.254"},
		"cgnat.example.test": {"100.64.1.1"}, "zero.example.test": {"0.0.0.0"}, "none.example.test": nil})
	g := granted(t, grant.Net("*.example.test"))
	for _, name := range []string{"inside", "two", "meta", "cgnat", "zero"} {
		fails(t, get(t, g, "http://"+name+".example.test:"+port+"/"), diag.TouchRefused, "which is no address of the public network")
	}
	fails(t, get(t, g, "http://none.example.test:"+port+"/"), diag.TouchFailed, "no such host")
	chain := granted(t, grant.Net("meta.example.test", host))
	fails(t, get(t, chain, url+"/inside"), diag.TouchRefused, "meta.example.test leads to 169.254.169.254")
	before := asked()
	both := granted(t, grant.Net("two.example.test", "127.0.0.1"))
	gives(t, get(t, both, "http://two.example.test:"+port+"/"), "reached by two.example.test")
	if n := asked() - before; n != 1 {
		t.Errorf("the name was looked up %d times", n)
	}
	narrow := granted(t, grant.Net("two.example.test", "127.0.0.1:1"))
	fails(t, get(t, narrow, "http://two.example.test:"+port+"/"), diag.TouchRefused, "no address of the public network")
}

// TestHTTPSRedirects: a redirect from an encrypted host to an unencrypted one is refused, and so is a redirect with a
// name and a password in it.
func TestHTTPSRedirects(t *testing.T) {
	plain, host := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "plain") })
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, map[string]string{"/down": plain, "/user": "https://a:b@" + r.Host + "/x", "/upper": "HTTPS://" + r.Host + "/done"}[r.URL.Path], http.StatusFound)
	}))
	defer secure.Close()
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	g := granted(t, grant.Net(host, strings.TrimPrefix(secure.URL, "https://")), grant.RootCAs(roots))
	fails(t, get(t, g, secure.URL+"/down"), diag.TouchRefused, "which is not encrypted any more")
	fails(t, get(t, g, secure.URL+"/user"), diag.TouchRefused, "name or password")
	strange := granted(t, grant.Net(strings.TrimPrefix(secure.URL, "https://")))
	fails(t, get(t, strange, secure.URL+"/down"), diag.TouchFailed, "certificate")
}

// TestTransport: the transport for other uses reaches only granted hosts.
func TestTransport(t *testing.T) {
	url, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.example.com/", http.StatusFound)
	})
	g := granted(t, grant.Net(host))
	client := &http.Client{Transport: g.Transport()}
	for _, address := range []string{url, "http://elsewhere.example.com/", "file:///etc/passwd"} {
		resp, err := client.Get(address)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s is reached", address)
		}
	}
	client.CloseIdleConnections()
	if granted(t).Transport() != nil {
		t.Error("there is a transport though no host is granted")
	}
}
