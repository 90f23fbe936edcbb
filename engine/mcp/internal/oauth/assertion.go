package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha256" // for [crypto.Hash]
	_ "crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/url"
	"strings"
	"time"
)

// assertionLife is how long a client's assertion is valid.
const assertionLife = 5 * time.Minute

var errNoKey = errors.New("it is no private key of EC (P-256, P-384, P-521), RSA (2048 bits or more) or Ed25519 in PEM")

// signer reads a private key. A variable may contain it in one line, with \n for its line ends.
func signer(text string) (crypto.Signer, error) {
	block, _ := pem.Decode([]byte(strings.ReplaceAll(text, `\n`, "\n")))
	if block == nil {
		return nil, errNoKey
	}
	for _, parse := range []func([]byte) (any, error){
		x509.ParsePKCS8PrivateKey,
		func(b []byte) (any, error) { return x509.ParseECPrivateKey(b) },
		func(b []byte) (any, error) { return x509.ParsePKCS1PrivateKey(b) },
	} {
		found, err := parse(block.Bytes)
		if err != nil {
			continue
		}
		switch key := found.(type) {
		case *ecdsa.PrivateKey:
			if key.Curve != elliptic.P224() {
				return key, nil
			}
		case *rsa.PrivateKey:
			if key.N.BitLen() >= 2048 {
				return key, nil
			}
		case ed25519.PrivateKey:
			return key, nil
		}
		break
	}
	return nil, errNoKey
}

// assertion returns the signed assertion (RFC 7515, RFC 7523) of a client that authenticates by its key.
func assertion(key crypto.Signer, client, issuer string, now time.Time) (string, error) {
	alg, hash := algorithm(key)
	head, _ := json.Marshal(map[string]string{"alg": alg, "typ": "JWT"}) // texts and numbers can always be encoded
	claims, _ := json.Marshal(map[string]any{"iss": client, "sub": client, "aud": issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix()})
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := sign(key, hash, []byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// algorithm returns how a key of [signer] signs (RFC 7518): the name, and the hash of the signed text.
func algorithm(key crypto.Signer) (string, crypto.Hash) {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		switch key.Curve {
		case elliptic.P384():
			return "ES384", crypto.SHA384
		case elliptic.P521():
			return "ES512", crypto.SHA512
		}
		return "ES256", crypto.SHA256
	case ed25519.PrivateKey:
		return "EdDSA", crypto.Hash(0) // it signs the text itself
	}
	return "RS256", crypto.SHA256
}

func sign(key crypto.Signer, hash crypto.Hash, text []byte) ([]byte, error) {
	if hash != 0 {
		h := hash.New()
		h.Write(text) // never fails
		text = h.Sum(nil)
	}
	if key, ok := key.(*ecdsa.PrivateKey); ok { // JWT signatures contain two numbers, not ASN.1
		r, s, err := ecdsa.Sign(rand.Reader, key, text)
		if err != nil {
			return nil, err
		}
		n := (key.Curve.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, n)), s.FillBytes(make([]byte, n))...), nil
	}
	return key.Sign(rand.Reader, text, hash)
}

// signed adds a client's assertion to a request for a token, if the client authenticates by its key.
func (a *Authority) signed(params url.Values, issuer string) error {
	text, err := a.lookUp(a.how.Key)
	if err != nil {
		return err
	}
	key, bad := signer(text)
	if bad != nil {
		return a.Failure("the key %s cannot be used: %s", a.how.Key, bad.Error())
	}
	made, bad := assertion(key, a.how.ID, issuer, time.Now())
	if bad != nil {
		return a.Failure("the key %s signs nothing: %s", a.how.Key, bad.Error())
	}
	a.hidden.Add("client assertion", made)
	params.Set("client_assertion", made)
	params.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
	return nil
}
