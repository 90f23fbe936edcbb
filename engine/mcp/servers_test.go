//go:build unix

//lint:file-ignore SA1019 servers of older protocols ask for roots and samples, and are answered

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/mcptest"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// If this variable is set, the test binary is an MCP server in the mode that it names.
const asServer = "AGENTSCRIPT_MCP_TEST_SERVER"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(asServer); mode {
	case "":
		os.Exit(m.Run())
	case "good":
		_ = goodServer(nil).Run(context.Background(), &sdk.StdioTransport{})
		leave(0)
	case "host":
		host()
	default:
		wireServer(mode)
		leave(0)
	}
}

// leave ends a server. With the race detector os.Exit would take a second to finish.
func leave(code int) { syscall.Exit(code) }

type echoArgs struct {
	Text  string `json:"text" jsonschema:"what to say"`
	Times int    `json:"times,omitempty"`
}

type sumArgs struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

type sumResult struct {
	Sum float64 `json:"sum"`
}

// goodServer follows the protocol and has a tool for each feature. No call outlives over, which may be nil: over HTTP a
// call may arrive after the message that cancels it.
func goodServer(over <-chan struct{}) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, &sdk.ServerOptions{PageSize: 5}) // so that its list has pages
	released := make(chan struct{})
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Says it again"}, func(_ context.Context, _ *sdk.CallToolRequest, in echoArgs) (*sdk.CallToolResult, any, error) {
		return text(strings.Repeat("echo: "+in.Text, max(in.Times, 1))), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "sum", Description: "Adds"}, func(_ context.Context, _ *sdk.CallToolRequest, in sumArgs) (*sdk.CallToolResult, sumResult, error) {
		return nil, sumResult{in.A + in.B}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return nil, nil, fmt.Errorf("the disk is full")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "picture"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "look"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")},
			&sdk.ResourceLink{URI: "file:///a.txt", Name: "a"}, &sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("abc")}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "steps"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "working"}); err != nil {
				return nil, nil, err
			}
		}
		<-released // so that all progress was reported before the answer
		return text("done"), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "release"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		close(released)
		return text("released"), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-over:
		}
		return nil, nil, ctx.Err()
	})
	sdk.AddTool(s, &sdk.Tool{Name: "header"}, func(_ context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return text("I was sent " + req.Extra.Header.Get("Authorization")), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "secret"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return text("the token is " + os.Getenv("TOKEN") + ", home " + os.Getenv("HOST_ONLY")), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "ask"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		ask := &sdk.ElicitParams{Mode: "form", Message: "How many?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
		if again := asksByResult(req, ask); again != nil {
			return again, nil, nil
		}
		res, answered := req.Params.InputResponses["q"].(*sdk.ElicitResult)
		if !answered {
			var err error
			if res, err = req.Session.Elicit(ctx, ask); err != nil {
				return nil, nil, err
			}
		}
		return text(fmt.Sprint(res.Action, " ", res.Content["n"])), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "think"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		ask := &sdk.CreateMessageParams{MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: &sdk.TextContent{Text: "think of a word"}}}}
		if again := asksByResult(req, ask); again != nil {
			return again, nil, nil
		}
		if res, ok := req.Params.InputResponses["q"].(*sdk.CreateMessageWithToolsResult); ok {
			return text("the model said " + res.Content[0].(*sdk.TextContent).Text), nil, nil
		}
		res, err := req.Session.CreateMessage(ctx, ask)
		if err != nil {
			return nil, nil, err
		}
		return text("the model said " + res.Content.(*sdk.TextContent).Text), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "roots"}, func(ctx context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		if init := req.Session.InitializeParams(); init != nil && (init.Capabilities == nil || init.Capabilities.RootsV2 == nil) {
			return text("nobody said that there are roots"), nil, nil
		}
		if again := asksByResult(req, &sdk.ListRootsParams{}); again != nil {
			return again, nil, nil
		}
		res, answered := req.Params.InputResponses["q"].(*sdk.ListRootsResult)
		if !answered {
			var err error
			if res, err = req.Session.ListRoots(ctx, nil); err != nil {
				return nil, nil, err
			}
		}
		var all []string
		for _, r := range res.Roots {
			all = append(all, r.URI)
		}
		return text(strings.Join(all, " ")), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "grow"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		sdk.AddTool(s, &sdk.Tool{Name: "grown"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return text("new"), nil, nil
		})
		return text("grew"), nil, nil
	})
	return s
}

// asksByResult asks in the way of newer versions of the protocol, in which servers make no requests during a call. It
// returns nil if the question was answered, or the session uses an older version.
func asksByResult(req *sdk.CallToolRequest, ask sdk.InputRequest) *sdk.CallToolResult {
	if init := req.Session.InitializeParams(); init != nil && init.ProtocolVersion < "2026" || req.Params.InputResponses != nil {
		return nil
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": ask}}
}

// process returns a server that is the test binary in a mode.
func process(t *testing.T, mode string) *remote.Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &remote.Server{Name: mode, Command: exe, Transport: remote.TransportStdio, Env: []remote.Setting{{Name: asServer, Value: mode}, {Name: "MUCH", Value: strconv.Itoa(tooMuch())}}}
}

// overEach runs a test against the good server over each transport.
func overEach(t *testing.T, test func(t *testing.T, spec *remote.Server)) {
	t.Run("stdio", func(t *testing.T) { test(t, process(t, "good")) })
	t.Run("http", func(t *testing.T) { test(t, served(t, remote.TransportHTTP, nil)) })
	t.Run("sse", func(t *testing.T) { test(t, served(t, remote.TransportSSE, nil)) })
}

// served returns the good server at a URL.
func served(t *testing.T, transport string, around func(http.Handler) http.Handler) *remote.Server {
	t.Helper()
	over := make(chan struct{})
	server := goodServer(over)
	get := func(*http.Request) *sdk.Server { return server }
	var h http.Handler = sdk.NewStreamableHTTPHandler(get, nil)
	if transport == remote.TransportSSE {
		h = sdk.NewSSEHandler(get, nil)
	}
	if around != nil {
		h = around(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		close(over)
		s.CloseClientConnections()
		s.Close()
	})
	return &remote.Server{Name: "good", URL: s.URL, Transport: transport}
}

func client(t *testing.T, opts ...mcp.Option) *mcp.Client { return mcptest.Client(t, opts...) }

func list(t *testing.T, c *mcp.Client, spec *remote.Server) engine.Outcome {
	return mcptest.List(t.Context(), c, spec)
}

func call(ctx context.Context, c *mcp.Client, spec *remote.Server, tool, args string, sink engine.Sink) engine.Outcome {
	return mcptest.Call(ctx, c, spec, tool, args, sink)
}

// alive reports whether a process with this id exists and is not a zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err != nil && !os.IsNotExist(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
