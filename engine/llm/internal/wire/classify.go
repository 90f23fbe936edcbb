package wire

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// classify turns a refused request, or an error object inside an answer, into a failure:
// by the provider's structured words, then by the status, and by the wording of the message
// only where providers give nothing else.
func classify(status int, header http.Header, body []byte, now time.Time) *failure {
	e := parseErrorBody(body)
	if status < 300 {
		status = e.status // an error object that came with status 200 names its own
	}
	f := &failure{
		status: status, code: e.code, says: e.message, param: e.param,
		requestID: requestID(header), wait: retryAfter(header, e, now),
	}
	if f.requestID == "" {
		f.requestID = e.request
	}
	if name, _, _ := strings.Cut(header.Get("X-Amzn-Errortype"), ":"); f.code == "" && name != "" {
		f.code = name
		e.kinds = append(e.kinds, name)
	}
	f.kind, f.what = byWords(e, status)
	if f.kind == "" {
		f.kind, f.what = byStatus(status)
	}
	if f.kind == engine.KindNotFound && (e.other || e.message == "") {
		// No provider's words: it is the address, not the model, that is unknown.
		f.what = "the server knows no such address"
		f.help = "check the base URL: it may lack its path, as in /v1"
	}
	switch f.kind {
	case engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindTimeout:
		f.retryable = true
	}
	if misread[e.code] {
		f.kind, f.what, f.help, f.retryable = engine.KindBadResponse, "the model wrote something that its provider could not read", "try again, or use another model", true
	}
	switch header.Get("X-Should-Retry") {
	case "true":
		f.retryable = true
	case "false":
		f.retryable = false
	}
	return f
}

// misread are the codes of providers that read what a model writes, and could not.
var misread = map[string]bool{"tool_use_failed": true, "json_validate_failed": true, "output_parse_failed": true}

// words are the structured codes and types that providers use.
var words = map[string]engine.ErrKind{
	"context_length_exceeded":              engine.KindContextLength,
	"exceed_context_size_error":            engine.KindContextLength,
	"request_too_large":                    engine.KindContextLength,
	"string_above_max_length":              engine.KindContextLength,
	"insufficient_quota":                   engine.KindQuota,
	"billing_hard_limit_reached":           engine.KindQuota,
	"billing_not_active":                   engine.KindQuota,
	"billing_error":                        engine.KindQuota,
	"insufficient_balance":                 engine.KindQuota,
	"rate_limit_exceeded":                  engine.KindRateLimit,
	"rate_limit_error":                     engine.KindRateLimit,
	"rate_limit_reached":                   engine.KindRateLimit,
	"requests":                             engine.KindRateLimit,
	"tokens":                               engine.KindRateLimit,
	"resource_exhausted":                   engine.KindRateLimit,
	"too_many_requests":                    engine.KindRateLimit,
	"invalid_api_key":                      engine.KindAuth,
	"api_key_invalid":                      engine.KindAuth,
	"authentication_error":                 engine.KindAuth,
	"permission_error":                     engine.KindAuth,
	"permission_denied":                    engine.KindAuth,
	"unauthenticated":                      engine.KindAuth,
	"model_not_found":                      engine.KindNotFound,
	"not_found_error":                      engine.KindNotFound,
	"not_found":                            engine.KindNotFound,
	"unsupported_value":                    engine.KindUnsupported,
	"unsupported_parameter":                engine.KindUnsupported,
	"extra_forbidden":                      engine.KindUnsupported,
	"content_filter":                       engine.KindRefused,
	"content_policy_violation":             engine.KindRefused,
	"responsibleaipolicyviolation":         engine.KindRefused,
	"overloaded_error":                     engine.KindOverloaded,
	"unavailable":                          engine.KindOverloaded,
	"service_unavailable":                  engine.KindOverloaded,
	"engine_overloaded":                    engine.KindOverloaded,
	"server_error":                         engine.KindServer,
	"api_error":                            engine.KindServer,
	"internal_server_error":                engine.KindServer,
	"internal":                             engine.KindServer,
	"deadline_exceeded":                    engine.KindTimeout,
	"timeout_error":                        engine.KindTimeout,
	"authentication":                       engine.KindAuth,
	"payment_required":                     engine.KindQuota,
	"quota_exceeded":                       engine.KindQuota,
	"request_timeout":                      engine.KindTimeout,
	"insufficient_system_resource":         engine.KindOverloaded,
	"model_max_prompt_tokens_exceeded":     engine.KindContextLength,
	"invalid_prompt":                       engine.KindRefused,
	"unsupported_country_region_territory": engine.KindAuth,
	"wrong_api_key":                        engine.KindAuth,
	"invalid_authentication_error":         engine.KindAuth,
	"exceeded_current_quota_error":         engine.KindQuota,
	"invalid_model":                        engine.KindNotFound,
	"model_not_available":                  engine.KindNotFound,
	"prohibited_content":                   engine.KindRefused,

	// Bedrock
	"throttlingexception":           engine.KindRateLimit,
	"servicequotaexceededexception": engine.KindQuota,
	"accessdeniedexception":         engine.KindAuth,
	"unrecognizedclientexception":   engine.KindAuth,
	"expiredtokenexception":         engine.KindAuth,
	"resourcenotfoundexception":     engine.KindNotFound,
	"modelnotreadyexception":        engine.KindOverloaded,
	"serviceunavailableexception":   engine.KindOverloaded,
	"modeltimeoutexception":         engine.KindTimeout,
	"modelerrorexception":           engine.KindServer,
	"internalserverexception":       engine.KindServer,

	// Z.ai
	"1000": engine.KindAuth,
	"1001": engine.KindAuth,
	"1002": engine.KindAuth,
	"1113": engine.KindQuota,
	"1211": engine.KindNotFound,
	"1261": engine.KindContextLength,
	"1301": engine.KindRefused,
	"1302": engine.KindRateLimit,
	"1305": engine.KindOverloaded,
}

func byWords(e errorBody, status int) (engine.ErrKind, string) {
	message := strings.ToLower(e.message)
	clientError := status == 0 || status >= 400 && status < 500 && status != 401 && status != 429
	// Too long an input is told by wording alone nearly everywhere, also under codes that
	// say less: so it goes first. A rate limit that counts tokens is none of it.
	if clientError && overflow(message) {
		return engine.KindContextLength, whats[engine.KindContextLength]
	}
	for _, k := range append([]string{e.code}, e.kinds...) {
		kind, ok := words[strings.ToLower(k)]
		if ok && kind == engine.KindNotFound && status != 404 && status != 400 && status != 0 {
			continue
		}
		// Some put the word for any error of theirs beside every status: that says more.
		if ok && kind == engine.KindServer && status >= 400 && status != 500 {
			continue
		}
		if ok {
			return kind, whats[kind]
		}
	}
	if clientError && (strings.Contains(message, "response_format") || strings.Contains(message, "json_schema")) {
		return engine.KindUnsupported, "the model does not take this response format"
	}
	if clientError {
		for _, w := range wordings {
			if strings.Contains(message, w.phrase) {
				return w.kind, whats[w.kind]
			}
		}
	}
	return "", ""
}

// wordings tell kinds that some providers give no code of their own.
var wordings = []struct {
	phrase string
	kind   engine.ErrKind
}{
	{"api key not valid", engine.KindAuth},
	{"incorrect api key", engine.KindAuth},
	{"invalid api key", engine.KindAuth},
	{"user location is not supported", engine.KindAuth},
	{"model identifier is invalid", engine.KindNotFound},
	{"does not support", engine.KindUnsupported},
	{"cannot find field", engine.KindUnsupported},
	{"is not enabled for", engine.KindUnsupported},
	{"is not supported by", engine.KindUnsupported},
	{"is unsupported", engine.KindUnsupported},
	{"not supported for this model", engine.KindUnsupported},
	{"not supported on this model", engine.KindUnsupported},
	{"deprecated for this model", engine.KindUnsupported},
	{"extra inputs are not permitted", engine.KindUnsupported},
	{"cannot both be specified", engine.KindUnsupported},
	{"credit balance is too low", engine.KindQuota},
	{"specified api usage limits", engine.KindQuota},
	{"content filtering policy", engine.KindRefused},
}

func overflow(message string) bool {
	return slices.ContainsFunc([]string{
		"maximum context length", "context length exceeded", "exceeds the context", "exceed_context_size",
		"exceeds the available context", "max context length", "prompt is too long", "prompt too long", "context window",
		"exceeds the maximum number of tokens", "exceed context limit", "input token count", "too many tokens",
		"input is too long",
	}, func(phrase string) bool { return strings.Contains(message, phrase) })
}

// whats say in plain words what a kind means when the provider's words are to follow.
var whats = map[engine.ErrKind]string{
	engine.KindContextLength: "the request is longer than the model's context window",
	engine.KindQuota:         "the account's quota is used up",
	engine.KindRateLimit:     "the rate limit is reached",
	engine.KindAuth:          "the provider refused the credentials",
	engine.KindNotFound:      "the provider knows no such model",
	engine.KindUnsupported:   "the model does not take a part of the request",
	engine.KindRefused:       "the provider's content filter refused the request",
	engine.KindOverloaded:    "the provider is overloaded",
	engine.KindServer:        "the provider failed",
	engine.KindTimeout:       "the provider gave up waiting",
	engine.KindBadRequest:    "the provider does not accept the request",
	engine.KindBadResponse:   "the server answered with something else than an answer",
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
	case status >= 500 || status == 424: // of the server behind
		kind = engine.KindServer
	case status >= 400:
		kind = engine.KindBadRequest
	case status >= 300:
		return engine.KindBadResponse, "the server redirects elsewhere, and a key must not follow"
	case status == 0:
		return engine.KindServer, "the provider reported an error inside its answer"
	}
	return kind, whats[kind]
}

func requestID(header http.Header) string {
	for _, key := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id"} {
		if id := header.Get(key); id != "" {
			return quote(id)
		}
	}
	return ""
}
