package wire

import "encoding/json"

// detailsOf is the family of reasoning_details: OpenRouter's form for the state of the models
// behind it.
const detailsOf = "openrouter"

// addDetails gathers reasoning_details. In a stream the pieces of one have the same index and
// type; their texts continue each other, all else is the last that was said.
func (a *answer) addDetails(raw json.RawMessage) {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, one := range list {
		piece, err := ParseBody(one)
		if err != nil {
			continue
		}
		index := string(piece.Get("index"))
		last := len(a.details) - 1
		if last < 0 || index == "" || string(a.details[last].Get("index")) != index || string(a.details[last].Get("type")) != string(piece.Get("type")) {
			a.details = append(a.details, piece)
			continue
		}
		before := a.details[last]
		for _, key := range piece.keys {
			value := piece.Get(key)
			if old := before.Get(key); grows[key] && len(old) > 0 && old[0] == '"' && len(value) > 0 && value[0] == '"' {
				value = json.RawMessage(quoted(text(old) + text(value)))
			} else if string(value) == "null" && len(old) > 0 {
				continue
			}
			before.SetRaw(key, value)
		}
	}
}

var grows = map[string]bool{"text": true, "summary": true, "data": true}

// thoughtsIn are the texts of reasoning_details, for servers that give them nowhere else.
func thoughtsIn(raw json.RawMessage) string {
	var list []struct {
		Text    loose `json:"text"`
		Summary loose `json:"summary"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return ""
	}
	out := ""
	for _, d := range list {
		out += string(d.Text) + string(d.Summary)
	}
	return out
}
