// Package spelling knows the ways in which programs write a text, so that a secret is found in what
// they say whichever it was.
package spelling

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// shortest is the length in bytes from which a text is looked for in base64: what is left of a shorter
// one, whatever stands around it, is found in other texts as well.
const shortest = 8

// Of gives a text as it is, and as JSON, JSON within JSON, URLs, forms and base64 write it: each of
// them once, the text itself first.
func Of(text string) []string {
	all := []string{text}
	add := func(forms ...string) {
		for _, f := range forms {
			if f != "" && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	inside := quoted(text)
	add(inside...)
	for _, f := range inside {
		add(least(f), strings.ReplaceAll(least(f), "/", `\/`))
	}
	query := url.QueryEscape(text)
	spaced := strings.ReplaceAll(query, "+", "%20")
	for _, f := range []string{query, spaced, url.PathEscape(text), (&url.URL{Path: text}).EscapedPath(), component.Replace(spaced)} {
		add(f, lower(f))
	}
	if len(text) >= shortest {
		for before := range 3 {
			f := within(text, before)
			add(f, strings.NewReplacer("+", "-", "/", "_").Replace(f))
		}
	}
	return all
}

// quoted are the forms of a text within the quotes of JSON.
func quoted(text string) []string {
	forms := []string{least(text)}
	if b, err := json.Marshal(text); err == nil { // a text always can be
		forms = append(forms, string(b[1:len(b)-1]))
	}
	var ascii strings.Builder
	for _, r := range least(text) {
		switch {
		case r < 0x80:
			ascii.WriteRune(r)
		case r > 0xffff:
			a, b := utf16.EncodeRune(r)
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, a, b)
		default:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		}
	}
	forms = append(forms, ascii.String())
	for _, f := range slices.Clone(forms) {
		forms = append(forms, strings.ReplaceAll(f, "/", `\/`))
	}
	return forms
}

// least is JSON that escapes no more than it must.
func least(text string) string { return must.Replace(text) }

var must = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// component are the characters that encodeURIComponent of browsers leaves as they are, beside those
// that a form leaves.
var component = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// lower has the percent-encoding of a text in small letters.
func lower(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// within is what base64 makes of a text, whatever stands behind it and so many bytes, modulo three,
// before it: as in a header of a name and a password.
func within(text string, before int) string {
	all := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
	return all[(before*8+5)/6 : (before+len(text))*8/6]
}
