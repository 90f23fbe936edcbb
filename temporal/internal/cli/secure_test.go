package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	_, der, key := a.issue("the authority", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.key = key
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.file("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) file(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

func (a *authority) issue(name string, c *x509.Certificate) (tls.Certificate, []byte, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	by, with := a.cert, a.key
	if by == nil {
		by, with = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, with)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, der, key
}

// client writes a client's certificate and its key.
func (a *authority) client() (cert, key string) {
	_, der, private := a.issue("a client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.file("client.pem", "CERTIFICATE", der), a.file("client.key", "EC PRIVATE KEY", text)
}

// tlsProxy is a TLS server in front of the one that tests share. It records the API keys that it received.
type tlsProxy struct {
	*httptest.Server
	mu   sync.Mutex
	keys map[string]int
}

func (g *tlsProxy) address() string { return g.Listener.Addr().String() }

func newTLSProxy(a *authority, clients bool) *tlsProxy {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	to.Transport, to.FlushInterval = &http.Transport{Protocols: &protocols}, -1
	to.ErrorLog = log.New(io.Discard, "", 0)
	g := &tlsProxy{keys: map[string]int{}}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.keys[r.Header.Get("Authorization")]++
		g.mu.Unlock()
		to.ServeHTTP(w, r)
	}))
	cert, _, _ := a.issue("the server", &x509.Certificate{DNSNames: []string{"temporal.test"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	g.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if clients {
		g.TLS.ClientAuth, g.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		g.TLS.ClientCAs.AddCert(a.cert)
	}
	g.Config.ErrorLog = log.New(io.Discard, "", 0)
	g.EnableHTTP2 = true
	g.StartTLS()
	return g
}

// A server that requires client certificates is reached with them, by flags and by the environment, and not without.
func TestTLS(t *testing.T) {
	b := onServer(t)
	a := newAuthority(t)
	g := newTLSProxy(a, true)
	defer g.CloseClientConnections()
	cert, key := a.client()
	at := []string{"--address", g.address(), "--task-queue", "tls"}
	trust := []string{"--tls-ca-path", filepath.Join(a.dir, "ca.pem"), "--tls-server-name", "temporal.test"}
	own := []string{"--tls-cert-path", cert, "--tls-key-path", key}
	all := append(append(append([]string{}, at...), trust...), own...)
	b.worker(all...)
	if s := b.temporal(0, "", append(append([]string{"run"}, all...), "examples/count.star", "41")...); s.out == "" {
		t.Errorf("nothing came of the run\n%s", s.err)
	}
	env := &bench{t, append(append([]string{}, b.env...), "TEMPORAL_ADDRESS="+g.address(), "TEMPORAL_TLS_CLIENT_CERT_PATH="+cert, "TEMPORAL_TLS_CLIENT_KEY_PATH="+key,
		"TEMPORAL_TLS_SERVER_CA_CERT_PATH="+filepath.Join(a.dir, "ca.pem"), "TEMPORAL_TLS_SERVER_NAME=temporal.test")}
	if s := env.temporal(0, "", "runs", "ls", "--task-queue", "tls"); s.out == "" {
		t.Errorf("no run is listed\n%s", s.err)
	}
	for name, flags := range map[string][]string{
		"no certificate": trust,
		"no authority":   append([]string{"--tls-server-name", "temporal.test"}, own...),
		"another name":   append([]string{"--tls-ca-path", filepath.Join(a.dir, "ca.pem"), "--tls-server-name", "other.test"}, own...),
		"no TLS":         nil,
		"a strange client": append(append([]string{}, trust...), func() []string {
			c, k := newAuthority(t).client()
			return []string{"--tls-cert-path", c, "--tls-key-path", k}
		}()...),
	} {
		begun := time.Now()
		s := b.temporal(term.ExitProvider, "no Temporal server is reached at "+g.address(), append(append([]string{"runs", "ls", "--connect-timeout", "3s"}, at...), flags...)...)
		if name == "no authority" && !strings.Contains(s.err, "certificate") || time.Since(begun) > 15*time.Second {
			t.Errorf("%s, after %s:\n%s", name, time.Since(begun), s.err)
		}
		t.Logf("%s: %.300s", name, s.err)
	}
}

// Each request carries the API key as a bearer token, and no output contains it, whatever goes wrong.
func TestAPIKey(t *testing.T) {
	b := onServer(t)
	a := newAuthority(t)
	g := newTLSProxy(a, false)
	defer g.CloseClientConnections()
	const secret = "key-5d1c8f0a7e"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	trust := []string{"--task-queue", "key", "--tls-ca-path", filepath.Join(a.dir, "ca.pem"), "--tls-server-name", "temporal.test"}
	at := append([]string{"--address", g.address()}, trust...)
	var output strings.Builder
	_, log := b.workerWithLog(append(append([]string{}, at...), "--api-key-file", file, "--log-level", "debug", "-v")...)
	s := b.temporal(0, "", append(append([]string{"run", "--api-key-file", file}, at...), "examples/count.star", "41")...)
	output.WriteString(s.out + s.err)
	env := &bench{t, append(append([]string{}, b.env...), "TEMPORAL_API_KEY="+secret)}
	s = env.temporal(0, "", append([]string{"runs", "ls"}, at...)...)
	output.WriteString(s.out + s.err)
	g.mu.Lock()
	if g.keys["Bearer "+secret] == 0 || len(g.keys) != 1 {
		t.Errorf("the server was given %v", g.keys)
	}
	g.mu.Unlock()
	for _, address := range []string{"127.0.0.1:1", address, secret + ":7233", g.address()} { // no server, no TLS, no host, no trust
		s = env.temporal(term.ExitProvider, "no Temporal server is reached", "worker", "--wait", "1s", "--log-level", "debug", "-v", "--connect-timeout", "2s", "--address", address)
		output.WriteString(s.out + s.err)
	}
	if text := output.String() + log.String(); strings.Contains(text, secret) {
		t.Errorf("the key is in\n%s", text)
	}
}
