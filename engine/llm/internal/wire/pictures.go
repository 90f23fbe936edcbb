package wire

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// InOrder returns the content of a user's turn: its texts and pictures in order. Texts without a picture between them
// are joined.
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

// results maps calls to the pictures that go inside their results. In the conversation they are behind the results, the
// form that most providers receive.
type results map[string][]*model.Image

// picturesOf returns the pictures of a conversation that go inside results. If takes refuses a picture of a call, all
// pictures of that call stay behind the results.
func picturesOf(messages []model.Message, takes func(*model.Image) bool) results {
	answered := results{}
	for i := range messages {
		for j := range messages[i].Parts {
			switch p := &messages[i].Parts[j]; {
			case p.Result != nil:
				answered[p.Result.CallID] = nil
			case p.Image == nil || p.Of == nil:
			case !takes(p.Image):
				delete(answered, *p.Of)
			default:
				if pictures, ok := answered[*p.Of]; ok {
					answered[*p.Of] = append(pictures, p.Image)
				}
			}
		}
	}
	return answered
}

// inside reports whether a part of the turn behind the results goes inside one of them.
func (r results) inside(p *model.Part) bool { return p.Of != nil && len(r[*p.Of]) > 0 }

// isData reports whether a picture is a data URL.
func isData(i *model.Image) bool { return strings.HasPrefix(i.URL, "data:") }

// drawn stores generated pictures, given as a list of addresses: most contain the picture itself.
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

// picture adds a part that is a picture, given as base64 data.
func (a *answer) picture(mime, data string) *block {
	b := a.addBlock(model.PartImage)
	b.image = &model.Image{URL: "data:" + mime + ";base64," + data, MIME: mime}
	return b
}

// DataURL reads a data URL (RFC 2397): its media type, text/plain if it has none, and its content in base64. ok is
// false for any other URL and for invalid content.
func DataURL(s string) (mime, data string, ok bool) {
	rest, is := strings.CutPrefix(s, "data:")
	head, content, comma := strings.Cut(rest, ",")
	if !is || !comma {
		return "", "", false
	}
	params := strings.Split(head, ";")
	if mime = params[0]; mime == "" {
		mime = "text/plain"
	}
	if params[len(params)-1] == "base64" {
		if _, err := base64.StdEncoding.DecodeString(content); err != nil {
			return "", "", false
		}
		return mime, content, true
	}
	plain, err := url.PathUnescape(content)
	if err != nil {
		return "", "", false
	}
	return mime, base64.StdEncoding.EncodeToString([]byte(plain)), true
}
