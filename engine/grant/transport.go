package grant

import "net/http"

// Transport makes requests to the hosts that are granted and to no others, also where their names
// lead elsewhere: for what a host offers scripts beside http. It is nil when no host is granted.
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
			_ = req.Body.Close() // nothing of it was read
		}
		return nil, wrong
	}
	return t.g.client.RoundTrip(req)
}

// CloseIdleConnections is asked for by http.Client.
func (t *transport) CloseIdleConnections() { t.g.client.CloseIdleConnections() }
