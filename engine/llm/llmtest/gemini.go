package llmtest

import "encoding/json"

// gemini writes a reply as one answer of generateContent or as the events of a streamed one.
func gemini(r Reply, stream bool) []string {
	event := func(o object) string {
		if stream {
			return "data: " + encode(o) + "\r\n\r\n"
		}
		return encode(o)
	}
	if r.Fault == NoChoices {
		return []string{event(object{"modelVersion": r.Model})}
	}
	finish := r.finish("STOP", "STOP")
	usage := object{}
	if r.counted() {
		usage = object{"promptTokenCount": r.In, "candidatesTokenCount": r.Out, "totalTokenCount": r.In + r.Out}
	}
	answer := func(parts []any, finish any) object {
		c := object{"index": 0, "content": object{"role": "model", "parts": parts}}
		if finish != nil {
			c["finishReason"] = finish
		}
		return object{"candidates": []any{c}, "modelVersion": r.Model, "usageMetadata": usage}
	}
	var calls []any
	for _, c := range r.Calls {
		call := object{"name": c.Name, "args": json.RawMessage(c.Args)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		calls = append(calls, object{"functionCall": call})
	}
	if !stream {
		var parts []any
		if r.Reasoning != "" {
			parts = append(parts, object{"text": r.Reasoning, "thought": true})
		}
		if r.Text != "" {
			parts = append(parts, r.signed(object{"text": r.Text}))
		}
		return []string{encode(answer(append(parts, calls...), finish))}
	}
	var out []string
	for _, w := range r.words(r.Reasoning) {
		out = append(out, event(answer([]any{object{"text": w, "thought": true}}, nil)))
	}
	for _, w := range r.words(r.Text) {
		out = append(out, event(answer([]any{object{"text": w}}, nil)))
	}
	if calls != nil {
		out = append(out, event(answer(calls, nil)))
	}
	if r.Fault == NoEnd {
		return out
	}
	return append(out, event(answer([]any{r.signed(object{"text": ""})}, finish)))
}

// signed adds the reply's signature to a part: to the whole text, or to a separate last piece.
func (r *Reply) signed(part object) object {
	if r.Signature != "" {
		part["thoughtSignature"] = r.Signature
	}
	return part
}
