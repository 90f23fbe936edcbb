package remote

import (
	"context"
	"net/url"
	"time"
)

// SignIn is what a person must agree to.
type SignIn struct {
	Server  string   // its name
	URL     string   // of the server
	Issuer  string   // the authorization server, at which the person signs in
	Scopes  []string // the requested scopes
	Address string   // where the person goes with a browser. Somebody else who reads it can break off the sign-in, and do no more
}

// SignIns is how people sign in to servers that require it.
type SignIns struct {
	// Show shows a person where to go, and returns. If it returns an error, the sign-in ends.
	Show func(context.Context, SignIn) error
	// Redirect is where the browser comes back to. Unless Await is set, it is an address of this machine, such as
	// "http://127.0.0.1:8765/callback", at which the process listens meanwhile; "" is one with a free port.
	Redirect string
	// Await waits for the browser of a host that has its own Redirect, and returns the query with
	// which it came back.
	Await func(context.Context, SignIn) (url.Values, error)
	// Wait is the maximum time to wait for a person; 0 means 5 minutes.
	Wait time.Duration
	// ClientID is the https URL of the host's client ID metadata document, "" if it has none. Without one, a client
	// is registered, unless the script names one.
	ClientID string
}

// SignedIn is what may be shown about a sign-in.
type SignedIn struct {
	URL     string    `json:"url"` // of the server
	Issuer  string    `json:"issuer"`
	Scopes  []string  `json:"scopes"`
	Hosts   []string  `json:"hosts"`            // the hosts that a run with the server talks to
	Expires time.Time `json:"expires,omitzero"` // zero if nobody said
	Renews  bool      `json:"renews"`           // whether it renews itself when it expires
}
