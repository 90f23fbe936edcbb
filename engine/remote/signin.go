package remote

import (
	"context"
	"net/url"
	"time"
)

// SignIn is what a person is to agree to.
type SignIn struct {
	Server  string   // its name
	URL     string   // of the server
	Issuer  string   // the authorization server, at which the person signs in
	Scopes  []string // that are asked for
	Address string   // where the person goes with a browser. Whoever reads it can break off the sign-in, and do no more
}

// SignIns is how people sign in to servers that want it.
type SignIns struct {
	// Show shows a person where to go, and returns. An error of it ends the sign-in.
	Show func(context.Context, SignIn) error
	// Redirect is where the browser comes back to. Unless Await is given it is an address of this machine,
	// "http://127.0.0.1:8765/callback", at which is listened meanwhile; "" is one with a free port.
	Redirect string
	// Await waits for the browser of a host that has its own Redirect, and returns the query with
	// which it came back.
	Await func(context.Context, SignIn) (url.Values, error)
	// Wait bounds how long a person is waited for: 5 minutes when it is 0.
	Wait time.Duration
	// ClientID is the https URL of the host's client ID metadata document, "" when it has none: then a
	// client is registered, unless the script names one.
	ClientID string
}

// SignedIn is what may be shown of a sign-in.
type SignedIn struct {
	URL     string    `json:"url"` // of the server
	Issuer  string    `json:"issuer"`
	Scopes  []string  `json:"scopes"`
	Hosts   []string  `json:"hosts"`            // that a run with the server talks to
	Expires time.Time `json:"expires,omitzero"` // the zero time when nobody said
	Renews  bool      `json:"renews"`           // by itself, when it expires
}
