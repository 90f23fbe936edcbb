//go:build unix

package mcp_test

import (
	"context"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/oauthtest"
)

// world is an MCP server that requires tokens, and the authorization server that it names.
type world struct {
	*oauthtest.Server
	mcp *remote.Server
}

func newWorld(t *testing.T, transport string) *world {
	t.Helper()
	w := &world{Server: oauthtest.New()}
	t.Cleanup(w.Close)
	w.mcp = served(t, transport, w.Guard)
	w.Resource = w.mcp.URL
	w.mcp.OAuth = &remote.OAuth{Grant: remote.GrantAuthorizationCode}
	return w
}

// browser is a person at a terminal who opens what is shown.
func browser(shown *[]mcp.SignIn) mcp.Option {
	var mu sync.Mutex
	return mcp.WithSignIn(mcp.SignIns{Show: func(ctx context.Context, s mcp.SignIn) error {
		mu.Lock()
		defer mu.Unlock()
		if shown != nil {
			*shown = append(*shown, s)
		}
		return oauthtest.Browse(s.Address)
	}})
}

// account returns the OAuth settings of a program with its own account.
func account() *remote.OAuth {
	return &remote.OAuth{Grant: remote.GrantClientCredentials, ID: "robot", Secret: "ROBOT"}
}

var withAccount = mcp.WithSecrets(func(name string) (string, bool) { return "canary-account", name == "ROBOT" })
