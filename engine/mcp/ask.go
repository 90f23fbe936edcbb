//lint:file-ignore SA1019 servers of older protocols ask for roots and samples, and are answered

package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/internal/text"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newClient returns the SDK's client of a session, which answers the server's requests.
func (x *session) newClient() *sdk.Client {
	cfg := &x.server.client.cfg
	opts := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			x.changes.Add(1)
		},
		ProgressNotificationHandler: func(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
			if f := x.flights.of(n.Params.ProgressToken); f != nil {
				f.tell(progressText(n.Params.Progress, n.Params.Total, x.hidden.Text(n.Params.Message)))
			}
		},
	}
	if len(cfg.roots) > 0 {
		opts.Capabilities.RootsV2 = &sdk.RootCapabilities{}
	}
	if cfg.elicit != nil {
		opts.ElicitationHandler = x.elicit
		opts.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	}
	if cfg.models != nil {
		opts.CreateMessageHandler = x.sample
	}
	client := sdk.NewClient(&sdk.Implementation{Name: cfg.name, Version: cfg.version}, opts)
	for _, dir := range cfg.roots {
		abs, err := filepath.Abs(dir)
		if err != nil {
			continue // there is no working directory, and so no such root
		}
		client.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), Name: filepath.Base(abs)})
	}
	return client
}

// WithApprovals lets the person who approves calls answer servers' questions. The data of the question is the answer
// that the server asks for, filled with its defaults. Approving sends these; editing sends other values. Values that do
// not fit the server's schema decline the question.
func WithApprovals(ask engine.Approvals) Option {
	return WithElicitation(func(ctx context.Context, q Question) Reply {
		typ, data := wanted(q.Schema)
		question := fmt.Sprintf("MCP server %q asks: %s", q.Server, q.Message)
		if q.URL != "" {
			question += " — at " + text.Brief(q.URL)
		}
		d, err := ask(ctx, &engine.ApprovalRequest{Agent: q.Agent, Question: question, Data: data, Type: typ, ID: q.ID})
		if err != nil || !d.Approved {
			return Reply{}
		}
		if q.Schema == "" {
			return Reply{Accept: true}
		}
		if d.Data != nil {
			data = *d.Data
		}
		values, ok := given(data, typ)
		return Reply{Accept: ok, Values: values}
	})
}

// wanted returns the type of the answer that a server asks for, and the answer with its defaults.
func wanted(schema string) (*generable.Type, generable.Value) {
	if schema == "" {
		return nil, generable.Value{}
	}
	t, _, errs := jsonschema.Parse(schema, jsonschema.Options{Name: "Answer", Lenient: true})
	if errs != nil || t.Kind != generable.RecordType {
		return nil, generable.NewMap(0).Value()
	}
	m := generable.NewMap(len(t.Fields))
	for i := range t.Fields {
		m.Set(t.Fields[i].Name, t.Fields[i].Default)
	}
	return t, m.Value()
}

// given returns the answer for a server, without fields that were not filled in.
func given(v generable.Value, t *generable.Type) (*generable.Map, bool) {
	if !typing.HasFields(v) {
		return nil, false
	}
	out := generable.NewMap(4)
	for key, item := range typing.Fields(v) {
		if !item.IsNull() {
			out.Set(key, item)
		}
	}
	if t != nil {
		if _, errs := t.Convert(out.Value()); errs != nil {
			return nil, false
		}
	}
	return out, true
}

// Question is a server's question to a person during a call.
type Question struct {
	Server  string
	Run     string // that made the call, if known
	Agent   string
	ID      string // of the effect
	Message string // the server's words: not trustworthy
	Schema  string // of the answer, a JSON Schema of a flat object; "" if only consent is requested
	URL     string // the person should go there instead of answering
}

// Reply answers a [Question]. The zero Reply declines.
type Reply struct {
	Accept bool
	Values *generable.Map // fits the schema; nil if no values were requested
}

// WithElicitation sets the function that answers servers' questions to a person. It may wait as long as its context
// allows. Without it, servers are told that nobody can be asked.
func WithElicitation(answer func(context.Context, Question) Reply) Option {
	return func(c *config) { c.elicit = answer }
}

// maxAsked bounds the schema of an answer that a server asks for.
const maxAsked = 64 << 10

// elicit passes a server's question on.
func (x *session) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := Question{Server: x.server.spec.Name, Message: x.hidden.Brief(req.Params.Message), URL: x.hidden.Text(req.Params.URL)}
	schema := jsonText(req.Params.RequestedSchema)
	if len(schema) > maxAsked {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	q.Schema = x.hidden.Text(schema)
	if f := x.flights.oldest(); f != nil {
		q.Run, q.Agent, q.ID = f.run, f.agent, f.id
	}
	ctx, free := x.within(ctx)
	defer free()
	r := x.server.client.cfg.elicit(ctx, q)
	if ctx.Err() != nil {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	if !r.Accept {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	out := &sdk.ElicitResult{Action: "accept"}
	if r.Values != nil {
		if err := json.Unmarshal(generable.AppendJSON(nil, r.Values.Value(), nil), &out.Content); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// WithSampling lets servers call a model through a handler, such as the handler of model calls that the host's runs
// use. The tokens count as usage of the tool call during which the server asked. Without it, servers are told that no
// model can be called.
func WithSampling(models engine.Handler, model string) Option {
	return func(c *config) { c.models, c.model = models, model }
}

// maxSampled bounds the tokens that a server may ask for in one request.
const maxSampled = 4096

// sample lets a model answer a server.
func (x *session) sample(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	f := x.flights.oldest()
	if f == nil {
		return nil, errors.New("a model can be asked during a call of a tool alone")
	}
	p := req.Params
	most := int(min(max(p.MaxTokens, 1), maxSampled))
	ask := &model.Request{Model: x.server.client.cfg.model, System: x.hidden.Text(p.SystemPrompt), Params: model.Params{MaxTokens: &most, Stop: p.StopSequences}}
	if p.Temperature > 0 {
		ask.Params.Temperature = &p.Temperature
	}
	for _, m := range p.Messages {
		part := model.Part{Kind: model.PartText}
		switch c := m.Content.(type) {
		case *sdk.TextContent:
			part.Text = x.hidden.Text(c.Text)
		case *sdk.ImageContent:
			if !isPicture(c.MIMEType) {
				return nil, errors.New("a picture of an unknown kind")
			}
			part = model.Part{Kind: model.PartImage, Image: &model.Image{URL: "data:" + c.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(c.Data)}}
		default:
			return nil, errors.New("only texts and pictures can be shown to the model")
		}
		role := model.RoleUser
		if m.Role == "assistant" {
			role = model.RoleAssistant
		}
		ask.Messages = append(ask.Messages, model.Message{Role: role, Parts: []model.Part{part}})
	}
	ctx, free := x.within(ctx)
	defer free()
	out := x.server.client.cfg.models.Do(ctx, &engine.Effect{Kind: engine.EffectModel, Name: ask.Model, Agent: f.agent, Run: f.run, At: f.at, Req: ask, Class: engine.ClassIdempotent}, nil)
	f.spend(out.Usage)
	if out.Err != nil {
		return nil, errors.New("the model returned no answer: " + text.Brief(out.Err.Message))
	}
	stop := "endTurn"
	if out.Response.Finish == model.FinishLength {
		stop = "maxTokens"
	}
	return &sdk.CreateMessageResult{Content: &sdk.TextContent{Text: out.Response.Text()}, Model: out.Response.Model, Role: "assistant", StopReason: stop}, nil
}
