package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/internal/lazy"
)

// longestWait caps the wait that a server may request, so that a broken hint is recognized.
const longestWait = 24 * time.Hour

var inWords = lazy.Regexp(`(?i)(?:try|retry)(?: again)? (?:in|after) ([0-9.]+) ?(ms|s|seconds?|m|minutes?)\b`)

// retryAfter reads how long a provider asks to wait, 0 if it does not say. It knows retry-after-ms, retry-after
// (seconds or a date), Google's retryDelay, OpenRouter's reset, the resets of used-up limits and, last, the sentence in
// the message.
func retryAfter(header http.Header, e errorBody, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms * float64(time.Millisecond))
	}
	if value := strings.TrimSpace(header.Get("Retry-After")); value != "" {
		if s, err := strconv.ParseFloat(value, 64); err == nil {
			return wait(s * float64(time.Second))
		}
		if at, err := http.ParseTime(value); err == nil {
			return wait(float64(at.Sub(now)))
		}
	}
	if d, err := time.ParseDuration(e.delay); err == nil {
		return wait(float64(d))
	}
	for _, reset := range []string{header.Get("X-Ratelimit-Reset"), e.reset} {
		// A number this large is milliseconds since 1970; small ones have several meanings.
		if ms, err := strconv.ParseInt(reset, 10, 64); err == nil && ms > 1e12 {
			return wait(float64(time.UnixMilli(ms).Sub(now)))
		}
	}
	if d := usedUp(header, now); d > 0 {
		return wait(float64(d))
	}
	if m := inWords().FindStringSubmatch(e.message); m != nil {
		if n, err := strconv.ParseFloat(strings.TrimRight(m[1], "."), 64); err == nil {
			unit := time.Second
			switch {
			case m[2] == "ms":
				unit = time.Millisecond
			case strings.HasPrefix(strings.ToLower(m[2]), "m"):
				unit = time.Minute
			}
			return wait(n * float64(unit))
		}
	}
	return 0
}

// meters are the limits that providers report with each answer: what remains, and when the limit is reset.
var meters = [...]struct{ remaining, reset string }{
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}

// usedUp returns how long it takes until the last used-up limit is reset. Other limits do not matter: their reset may
// be far off.
func usedUp(header http.Header, now time.Time) time.Duration {
	longest := time.Duration(0)
	for _, m := range meters {
		if header.Get(m.remaining) != "0" {
			continue
		}
		reset := strings.TrimSpace(header.Get(m.reset))
		d, err := time.ParseDuration(reset)
		if at, noDate := time.Parse(time.RFC3339, reset); noDate == nil {
			d, err = at.Sub(now), nil
		} else if s, noNumber := strconv.ParseFloat(reset, 64); noNumber == nil && s < 1e6 {
			d, err = time.Duration(s*float64(time.Second)), nil
		}
		if err == nil {
			longest = max(longest, d)
		}
	}
	return longest
}

func wait(ns float64) time.Duration {
	if !(ns > 0) { // including NaN
		return 0
	}
	return time.Duration(min(ns, float64(longestWait)))
}
