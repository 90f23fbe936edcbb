package grant

import "net/http"

// Transport makes requests to the hosts that are granted and to no others, also where their names
// lead elsewhere: for what a host gives scripts beside http. It is nil when no host is granted.
func (g *Grants) Transport() http.RoundTripper {
	if g.client == nil {
		return nil
	}
	return g.client
}
