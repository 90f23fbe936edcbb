package agentscript_test

import (
	"fmt"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/mcp"
)

// A host lets scripts have MCP servers, as far as it grants them anything.
func ExampleWithMCP() {
	grants, err := grant.New(grant.Net("tickets.example.com"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer grants.Close()
	client := mcp.New(mcp.WithGrants(grants))
	defer client.Close()
	eng := agentscript.New(agentscript.WithMCP(client), agentscript.WithGrants(grants))
	fmt.Println(eng != nil)
	// Output: true
}
