package transport

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/agentscript/agentscript/internal/text"
)

// Refusal is the answer to input that is not a valid message.
type Refusal struct {
	id   json.RawMessage // nil if unknown
	code int64
	text string
}

func (r *Refusal) Encode() []byte {
	id := r.id
	if id == nil {
		id = json.RawMessage("null")
	}
	// Encoding these types cannot fail.
	data, _ := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   jsonrpc.Error   `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: r.code, Message: r.text}})
	return data
}

func NoRequest(id json.RawMessage, format string, args ...any) *Refusal {
	return &Refusal{id, jsonrpc.CodeInvalidRequest, "invalid request: " + fmt.Sprintf(format, args...)}
}

var ParseRefusal = &Refusal{code: jsonrpc.CodeParseError, text: "parse error: a message is one JSON value in UTF-8"}

// IsJSON reports whether a line is one JSON value in UTF-8.
func IsJSON(line []byte) bool { return utf8.Valid(line) && json.Valid(line) }

// Message reads a JSON value as a message of a client. It refuses anything else, except malformed answers: answering
// these could continue forever. For these both results are nil.
func Message(raw []byte) (jsonrpc.Message, *Refusal) {
	if raw[0] != '{' {
		return nil, NoRequest(nil, "a message is an object")
	}
	var envelope struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, NoRequest(nil, "%s", text.Brief(err.Error()))
	}
	answers := envelope.Method == nil && (envelope.Result != nil || envelope.Error != nil)
	id, why := requestID(envelope.ID)
	msg, err := jsonrpc.DecodeMessage(raw)
	switch {
	case answers && err != nil:
		return nil, nil
	case answers:
		return msg, nil
	case envelope.Method == nil:
		return nil, NoRequest(id, "it has no method")
	case why != "":
		return nil, NoRequest(nil, "%s", why)
	case err != nil:
		return nil, NoRequest(id, "%s", text.Brief(err.Error()))
	}
	return msg, nil
}

// requestID returns an id under which an answer can be sent, nil for a notification; or why it is not a valid id. Whole
// numbers beyond 2^53 would be returned changed.
func requestID(raw json.RawMessage) (json.RawMessage, string) {
	if len(raw) == 0 || raw[0] == '"' {
		return raw, ""
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n <= 1<<53 && n >= -1<<53 {
		return raw, ""
	}
	return nil, "an id is a text or a whole number"
}
