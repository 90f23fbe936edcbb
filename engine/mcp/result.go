package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// result is what a tool gave as a value: the structured form where there is one, else the text.
// Where there are pictures it is a list of that and of the pictures.
func result(res *sdk.CallToolResult) (generable.Value, error) {
	text, pictures := contents(res.Content)
	v := generable.StrOf(text)
	if res.StructuredContent != nil {
		data, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return v, err
		}
		read := lenient.Decode(generable.AnyT, string(data), generable.Options{Level: generable.Strict})
		if !read.OK {
			return v, read.Errors
		}
		v = read.Value
	}
	if len(pictures) == 0 {
		return v, nil
	}
	items := make([]generable.Value, 0, len(pictures)+1)
	if s, ok := v.AsStr(); !ok || s != "" {
		items = append(items, v)
	}
	return generable.NewList(append(items, pictures...)).Value(), nil
}

// errorText is what a failed call says.
func errorText(res *sdk.CallToolResult) string {
	text, _ := contents(res.Content)
	if text == "" && res.StructuredContent != nil {
		if data, err := json.Marshal(res.StructuredContent); err == nil {
			text = string(data)
		}
	}
	if text == "" {
		return "the tool failed and does not say why"
	}
	return text
}

// contents are the texts of content blocks, one below the other, and the pictures. Of what a
// model cannot be shown there is a word about what it is.
func contents(blocks []sdk.Content) (string, []generable.Value) {
	var texts []string
	var pictures []generable.Value
	picture := func(mime string, data []byte) {
		pictures = append(pictures, engine.ImageValue(engine.Image{URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)}))
	}
	for _, block := range blocks {
		switch b := block.(type) {
		case *sdk.TextContent:
			texts = append(texts, strings.ToValidUTF8(b.Text, "\uFFFD"))
		case *sdk.ImageContent:
			if !isPicture(b.MIMEType) {
				texts = append(texts, fmt.Sprintf("[%s, %d bytes]", brief(b.MIMEType), len(b.Data)))
				continue
			}
			picture(b.MIMEType, b.Data)
		case *sdk.AudioContent:
			texts = append(texts, fmt.Sprintf("[audio %s, %d bytes]", brief(b.MIMEType), len(b.Data)))
		case *sdk.ResourceLink:
			line := fmt.Sprintf("[resource %s]", brief(b.URI))
			if about := strings.TrimSpace(b.Name + " " + b.Description); about != "" {
				line += " " + brief(about)
			}
			texts = append(texts, line)
		case *sdk.EmbeddedResource:
			switch r := b.Resource; {
			case r == nil:
			case r.Text != "" || len(r.Blob) == 0:
				texts = append(texts, fmt.Sprintf("[resource %s]\n%s", brief(r.URI), strings.ToValidUTF8(r.Text, "\uFFFD")))
			case isPicture(r.MIMEType):
				picture(r.MIMEType, r.Blob)
			default:
				texts = append(texts, fmt.Sprintf("[resource %s: %s, %d bytes]", brief(r.URI), brief(r.MIMEType), len(r.Blob)))
			}
		}
	}
	return strings.Join(texts, "\n"), pictures
}

// isPicture reports whether a media type is one of pictures, and can stand in a data URL.
func isPicture(mime string) bool {
	kind, sub, ok := strings.Cut(mime, "/")
	return ok && kind == "image" && sub != "" && strings.IndexFunc(sub, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '+' || r == '-')
	}) < 0
}
