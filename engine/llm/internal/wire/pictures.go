package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// InOrder returns what a user's turn says: its texts and pictures in their order, with those texts joined that no picture
// stands between.
func InOrder(parts []model.Part) []model.Part {
	var out []model.Part
	from := 0
	flush := func(to int) {
		if s := Joined(parts[from:to], model.PartText, "\n\n"); s != "" {
			out = append(out, model.Part{Kind: model.PartText, Text: s})
		}
		from = to
	}
	for i := range parts {
		if parts[i].Image != nil {
			flush(i)
			out = append(out, parts[i])
		}
	}
	flush(len(parts))
	return out
}

// results holds the pictures that go inside the results of tools, by the call. They stand behind the results in the
// conversation, which most providers are sent as it is.
type results map[string][]*model.Image

// picturesOf returns the pictures of a conversation that go inside the results. Those of a call of which takes refuses one
// stay behind the results.
func picturesOf(messages []model.Message, takes func(*model.Image) bool) results {
	answered := results{}
	for i := range messages {
		for j := range messages[i].Parts {
			switch p := &messages[i].Parts[j]; {
			case p.Result != nil:
				answered[p.Result.CallID] = nil
			case p.Image == nil || p.Of == "":
			case !takes(p.Image):
				delete(answered, p.Of)
			default:
				if pictures, ok := answered[p.Of]; ok {
					answered[p.Of] = append(pictures, p.Image)
				}
			}
		}
	}
	return answered
}

// inside reports whether a part of the turn behind the results goes inside one of them.
func (r results) inside(p *model.Part) bool { return p.Of != "" && len(r[p.Of]) > 0 }

// isData reports whether a picture is its own data.
func isData(i *model.Image) bool { return strings.HasPrefix(i.URL, "data:") }

// drawn keeps the pictures that a model drew, of a list of their addresses: most hold the picture itself.
func (a *answer) drawn(raw json.RawMessage) {
	var list []struct {
		Image struct {
			URL loose `json:"url"`
		} `json:"image_url"`
	}
	if empty(raw) || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, one := range list {
		if model.IsImageURL(string(one.Image.URL)) {
			a.part()
			a.images = append(a.images, model.Image{URL: string(one.Image.URL)})
		}
	}
}

// picture adds a part that is a picture, of its data in base64.
func (a *answer) picture(mime, data string) *block {
	b := a.addBlock(model.PartImage)
	b.image = &model.Image{URL: "data:" + mime + ";base64," + data, MIME: mime}
	return b
}

// aPicture stands for a picture that a model drew, for providers that take none from a model.
const aPicture = "\n(a picture)"

// describing is a request whose turns of the model have words in place of the pictures that it drew. Google's models are sent
// what they drew.
func describing(d Dialect, r *model.Request) *model.Request {
	if _, google := d.(*Gemini); google {
		return r
	}
	out := r
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Role == model.RoleAssistant {
			for j := range m.Parts {
				if m.Parts[j].Image == nil {
					continue
				}
				if out == r {
					copied := *r
					out = &copied
					out.Messages = slices.Clone(r.Messages)
				}
				parts := slices.Clone(out.Messages[i].Parts)
				parts[j] = model.Part{Kind: model.PartText, Text: aPicture}
				out.Messages[i].Parts = parts
			}
		}
	}
	return out
}
