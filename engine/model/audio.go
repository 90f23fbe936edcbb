package model

import (
	"cmp"

	"github.com/agentscript/agentscript/generable"
)

// Audio is a sound that a model returned, as a data URL. If the provider sends the words as well, they are a separate
// text part.
type Audio struct {
	URL string `json:"url"`
	// MIME is the media type, such as audio/wav or audio/pcm;rate=24000.
	MIME string `json:"mime,omitempty"`
}

// AudioType is the schema of a spoken answer.
var AudioType = &generable.Type{Kind: generable.RecordType, Name: "Audio", Doc: "What a model says aloud", Fields: []generable.Field{
	{Name: "url", Type: generable.StrT, Guide: "a data URL"},
	{Name: "mime", Type: generable.StrT, Guide: "the media type, as audio/wav", Optional: true, Default: generable.StrOf("")},
	{Name: "transcript", Type: generable.StrT, Guide: "what is said, in words", Optional: true, Default: generable.StrOf("")},
}}

// AudioValue makes a value of [AudioType].
func AudioValue(a Audio, transcript string) generable.Value {
	return generable.NewRecord(AudioType, []generable.Value{generable.StrOf(a.URL), generable.StrOf(a.MIME), generable.StrOf(transcript)}).Value()
}

// Aloud reports whether a type is that of a spoken answer, which no schema and no prompt can request.
func Aloud(t *generable.Type) bool { return t.Deref() == AudioType }

// Sounds returns the sounds of the answer, in order.
func (r *Response) Sounds() []Audio {
	var out []Audio
	for i := range r.Parts {
		if r.Parts[i].Kind == PartAudio && r.Parts[i].Audio != nil {
			out = append(out, *r.Parts[i].Audio)
		}
	}
	return out
}

// transcript returns the words of a value of [AudioType]. Models receive them in place of the sound.
func transcript(v generable.Value) (string, bool) {
	r, ok := v.AsRecord()
	if !ok || r.Type() != AudioType {
		return "", false
	}
	words, _ := r.At(2).AsStr()
	return cmp.Or(words, "(a sound without a transcript)"), true
}
