package llm

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
)

// Response is a model's answer.
type Response = model.Response

// DecodeExchange decodes a recorded answer, plain or streamed, as a call would. It generates and estimates nothing: ids
// and usage are those of the record. An answer that a call would refuse to use, such as one ended by a content filter,
// is returned with its finish reason; an incomplete answer is an *[engine.Error].
//
// The form of the answer determines how it is read, whoever sent it: chat completions, OpenAI's responses, Anthropic's
// messages, Google's generated content and interactions, Ollama's chat, Cohere's chat, Bedrock's Converse. Any of these
// may be wrapped in chunks of Amazon's binary event stream, and a body may still be compressed by gzip or deflate.
//
// The provider's name, or an alias such as "vertex" or "azure", is used in errors, and determines the form if the
// answer does not. An unknown name stands for chat completions, which nearly all providers speak.
func DecodeExchange(providerName string, status int, header http.Header, body []byte) (*Response, error) {
	rows, name := builtin(), strings.ToLower(providerName)
	row := cmp.Or(rows[cmp.Or(speakers[name], name)], rows["compat"])
	known := http.Header{}
	for name, values := range header { // a record may contain the names in any case
		known[http.CanonicalHeaderKey(name)] = values
	}
	body = unpacked(body)
	p := wire.Plan{
		Provider: providerName, Model: "recorded", Dialect: row.dialect, Request: &model.Request{}, Hints: wire.Hints{Local: row.local},
		Form: wire.FormOf(body),
	}
	if encoding := packed(body, known); encoding != "" {
		return nil, p.Fail(engine.KindBadResponse, nil, "store the body uncompressed, or as gzip", "the recorded body is compressed by %s, which is not read", encoding)
	}
	r, err := p.Decode(status, known, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return r, nil
}

// mostUnpacked bounds the size of a decompressed body.
const mostUnpacked = 64 << 20

// unpacked decompresses a recorded body. Many records keep the header but contain the decompressed body, so the bytes
// decide. A body that cannot be decompressed is returned unchanged and then matches no form.
func unpacked(body []byte) []byte {
	var r io.Reader
	var err error
	switch {
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		r, err = gzip.NewReader(bytes.NewReader(body))
	case len(body) > 1 && body[0]&0x0f == 8 && (int(body[0])<<8|int(body[1]))%31 == 0:
		r, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return body
	}
	if err != nil {
		return body
	}
	out, err := io.ReadAll(io.LimitReader(r, mostUnpacked))
	if err != nil && len(out) == 0 {
		return body
	}
	return out // a cut body yields the part that arrived, which decoding reports as cut
}

// packed names the compression of a body that cannot be decompressed here, "" if there is none.
func packed(body []byte, header http.Header) string {
	switch encoding := strings.ToLower(header.Get("Content-Encoding")); {
	case bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	case encoding == "br" && len(body) > 0 && !utf8.Valid(body):
		return "br"
	}
	return ""
}

// speakers maps other names of providers, in addition to the aliases of their rows, to the names of the rows.
var speakers = map[string]string{
	"gemini": "google", "googleai": "google", "vertex": "google", "vertexai": "google", "google-gla": "google", "google-vertex": "google", "google-cloud": "google",
	"claude": "anthropic", "bedrock": "anthropic", "anthropic-vertex": "anthropic", "anthropic-bedrock": "anthropic",
}
