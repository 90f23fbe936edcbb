package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
)

// look is how many pieces of an answer are examined to find its form. Usually the first one shows it; pings and errors
// do not.
const look = 8

// FormOf recognizes the form of a recorded answer by its members, nil if they match no form. The sender does not
// decide: one server speaks several forms, and many speak the same one.
func FormOf(body []byte) Form {
	for _, piece := range firstPieces(body) {
		if f := formOfPiece(piece); f != nil {
			return f
		}
	}
	return nil
}

func formOfPiece(piece []byte) Form {
	var top map[string]json.RawMessage
	if json.Unmarshal(piece, &top) != nil {
		return nil
	}
	has := func(keys ...string) bool {
		for _, k := range keys {
			if _, ok := top[k]; !ok {
				return false
			}
		}
		return true
	}
	kind, object := text(top["type"]), text(top["object"])
	switch {
	case has("choices"), strings.HasPrefix(object, "chat.completion"):
		return &OpenAI{}
	case object == "response", strings.HasPrefix(kind, "response."), strings.HasPrefix(object, "response."):
		return &Responses{}
	case object == "interaction", has("event_type"), has("steps", "status"):
		return &Interactions{}
	case has("candidates"), has("promptFeedback"), has("usageMetadata"):
		return &Gemini{}
	case kind == "message", kind == "message_start", has("stop_reason", "content"):
		return &Anthropic{}
	case has("message", "finish_reason"), kind == "message-start", kind == "content-delta", kind == "tool-call-start":
		return &Cohere{}
	case has("message", "done"), has("message", "created_at"), has("response", "done"):
		return &Ollama{}
	case has("output", "stopReason"), has("messageStart"), has("contentBlockStart"), has("contentBlockDelta"), has("metadata"):
		return &Converse{}
	}
	return nil
}

// firstPieces returns the first JSON objects of an answer: of a document, a list, lines, or a text or Amazon event
// stream. A truncated object is left out.
func firstPieces(body []byte) [][]byte {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	body = bytes.TrimLeft(body, " \t\r\n")
	if len(body) == 0 {
		return nil
	}
	switch body[0] {
	case '{', '[':
		return firstValues(body)
	case 0:
		return framePieces(body)
	}
	var pieces [][]byte
	r := bufio.NewReader(bytes.NewReader(body))
	for len(pieces) < look {
		line, err := r.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			pieces = append(pieces, bytes.TrimSpace(data))
		}
		if err != nil {
			break
		}
	}
	return pieces
}

func firstValues(body []byte) [][]byte {
	var pieces [][]byte
	dec := json.NewDecoder(bytes.NewReader(body))
	if body[0] == '[' {
		if _, err := dec.Token(); err != nil {
			return nil
		}
	}
	for len(pieces) < look && dec.More() {
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		pieces = append(pieces, value)
	}
	return pieces
}
