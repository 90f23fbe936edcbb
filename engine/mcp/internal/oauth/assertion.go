package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/url"
	"strings"
	"time"
)

// assertionLife is how long what a client says of itself is good for.
const assertionLife = 5 * time.Minute

var errNoKey = errors.New("it is no private key of EC (P-256, P-384, P-521), RSA (2048 bits or more) or Ed25519 in PEM")

// signer reads a private key. A variable may hold it in one line, with \n for its line ends.
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

// assertion is what a client that shows who it is by its key says of itself (RFC 7523), signed (RFC 7515).
func assertion(key crypto.Signer, client, issuer string, now time.Time) (string, error) {
	alg, sign := signing(key)
	head, err := json.Marshal(map[string]string{"alg": alg, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"iss": client, "sub": client, "aud": issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(assertionLife).Unix()})
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := sign([]byte(text))
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// signing is how a key of [signer] signs, and the name of that (RFC 7518).
func signing(key crypto.Signer) (alg string, sign func([]byte) ([]byte, error)) {
	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		hash, alg := crypto.SHA256, "ES256"
		switch key.Curve {
		case elliptic.P384():
			hash, alg = crypto.SHA384, "ES384"
		case elliptic.P521():
			hash, alg = crypto.SHA512, "ES512"
		}
		return alg, func(b []byte) ([]byte, error) {
			r, s, err := ecdsa.Sign(rand.Reader, key, digest(hash, b))
			if err != nil {
				return nil, err
			}
			n := (key.Curve.Params().BitSize + 7) / 8
			return append(r.FillBytes(make([]byte, n)), s.FillBytes(make([]byte, n))...), nil
		}
	case ed25519.PrivateKey:
		return "EdDSA", func(b []byte) ([]byte, error) { return key.Sign(nil, b, crypto.Hash(0)) }
	}
	return "RS256", func(b []byte) ([]byte, error) { return key.Sign(rand.Reader, digest(crypto.SHA256, b), crypto.SHA256) }
}

func digest(hash crypto.Hash, b []byte) []byte {
	switch hash {
	case crypto.SHA384:
		sum := sha512.Sum384(b)
		return sum[:]
	case crypto.SHA512:
		sum := sha512.Sum512(b)
		return sum[:]
	}
	sum := sha256.Sum256(b)
	return sum[:]
}

// signed adds to the request for a token who the client is, where its key shows that.
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
