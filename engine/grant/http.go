package grant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/generable"
)

// maxBody bounds the body of a request.
const maxBody = 16 << 20

// kept lists the headers that belong to the transport.
var kept = strings.Fields("Host Content-Length Transfer-Encoding Connection Proxy-Connection Proxy-Authorization Upgrade Te Trailer Accept-Encoding Expect Keep-Alive")

// request answers http.get, http.post and http.request.
func (g *Grants) request(ctx context.Context, op string, a args) engine.Outcome {
	if len(g.hosts) == 0 {
		return capability.Ungranted((&capability.Request{Op: op, Args: a.Map}).Use(engine.EffectHTTP))
	}
	x := &exchange{g: g, op: op, known: &redact.Redactor{Mark: secretMark}}
	req, wrong := x.build(ctx, a)
	if wrong != nil {
		return engine.Failed(x.scrubbed(wrong))
	}
	client := &http.Client{Transport: g.client, CheckRedirect: x.redirect}
	resp, err := client.Do(req)
	if err != nil {
		return engine.Failed(x.failure(ctx, a, err))
	}
	defer resp.Body.Close()
	run := redact.SetOf(ctx)
	body := &capped{}
	body.room(g.cap, x.known, run)
	_, err = io.Copy(body, io.LimitReader(resp.Body, int64(body.most)+1))
	if err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			return engine.Failed(x.failure(ctx, a, err))
		}
		e := engine.Errorf(engine.KindNetwork, diag.TouchFailed, "%s broke off the answer after %d bytes", x.what, len(body.kept))
		if resp.ContentLength > 0 {
			e.Message += fmt.Sprintf(" of %d", resp.ContentLength)
		}
		return engine.Failed(e)
	}
	text, more := body.text(g.cap, x.known, run)
	return done(capability.ResponseType, generable.IntOf(int64(resp.StatusCode)), x.headers(resp.Header), generable.StrOf(text),
		generable.BoolOf(more), generable.StrOf(x.known.Text(resp.Request.URL.Redacted())))
}

// exchange is one request including its redirects.
type exchange struct {
	g       *Grants
	op      string
	what    string // "GET api.example.com"
	known   *redact.Redactor
	own     []string // names of the headers that the script set
	sending bool     // the request has a body
}

// build builds the request, with the secrets inserted.
func (x *exchange) build(ctx context.Context, a args) (*http.Request, *engine.Error) {
	text, wrong := x.g.text(a.value("url"), x.known)
	if wrong != nil {
		return nil, wrong
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, failed(diag.TouchFailed, "the URL cannot be read")
	}
	method := strings.ToUpper(x.op)
	if x.op == "request" {
		method = strings.ToUpper(a.str("method"))
	}
	x.what = method + " " + u.Hostname()
	if wrong := x.permitted(u); wrong != nil {
		return nil, wrong
	}
	body, wrong := x.g.text(a.value("body"), x.known)
	if wrong != nil {
		return nil, wrong
	}
	data, isJSON := a.Get("json")
	if isJSON {
		body = generable.JSON(data, nil)
	}
	if len(body) > maxBody {
		return nil, failed(diag.TouchTooBig, "the body has %d bytes, more than %d", len(body), maxBody)
	}
	var send io.Reader
	if x.sending = body != "" || isJSON; x.sending {
		send = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, text, send)
	if err != nil {
		return nil, failed(diag.TouchFailed, "the request cannot be made: the method or the URL is wrong")
	}
	req.Header.Set("User-Agent", "agentscript")
	if isJSON {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, x.head(req, a)
}

// head sets the script's headers.
func (x *exchange) head(req *http.Request, a args) *engine.Error {
	m, ok := a.value("headers").AsMap()
	if !ok {
		return nil
	}
	for i := range m.Len() {
		name, v := m.At(i)
		text, wrong := x.g.text(v, x.known)
		if wrong != nil {
			return wrong
		}
		canonical := http.CanonicalHeaderKey(strings.TrimSpace(name))
		switch {
		case slices.Contains(kept, canonical):
			return failed(diag.TouchRefused, "the header %s is not the script's to set", canonical)
		case !validName(canonical) || strings.ContainsAny(text, "\r\n\x00"):
			return failed(diag.TouchRefused, "the header %q has a name or a value that no header has", canonical)
		}
		req.Header.Set(canonical, text)
		x.own = append(x.own, canonical)
	}
	return nil
}

func validName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", r)
	}) < 0
}

// permitted returns why an address is not granted, nil if it is.
func (x *exchange) permitted(u *url.URL) *engine.Error {
	if _, err := capability.Host(u.String()); err != nil {
		return failed(diag.TouchRefused, "%s: the URL is refused: %s", x.what, err)
	}
	name, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if !x.g.permits(name, port) {
		return capability.Ungranted(use(x.op, name, port, u.Scheme)).Err
	}
	if x.g.proxy != nil && x.g.inward(name, port) {
		return failed(diag.TouchRefused, "%s is not asked for by a proxy: it is no host of the public network", name).
			WithHelp("if it should be, grant it explicitly: --allow-net %s", name)
	}
	return nil
}

// redirect decides whether a redirect is followed. What the script sent to one host is not forwarded to another.
func (x *exchange) redirect(next *http.Request, via []*http.Request) error {
	refused := func(why string) error {
		return failed(diag.TouchRefused, "%s redirects to %s, %s", x.what, next.URL.Hostname(), why)
	}
	first, last := via[0].URL, via[len(via)-1].URL
	switch {
	case len(via) > maxRedirects:
		return refused(fmt.Sprintf("the %dth time", len(via)))
	case last.Scheme == "https" && next.URL.Scheme != "https":
		return refused("which is not encrypted any more")
	}
	if wrong := x.permitted(next.URL); wrong != nil {
		return capability.Redirect(x.what, wrong)
	}
	if next.URL.Scheme == first.Scheme && strings.EqualFold(next.URL.Host, first.Host) {
		return nil
	}
	if next.Body != nil && next.Body != http.NoBody {
		return refused("which would get what was sent")
	}
	for _, name := range x.own {
		next.Header.Del(name)
	}
	next.Header.Del("Referer")
	return nil
}

// headers returns the headers of an answer, by name in lower case and sorted.
func (x *exchange) headers(h http.Header) generable.Value {
	m := generable.NewMap(len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		m.Set(strings.ToLower(name), generable.StrOf(x.known.Text(strings.ToValidUTF8(strings.Join(h[name], ", "), "\uFFFD"))))
	}
	return m.Value()
}

// failure returns the error of a failed request. It leaves out the address, which may contain a secret.
func (x *exchange) failure(ctx context.Context, a args, err error) *engine.Error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return x.scrubbed(own)
	}
	if ctx.Err() != nil {
		return a.tooSlow(ctx, x.what)
	}
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	return x.scrubbed(engine.Errorf(engine.KindNetwork, diag.TouchFailed, "%s failed: %s", x.what, err))
}

// scrubbed returns an error without secrets; it also drops the cause.
func (x *exchange) scrubbed(e *engine.Error) *engine.Error {
	own := *e
	own.Message, own.Help, own.Cause = x.known.Text(e.Message), x.known.Text(e.Help), nil
	return &own
}
