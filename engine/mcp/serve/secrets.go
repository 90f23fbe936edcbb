package serve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/internal/redact"
)

// without removes secrets from what clients receive about tools: scripts may contain them literally, and errors repeat
// what a client sent.
func without(secrets func() []string) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			set := redact.New(secrets())
			if set == nil {
				return res, err
			}
			if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
				return res, &jsonrpc.Error{Code: e.Code, Message: set.String(e.Message), Data: set.JSON(e.Data)}
			}
			switch res := res.(type) {
			case *sdk.CallToolResult:
				for _, c := range res.Content {
					if text, ok := c.(*sdk.TextContent); ok {
						text.Text = set.String(text.Text)
					}
				}
				if data, ok := res.StructuredContent.(json.RawMessage); ok {
					res.StructuredContent = set.JSON(data)
				}
			case *sdk.ListToolsResult:
				for i, t := range res.Tools {
					own := *t // the server owns t
					own.Description = set.String(t.Description)
					if schema, ok := t.InputSchema.(json.RawMessage); ok {
						own.InputSchema = set.JSON(schema)
					}
					if schema, ok := t.OutputSchema.(json.RawMessage); ok {
						own.OutputSchema = set.JSON(schema)
					}
					res.Tools[i] = &own
				}
			}
			return res, err
		}
	}
}
