package llm

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// buildAnthropic gives the client no key: the transport sends it, to its own origin alone.
func buildAnthropic(c connection) (llms.Model, error) {
	return anthropic.New(anthropic.WithToken(noKey), anthropic.WithBaseURL(c.base), anthropic.WithModel("unset"), anthropic.WithHTTPClient(c.http))
}

// bareClaude are models from before schemas could be sent, and models of others behind an
// address that speaks this dialect.
func bareClaude(model string) bool { return !wire.ClaudeOf(model).Schema }

// anthropicURL reads an address as the provider's own clients do: without the path of the
// version. With it, or with the whole path of the endpoint, it is understood as well.
func anthropicURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil {
		return "", err
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/messages")
	u.Path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/v1") + "/v1"
	return u.String(), nil
}

// standIn is the conversation for a client that cannot carry the real one: the dialect writes it.
func standIn() []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "-")}
}

// told are the tools as a dialect that writes them itself is to.
func (c *call) told() []wire.Tool {
	out := make([]wire.Tool, len(c.req.Tools))
	for i := range c.req.Tools {
		d := c.definition(&c.req.Tools[i])
		schema, _ := d.Parameters.(json.RawMessage) // definition's own
		out[i] = wire.Tool{Name: d.Name, Description: d.Description, Schema: schema, Strict: d.Strict}
	}
	return out
}
