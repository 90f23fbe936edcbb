package grant

import "net/http"

// Transport returns a transport that only reaches granted hosts, even where a name resolves elsewhere. It is for
// features that a host offers scripts in addition to http. It is nil if no host is granted.
func (g *Grants) Transport() http.RoundTripper {
	if g.client == nil {
		return nil
	}
	return &transport{g}
}

type transport struct{ g *Grants }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{g: t.g, op: "request", what: req.Method + " " + req.URL.Hostname()}
	if wrong := x.permitted(req.URL); wrong != nil {
		if req.Body != nil {
			_ = req.Body.Close() // nothing was read from it
		}
		return nil, wrong
	}
	return t.g.client.RoundTrip(req)
}

// CloseIdleConnections is called by http.Client.
func (t *transport) CloseIdleConnections() { t.g.client.CloseIdleConnections() }
