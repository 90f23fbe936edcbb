package model

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// ImageType is the schema of a picture that an agent takes. It is a reference: a provider only receives the picture's
// address or its bytes as a data URL.
var ImageType = &generable.Type{Kind: generable.RecordType, Name: "Image", Doc: "A picture", Fields: []generable.Field{
	{Name: "url", Type: generable.StrT, Guide: "an http, https or data URL"},
	{Name: "mime", Type: generable.StrT, Guide: "the media type, as image/png; a data URL says it itself", Optional: true, Default: generable.StrOf("")},
}}

// ImageValue makes a value of [ImageType].
func ImageValue(i Image) generable.Value {
	return generable.NewRecord(ImageType, []generable.Value{generable.StrOf(i.URL), generable.StrOf(i.MIME)}).Value()
}

// ReadImage returns the picture in a file as a data URL. It reports false for a format that models do not read: they
// read png, jpeg, gif and webp.
func ReadImage(data string) (Image, bool) {
	mime := ""
	switch {
	case strings.HasPrefix(data, "\x89PNG\r\n\x1a\n"):
		mime = "image/png"
	case strings.HasPrefix(data, "\xff\xd8\xff"):
		mime = "image/jpeg"
	case strings.HasPrefix(data, "GIF87a"), strings.HasPrefix(data, "GIF89a"):
		mime = "image/gif"
	case strings.HasPrefix(data, "RIFF") && len(data) >= 14 && data[8:14] == "WEBPVP":
		mime = "image/webp"
	default:
		return Image{}, false
	}
	return Image{URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(data)), MIME: mime}, true
}

// IsImageURL reports whether a text is a URL with a scheme for pictures: http, https or data.
func IsImageURL(text string) bool {
	for _, scheme := range []string{"http://", "https://", "data:"} {
		if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// asImage reads a value of [ImageType].
func asImage(v generable.Value) (Image, bool) {
	r, ok := v.AsRecord()
	if !ok || r.Type() != ImageType {
		return Image{}, false
	}
	url, _ := r.At(0).AsStr()
	mime, _ := r.At(1).AsStr()
	return Image{URL: url, MIME: mime}, true
}

// HoldsPictures reports whether a value contains a picture. It does not allocate, since most values contain none.
func HoldsPictures(v generable.Value) bool {
	return holds(v, func(t *generable.Type) bool { return t == ImageType })
}

// holdsMedia reports whether a value contains a picture or a sound.
func holdsMedia(v generable.Value) bool {
	return holds(v, func(t *generable.Type) bool { return t == ImageType || t == AudioType })
}

func holds(v generable.Value, is func(*generable.Type) bool) bool {
	if r, ok := v.AsRecord(); ok && is(r.Type()) {
		return true
	}
	if l, ok := v.AsList(); ok && slices.ContainsFunc(l.Items(), func(item generable.Value) bool { return holds(item, is) }) {
		return true
	}
	for _, item := range typing.Fields(v) {
		if holds(item, is) {
			return true
		}
	}
	return false
}

// WithoutPictures replaces each picture in a value by a numbered placeholder, a form that models are used to, and each
// sound by its transcript. It appends the pictures to out. A value without media is returned unchanged.
func WithoutPictures(v generable.Value, out *[]Image) generable.Value {
	if i, ok := asImage(v); ok {
		*out = append(*out, i)
		return generable.StrOf(fmt.Sprintf("[image %d]", len(*out)))
	}
	if words, ok := transcript(v); ok {
		return generable.StrOf(words)
	}
	if !holdsMedia(v) {
		return v
	}
	return typing.Rebuilt(v, func(item generable.Value) generable.Value { return WithoutPictures(item, out) })
}

// pictured returns a value as text, with placeholders for its pictures, and the pictures.
func pictured(v generable.Value, t *generable.Type) (string, []Image) {
	if text, ok := v.AsStr(); ok {
		return text, nil
	}
	if !holdsMedia(v) {
		return generable.JSON(v, t), nil
	}
	var images []Image
	v = WithoutPictures(v, &images)
	if text, ok := v.AsStr(); ok { // it was a picture or a sound itself
		return text, images
	}
	return generable.JSON(v, nil), images
}

// InputMessage returns the message that shows a value to a model: its text, then after, then its pictures. A value that
// is a picture has no text.
func InputMessage(v generable.Value, t *generable.Type, after string) []Message {
	text, images := pictured(v, t)
	if _, alone := asImage(v); alone {
		text = ""
	}
	own := &struct { // most inputs are a text
		message [1]Message
		part    [1]Part
	}{}
	parts := own.part[:0]
	if text += after; text != "" || len(images) == 0 {
		parts = append(parts, Part{Kind: PartText, Text: text})
	}
	for i := range images {
		parts = append(parts, Part{Kind: PartImage, Image: &images[i]})
	}
	own.message[0] = Message{Role: RoleUser, Parts: parts}
	return own.message[:]
}

// InputText returns a value as it is shown to a model: a str verbatim, anything else as JSON with a union's
// discriminator first.
func InputText(v generable.Value, t *generable.Type) string {
	text, _ := pictured(v, t)
	return text
}
