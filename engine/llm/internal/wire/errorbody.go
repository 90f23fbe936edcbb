package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// errorBody is a provider's description of a failure, in any of the known shapes.
type errorBody struct {
	message string
	code    string // the most specific of code, type and status
	kinds   []string
	numbers []string // numeric codes of the provider
	param   string
	status  int    // a code that is an HTTP status
	delay   string // Google's retryDelay
	reset   string // OpenRouter's reset, in milliseconds since 1970
	request string // the provider's id of the request
	other   bool   // the body is not JSON: a proxy or another program answered
}

// parseErrorBody reads {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…}, the same in a list, and plain text.
func parseErrorBody(data []byte) errorBody {
	var e errorBody
	data = bytes.TrimSpace(data)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(data, &top) != nil {
		e.other = len(data) > 0
		e.message = quote(stripTags(string(data)))
		return e
	}
	e.object(top)
	e.request = quote(text(top["request_id"]))
	if inner, ok := top["error"]; ok {
		var fields map[string]json.RawMessage
		if json.Unmarshal(inner, &fields) == nil {
			e.object(fields)
		} else if s := texts(inner); s != "" {
			e.message = s
		}
	}
	e.kinds = append(e.kinds, e.numbers...) // a word is more specific
	e.message = quote(e.message)
	if at, _, ok := strings.Cut(e.message, ": Extra inputs are not permitted"); ok && e.param == "" && !strings.Contains(at, " ") {
		e.param = at // Anthropic's way to name it
	}
	for _, k := range e.kinds {
		if e.code == "" || e.code == "error" || e.code == "invalid_request_error" {
			e.code = k
		}
	}
	return e
}

func (e *errorBody) object(fields map[string]json.RawMessage) {
	for _, key := range []string{"message", "detail", "error_description", "Message", "msg"} {
		if s := e.words(fields[key]); s != "" {
			e.message = s
			break
		}
	}
	for _, key := range []string{"code", "type", "status", "error_type", "__type", "status_code", "http_status_code"} {
		s := text(fields[key])
		n, err := strconv.Atoi(s)
		switch {
		case err == nil && n >= 100 && n < 600:
			e.status = n
		case err == nil && n != 0:
			e.numbers = append(e.numbers, s)
		case err != nil && s != "":
			e.kinds = append(e.kinds, s)
		}
	}
	if s := text(fields["param"]); s != "" {
		e.param = s
	}
	var meta struct {
		Raw     any               `json:"raw"`
		Headers map[string]string `json:"headers"`
	}
	if json.Unmarshal(fields["metadata"], &meta) == nil {
		if s, ok := meta.Raw.(string); ok && s != "" {
			e.message += ": " + s
		}
		e.reset = meta.Headers["X-RateLimit-Reset"]
	}
	var details []struct {
		Reason string `json:"reason"`
		Delay  string `json:"retryDelay"`
		Fields []struct {
			Field string `json:"field"`
		} `json:"fieldViolations"`
	}
	if json.Unmarshal(fields["details"], &details) == nil {
		for _, d := range details {
			if d.Reason != "" {
				e.kinds = append([]string{d.Reason}, e.kinds...)
			}
			if d.Delay != "" {
				e.delay = d.Delay
			}
			for _, v := range d.Fields {
				if e.param == "" {
					e.param = v.Field
				}
			}
		}
	}
}

// text returns a JSON string or number as text.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// texts returns a string, or a list of them as one.
func texts(raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, "; ")
	}
	return text(raw)
}

// words returns a message that is a string, a list of {type, loc, msg}, or such a list under detail. The location of
// the first problem in the list is kept as the parameter.
func (e *errorBody) words(raw json.RawMessage) string {
	if s := texts(raw); s != "" {
		return s
	}
	var inner struct {
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &inner) == nil {
		for _, said := range []json.RawMessage{inner.Message, inner.Error} {
			if s := texts(said); s != "" {
				return s
			}
		}
		if inner.Detail != nil {
			raw = inner.Detail
		}
	}
	var items []struct {
		Type string `json:"type"`
		Loc  []any  `json:"loc"`
		Msg  string `json:"msg"`
	}
	if json.Unmarshal(raw, &items) != nil {
		return ""
	}
	var parts []string
	for _, item := range items {
		var loc []string
		for _, l := range item.Loc {
			loc = append(loc, fmt.Sprint(l))
		}
		if len(loc) > 0 && e.param == "" {
			e.param = strings.TrimPrefix(strings.Join(loc, "."), "body.")
		}
		if item.Type != "" {
			e.kinds = append(e.kinds, item.Type)
		}
		parts = append(parts, strings.TrimPrefix(strings.Join(loc, ".")+": ", ": ")+item.Msg)
	}
	return strings.Join(parts, "; ")
}

// stripTags returns the text of an HTML error page.
func stripTags(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	var b strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '<':
			depth++
			b.WriteByte(' ')
		case r == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}
