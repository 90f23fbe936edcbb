package wire

import (
	"cmp"
	"encoding/json"
	"path"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

type geminiContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string       `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Inline    *geminiInline `json:"inlineData,omitempty"`
	File      *geminiFile   `json:"fileData,omitempty"`
	Call      *geminiCall   `json:"functionCall,omitempty"`
	Result    *geminiResult `json:"functionResponse,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`

	whole json.RawMessage // a part that is sent back unchanged
}

// MarshalJSON writes the part.
func (p geminiPart) MarshalJSON() ([]byte, error) {
	if p.whole != nil {
		return p.whole, nil
	}
	type plain geminiPart
	return encode(plain(p))
}

type geminiInline struct {
	MIME string `json:"mimeType"`
	Data string `json:"data"`
}

type geminiFile struct {
	MIME string `json:"mimeType,omitempty"`
	URI  string `json:"fileUri"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResult struct {
	ID       string                     `json:"id,omitempty"`
	Name     string                     `json:"name"`
	Response map[string]json.RawMessage `json:"response"`
	Parts    []geminiPart               `json:"parts,omitempty"` // pictures, since Gemini 3
}

// unsigned is Google's placeholder signature for a call made by another model: since Gemini 3, a call without a
// signature is refused.
const unsigned = "skip_thought_signature_validator"

// geminiContents writes the turns. Consecutive results become one turn, since there must be as many results in it as
// there were calls.
func geminiContents(r *model.Request, version float64) ([]geminiContent, error) {
	out := []geminiContent{}
	inside := picturesOf(r.Messages, func(i *model.Image) bool { return version >= 3 && isData(i) })
	results := false // the last turn contains results
	for i := range r.Messages {
		m := &r.Messages[i]
		turn := geminiContent{Role: "user"}
		var err error
		switch m.Role {
		case model.RoleTool:
			turn.Parts, err = geminiResults(m.Parts, inside)
		case model.RoleAssistant:
			turn.Role, turn.Parts = "model", geminiSaid(m.Parts, version)
		default:
			turn.Parts, err = geminiAsked(m.Parts, inside)
		}
		if err != nil {
			return nil, err
		}
		switch {
		case len(turn.Parts) == 0:
			continue
		case results && m.Role == model.RoleTool:
			last := &out[len(out)-1]
			last.Parts = append(last.Parts, turn.Parts...)
		default:
			out = append(out, turn)
		}
		results = m.Role == model.RoleTool
	}
	if n := len(out); n == 0 || out[n-1].Role == "model" && r.Messages[len(r.Messages)-1].Role == model.RoleUser {
		nothing := "(no input)" // an empty text is refused, and a turn is required
		out = append(out, geminiContent{Role: "user", Parts: []geminiPart{{Text: &nothing}}})
	}
	return out, nil
}

func geminiAsked(parts []model.Part, inside results) ([]geminiPart, error) {
	var out []geminiPart
	for i := range parts {
		switch p := &parts[i]; {
		case inside.inside(p):
		case p.Kind == model.PartText && p.Text != "":
			out = append(out, geminiPart{Text: &p.Text})
		case p.Image != nil:
			image, err := geminiImage(p.Image)
			if err != nil {
				return nil, err
			}
			out = append(out, image)
		}
	}
	return out, nil
}

// geminiImage contains a picture or names it: Google reads http and https addresses and those of its storage services.
func geminiImage(img *model.Image) (geminiPart, error) {
	if !isData(img) {
		address, _, _ := strings.Cut(img.URL, "?")
		address, _, _ = strings.Cut(address, "#")
		return geminiPart{File: &geminiFile{cmp.Or(img.MIME, imageTypes[strings.ToLower(path.Ext(address))]), img.URL}}, nil
	}
	mime, data, ok := DataURL(img.URL)
	if !ok {
		return geminiPart{}, &Unsupported{"cannot read a data URL of an image", "write it as data:image/png;base64,…"}
	}
	return geminiPart{Inline: &geminiInline{mime, data}}, nil
}

var imageTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif", ".heic": "image/heic", ".heif": "image/heif",
}

// geminiSaid writes a turn of the model, with each signature at its original part. Thoughts are sent back only if they
// are signed. Another provider's state is left out.
func geminiSaid(parts []model.Part, version float64) []geminiPart {
	var out []geminiPart
	first, signed := -1, false // the first call, and whether any call is signed
	for i := range parts {
		p := &parts[i]
		state := ""
		if p.Opaque != nil && p.Opaque.Provider == geminiFamily {
			state = p.Opaque.Data
		}
		switch {
		case strings.HasPrefix(state, "{") && json.Valid([]byte(state)):
			out = append(out, geminiPart{whole: json.RawMessage(state)})
		case p.Kind == model.PartText && (p.Text != "" || state != ""):
			out = append(out, geminiPart{Text: &p.Text, Signature: state})
		case p.Image != nil:
			if image, err := geminiImage(p.Image); err == nil {
				image.Signature = state
				out = append(out, image)
			}
		case p.Kind == model.PartReasoning && state != "":
			out = append(out, geminiPart{Text: &p.Text, Thought: true, Signature: state})
		case p.Call != nil:
			if first < 0 {
				first = len(out)
			}
			signed = signed || state != ""
			out = append(out, geminiPart{Call: &geminiCall{p.Call.ID, p.Call.Name, argsObject(p.Call.Args)}, Signature: state})
		}
	}
	if first >= 0 && !signed && version >= 3 {
		out[first].Signature = unsigned
	}
	return out
}

// geminiResults returns each result as the object that the API requires: a JSON object or list unchanged, anything else
// as text.
func geminiResults(parts []model.Part, inside results) ([]geminiPart, error) {
	var out []geminiPart
	for i := range parts {
		res := parts[i].Result
		if res == nil {
			continue
		}
		value := json.RawMessage(strings.TrimSpace(res.Text))
		if !strings.HasPrefix(string(value), "{") && !strings.HasPrefix(string(value), "[") || !json.Valid(value) {
			value = json.RawMessage(quoted(res.Text))
		}
		key := "output"
		if res.IsError {
			key = "error"
		}
		result := &geminiResult{res.CallID, res.Name, map[string]json.RawMessage{key: value}, nil}
		for _, p := range inside[res.CallID] {
			image, err := geminiImage(p)
			if err != nil {
				return nil, err
			}
			result.Parts = append(result.Parts, image)
		}
		out = append(out, geminiPart{Result: result})
	}
	return out, nil
}
