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
	// maxTools and maxList bound what a server may list.
	maxTools = 1000
	maxList  = 8 << 20 // bytes of names, descriptions and schemas
	maxPages = 100
)

// list is the outcome of asking a server for its tools once.
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
	for range 3 { // some servers go on making tools while they are first asked for them
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
		return nil, nil // a server of prompts or resources alone
	}
	var tools []remote.Tool
	size, cursor := 0, ""
	for page := 0; ; page++ {
		if page == maxPages || len(tools) > maxTools || size > maxList {
			return nil, engine.Errorf(engine.KindTool, diag.ServerTools, "MCP server %q lists too much: at most %d tools, %d pages and %d MB are read", x.server.spec.Name, maxTools, maxPages, maxList>>20).
				WithHelp("tell the server's author")
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

// jsonText is a part of a message as text, "" where there is none.
func jsonText(part any) string {
	if part == nil {
		return ""
	}
	data, _ := json.Marshal(part) // what was read can be written
	return string(data)
}

// lost retires a session that is of no more use and counts the loss.
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

// do makes a request in a way that the caller gets away from when its time is up, also where the
// server does not read what it is sent.
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
		// The request hangs in writing: nothing can be said on this session any more.
		x.intake.Break(errDeaf)
		x.server.retire(x)
		go x.end()
		return context.Cause(ctx)
	}
}

var errDeaf = errors.New("it does not read what it is sent")
