package wire

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// classify turns a refused request, or an error object inside an answer, into a failure: by
// the provider's structured words, then by the status, and by the wording of the message
// only where providers send nothing else.
func classify(status int, header http.Header, body []byte, now time.Time) *failure {
	e := parseErrorBody(body)
	if status < 300 {
		status = e.status // an error object that came with status 200 names its own
	}
	f := &failure{
		status: status, code: e.code, says: e.message, param: e.param,
		requestID: cmp.Or(requestID(header), e.request), wait: retryAfter(header, e, now),
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

// saying is how a kind of failure is recognised, and what providers say of it.
type saying struct {
	kind    engine.ErrKind
	what    string   // in plain words, before the provider's own
	codes   []string // structured codes and types
	phrases []string // wordings of providers that send no code
}

// sayings are the kinds of failure. Where a message holds the phrases of several, the first counts.
var sayings = []saying{
	{
		engine.KindContextLength, "the request is longer than the model's context window",
		[]string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length", "model_max_prompt_tokens_exceeded", "too_many_prompt_tokens", "1261"},
		[]string{
			"maximum context length", "context length exceeded", "exceeds the context", "exceed_context_size", "exceeds the available context",
			"max context length", "prompt is too long", "prompt too long", "context window", "exceeds the maximum number of tokens",
			"exceed context limit", "input token count", "too many tokens", "input is too long", "number of input tokens exceeds", "total length of all messages is too long",
		},
	},
	{
		engine.KindTruncated, "the token limit was used up before the answer ended", nil,
		[]string{"could not finish the message because max_tokens"},
	},
	{
		engine.KindAuth, "the provider refused the credentials",
		[]string{
			"invalid_api_key", "api_key_invalid", "wrong_api_key", "authentication", "authentication_error", "invalid_authentication_error",
			"unauthenticated", "permission_error", "permission_denied", "unsupported_country_region_territory",
			"accessdeniedexception", "unrecognizedclientexception", "expiredtokenexception", "1000", "1001", "1002",
		},
		[]string{"api key not valid", "incorrect api key", "invalid api key", "user location is not supported"},
	},
	{
		engine.KindNotFound, "the provider knows no such model",
		[]string{"model_not_found", "not_found_error", "not_found", "invalid_model", "model_not_available", "resourcenotfoundexception", "1211"},
		[]string{"model identifier is invalid"},
	},
	{
		engine.KindUnsupported, "the model does not take a part of the request",
		[]string{"unsupported_value", "unsupported_parameter", "extra_forbidden"},
		[]string{
			"does not support", "cannot find field", "is not enabled for", "is not supported by", "is unsupported", "not supported for this model",
			"not supported on this model", "not supported with this model", "doesn't support", "deprecated for this model", "extra inputs are not permitted", "cannot both be specified",
		},
	},
	{
		engine.KindQuota, "the account's quota is used up",
		[]string{
			"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "insufficient_balance", "payment_required",
			"quota_exceeded", "exceeded_current_quota_error", "servicequotaexceededexception", "1113",
		},
		[]string{"credit balance is too low", "specified api usage limits"},
	},
	{
		engine.KindRefused, "the provider's content filter refused the request",
		[]string{"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "invalid_prompt", "prohibited_content", "1301"},
		[]string{"content filtering policy"},
	},
	{
		engine.KindRateLimit, "the rate limit is reached",
		[]string{
			"rate_limit_exceeded", "rate_limit_error", "rate_limit_reached", "requests", "tokens", "resource_exhausted", "too_many_requests",
			"throttlingexception", "1302",
		}, nil,
	},
	{
		engine.KindOverloaded, "the provider is overloaded",
		[]string{
			"overloaded_error", "unavailable", "service_unavailable", "engine_overloaded", "insufficient_system_resource",
			"modelnotreadyexception", "serviceunavailableexception", "1305",
		}, nil,
	},
	{
		engine.KindServer, "the provider failed",
		[]string{"server_error", "api_error", "internal_server_error", "internal", "modelerrorexception", "internalserverexception"}, nil,
	},
	{
		engine.KindTimeout, "the provider gave up waiting",
		[]string{"deadline_exceeded", "timeout_error", "request_timeout", "modeltimeoutexception"}, nil,
	},
	{engine.KindBadRequest, "the provider does not accept the request", nil, nil},
	{engine.KindBadResponse, "the server answered with something else than an answer", nil, nil},
}

// told is the first kind of which says holds, with its words; "" where there is none.
func told(says func(s *saying) bool) (engine.ErrKind, string) {
	for i := range sayings {
		if says(&sayings[i]) {
			return sayings[i].kind, sayings[i].what
		}
	}
	return "", ""
}

func byWords(e errorBody, status int) (engine.ErrKind, string) {
	message := strings.ToLower(e.message)
	phrased := func(s *saying) bool {
		return slices.ContainsFunc(s.phrases, func(phrase string) bool { return strings.Contains(message, phrase) })
	}
	clientError := status == 0 || status >= 400 && status < 500 && status != 401 && status != 429
	// Nearly everywhere, wording alone shows that an input is too long, also under codes
	// that say less: so it goes first. A rate limit that counts tokens is something else.
	if tooLong := &sayings[0]; clientError && phrased(tooLong) {
		return tooLong.kind, tooLong.what
	}
	for _, code := range append([]string{e.code}, e.kinds...) {
		kind, what := told(func(s *saying) bool { return slices.Contains(s.codes, strings.ToLower(code)) })
		switch {
		case kind == "":
		case kind == engine.KindNotFound && status != 404 && status != 400 && status != 0:
		case kind == engine.KindServer && status >= 400 && status != 500:
			// Some put the word for any error of theirs with every status: that says more.
		default:
			return kind, what
		}
	}
	switch {
	case !clientError:
		return "", ""
	case strings.Contains(message, "response_format") || strings.Contains(message, "json_schema"):
		return engine.KindUnsupported, "the model does not take this response format"
	}
	return told(phrased)
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
	return told(func(s *saying) bool { return s.kind == kind })
}

func requestID(header http.Header) string {
	for _, key := range []string{"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "Apim-Request-Id"} {
		if id := header.Get(key); id != "" {
			return quote(id)
		}
	}
	return ""
}
