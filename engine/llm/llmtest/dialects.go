package llmtest

import "encoding/json"

type object = map[string]any

// openAI writes a reply as a chat completion or as its chunks.
func openAI(r Reply, stream bool) []string {
	if r.Fault == NoChoices {
		if stream {
			return []string{"data: " + encode(object{"id": "x", "choices": []any{}}) + "\n\n", "data: [DONE]\n\n"}
		}
		return []string{encode(object{"id": "x", "object": "chat.completion", "choices": []any{}})}
	}
	finish := r.finish("stop", "tool_calls")
	var usage any
	if r.counted() {
		usage = object{"prompt_tokens": r.In, "completion_tokens": r.Out, "total_tokens": r.In + r.Out}
	}
	if !stream {
		message := object{"role": "assistant", "content": r.Text}
		if r.Text == "" {
			message["content"] = nil
		}
		if r.Reasoning != "" {
			message["reasoning_content"] = r.Reasoning
		}
		if r.Refusal != "" {
			message["refusal"] = r.Refusal
		}
		if len(r.Calls) > 0 {
			var calls []any
			for _, c := range r.Calls {
				calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
			}
			message["tool_calls"] = calls
		}
		return []string{encode(object{
			"id": "chatcmpl-1", "object": "chat.completion", "model": r.Model,
			"choices": []any{object{"index": 0, "message": message, "finish_reason": finish}}, "usage": usage,
		})}
	}
	var out []string
	event := func(delta object, finish any) {
		out = append(out, "data: "+encode(object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": r.Model, "usage": nil,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		})+"\n\n")
	}
	event(object{"role": "assistant", "content": ""}, nil)
	for _, w := range r.words(r.Reasoning) {
		event(object{"reasoning_content": w}, nil)
	}
	for _, w := range r.words(r.Text) {
		event(object{"content": w}, nil)
	}
	for _, w := range r.words(r.Refusal) {
		event(object{"refusal": w}, nil)
	}
	// Arguments of parallel calls arrive interleaved, distinguished by an index.
	for i, c := range r.Calls {
		event(object{"tool_calls": []any{object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
	}
	for part := range 2 {
		for i, c := range r.Calls {
			half := c.Args[:len(c.Args)/2]
			if part == 1 {
				half = c.Args[len(c.Args)/2:]
			}
			event(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": half}}}}, nil)
		}
	}
	if r.Fault == NoEnd {
		return out
	}
	event(object{}, finish)
	if usage != nil {
		out = append(out, "data: "+encode(object{"id": "chatcmpl-1", "model": r.Model, "choices": []any{}, "usage": usage})+"\n\n")
	}
	return append(out, "data: [DONE]\n\n")
}

// ollama writes a reply as one chat answer or as its lines.
func ollama(r Reply, stream bool) []string {
	if r.Fault == NoChoices {
		return []string{`{"model":"m","done":false}` + "\n"}
	}
	finish := r.finish("stop", "stop")
	var calls []any
	for _, c := range r.Calls {
		call := object{"function": object{"name": c.Name, "arguments": json.RawMessage(c.Args)}}
		if c.ID != "" {
			call["id"] = c.ID
		}
		calls = append(calls, call)
	}
	message := func(content, thinking string, calls []any) object {
		m := object{"role": "assistant", "content": content}
		if thinking != "" {
			m["thinking"] = thinking
		}
		if calls != nil {
			m["tool_calls"] = calls
		}
		return m
	}
	last := object{"model": r.Model, "done": true, "done_reason": finish}
	if r.counted() {
		last["prompt_eval_count"], last["eval_count"] = r.In, r.Out
	}
	if !stream {
		last["message"] = message(r.Text, r.Reasoning, calls)
		return []string{encode(last)}
	}
	var out []string
	line := func(m object) {
		out = append(out, encode(object{"model": r.Model, "message": m, "done": false})+"\n")
	}
	for _, w := range r.words(r.Reasoning) {
		line(message("", w, nil))
	}
	for _, w := range r.words(r.Text) {
		line(message(w, "", nil))
	}
	if calls != nil {
		line(message("", "", calls))
	}
	if r.Fault == NoEnd {
		return out
	}
	last["message"] = message("", "", nil)
	return append(out, encode(last)+"\n")
}
