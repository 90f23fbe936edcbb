package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/generable"
)

// ImageType is the schema of a picture that an agent takes: by reference, since the address of a
// picture, or its bytes as a data URL, is all that a provider is sent.
var ImageType = &generable.Type{Kind: generable.RecordType, Name: "Image", Doc: "A picture", Fields: []generable.Field{
	{Name: "url", Type: generable.StrT, Guide: "an http, https or data URL"},
	{Name: "mime", Type: generable.StrT, Guide: "the media type, as image/png; a data URL says it itself", Optional: true, Default: generable.StrOf("")},
}}

// ImageValue makes a value of [ImageType].
func ImageValue(i Image) generable.Value {
	return generable.NewRecord(ImageType, []generable.Value{generable.StrOf(i.URL), generable.StrOf(i.MIME)}).Value()
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

// pictures takes the pictures out of a value: each is replaced by a word that says which it is,
// as models are used to. Without any the value stays as it is.
func pictures(v generable.Value) (generable.Value, []Image) {
	var out []Image
	v = withoutPictures(v, &out)
	return v, out
}

func withoutPictures(v generable.Value, out *[]Image) generable.Value {
	if i, ok := asImage(v); ok {
		*out = append(*out, i)
		return generable.StrOf(fmt.Sprintf("[image %d]", len(*out)))
	}
	before := len(*out)
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = withoutPictures(l.At(i), out)
		}
		if len(*out) > before {
			return generable.NewList(items).Value()
		}
	} else if m, ok := v.AsMap(); ok {
		kept := generable.NewMap(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			kept.Set(key, withoutPictures(item, out))
		}
		if len(*out) > before {
			return kept.Value()
		}
	} else if r, ok := v.AsRecord(); ok {
		t := r.Type()
		kept := generable.NewMap(len(t.Fields))
		for i := range t.Fields {
			kept.Set(t.Fields[i].Name, withoutPictures(r.At(i), out))
		}
		if len(*out) > before {
			return kept.Value()
		}
	}
	return v
}

// showsPictures reports whether values of a type may hold pictures: for others nothing is walked.
func showsPictures(t *generable.Type, seen map[*generable.Type]bool) bool {
	if t = t.Deref(); t == ImageType || t.Kind == generable.AnyType {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	if t.Elem != nil && showsPictures(t.Elem, seen) {
		return true
	}
	for i := range t.Fields {
		if showsPictures(t.Fields[i].Type, seen) {
			return true
		}
	}
	for _, v := range t.Variants {
		if showsPictures(v, seen) {
			return true
		}
	}
	return false
}

// inputParts is how a value is shown to a model: its text, and the pictures in it.
func inputParts(v generable.Value, t *generable.Type, after string) []Part {
	if _, ok := asImage(v); !ok && !showsPictures(t, map[*generable.Type]bool{}) {
		return []Part{{Kind: PartText, Text: inputText(v, t) + after}}
	}
	shown, images := pictures(v)
	if len(images) == 0 {
		return []Part{{Kind: PartText, Text: inputText(v, t) + after}}
	}
	parts := make([]Part, 0, len(images)+1)
	if _, alone := asImage(v); !alone || after != "" {
		text := after
		if !alone {
			text = inputText(shown, nil) + after
		}
		parts = append(parts, Part{Kind: PartText, Text: text})
	}
	for i := range images {
		parts = append(parts, Part{Kind: PartImage, Image: &images[i]})
	}
	return parts
}
