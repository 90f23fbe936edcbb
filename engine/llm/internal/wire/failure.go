package wire

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// failure is a failure before it is described for a model and provider.
type failure struct {
	kind      engine.ErrKind
	what      string // "the rate limit is reached"
	says      string // the provider's words
	help      string // "" for the default remedy of the kind
	status    int
	code      string // the provider's code
	param     string // the request member that the provider objects to
	requestID string
	wait      time.Duration // the wait that the provider requests
	retryable bool
	raw       string // the part of the answer that arrived
	usage     model.Usage
	cause     error
}

func (f *failure) Error() string { return f.what }

// Fail makes an error about the call. An empty help means the default remedy of the kind.
func (p *Plan) Fail(kind engine.ErrKind, cause error, help, format string, args ...any) *engine.Error {
	return p.error(&failure{kind: kind, what: quote(p.Keys.String(fmt.Sprintf(format, args...))), help: help, cause: cause})
}

// Interrupted returns the error of a call whose context is done, nil while it is not.
func (p *Plan) Interrupted(ctx context.Context) *engine.Error {
	done := Interrupted(ctx)
	if done == nil {
		return nil
	}
	return p.Fail(done.Kind, done.Cause, done.Help, "%s", done.Message)
}

// Refused makes an error from a status and an error body.
func (p *Plan) Refused(status int, header http.Header, body []byte) *engine.Error {
	return p.error(classify(p.Provider, status, header, []byte(p.Keys.String(string(body))), time.Now()))
}

// error describes a failure. No secret leaves through it, whatever a server echoed or a transport put into its error.
// Quoted text in f must be redacted before it is cut, so that no part of a key remains at the cut.
func (p *Plan) error(f *failure) *engine.Error {
	var b strings.Builder
	b.WriteString(p.Provider + "/" + p.Model + ": " + f.what)
	switch {
	case f.status != 0 && f.code != "":
		fmt.Fprintf(&b, " (status %d, %s)", f.status, f.code)
	case f.status != 0:
		fmt.Fprintf(&b, " (status %d)", f.status)
	case f.code != "":
		fmt.Fprintf(&b, " (%s)", f.code)
	}
	if f.says != "" {
		b.WriteString(": " + f.says)
	}
	return p.Keys.Error(&engine.Error{
		Kind:    f.kind,
		Code:    CodeOf(f.kind),
		Message: b.String(),
		Help:    cmp.Or(f.help, p.remedy(f)),
		Raw:     f.raw,
		Usage:   f.usage,
		Cause:   f.cause,
		Model: &engine.Provider{
			Name: p.Provider, Model: p.Model, Status: f.status, Code: f.code,
			RequestID: f.requestID, RetryAfter: f.wait, Retryable: f.retryable,
		},
	})
}

// codes maps kinds to their diagnostic codes, if they have one.
var codes = map[engine.ErrKind]diag.Code{
	engine.KindTimeout:       diag.Timeout,
	engine.KindCancelled:     diag.Cancelled,
	engine.KindContextLength: diag.ContextLength,
	engine.KindAuth:          diag.AuthRefused,
	engine.KindRateLimit:     diag.RateLimited,
	engine.KindQuota:         diag.RateLimited,
	engine.KindPanic:         diag.Panic,
	engine.KindBudget:        diag.BudgetExceeded,
	engine.KindSchema:        diag.BadModelOutput,
	engine.KindTool:          diag.ToolFailed,
}

// CodeOf returns the diagnostic code of a model error's kind.
func CodeOf(kind engine.ErrKind) diag.Code { return cmp.Or(codes[kind], diag.ProviderError) }

// longestQuote bounds the text quoted from a provider.
const longestQuote = 600

// quote prepares a server's text for a message on a terminal: one line, no control characters, limited length.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > longestQuote {
		s = string([]rune(s)[:longestQuote]) + "…"
	}
	return s
}
