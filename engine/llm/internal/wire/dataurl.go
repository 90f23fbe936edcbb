package wire

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// DataURL reads a data URL (RFC 2397): its media type, text/plain when it says none, and its
// content in base64. ok is false for any other URL and for content that cannot be read.
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
