//lint:file-ignore SA1019 servers of older protocols ask for roots and samples, and are answered

package mcp

import (
	"context"
	"net/url"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newClient makes the SDK's client of a session: what the server may ask of us.
func (x *session) newClient() *sdk.Client {
	cfg := &x.server.client.cfg
	opts := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			x.changes.Add(1)
		},
		ProgressNotificationHandler: func(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
			if f := x.flights.of(n.Params.ProgressToken); f != nil {
				f.tell(progressText(n.Params.Progress, n.Params.Total, x.hidden.text(n.Params.Message)))
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
			continue // there is no working directory, and no such root
		}
		client.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), Name: filepath.Base(abs)})
	}
	return client
}
