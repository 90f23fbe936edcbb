package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// realm is what a token for a server is requested from, and for what.
type realm struct {
	resource string   // the name under which the authorization server knows the server
	scopes   []string // that the server supports
	meta     *oauthex.AuthServerMeta
}

// discover finds the authorization server of a server, from the server's own metadata (RFC 9728) and that of the
// authorization server (RFC 8414, OpenID Connect). Invalid metadata is an error.
func (a *Authority) discover(ctx context.Context, ch *challenge) (*realm, error) {
	u, err := url.Parse(a.spec.URL)
	if err != nil {
		return nil, a.Failure("its URL cannot be read")
	}
	r, issuers, err := a.describes(ctx, u, ch)
	if err != nil {
		return nil, err
	}
	old := issuers == nil
	if old { // as of 2025-03-26: the server's host is also the authorization server
		r, issuers = &realm{resource: a.spec.URL}, []string{u.Scheme + "://" + u.Host}
	}
	issuer := issuers[0]
	if a.how.Issuer != "" {
		i := slices.IndexFunc(issuers, func(s string) bool { return sameIssuer(s, a.how.Issuer) })
		if i < 0 {
			return nil, a.Failure("it names the authorization server %s, and %s alone is trusted", issuer, a.how.Issuer)
		}
		issuer = issuers[i]
	}
	ask := &asker{a: a}
	r.meta, err = auth.GetAuthServerMetadata(ctx, issuer, ask.client())
	switch {
	case err != nil:
		return nil, ask.failed(err, "its authorization server cannot be used")
	case r.meta == nil && !old:
		return nil, a.Failure("its authorization server %s does not describe itself", issuer)
	case r.meta == nil:
		r.meta = &oauthex.AuthServerMeta{Issuer: issuer, AuthorizationEndpoint: issuer + "/authorize", TokenEndpoint: issuer + "/token", RegistrationEndpoint: issuer + "/register"}
	case r.meta.TokenEndpoint == "":
		return nil, a.Failure("its authorization server %s has no token endpoint", issuer)
	}
	return r, nil
}

// describes reads a server's metadata: at the URL that it names, else at the well-known ones. Without metadata the
// issuers are nil.
func (a *Authority) describes(ctx context.Context, u *url.URL, ch *challenge) (*realm, []string, error) {
	known := u.Scheme + "://" + u.Host + "/.well-known/oauth-protected-resource"
	for _, at := range slices.Compact([]string{ch.metadata, known + strings.TrimRight(u.EscapedPath(), "/"), known}) {
		if at == "" {
			continue
		}
		ask := &asker{a: a}
		found, err := ask.description(ctx, at)
		if errors.Is(err, errNotThere) {
			continue
		}
		if err == nil && !within(u, found.Resource) {
			err = fmt.Errorf("it says that it is %q, and was called at %q", found.Resource, a.spec.URL)
		}
		switch {
		case err != nil:
			return nil, nil, ask.failed(err, "what it says of itself cannot be used")
		case len(found.AuthorizationServers) == 0:
			return nil, nil, a.Failure("it names no authorization server")
		}
		return &realm{resource: found.Resource, scopes: found.ScopesSupported}, found.AuthorizationServers, nil
	}
	return nil, nil, nil
}

// errNotThere means that a URL has no metadata, as opposed to invalid metadata.
var errNotThere = errors.New("there is no description")

// description reads a server's metadata at a URL. Sites that answer everything with a page, or redirect to one, have
// none.
func (k *asker) description(ctx context.Context, at string) (found oauthex.ProtectedResourceMetadata, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return found, errors.New("its address is no URL")
	}
	res, err := k.client().Do(req)
	if res != nil {
		defer res.Body.Close()
	}
	switch {
	case k.own != nil:
		return found, k.own
	case k.status >= 300 && k.status < 500:
		return found, errors.Join(errNotThere, err)
	case err != nil:
		return found, err
	case res.StatusCode != http.StatusOK:
		return found, errors.New(res.Status)
	case !strings.Contains(res.Header.Get("Content-Type"), "json"):
		return found, errNotThere
	}
	return found, json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&found)
}

// within reports whether metadata for resource applies to a server: resource is the server's URL, its whole host, or a
// path above it, as many servers name it.
func within(server *url.URL, resource string) bool {
	r, err := url.Parse(resource)
	if err != nil || !strings.EqualFold(r.Scheme, server.Scheme) || !strings.EqualFold(r.Host, server.Host) || r.User != nil || r.Fragment != "" {
		return false
	}
	path, top := strings.TrimRight(server.EscapedPath(), "/"), strings.TrimRight(r.EscapedPath(), "/")
	if path == top {
		return r.RawQuery == "" || r.RawQuery == server.RawQuery
	}
	return r.RawQuery == "" && strings.HasPrefix(path, top+"/")
}

// scopes returns the scopes to request: those of the script, else those that the server now requires, else those that
// it supports. If the server requires more than a token covers, its scopes take precedence.
func (a *Authority) scopes(r *realm, ch *challenge) []string {
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
