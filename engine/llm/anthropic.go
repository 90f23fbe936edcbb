package llm

import (
	"net/url"
	"strings"

	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

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
