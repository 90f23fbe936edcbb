package llm

import (
	"bytes"
	"net/http"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// Response is a model's answer.
type Response = engine.Response

// DecodeExchange decodes a recorded answer of a built-in provider as a call would, whether
// it is plain or a stream. Nothing is generated or estimated: ids and usage are those of the
// record. An answer that a call would refuse to use, as one that a content filter ended, is
// returned with its finish reason; what is no complete answer is an *[engine.Error].
func DecodeExchange(providerName string, status int, header http.Header, body []byte) (*Response, error) {
	row := builtin()[providerName]
	if row == nil {
		return nil, engine.Errorf(engine.KindConfig, diag.UnknownProvider, "there is no provider %q whose answers are known", providerName)
	}
	p := wire.Plan{Provider: providerName, Model: "recorded", Dialect: row.dialect, Request: &engine.Request{}, Hints: wire.Hints{Local: row.local}}
	r, err := p.Decode(status, header, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return r, nil
}
