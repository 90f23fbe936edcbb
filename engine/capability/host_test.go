package capability_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/capability"
)

// TestHost checks that each host has one form, and that an ambiguous address is refused.
func TestHost(t *testing.T) {
	for address, want := range map[string]string{
		"https://API.Example.com./v1?q#f":   "api.example.com",
		"http://example.com:80":             "example.com",
		"https://example.com:443/":          "example.com",
		"https://example.com:80/":           "example.com:80",
		"http://[::1]:8080/":                "[::1]:8080",
		"http://[::ffff:127.0.0.1]/":        "127.0.0.1",
		"http://127.0.0.1:00080/":           "127.0.0.1",
		"http://user@example.com/":          "",
		"http://example.com\\@evil.example": "",
		"http://bücher.example/":            "",
		"http://[fe80::1%25eth0]/":          "",
		"http:///path":                      "",
		"//example.com/":                    "",
		"ftp://example.com/":                "",
		"http://example.com:0/":             "",
		"http://example.com:99999/":         "",
		"http://a b/":                       "",
		"example.com":                       "",
	} {
		got, err := capability.Host(address)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", address, got, err, want)
		}
	}
	for text, want := range map[string]string{"https://a.example/": "a.example", "https://a.example/%s": "a.example", "https://a.example": "", "https://": "",
		"https://%s.example/": "", "https://a@b/": "", "https://a.example:8443?x": "a.example:8443"} {
		if got := capability.HostOfPrefix(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzHost checks that the host of any address is in normal form.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"http://a/", "https://[::1]:1/x", "http://a:80@b/", "http://%41/", "http://a%00b/", "http://1.2.3.4.:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		host, err := capability.Host(address)
		if err != nil {
			return
		}
		if host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/@?# \t\n") {
			t.Errorf("%q: the host is %q", address, host)
		}
		if again, err := capability.Host("http://" + host + "/"); err != nil || again != strings.TrimSuffix(host, ":80") {
			t.Errorf("%q: the host %q is %q, %v", address, host, again, err)
		}
	})
}

// TestLooksSecret checks which names of variables suggest a secret.
func TestLooksSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "GITHUB_TOKEN": true, "DB_PASSWORD": true, "db_passwd": true, "AWS_SECRET_ACCESS_KEY": true, "SESSION_COOKIE": true, "PGPASSWORD": true,
		"MYTOKEN": true, "API_KEYS": true, "SSH_AUTH_SOCK": true, "AUTH2": true,
		"HOME": false, "PATH": false, "LANG": false, "PWD": false, "MONKEY": false, "KEYBOARD": false, "TOKENIZER": false, "AUTHOR": false, "PASSAGE": false, "COMPASS": false,
	} {
		if got := capability.LooksSecret(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
