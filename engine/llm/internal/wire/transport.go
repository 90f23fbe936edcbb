package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Transport makes the calls. It is safe for concurrent use.
type Transport struct {
	Base http.RoundTripper
}

// errTaken means that the client above receives no answer.
var errTaken = errors.New("the answer is in the exchange")

// RoundTrip implements [http.RoundTripper]. For a request with an [Exchange] it returns no response.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := from(req.Context())
	if x == nil {
		return t.Base.RoundTrip(req)
	}
	if req.Body != nil {
		req.Body.Close()
	}
	x.Response, x.Err = x.onward(func() (*model.Response, *engine.Error) { return x.once(t.Base, req) })
	if x.Err == nil {
		x.Response, x.Err = x.Settle(x.Response)
	}
	return nil, errTaken
}

// once makes one request of the call and reads its answer.
func (x *Exchange) once(base http.RoundTripper, req *http.Request) (*model.Response, *engine.Error) {
	out, fail := x.rewrite(req)
	if fail != nil {
		return nil, fail
	}
	parent := req.Context()
	ctx, w := newWatch(parent, &x.Plan)
	defer w.stop()
	res, err := base.RoundTrip(out.WithContext(ctx))
	if err != nil {
		return nil, x.error(x.unsent(parent, ctx, err))
	}
	defer res.Body.Close()
	w.body = res.Body
	a := newAnswer(&x.Plan)
	a.linger = w.linger
	if f := x.read(res.StatusCode, res.Header, w, a); f != nil {
		if f.cause != nil {
			x.brokenOff(parent, ctx, f)
		}
		if f.kind == engine.KindTruncated && f.status >= 400 {
			f = x.cutOff(f)
		}
		return nil, x.error(f)
	}
	x.refusal = a.claude.refusal
	return a.named(res.Header), nil
}

// rewrite returns a copy of the request with the body for the provider.
func (x *Exchange) rewrite(req *http.Request) (*http.Request, *engine.Error) {
	if origin := req.URL.Scheme + "://" + req.URL.Host; origin != x.Origin {
		return nil, x.Fail(engine.KindConfig, nil, "", "a request for %s was about to go to %s", x.Origin, origin)
	}
	var data []byte
	sent := x.Plan
	sent.Request = describing(x.Dialect, x.Request)
	body, err := x.Dialect.write(&sent)
	if err == nil {
		err = body.Merge(spelled(x.Dialect, x.Request.Params.Extra))
	}
	if err == nil {
		err = x.bound(body)
	}
	if err == nil {
		body.hide(x.Keys)
		data, err = encode(body)
	}
	var short *tooShort
	if errors.As(err, &short) {
		return nil, x.error(&failure{kind: engine.KindBudget, what: err.Error(), help: "raise the budget, or have the model think less"})
	}
	var u *Unsupported
	if errors.As(err, &u) {
		return nil, x.Fail(engine.KindUnsupported, nil, u.Help, "it %s", u.What)
	}
	if err != nil {
		return nil, x.Fail(engine.KindBadRequest, err, "", "the request cannot be written: %v", err)
	}
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(data))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	out.ContentLength = int64(len(data))
	out.Header.Set("User-Agent", "agentscript")
	out.Header.Del("OpenAI-Organization")
	out.Header.Del("Authorization") // the client sends a dummy if there is no key
	if x.Bearer != "" {
		out.Header.Set("Authorization", "Bearer "+x.Bearer)
	}
	if x.Call != "" {
		out.Header[idempotencyHeader] = []string{idempotencyKey(x.Call, data)}
	}
	if d, ok := x.Dialect.(addressed); ok {
		d.address(out, &x.Plan)
	}
	return out, nil
}

// idempotencyHeader is the header by which servers and proxies of OpenAI's form recognize a request that is sent again
// because its answer was lost. It is in lower case on purpose: net/http by itself repeats requests that have the header
// in canonical form, but this package decides how often a call is made.
const idempotencyHeader = "idempotency-key"

// idempotencyKey returns the key of a request: the same for the same call with the same body, in any process. A call
// repeated with another limit is another request.
func idempotencyKey(call string, body []byte) string {
	sum := sha256.Sum256(append([]byte(call+"\x00"), body...))
	return hex.EncodeToString(sum[:16])
}

// unsent says why no answer arrived at all: the caller's own reasons first.
func (x *Exchange) unsent(parent, ctx context.Context, err error) *failure {
	f := &failure{kind: engine.KindNetwork, cause: err, retryable: true}
	if x.gaveUp(parent, ctx, f) {
		return f
	}
	host := x.Origin
	var op *net.OpError
	var dns *net.DNSError
	var timeout net.Error
	var record tls.RecordHeaderError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &dns):
		f.what = fmt.Sprintf("there is no host of the name %q", dns.Name)
		f.retryable = dns.IsTemporary || dns.IsTimeout
	case errors.As(err, &cert), errors.As(err, &unknown):
		f.what, f.retryable = fmt.Sprintf("the certificate of %s is not trusted: %v", host, err), false
		f.help = "check the base URL, or add the server's authority to the system's certificates"
	case errors.As(err, &record):
		f.what, f.retryable = fmt.Sprintf("%s does not speak TLS", host), false
		f.help = "write http:// in the base URL, or check what listens there"
	case errors.As(err, &timeout) && timeout.Timeout():
		f.kind, f.what = engine.KindTimeout, fmt.Sprintf("cannot connect to %s in time", host)
		f.help = x.remedy(&failure{kind: engine.KindNetwork})
	case errors.As(err, &op) && op.Op == "dial":
		f.what = fmt.Sprintf("cannot connect to %s: %v", host, op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.what = fmt.Sprintf("%s closed the connection before it answered", host)
	default:
		f.what = fmt.Sprintf("the connection to %s failed: %v", host, err)
	}
	f.what = quote(x.Keys.String(f.what))
	return f
}

// brokenOff says why an answer stopped midway.
func (x *Exchange) brokenOff(parent, ctx context.Context, f *failure) {
	if x.gaveUp(parent, ctx, f) || f.status != 0 {
		return
	}
	if f.kind == engine.KindTruncated && !errors.Is(f.cause, io.ErrUnexpectedEOF) {
		f.what = quote(x.Keys.String(fmt.Sprintf("the connection broke before the answer ended: %v", f.cause)))
	}
}

// gaveUp reports whether the caller or the watch ended the call, and records the reason in f.
func (x *Exchange) gaveUp(parent, ctx context.Context, f *failure) bool {
	if done := Interrupted(parent); done != nil {
		f.kind, f.what, f.retryable, f.cause, f.help = done.Kind, done.Message, false, done.Cause, done.Help
		return true
	}
	var s *stall
	if errors.As(context.Cause(ctx), &s) {
		f.kind, f.what, f.retryable, f.cause, f.status = engine.KindTimeout, s.Error(), true, s, 0
		f.says, f.code, f.help = "", "", s.help
		return true
	}
	return false
}

// Interrupted returns the error of a context that is done: cancelled or past its deadline. errors.Is finds both the
// context's error and its cause.
func Interrupted(ctx context.Context) *engine.Error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	cause := error(err)
	if c := context.Cause(ctx); !errors.Is(c, err) {
		cause = &interrupted{err, c}
	}
	e := engine.Errorf(engine.KindCancelled, CodeOf(engine.KindCancelled), "the call was cancelled")
	if errors.Is(err, context.DeadlineExceeded) {
		e = engine.Errorf(engine.KindTimeout, CodeOf(engine.KindTimeout), "the time allowed for the call ran out").WithHelp("allow more time, or use a faster model")
	}
	e.Cause = cause
	return e
}

type interrupted struct{ err, cause error }

func (i *interrupted) Error() string { return i.cause.Error() }

func (i *interrupted) Unwrap() []error { return []error{i.err, i.cause} }

// NewBase returns a transport that connects within the limit and reads only the proxy from the environment. A zero
// limit waits as long as the system does.
func NewBase(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: connect,
		ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}
