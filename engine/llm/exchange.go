package llm

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// Response is a model's answer.
type Response = engine.Response

// DecodeExchange decodes a recorded answer as a call would, whether it is plain or a stream.
// Nothing is generated or estimated: ids and usage are those of the record. An answer that a call
// would refuse to use, as one that a content filter ended, is returned with its finish reason;
// what is no complete answer is an *[engine.Error].
//
// The form of the answer decides how it is read, whoever sent it: chat completions, OpenAI's
// responses, Anthropic's messages, Google's generated content, Ollama's chat, Bedrock's Converse.
// The provider's name, or another name of it such as "vertex" or "azure", is put into errors, and
// says the form where the answer does not; one that is not known stands for chat completions,
// which nearly all speak.
func DecodeExchange(providerName string, status int, header http.Header, body []byte) (*Response, error) {
	row := spokenBy(providerName)
	p := wire.Plan{
		Provider: providerName, Model: "recorded", Dialect: row.dialect, Request: &engine.Request{}, Hints: wire.Hints{Local: row.local},
		Form: wire.FormOf(body),
	}
	known := http.Header{}
	for name, values := range header { // a record may hold the names as they were written
		known[http.CanonicalHeaderKey(name)] = values
	}
	r, err := p.Decode(status, known, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// speakers are the names under which providers are met that have no row of their own, or
// another name.
var speakers = map[string][]string{
	"google":    {"vertex", "vertexai", "google-gla", "google-vertex", "google-cloud"},
	"anthropic": {"claude", "bedrock", "anthropic-vertex", "anthropic-bedrock"},
}

// spokenBy is the row whose dialect a provider speaks.
func spokenBy(name string) *provider {
	rows := builtin()
	name = strings.ToLower(name)
	if row := rows[name]; row != nil {
		return row
	}
	for of, names := range speakers {
		if row := rows[of]; row != nil && (slices.Contains(names, name) || slices.Contains(row.aliases, name)) {
			return row
		}
	}
	return rows["compat"]
}
