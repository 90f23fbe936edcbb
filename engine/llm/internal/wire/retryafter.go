package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// longestWait caps what a server may ask for, so that a broken hint is seen as one.
const longestWait = 24 * time.Hour

var inWords = regexp.MustCompile(`(?i)(?:try|retry)(?: again)? (?:in|after) ([0-9.]+) ?(ms|s|seconds?|m|minutes?)\b`)

// retryAfter reads how long a provider asks to wait, 0 when it does not say. It knows
// retry-after-ms, retry-after (seconds or a date), Google's retryDelay, OpenRouter's reset
// and, last, the sentence in the message.
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
	if m := inWords.FindStringSubmatch(e.message); m != nil {
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

func wait(ns float64) time.Duration {
	if !(ns > 0) { // also NaN
		return 0
	}
	return time.Duration(min(ns, float64(longestWait)))
}
