package grant

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
)

// RootCAs sets the certificate authorities that are trusted for servers, instead of the system's.
func RootCAs(pool *x509.CertPool) Option {
	return func(g *Grants) error {
		g.roots = pool
		return nil
	}
}

// Proxy sends all requests through an HTTP proxy. By default no proxy is used, whatever the environment says: a proxy
// is another host that sees the requests. With a proxy it is the proxy that resolves names; the names themselves are
// checked as usual.
func Proxy(address string) Option {
	return func(g *Grants) error {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return unusable("the proxy is no address such as http://proxy.example.com:3128")
		}
		g.proxy = u
		return nil
	}
}

const (
	maxAnswerHeader = 256 << 10
	maxRedirects    = 10
	idleTimeout     = 30 * time.Second
)

// connect builds the transport of all requests.
func (g *Grants) connect() {
	g.client = &http.Transport{
		DialContext:            g.dial,
		TLSClientConfig:        &tls.Config{RootCAs: g.roots, MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: maxAnswerHeader,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        idleTimeout,
		TLSHandshakeTimeout:    idleTimeout,
	}
	if g.proxy != nil {
		g.client.Proxy = http.ProxyURL(g.proxy)
		g.client.DialContext = (&net.Dialer{}).DialContext
	}
}

// dial connects to a granted host. It resolves the name itself and checks each address, so that the address it connects
// to is one that was checked.
func (g *Grants) dial(ctx context.Context, network, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	var failures []error
	for _, ip := range ips {
		if !g.reaches(name, ip, port) {
			continue
		}
		conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(ip.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	if len(failures) == 0 && len(ips) > 0 {
		ip := ips[0].Unmap()
		return nil, failed(diag.TouchRefused, "%s leads to %s, which is no address of the public network", name, ip).
			WithHelp("if it is meant to, grant the address as well: --allow-net %s", ip)
	}
	return nil, errors.Join(failures...)
}
