package wire

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// classify converts a refused request, or an error object inside an answer, to a failure: by the provider's table, else
// by the status.
func classify(provider string, status int, header http.Header, body []byte, now time.Time) *failure {
	e := parseErrorBody(body)
	if status < 300 {
		status = e.status // an error object with status 200 may contain a status
	}
	f := &failure{
		status: status, code: e.code, says: e.message, param: e.param,
		requestID: cmp.Or(requestID(header), e.request), wait: retryAfter(header, e, now),
	}
	if name, _, _ := strings.Cut(header.Get("X-Amzn-Errortype"), ":"); f.code == "" && name != "" {
		f.code = name
		e.kinds = append(e.kinds, name)
	}
	row := refusalOf(provider, &e, status)
	switch {
	case row == nil:
		f.kind, f.what = byStatus(status)
	case row.kind == engine.KindBadResponse: // of a provider that itself parses its models' output
		f.what, f.help, f.retryable = "the model wrote something that its provider could not read", "try again, or use another model", true
	}
	if row != nil {
		f.kind = row.kind
	}
	f.what = cmp.Or(f.what, meanings[f.kind])
	if f.kind == engine.KindNotFound && (e.other || e.message == "") {
		// These are not a provider's words: the address is unknown, not the model.
		f.what = "the server knows no such address"
		f.help = "check the base URL: it may lack its path, as in /v1"
	}
	switch f.kind {
	case engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindTimeout:
		f.retryable = true
	}
	switch header.Get("X-Should-Retry") {
	case "true":
		f.retryable = true
	case "false":
		f.retryable = false
	}
	return f
}

func byStatus(status int) (engine.ErrKind, string) {
	kind := engine.KindBadResponse
	switch {
	case status == 401 || status == 403 || status == 407:
		kind = engine.KindAuth
	case status == 402:
		kind = engine.KindQuota
	case status == 404:
		kind = engine.KindNotFound
	case status == 408:
		kind = engine.KindTimeout
	case status == 409:
		return engine.KindServer, "the provider reports a conflict with another request"
	case status == 413:
		return engine.KindContextLength, "the request is larger than the server takes"
	case status == 425 || status == 429:
		kind = engine.KindRateLimit
	case status == 503 || status == 529:
		kind = engine.KindOverloaded
	case status >= 500 || status == 424: // of the server behind it
		kind = engine.KindServer
	case status >= 400:
		kind = engine.KindBadRequest
	case status >= 300:
		return engine.KindBadResponse, "the server redirects elsewhere, and a key must not follow"
	case status == 0:
		return engine.KindServer, "the provider reported an error inside its answer"
	}
	return kind, meanings[kind]
}

func requestID(header http.Header) string {
	for _, key := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id"} {
		if id := header.Get(key); id != "" {
			return quote(id)
		}
	}
	return ""
}
