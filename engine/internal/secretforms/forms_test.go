package secretforms

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestEverySpellingIsFound(t *testing.T) {
	for _, secret := range []string{"plain-TOKEN-1234567890", `q"uote\d/slash+plus=&<>'`, "spaced out*(x)!~", "tab\tand é and 😀 end", "abcdefgh"} {
		texts := map[string]string{"itself": secret}
		inJSON := func(v string) string {
			b, err := json.Marshal(map[string]string{"k": v})
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		texts["JSON"] = inJSON(secret)
		texts["JSON in JSON"] = inJSON(inJSON(secret))
		texts["JSON with slashes"] = strings.ReplaceAll(inJSON(secret), "/", `\/`)
		texts["a query"] = url.Values{"k": {secret}}.Encode()
		texts["a path"] = (&url.URL{Path: "/a/" + secret}).String()
		texts["a part of a path"] = "/a/" + url.PathEscape(secret)
		texts["small letters"] = lower(url.QueryEscape(secret))
		texts["spaces as %20"] = strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")
		texts["hex"] = hex.EncodeToString([]byte("x" + secret))
		texts["hex in capitals"] = fmt.Sprintf("%X", secret)
		for i := range len(secret) {
			texts["every byte in a URL"] += fmt.Sprintf("%%%02X", secret[i])
			texts["every byte in JSON"] += fmt.Sprintf(`\u%04x`, secret[i])
		}
		if strings.ContainsFunc(secret, func(r rune) bool { return r >= 0x80 }) {
			delete(texts, "every byte in JSON") // it escapes characters, not bytes
		}
		for before := range 7 {
			whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret))
			texts[fmt.Sprint("base64 in a URL ", before)] = url.QueryEscape(whole)
			texts[fmt.Sprint("base64 in JSON with slashes ", before)] = strings.ReplaceAll(whole, "/", `\/`)
		}
		for before := range 7 {
			for behind := range 4 {
				whole := strings.Repeat("x", before) + secret + strings.Repeat("y", behind)
				texts[fmt.Sprint("base64 ", before, behind)] = base64.StdEncoding.EncodeToString([]byte(whole))
				texts[fmt.Sprint("base64 of URLs ", before, behind)] = base64.RawURLEncoding.EncodeToString([]byte(whole))
			}
		}
		forms := Of(secret)
		if forms[0] != secret || len(slices.Compact(slices.Sorted(slices.Values(forms)))) != len(forms) {
			t.Errorf("%q is spelt %q", secret, forms)
		}
		for how, text := range texts {
			if !slices.ContainsFunc(forms, func(f string) bool { return strings.Contains(text, f) }) {
				t.Errorf("%q is not found in %s: %s", secret, how, text)
			}
		}
		for _, f := range forms {
			if len(f) < shortest || strings.Contains("some other text of a server, c29tZSBvdGhlciB0ZXh0", f) {
				t.Errorf("%q is also looked for as %q", secret, f)
			}
		}
	}
	if forms := Of("none"); !slices.Equal(forms, []string{"none"}) {
		t.Errorf("a short one is spelt %q", forms)
	}
}
