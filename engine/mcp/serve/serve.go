// Package serve offers flows as the tools of an MCP server, over stdio and streamable HTTP. Input from a client that is
// not a message is answered with a JSON-RPC error and blocks nothing.
package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Offer is a flow that a [Server] offers as a tool.
type Offer struct {
	Name   string          // 1 to 128 letters, digits, _, - and .
	Doc    string          // what it does: models decide by this text
	Params *generable.Type // a schema, whose fields are the arguments
	Out    *generable.Type // what it returns; nil and any declare nothing

	// Call executes one call with a record of Params, until ctx ends, which happens when the client cancels the call or
	// disconnects. tell reports progress to a client that asked for it. Call is used concurrently. Its error is sent to
	// the client's model as a failed result.
	Call func(ctx context.Context, args generable.Value, tell func(string)) (generable.Value, error)
}

// Server offers flows as MCP tools: over stdio by [Server.Stdio], over streamable HTTP by
// [Server.HTTP].
type Server struct {
	sdk    *sdk.Server
	slots  chan struct{}
	linger time.Duration
	stall  time.Duration
	open   context.Context // until end is called
	end    context.CancelFunc
	posted posts
	known  sessions
}

// Options configure a [Server].
type Options struct {
	Name, Version string
	// AtOnce limits the calls executed concurrently, over all clients; others wait. 0 is 16.
	AtOnce int
	// Linger limits how long calls over stdio continue after the client has sent its last message. 0 is 5 seconds, a
	// negative value no time at all.
	Linger time.Duration
	// Stall is how long the body of an HTTP request may take to arrive, and each part of an answer to be taken, plus
	// the same time for each MiB. 0 is 30 seconds.
	Stall time.Duration
	// Secrets returns texts that no client receives: neither in descriptions and results of tools, nor in errors. nil
	// is none.
	Secrets func() []string
}

// New returns a server for offers. An error says which offer is invalid, and why.
func New(o Options, offers ...Offer) (*Server, error) {
	if o.AtOnce <= 0 {
		o.AtOnce = 16
	}
	s := &Server{
		sdk: sdk.NewServer(&sdk.Implementation{Name: o.Name, Version: o.Version},
			&sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}}),
		slots:  make(chan struct{}, o.AtOnce),
		linger: cmp.Or(o.Linger, defaultLinger),
		stall:  cmp.Or(o.Stall, defaultStall),
	}
	if o.Secrets != nil {
		s.sdk.AddReceivingMiddleware(without(o.Secrets))
	}
	s.known = sessions{server: s.sdk, used: map[string]*sessionUse{}}
	s.open, s.end = context.WithCancel(context.Background())
	seen := map[string]bool{}
	for _, offer := range offers {
		if err := offer.valid(); err != nil {
			return nil, err
		}
		if seen[offer.Name] {
			return nil, notOffered(offer.Name, "two tools have that name")
		}
		seen[offer.Name] = true
		s.sdk.AddTool(&sdk.Tool{Name: offer.Name, Description: offer.Doc, InputSchema: json.RawMessage(offer.Params.JSONSchema()), OutputSchema: outputSchema(offer.Out)}, s.handler(offer))
	}
	return s, nil
}

// offerName reports whether clients accept a tool's name.
func offerName(name string) bool {
	const taken = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(taken, r) })
}

func (o *Offer) valid() error {
	switch {
	case !offerName(o.Name):
		return notOffered(o.Name, "a name is made of 1 to 128 letters, digits, _, - and .")
	case o.Params == nil || o.Params.Deref().Kind != generable.RecordType:
		return notOffered(o.Name, "its parameters are no schema")
	case o.Call == nil:
		return notOffered(o.Name, "nothing carries it out")
	}
	return nil
}

func notOffered(name, why string) error {
	return engine.Errorf(engine.KindConfig, diag.WrongArgument, "the MCP tool %q cannot be offered: %s", name, why)
}

// outputSchema returns the schema of structured results, an object. Anything else is wrapped in one, as result; a text
// needs no structure.
func outputSchema(t *generable.Type) any {
	switch shape(t) {
	case asText:
		return nil
	case asObject:
		schema := t.JSONSchema()
		if t.Deref().Kind == generable.UnionType { // of objects, which older clients require to be stated
			schema = `{"type":"object",` + strings.TrimPrefix(schema, "{")
		}
		return json.RawMessage(schema)
	}
	boxed := &generable.Type{Kind: generable.RecordType, Name: "result", Fields: []generable.Field{{Name: "result", Type: t}}}
	return json.RawMessage(boxed.JSONSchema())
}

// resultShape is the form of a result.
type resultShape uint8

const (
	asText resultShape = iota
	asObject
	asResult // {"result": …}
)

func shape(t *generable.Type) resultShape {
	if t == nil {
		return asText
	}
	switch t = t.Deref(); t.Kind {
	case generable.RecordType, generable.UnionType, generable.DictType:
		return asObject
	case generable.StrType, generable.AnyType, generable.NoneType, generable.EnumType:
		return asText
	}
	return asResult
}

func (s *Server) handler(o Offer) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (res *sdk.CallToolResult, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = failedResult(engine.Errorf(engine.KindPanic, diag.Panic, "the flow panicked: %v", p)), nil
			}
		}()
		ctx, stop := s.ending(ctx, req)
		defer stop()
		tell, told := teller(ctx, req)
		defer told() // other calls are executed meanwhile
		return s.carryOut(ctx, o, string(req.Params.Arguments), tell)
	}
}

// carryOut executes a call when fewer than [Options].AtOnce are running.
func (s *Server) carryOut(ctx context.Context, o Offer, text string, tell func(string)) (*sdk.CallToolResult, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if strings.TrimSpace(text) == "" || text == "null" {
		text = "{}"
	}
	args := lenient.Decode(o.Params, text, generable.Options{ExtraKeys: generable.ExtraError})
	if !args.OK {
		return failedResult(engine.Errorf(engine.KindInput, diag.BadInput, "the arguments do not fit %s: %w", o.Name, args.Errors.Once())), nil
	}
	out, err := o.Call(ctx, args.Value, tell)
	if err != nil {
		return failedResult(err), nil
	}
	return succeeded(out, o.Out), nil
}

// mostTold limits the progress reports that wait to be sent, and maxToken the length of the token that each of them
// repeats.
const (
	mostTold = 64
	maxToken = 1 << 10
)

// teller reports progress to the client, if it asked for that. tell does not wait: reports are dropped when the client
// is too slow. end waits until the others are sent.
func teller(ctx context.Context, req *sdk.CallToolRequest) (tell func(string), end func()) {
	token := req.Params.GetProgressToken()
	if text, _ := token.(string); token == nil || len(text) > maxToken || req.Session == nil {
		return func(string) {}, func() {}
	}
	told, ended, sent := make(chan string, mostTold), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sent)
		for n := 1.0; ; n++ {
			var text string
			select {
			case text = <-told:
			case <-ended:
				select {
				case text = <-told:
				default:
					return
				}
			}
			// ctx ends when the client is gone.
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: text, Progress: n})
		}
	}()
	return func(text string) {
		select {
		case told <- text:
		default:
		}
	}, func() { close(ended); <-sent }
}

// succeeded returns the result of a successful call.
func succeeded(v generable.Value, t *generable.Type) *sdk.CallToolResult {
	text, ok := v.AsStr()
	if !ok {
		text = generable.JSON(v, t)
	}
	res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	switch shape(t) {
	case asObject:
		res.StructuredContent = json.RawMessage(generable.JSON(v, t))
	case asResult:
		res.StructuredContent = json.RawMessage(`{"result":` + generable.JSON(v, t) + `}`)
	}
	return res
}

// failedResult tells the client's model what went wrong, and what to do about it.
func failedResult(err error) *sdk.CallToolResult {
	text := err.Error()
	if e, ok := errors.AsType[*engine.Error](err); ok {
		text = e.Message
		if e.Path != "" {
			text = e.Path + ": " + text
		}
		if e.Code != "" {
			text = fmt.Sprintf("error[%s]: %s", e.Code, text)
		}
		if e.Help != "" && e.Kind != engine.KindCancelled { // that help is about resuming a run, which a call does not
			text += "\nhelp: " + e.Help
		}
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
