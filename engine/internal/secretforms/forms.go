// Package secretforms lists the forms in which programs write a secret, so that it can be found in any of
// them.
package secretforms

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// shortest is the minimum length in bytes of a secret that is searched for in base64 and hex: the part of a
// shorter one that does not depend on its surroundings occurs in other texts too.
const shortest = 8

// Of returns a secret verbatim and as JSON, JSON within JSON, URLs, forms, base64 and hex write it: each form
// once, the secret itself first.
func Of(secret string) []string {
	all := []string{secret}
	add := func(forms ...string) {
		for _, f := range forms {
			if f != "" && !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	inside := quoted(secret)
	add(inside...)
	for _, f := range inside {
		add(least(f), strings.ReplaceAll(least(f), "/", `\/`))
	}
	query := url.QueryEscape(secret)
	spaced := strings.ReplaceAll(query, "+", "%20")
	for _, f := range []string{query, spaced, url.PathEscape(secret), (&url.URL{Path: secret}).EscapedPath(), component.Replace(spaced)} {
		add(f, lower(f))
	}
	if len(secret) < shortest {
		return all
	}
	for before := range 3 {
		f := within(secret, before)
		add(f, urlSafe.Replace(f), strings.ReplaceAll(f, "/", `\/`), url.QueryEscape(f), lower(url.QueryEscape(f)))
	}
	digits := hex.EncodeToString([]byte(secret))
	add(digits, strings.ToUpper(digits))
	add(each(secret, "%%%02X"), each(secret, "%%%02x"), each(secret, `\u%04x`), each(secret, `\u%04X`), each(secret, `\x%02x`))
	return all
}

var urlSafe = strings.NewReplacer("+", "-", "/", "_")

// each writes every byte of a text in a format, as encoders do that escape everything.
func each(text, format string) string {
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, format, text[i])
	}
	return b.String()
}

// quoted returns the forms of a text inside JSON quotes.
func quoted(text string) []string {
	forms := []string{least(text)}
	if b, err := json.Marshal(text); err == nil { // a text can always be marshalled
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

// least returns JSON with only the required escapes.
func least(text string) string { return must.Replace(text) }

var must = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

// component undoes the escapes that a form makes and encodeURIComponent of browsers does not.
var component = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// lower returns percent-encoding with lower-case hex digits.
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

// within returns the base64 digits of a text that do not depend on its surroundings, after so many bytes
// (modulo three), as in a header with a name and a password.
func within(text string, before int) string {
	all := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), text...))
	return all[(before*8+5)/6 : (before+len(text))*8/6]
}
