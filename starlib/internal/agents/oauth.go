package agents

import (
	"net/url"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

// oauthValue configures how a server's token is obtained.
type oauthValue = value.Opaque[*remote.OAuth]

var (
	oauthKind  = &table.Kind{Word: "oauth(...)", Stub: "OAuth", Accept: value.As[*oauthValue], Hint: hintOAuth}
	secretKind = table.Vetted(&table.Kind{Word: "secret(...)", Stub: "Secret", Accept: value.As[*value.Secret], Hint: func(v starlark.Value) string {
		if _, ok := v.(starlark.String); ok {
			return `name the variable that holds it, not the value: secret("CLIENT_SECRET")`
		}
		return ""
	}}, func(_ *table.Param, v starlark.Value) []table.Fault {
		s, ok := v.(*value.Secret)
		return badServer(ok && s.Prefix != "", "leave the prefix out", "it takes no prefix")
	})
	clientKind = table.Texts(func(_ *table.Param, id string) []table.Fault {
		if id == "" || strings.ContainsAny(id, "\r\n\x00") {
			return badServer(true, "leave it out to have one registered", "%q is not a client id", id)
		}
		how := remote.OAuth{ID: id}
		return badServer(how.IsDocument() && !isDocument(id), "write where the document is: https://example.com/client.json", "a metadata document has a path, and no name, password or fragment")
	})
	scopeKind = table.Texts(func(_ *table.Param, scope string) []table.Fault {
		return badServer(scope == "" || strings.IndexFunc(scope, notInScope) >= 0, `list each scope separately: scopes = ["read", "write"]`, "%q is not a scope", scope)
	})
	issuerKind = table.Texts(func(_ *table.Param, issuer string) []table.Fault {
		u, err := url.Parse(issuer)
		wrong := err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !remote.Confidential(issuer)
		return badServer(wrong, `write it as the server names it: "https://auth.example.com"`, "want the https URL of an authorization server")
	})
)

func hintOAuth(v starlark.Value) string {
	switch v := v.(type) {
	case *value.Secret:
		return `a token that you have goes into the headers: headers = {"Authorization": secret("` + v.Name + `", prefix = "Bearer ")}`
	case *starlark.Builtin:
		if v.Name() == "oauth" {
			return "write oauth()"
		}
	}
	return ""
}

func oauthRow() table.Builtin {
	return table.Builtin{Name: "oauth", Group: table.GroupAgents, Aside: "id secret key scopes issuer grant", Returns: "oauth", Effect: table.Compose, Func: oauthFunc, May: true,
		Params: []table.Param{
			table.Opt("id", clientKind, "None", "the id of this client at the authorization server, or the https URL of its metadata document; by default one is registered"),
			table.Opt("secret", secretKind, "None", "the secret that belongs to the id: secret(...)"),
			table.Opt("key", secretKind, "None", "the private key (PEM) with which the client with that id authenticates, instead of a secret: secret(...)"),
			table.Opt("scopes", table.ListOf(scopeKind), "[]", "the scopes to request; by default those that the server names"),
			table.Opt("issuer", issuerKind, "None", "the URL of the authorization server to trust; by default whichever one the server names"),
			table.Opt("grant", table.OneOf(remote.GrantAuthorizationCode, remote.GrantClientCredentials), "None",
				"how to get a token: a person signs in, or the client has its own account, which is the default with an id and a secret or key"),
		},
		Doc: "Declares that an MCP server at a URL requires OAuth. oauth() is for a person who signed in with agentscript mcp login, oauth(id = ..., secret = secret(...)) for a program. Loading contacts no server, and tokens are never recorded."}
}

func oauthFunc(c *table.Call) (starlark.Value, error) {
	how := &remote.OAuth{ID: c.Str("id"), Issuer: c.Str("issuer"), Grant: c.Str("grant"), Scopes: c.Texts("scopes")}
	bad := func(param, help, message string) {
		c.Problemf(diag.BadServer, c.ArgSpan(param), "%s", message).Advise(help)
	}
	if s, ok := c.Arg("secret").(*value.Secret); ok {
		how.Secret = s.Name
	}
	if s, ok := c.Arg("key").(*value.Secret); ok {
		how.Key = s.Name
	}
	id, secret, key := c.Passed("id"), c.Passed("secret"), c.Passed("key")
	if how.Grant == "" {
		how.Grant = remote.GrantAuthorizationCode
		if id && secret || key {
			how.Grant = remote.GrantClientCredentials
		}
	}
	switch {
	case key && secret:
		bad("key", "leave one of them out", "key: a client authenticates with its key or with its secret")
	case key && (!id || how.Grant != remote.GrantClientCredentials || how.IsDocument()):
		bad("key", `write oauth(id = "...", key = secret("CLIENT_KEY"))`, "key: only clients with an id and an account of their own have one")
	case how.IsDocument() && secret:
		bad("secret", "leave it out", "secret: a client whose id is a metadata document has none")
	case how.IsDocument() && how.Grant == remote.GrantClientCredentials:
		bad("grant", "leave it out: a person signs in", "grant: a client whose id is a metadata document has no account of its own")
	case how.Grant == remote.GrantClientCredentials && !(id && (secret || key)):
		bad("grant", `write oauth(id = "...", secret = secret("CLIENT_SECRET"))`, "grant: the account of a client needs its id and secret")
	case secret && !id:
		bad("secret", "pass the id as well", "secret: there is no id that it belongs to")
	}
	return c.Made(&oauthValue{Kind: "oauth", Text: "oauth(" + how.Grant + ")", Of: how})
}

// notInScope reports whether RFC 6749 excludes a character from scopes.
func notInScope(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }

func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Host != "" && strings.Trim(u.Path, "/") != "" && u.User == nil && u.Fragment == ""
}

// serverAuth reads how a server's token is obtained.
func serverAuth(c *table.Call, spec *remote.Server) *remote.OAuth {
	v, ok := c.Arg("auth").(*oauthValue)
	if !ok {
		return nil
	}
	at := c.ArgSpan("auth")
	switch {
	case c.Passed("command") && !c.Passed("url"):
		c.Problemf(diag.BadServer, at, "auth: a server that is started has no sign-in").Help = []string{"pass what it needs with env = {...}"}
	case spec.URL != "" && !remote.Confidential(spec.URL):
		c.Problemf(diag.BadServer, at, "auth: anyone on the way to %s could read the token", spec.URL).Help = []string{"write an https URL"}
	}
	for _, s := range spec.Headers {
		if strings.EqualFold(s.Name, "Authorization") {
			c.Problemf(diag.BadServer, at, "auth: the headers already have an Authorization").Help = []string{"leave one of them out"}
		}
	}
	return v.Of
}
