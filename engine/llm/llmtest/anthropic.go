package llmtest

import "encoding/json"

// anthropic writes a reply as a message or as its events.
func anthropic(r Reply, stream bool) []string {
	if r.Fault == NoChoices {
		if stream {
			return []string{event("message_stop", object{"type": "message_stop"})}
		}
		return []string{encode(object{"type": "message", "id": "msg_1", "role": "assistant"})}
	}
	finish := r.finish("end_turn", "tool_use")
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "stop_reason": nil, "stop_sequence": nil}
	if !stream {
		message["content"], message["stop_reason"] = blocks(r), finish
		if r.counted() {
			message["usage"] = object{"input_tokens": r.In, "output_tokens": r.Out}
		}
		return []string{encode(message)}
	}
	message["content"] = []any{}
	if r.counted() {
		message["usage"] = object{"input_tokens": r.In, "output_tokens": 1}
	}
	out := []string{
		event("message_start", object{"type": "message_start", "message": message}),
		event("ping", object{"type": "ping"}),
	}
	for i, b := range blocks(r) {
		out = append(out, r.pieces(i, b)...)
	}
	if r.Fault == NoEnd {
		return out
	}
	last := object{"type": "message_delta", "delta": object{"stop_reason": finish, "stop_sequence": nil}}
	if r.counted() {
		last["usage"] = object{"output_tokens": r.Out}
	}
	return append(out, event("message_delta", last), event("message_stop", object{"type": "message_stop"}))
}

func blocks(r Reply) []object {
	out := []object{}
	if r.Reasoning != "" {
		out = append(out, object{"type": "thinking", "thinking": r.Reasoning, "signature": r.Signature})
	}
	if r.Text != "" {
		out = append(out, object{"type": "text", "text": r.Text})
	}
	for _, c := range r.Calls {
		out = append(out, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Args)})
	}
	return out
}

// pieces returns the events of one block, which begins empty.
func (r *Reply) pieces(index int, b object) []string {
	var out []string
	delta := func(kind, key, value string) {
		out = append(out, event("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": object{"type": kind, key: value}}))
	}
	begin := func(b object) {
		out = append(out, event("content_block_start", object{"type": "content_block_start", "index": index, "content_block": b}))
	}
	switch b["type"] {
	case "thinking":
		begin(object{"type": "thinking", "thinking": "", "signature": ""})
		for _, w := range r.words(r.Reasoning) {
			delta("thinking_delta", "thinking", w)
		}
		if r.Signature != "" {
			delta("signature_delta", "signature", r.Signature)
		}
	case "text":
		begin(object{"type": "text", "text": ""})
		for _, w := range r.words(r.Text) {
			delta("text_delta", "text", w)
		}
	default:
		args, _ := b["input"].(json.RawMessage)
		begin(object{"type": "tool_use", "id": b["id"], "name": b["name"], "input": object{}})
		delta("input_json_delta", "partial_json", "")
		if string(args) != "{}" {
			delta("input_json_delta", "partial_json", string(args[:len(args)/2]))
			delta("input_json_delta", "partial_json", string(args[len(args)/2:]))
		}
	}
	return append(out, event("content_block_stop", object{"type": "content_block_stop", "index": index}))
}

func event(name string, data object) string {
	return "event: " + name + "\ndata: " + encode(data) + "\n\n"
}
