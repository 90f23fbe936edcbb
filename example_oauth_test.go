package agentscript_test

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/mcp"
)

// signInDesk is the part of a host that shows people where to sign in, and receives the result.
type signInDesk struct{}

// Wait returns the query with which a person's browser came back.
func (signInDesk) Wait(ctx context.Context, address string) (url.Values, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// A host lets its people sign in to MCP servers, and keeps the sign-ins.
func ExampleWithMCP_signIn() {
	grants, err := grant.New(grant.Net("issues.example.com", "login.example.com"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer grants.Close()
	dir, desk := os.TempDir(), signInDesk{}
	client := mcp.New(mcp.WithGrants(grants), mcp.WithTokens(mcp.TokenDir(dir)), mcp.WithSignIn(mcp.SignIns{
		Redirect: "https://app.example.com/signed-in",
		Await: func(ctx context.Context, s mcp.SignIn) (url.Values, error) {
			return desk.Wait(ctx, s.Address) // shows the address, and gives the query of the request to Redirect
		},
	}))
	defer client.Close()
	eng := agentscript.New(agentscript.WithMCP(client), agentscript.WithGrants(grants))
	fmt.Println(eng != nil)
	// Output: true
}
