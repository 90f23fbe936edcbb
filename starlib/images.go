package starlib

import (
	"encoding/base64"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func imageRows() []Builtin {
	return []Builtin{
		{Name: "Image", Group: GroupAgents, Returns: "Image", Effect: Pure, May: true,
			Doc:    "The type of a picture that an agent takes: url, an http, https or data URL, and mime, its media type where the URL does not say it. An input may be one, or hold some.",
			Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: joined(engine.ImageType.FieldNames())}},
			made:   func(c *state, _ *Table) starlark.Value { return c.typ(engine.ImageType) }},
		{Name: "image", Group: GroupAgents, Returns: "Image", Effect: Pure, May: true, Func: imageFunc,
			Params: []Param{{Name: "source", Kind: StrKind, Doc: "a file of the script's directory, or an http, https or data URL"}},
			Doc:    "Gives a picture for an agent. A file is read when the script loads and belongs to it; what is behind a URL is read by the provider."},
	}
}

// pictureType is the media type of a picture in a format that providers of models read, by how the
// file begins; "" of any other file.
func pictureType(data string) string {
	switch {
	case strings.HasPrefix(data, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(data, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(data, "GIF87a"), strings.HasPrefix(data, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(data, "RIFF") && len(data) >= 14 && data[8:14] == "WEBPVP":
		return "image/webp"
	}
	return ""
}

func imageFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return c.standIn(), nil
	}
	source, at := c.Str("source"), c.spanOf("source")
	for _, scheme := range []string{"http://", "https://", "data:"} {
		if len(source) >= len(scheme) && strings.EqualFold(source[:len(scheme)], scheme) {
			return fromValue(engine.ImageValue(engine.Image{URL: source})), nil
		}
	}
	data, ok, err := c.ownFile(source, at)
	if !ok {
		return nil, err
	}
	mime := pictureType(data)
	if mime == "" {
		c.complain(diag.WrongValue, at, "%s is no picture that models read", source).Help = []string{"png, jpeg, gif and webp are read"}
		return nil, nil
	}
	url := "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString([]byte(data))
	return fromValue(engine.ImageValue(engine.Image{URL: url, MIME: mime})), nil
}
