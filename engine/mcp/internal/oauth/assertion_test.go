package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"
)

func inPEM(kind string, der []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// verified reports whether an assertion was signed by a key. It is written from RFC 7518, independently of the signing
// code.
func verified(t *testing.T, text string, public crypto.PublicKey) (head, claims map[string]any, ok bool) {
	t.Helper()
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		t.Fatal(text)
	}
	var raw [3][]byte
	for i, part := range parts {
		b, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			t.Fatal(err)
		}
		raw[i] = b
	}
	if err := json.Unmarshal(raw[0], &head); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw[1], &claims); err != nil {
		t.Fatal(err)
	}
	said := []byte(parts[0] + "." + parts[1])
	hashed := func(h crypto.Hash) []byte {
		w := h.New()
		w.Write(said)
		return w.Sum(nil)
	}
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		n, ok := map[string]int{"ES256": 32, "ES384": 48, "ES512": 66}[head["alg"].(string)]
		if !ok || len(raw[2]) != 2*n {
			return head, claims, false
		}
		h := map[string]crypto.Hash{"ES256": crypto.SHA256, "ES384": crypto.SHA384, "ES512": crypto.SHA512}[head["alg"].(string)]
		return head, claims, ecdsa.Verify(key, hashed(h), new(big.Int).SetBytes(raw[2][:n]), new(big.Int).SetBytes(raw[2][n:]))
	case *rsa.PublicKey:
		return head, claims, head["alg"] == "RS256" && rsa.VerifyPKCS1v15(key, crypto.SHA256, hashed(crypto.SHA256), raw[2]) == nil
	case ed25519.PublicKey:
		return head, claims, head["alg"] == "EdDSA" && ed25519.Verify(key, said, raw[2])
	}
	return nil, nil, false
}

func TestAssertions(t *testing.T) {
	keys := map[string]string{}
	for name, curve := range map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521(), "P-224": elliptic.P224()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.MarshalECPrivateKey(key)
		keys[name] = inPEM("EC PRIVATE KEY", der, err)
		der, err = x509.MarshalPKCS8PrivateKey(key)
		keys[name+" in one line"] = strings.ReplaceAll(inPEM("PRIVATE KEY", der, err), "\n", `\n`)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys["RSA"] = inPEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(long), nil)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(ed)
	keys["Ed25519"] = inPEM("PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(ed.Public())
	keys["none: public"] = inPEM("PUBLIC KEY", der, err)
	keys["none: empty"], keys["none: words"] = "", "hunter2"
	keys["none: broken"] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	now := time.Unix(1_700_000_000, 0)
	for name, text := range keys {
		key, err := signer(text)
		if strings.HasPrefix(name, "none") || strings.HasPrefix(name, "P-224") {
			if err == nil {
				t.Errorf("%s is a key", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		made, err := assertion(key, "robot", "https://auth.example.com", now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		head, claims, ok := verified(t, made, key.Public())
		if !ok || head["typ"] != "JWT" || claims["iss"] != "robot" || claims["sub"] != "robot" || claims["aud"] != "https://auth.example.com" ||
			claims["iat"] != 1.7e9 || claims["exp"] != 1.7e9+300 || len(claims["jti"].(string)) < 20 {
			t.Errorf("%s: %v %v, %v", name, head, claims, ok)
		}
		if again, _ := assertion(key, "robot", "https://auth.example.com", now); again == made {
			t.Errorf("%s: two are the same", name)
		}
	}
}

// Files and headers that others wrote can do no harm.
func FuzzChallenge(f *testing.F) {
	for _, text := range []string{`Bearer resource_metadata="https://a/b", scope="a b", error="insufficient_scope"`, `Bearer`, `Basic realm="x", Bearer scope=a`, `Bearer scope="`, `"`, `Bearer a=b,,c`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ch := challengeOf(&http.Response{StatusCode: 403, Header: http.Header{"Www-Authenticate": {text, text}}}, "t")
		for _, s := range ch.scopes {
			if s == "" || strings.ContainsAny(s, " \t\n") {
				t.Errorf("the scope %q", s)
			}
		}
		if Key(text) != Key(Key(text)) {
			t.Errorf("%q is kept under %q and %q", text, Key(text), Key(Key(text)))
		}
	})
}
