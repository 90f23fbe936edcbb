package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/remote"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxTools and maxList limit what a server may list.
	maxTools = 1000
	maxList  = 8 << 20 // bytes of names, descriptions and schemas
	maxPages = 100
)

// list returns the outcome of listing a server's tools once.
func (s *server) list(ctx context.Context, spec *remote.Server, run string) engine.Outcome {
	hello, _ := timeouts(spec)
	ctx, cancel := context.WithTimeoutCause(ctx, hello, tooSlow{hello})
	defer cancel()
	x, err := s.session(ctx)
	if err != nil {
		return engine.Failed(err)
	}
	defer s.release(x)
	var tools []remote.Tool
	var changes int64
	for range 3 { // some servers are still creating tools while they are first listed
		changes = x.changes.Load()
		if tools, err = x.tools(ctx); err != nil {
			return engine.Failed(err)
		}
		if x.changes.Load() == changes {
			break
		}
	}
	s.well()
	x.flights.listed(run, changes)
	return engine.Outcome{Value: x.hidden.Value(remote.EncodeTools(tools)), Attempt: 1}
}

var errEndless = errors.New("its list of tools does not end")

// tools reads all pages of a server's list.
func (x *session) tools(ctx context.Context) ([]remote.Tool, *engine.Error) {
	if init := x.cs.InitializeResult(); init != nil && init.Capabilities != nil && init.Capabilities.Tools == nil {
		return nil, nil // a server with only prompts or resources
	}
	var tools []remote.Tool
	size, cursor := 0, ""
	for page := 0; ; page++ {
		if page == maxPages || len(tools) > maxTools || size > maxList {
			return nil, engine.Errorf(engine.KindTool, diag.ServerTools, "MCP server %q lists too much: at most %d tools, %d pages and %d MB are read", x.server.spec.Name, maxTools, maxPages, maxList>>20).
				WithHelp("report this to the server's author")
		}
		var res *sdk.ListToolsResult
		err := x.do(ctx, func(ctx context.Context) (err error) {
			res, err = x.cs.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			return err
		})
		if err != nil {
			return nil, x.lost(x.failed(ctx, "the request for its tools", err, engine.ClassRead))
		}
		for _, t := range res.Tools {
			if t == nil {
				continue
			}
			tool := remote.Tool{Name: t.Name, Description: cmp.Or(t.Description, t.Title), Input: jsonText(t.InputSchema), Output: jsonText(t.OutputSchema)}
			tools = append(tools, tool)
			size += len(tool.Name) + len(tool.Description) + len(tool.Input) + len(tool.Output)
		}
		if res.NextCursor == "" {
			return tools, nil
		}
		if res.NextCursor == cursor {
			return nil, engine.Errorf(engine.KindTool, diag.ServerTools, "MCP server %q: %w", x.server.spec.Name, errEndless)
		}
		cursor = res.NextCursor
	}
}

// jsonText returns a part of a message as text, "" if it is nil.
func jsonText(part any) string {
	if part == nil {
		return ""
	}
	data, _ := json.Marshal(part) // what was decoded can be encoded
	return string(data)
}

// lost retires a session that is no longer usable, and counts the loss.
func (x *session) lost(why *engine.Error) *engine.Error {
	switch why.Code {
	case diag.ServerLost:
	case diag.ServerProtocol:
		if x.intake.Reason() == nil && x.whole.Err() == nil {
			return why // it refused one request
		}
	default:
		return why
	}
	x.server.retire(x)
	x.server.failed(why)
	return why
}

// do makes a request and returns when the caller's time is up, even if the server does not read what it is sent.
func (x *session) do(ctx context.Context, request func(context.Context) error) error {
	x.intake.Asked()
	ctx, free := x.within(ctx)
	defer free()
	done := make(chan error, 1)
	go func() { done <- request(ctx) }()
	select {
	case err := <-done:
		x.intake.Asked()
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second):
		// The request is blocked in writing: the session is unusable.
		x.intake.Break(errDeaf)
		x.server.retire(x)
		go x.end()
		return context.Cause(ctx)
	}
}

var errDeaf = errors.New("it does not read what it is sent")
