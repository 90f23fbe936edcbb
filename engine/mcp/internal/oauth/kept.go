package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/text"
	"golang.org/x/oauth2"
)

// SignedIn returns the public part of a sign-in.
func (k *kept) SignedIn() remote.SignedIn {
	out := remote.SignedIn{URL: k.Server, Issuer: k.Issuer, Scopes: append([]string{}, k.Scopes...), Hosts: []string{}, Expires: k.Expiry, Renews: k.Refresh != ""}
	for _, at := range []string{k.Server, k.TokenURL} {
		if host, err := capability.Host(at); err == nil && (at == k.Server || out.Renews) && !slices.Contains(out.Hosts, host) {
			out.Hosts = append(out.Hosts, host)
		}
	}
	return out
}

// SignedInOf reads what [tokens] store, and reports whether it is a sign-in.
func SignedInOf(data []byte) (remote.SignedIn, bool) {
	var k kept
	if json.Unmarshal(data, &k) != nil || k.Server == "" {
		return remote.SignedIn{}, false
	}
	return k.SignedIn(), true
}

// Begins makes the authority ignore the stored sign-in, or use it again.
func (a *Authority) Begins(ctx context.Context, anew bool) error {
	free, err := a.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	a.anew = anew
	return nil
}

// Forget deletes the stored sign-in to a server and returns it; nil if there was none.
func Forget(ctx context.Context, keeps tokens, server string) (*kept, error) {
	var k *kept
	err := keeps.Update(ctx, Key(server), func(data []byte) ([]byte, error) {
		if data != nil {
			k = &kept{}
			if json.Unmarshal(data, k) != nil {
				*k = kept{} // unreadable, and deleted
			}
		}
		return nil, nil
	})
	return k, err
}

// Withdraw revokes the tokens (RFC 7009).
func (k *kept) Withdraw(ctx context.Context, d Deps) error {
	if k.Revoke == "" {
		return nil
	}
	a := &Authority{Deps: d, spec: &remote.Server{Name: k.Server, URL: k.Server}, how: &remote.OAuth{}, hidden: &redact.Redactor{}}
	a.Hold(k)
	ask := &asker{a: a}
	var wrong []error
	for hint, token := range map[string]string{"refresh_token": k.Refresh, "access_token": k.Access} {
		if token == "" {
			continue
		}
		form := url.Values{"token": {token}, "token_type_hint": {hint}}
		if k.Style != int(oauth2.AuthStyleInHeader) {
			form.Set("client_id", k.Client)
			if k.Secret != "" {
				form.Set("client_secret", k.Secret)
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.Revoke, strings.NewReader(form.Encode()))
		if err != nil {
			return a.Failure("%s is no URL", k.Revoke)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if k.Style == int(oauth2.AuthStyleInHeader) {
			req.SetBasicAuth(url.QueryEscape(k.Client), url.QueryEscape(k.Secret))
		}
		res, err := ask.client().Do(req)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			wrong = append(wrong, errors.New(res.Status))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		e := ask.failed(err, "")
		e.Message = a.hidden.Text(text.Brief(fmt.Sprintf("the sign-in to MCP server %q is forgotten here, and %s did not take its tokens back: %s", k.Server, k.Issuer, err)))
		return e.WithHelp("see at the authorization server what it lists as granted")
	}
	return nil
}
