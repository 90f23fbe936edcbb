package wire

import (
	"encoding/json"
	"strings"
)

// detailsOf is the family of reasoning_details: OpenRouter's form for the state of the models behind it.
const detailsOf = "openrouter"

// addDetails collects reasoning_details. In a stream, the pieces of one detail have the same index and type. Their
// texts are concatenated; for other members the last value applies.
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
			a.details = append(a.details, &detail{Body: piece})
			a.part()
			continue
		}
		a.details[last].goesOn(piece)
	}
}

// detail is one of reasoning_details whose pieces are arriving.
type detail struct {
	*Body
	texts map[string]*strings.Builder // members that have grown
}

// goesOn adds a piece.
func (d *detail) goesOn(piece *Body) {
	for _, key := range piece.keys {
		value, old := piece.Get(key), d.Get(key)
		switch {
		case grows[key] && len(old) > 0 && old[0] == '"' && len(value) > 0 && value[0] == '"':
			grown := d.texts[key]
			if grown == nil {
				if d.texts == nil {
					d.texts = map[string]*strings.Builder{}
				}
				grown = &strings.Builder{}
				grown.WriteString(text(old))
				d.texts[key] = grown
			}
			grown.WriteString(text(value))
		case string(value) == "null" && len(old) > 0:
		default:
			d.SetRaw(key, value)
			delete(d.texts, key)
		}
	}
}

// MarshalJSON writes the detail with the content of all its pieces.
func (d *detail) MarshalJSON() ([]byte, error) {
	for key, grown := range d.texts {
		d.SetRaw(key, json.RawMessage(quoted(grown.String())))
	}
	return d.Body.MarshalJSON()
}

var grows = map[string]bool{"text": true, "summary": true, "data": true}

// thoughtsIn returns the texts of reasoning_details, for servers that send them nowhere else.
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
