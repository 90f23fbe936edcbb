package mcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// realm is what a token for a server is asked for: where, and for what.
type realm struct {
	resource string   // the name under which the authorization server knows the server
	scopes   []string // that the server says it has
	meta     *oauthex.AuthServerMeta
}

// discover finds the authorization server of a server, from what the server says of itself (RFC 9728)
// and that server of itself (RFC 8414, OpenID Connect). A description that is there and wrong ends it.
func (a *authority) discover(ctx context.Context, ch *challenge) (*realm, error) {
	r, issuers, err := a.describes(ctx, ch)
	if err != nil {
		return nil, err
	}
	old := issuers == nil
	if old { // as of 2025-03-26: its host is the authorization server as well
		u, err := url.Parse(a.spec.URL)
		if err != nil {
			return nil, a.failure("its URL cannot be read")
		}
		r, issuers = &realm{resource: a.spec.URL}, []string{u.Scheme + "://" + u.Host}
	}
	issuer := issuers[0]
	if a.how.Issuer != "" {
		i := slices.IndexFunc(issuers, func(s string) bool { return sameIssuer(s, a.how.Issuer) })
		if i < 0 {
			return nil, a.failure("it names the authorization server %s, and %s alone is trusted", issuer, a.how.Issuer)
		}
		issuer = issuers[i]
	}
	ask := &asker{a: a}
	r.meta, err = auth.GetAuthServerMetadata(ctx, issuer, ask.client())
	switch {
	case err != nil:
		return nil, ask.failed(err, "its authorization server cannot be used")
	case r.meta == nil && !old:
		return nil, a.failure("its authorization server %s does not describe itself", issuer)
	case r.meta == nil:
		r.meta = &oauthex.AuthServerMeta{Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register"}
	case r.meta.TokenEndpoint == "":
		return nil, a.failure("its authorization server %s has no token endpoint", issuer)
	}
	return r, nil
}

// describes reads what a server says of itself: at the URL that it names, else at the well-known ones.
// Of a server that says nothing the issuers are nil.
func (a *authority) describes(ctx context.Context, ch *challenge) (*realm, []string, error) {
	u, err := url.Parse(a.spec.URL)
	if err != nil {
		return nil, nil, a.failure("its URL cannot be read")
	}
	root := u.Scheme + "://" + u.Host
	const known = "/.well-known/oauth-protected-resource"
	places := []string{ch.metadata, root + known + strings.TrimRight(u.EscapedPath(), "/"), root + known}
	// What is protected may be the whole host, and is named with a slash or without.
	whole := *u
	whole.RawQuery, whole.Fragment = "", ""
	bare := strings.TrimRight(whole.String(), "/")
	names := slices.Compact([]string{whole.String(), bare, bare + "/", root, root + "/"})
	for _, at := range slices.Compact(places) {
		if at == "" {
			continue
		}
		ask := &asker{a: a}
		var wrong error
		for i, name := range names {
			if slices.Index(names, name) < i {
				continue
			}
			found, err := oauthex.GetProtectedResourceMetadata(ctx, at, name, ask.client())
			switch {
			case ask.own != nil:
				return nil, nil, ask.own
			case err != nil && ask.status != 200: // not there, or broken: another name finds nothing else
				wrong = err
			case err != nil:
				if wrong == nil {
					wrong = err
				}
				continue
			case len(found.AuthorizationServers) == 0:
				return nil, nil, a.failure("it names no authorization server")
			default:
				return &realm{resource: found.Resource, scopes: found.ScopesSupported}, found.AuthorizationServers, nil
			}
			break
		}
		if !nothingThere(ask.status) {
			return nil, nil, ask.failed(wrong, "what it says of itself cannot be used")
		}
	}
	return nil, nil, nil
}

// scopes are those to ask for: what the script says, else what the server wants now, else what it has.
// One that wants more than a token covers has the last word.
func (a *authority) scopes(r *realm, ch *challenge) []string {
	switch {
	case ch.more:
		return ch.scopes
	case len(a.how.Scopes) > 0:
		return a.how.Scopes
	case len(ch.scopes) > 0:
		return ch.scopes
	}
	return r.scopes
}
