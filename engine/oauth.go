package engine

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

// The ways of OAuth 2.1 to come by a token.
const (
	GrantAuthorizationCode = "authorization_code" // a person signs in with a browser, once
	GrantClientCredentials = "client_credentials" // the program has an account of its own
)

// OAuth says how the token of a server at a URL is come by. Like the rest of a [ServerSpec] it is
// data and holds no secret.
type OAuth struct {
	Grant  string   `json:"grant"`
	ID     string   `json:"id,omitempty"`     // of the client at the authorization server, or the URL of its metadata document; "" registers one
	Secret string   `json:"secret,omitempty"` // the name under which the host keeps the client's secret, "" when it has none
	Key    string   `json:"key,omitempty"`    // that of the private key by which it shows who it is instead
	Scopes []string `json:"scopes,omitempty"` // that are asked for; none means those that the server names
	Issuer string   `json:"issuer,omitempty"` // the authorization server that is trusted; "" is whichever the server names
}

// appendDigest tells one way from another.
func (o *OAuth) appendDigest(b []byte) []byte {
	for _, text := range []string{"oauth", o.Grant, o.ID, o.Secret, o.Key, o.Issuer} {
		b = abi.AppendText(b, text)
	}
	for _, scope := range o.Scopes {
		b = abi.AppendText(append(b, 's'), scope)
	}
	return b
}

// IsDocument reports whether the client's id is the URL of its metadata document.
func (o *OAuth) IsDocument() bool { return strings.HasPrefix(o.ID, "https://") }

// Confidential reports whether what is sent to a URL is seen by its host alone: over TLS, or on
// this machine.
func Confidential(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback())
}
