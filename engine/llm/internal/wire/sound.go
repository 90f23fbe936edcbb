package wire

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// sound is spoken output whose pieces are arriving.
type sound struct {
	mime   string
	pieces []string // of base64
}

// spoken adds a piece of sound: to the last non-empty part if that is a sound of the same type, else as a new part.
func (a *answer) spoken(mime, data string) *block {
	if data == "" {
		return nil
	}
	n := len(a.blocks)
	for n > 0 && a.blocks[n-1].kind == model.PartText && a.blocks[n-1].text.Len() == 0 {
		n--
	}
	if n == 0 || a.blocks[n-1].sound == nil || a.blocks[n-1].sound.mime != mime || a.blocks[n-1].opaque != nil {
		a.addBlock(model.PartAudio)
		n = len(a.blocks)
	}
	a.blocks[n-1].speak(mime, data)
	return a.blocks[n-1]
}

// speak adds a piece of sound to a part.
func (b *block) speak(mime, data string) {
	if b.sound == nil {
		b.sound = &sound{mime: mime}
	}
	b.sound.pieces = append(b.sound.pieces, data)
}

// heard adds a piece of sound to an answer that lists its kinds separately.
func (a *answer) heard(data string) {
	if data == "" {
		return
	}
	if a.sound == nil {
		a.sound = &sound{mime: a.aloud}
		a.part()
	}
	a.sound.pieces = append(a.sound.pieces, data)
}

// joined returns the whole sound in base64. Either each piece is base64 by itself, or the pieces are one base64 text
// that was cut anywhere.
func (s *sound) joined() string {
	if len(s.pieces) == 1 {
		return s.pieces[0]
	}
	var whole []byte
	for _, piece := range s.pieces {
		data, err := base64.StdEncoding.DecodeString(piece)
		if err != nil {
			return strings.Join(s.pieces, "")
		}
		whole = append(whole, data...)
	}
	return base64.StdEncoding.EncodeToString(whole)
}

// made returns the sound as part of an answer, nil without one.
func (s *sound) made() *model.Audio {
	if s == nil {
		return nil
	}
	data, mime := s.joined(), s.mime
	if mime == "" {
		mime = soundType(data)
	}
	return &model.Audio{URL: "data:" + mime + ";base64," + data, MIME: mime}
}

// soundFormats are the media types of OpenAI's formats. Raw samples have a rate of 24 kHz.
var soundFormats = map[string]string{
	"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/ogg", "aac": "audio/aac", "pcm16": "audio/pcm;rate=24000",
}

// askedAloud returns the media type of the format that a request asks for, "" without one. Answers do not contain it.
func askedAloud(r *model.Request) string {
	var extra struct {
		Audio struct {
			Format string `json:"format"`
		} `json:"audio"`
	}
	if r == nil || len(r.Params.Extra) == 0 || json.Unmarshal(r.Params.Extra, &extra) != nil {
		return ""
	}
	return soundFormats[extra.Audio.Format]
}

// soundType recognizes the format of a sound by its first bytes. Raw samples have no header.
func soundType(data string) string {
	head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), 8)])
	for _, known := range [][2]string{{"RIFF", "wav"}, {"ID3", "mp3"}, {"\xff\xfb", "mp3"}, {"\xff\xf3", "mp3"}, {"fLaC", "flac"}, {"OggS", "opus"}, {"\xff\xf1", "aac"}} {
		if strings.HasPrefix(string(head), known[0]) {
			return soundFormats[known[1]]
		}
	}
	return soundFormats["pcm16"]
}

// aPicture and aSound replace generated pictures and sounds, for providers that accept neither from a model.
const (
	aPicture = "\n(a picture)"
	aSound   = "(a sound)"
)

// describing returns a request in which generated pictures and sounds in the model's turns are replaced by words.
// Google's models do get their pictures back. Sounds are sent to no provider: OpenAI keeps a sound under a name for
// only an hour, which a session outlives, and Google does not read the raw samples that its models answer with. The
// transcript is a separate part and is sent.
func describing(d Dialect, r *model.Request) *model.Request {
	_, google := d.(*Gemini)
	replaced := func(p *model.Part) bool { return p.Image != nil && !google || p.Kind == model.PartAudio }
	out := r
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role != model.RoleAssistant || !slices.ContainsFunc(m.Parts, func(p model.Part) bool { return replaced(&p) }) {
			continue
		}
		if out == r {
			copied := *r
			out = &copied
			out.Messages = slices.Clone(r.Messages)
		}
		said := model.TextIn(m.Parts) != ""
		var parts []model.Part
		for j := range m.Parts {
			switch p := &m.Parts[j]; {
			case !replaced(p):
				parts = append(parts, *p)
			case p.Image != nil:
				parts = append(parts, model.Part{Kind: model.PartText, Text: aPicture})
			case !said:
				parts = append(parts, model.Part{Kind: model.PartText, Text: aSound})
			}
		}
		out.Messages[i].Parts = parts
	}
	return out
}
