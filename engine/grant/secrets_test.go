package grant_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/generable"
)

// TestSecretForms: a secret is also replaced in the form of URLs, JSON and form data, in which servers and URLs repeat
// special characters.
func TestSecretForms(t *testing.T) {
	const value = `pa ss"wörd\n/ö^1`
	address, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Key")
		echo, err := json.Marshal([]string{key, url.QueryEscape(key), url.PathEscape(key)})
		fmt.Fprintf(w, "%s %s %v", r.URL, echo, err)
	})
	g := granted(t, grant.Net(host), grant.Env("API_TOKEN"), environment("API_TOKEN", value))
	out := touch(t, t.Context(), g, "http.get", `{"url": ["`+address+`/a/", {"env": "API_TOKEN"}], "headers": {"X-Key": [{"env": "API_TOKEN"}]}}`)
	gives(t, out, `/a/<secret API_TOKEN>`)
	if text := generable.JSON(out.Value, nil); strings.Contains(text, "ss") && strings.Contains(text, "^1") || strings.Contains(text, "%5E1") {
		t.Errorf("the secret comes back: %s", text)
	}
}

// TestSecretInSecret: if one value is the beginning of another, the rest of the longer one is not shown, and of two
// names for one value always the same one is used.
func TestSecretInSecret(t *testing.T) {
	address, host := server(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("X-All"))
	})
	for range 10 { // the order of the names does not matter
		g := granted(t, grant.Net(host), grant.Env("A_TOKEN", "B_TOKEN", "C_TOKEN", "D_TOKEN"),
			environment("A_TOKEN", "abcd", "B_TOKEN", "abcdefgh", "C_TOKEN", "samesame", "D_TOKEN", "samesame"))
		out := touch(t, t.Context(), g, "http.get", `{"url": "`+address+`", "headers": {"X-All": [{"env": "A_TOKEN"}, " ", {"env": "D_TOKEN"}, " ", {"env": "B_TOKEN"}, " ", {"env": "C_TOKEN"}]}}`)
		gives(t, out, `"text":"<secret A_TOKEN> <secret C_TOKEN> <secret B_TOKEN> <secret C_TOKEN>"`)
	}
}

// TestSecretAtTheCap: a text cut at the cap contains no part of a secret, however much shorter the text became by
// replacing secrets.
func TestSecretAtTheCap(t *testing.T) {
	value := strings.Repeat("s3cr3t", 20)
	address, host := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(value, 100)) })
	for size := int64(200); size < 330; size++ {
		g := granted(t, grant.Net(host), grant.Env("API_TOKEN"), environment("API_TOKEN", value), grant.OutputCap(size))
		out := touch(t, t.Context(), g, "http.get", `{"url": "`+address+`", "headers": {"X-Key": [{"env": "API_TOKEN"}]}}`)
		if text := generable.JSON(out.Value, nil); out.Err != nil || strings.Contains(text, "s3c") || !strings.Contains(text, `"truncated":true`) {
			t.Fatalf("cap %d: %v %s", size, out.Err, text)
		}
	}
}
