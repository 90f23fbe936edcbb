// Package format checks texts that have a named shape: dates, addresses, identifiers.
package format

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/internal/lazy"
)

// Format is a named shape of text. Its check reads the text a bounded number of times.
type Format struct {
	What, Example string
	Valid         func(string) bool
}

var formats = map[string]Format{
	"date-time": {"a date and time", "2026-01-31T12:30:00Z", isDateTime},
	"date":      {"a date", "2026-01-31", isDate},
	"time":      {"a time with its zone", "12:30:00Z", isTime},
	"duration":  {"a duration", "P3DT4H30M", isDuration},
	"email":     {"an email address", "ada@example.org", isEmail},
	"hostname":  {"a host name", "www.example.org", isHostname},
	"ipv4":      {"an IPv4 address", "192.0.2.1", isIPv4},
	"ipv6":      {"an IPv6 address", "2001:db8::1", isIPv6},
	"uuid":      {"a UUID", "123e4567-e89b-12d3-a456-426614174000", isUUID},
	"uri":       {"a URI", "https://example.org/path", isURI},
}

// Named returns the format with the given name.
func Named(name string) (Format, bool) {
	f, ok := formats[name]
	return f, ok
}

// Names lists the names of the formats, sorted.
func Names() []string { return slices.Sorted(maps.Keys(formats)) }

// matcher returns the check for a regular expression, which is compiled on first use.
func matcher(pattern string) func(string) bool {
	re := lazy.Regexp(pattern)
	return func(s string) bool { return re().MatchString(s) }
}

var (
	isUUID = matcher(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	// An ISO 8601 duration: P3W, or P1Y2M3DT4H5M6S with some of its parts.
	isDurationParts = matcher(`^P(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(\d+H)?(\d+M)?(\d+S)?)?)$`)
	// The labels of an RFC 1123 name in ASCII.
	isLabels = matcher(`^[0-9a-zA-Z]([0-9a-zA-Z-]{0,61}[0-9a-zA-Z])?(\.[0-9a-zA-Z]([0-9a-zA-Z-]{0,61}[0-9a-zA-Z])?)*$`)
	// The part before the @ of an email address: quoted, or words separated by single dots.
	isMailbox = matcher("^(\"[^\"\\\\\r\n]+\"|[0-9a-zA-Z!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+(\\.[0-9a-zA-Z!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+)*)$")
	isClock   = matcher(`^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([zZ]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)
	isURIText = matcher("^[!#-;=?-\\[\\]_a-z~]+$")
)

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isTime accepts the full-time of RFC 3339. It accepts second 60 only where a leap second can be, in the last minute
// of a UTC day.
func isTime(s string) bool {
	if !isClock(s) {
		return false
	}
	if s[6:8] != "60" {
		return true
	}
	minute, err := time.Parse("15:04Z07:00", s[:5]+strings.ToUpper(strings.TrimLeft(s[8:], ".0123456789")))
	return err == nil && minute.UTC().Format("15:04") == "23:59"
}

func isDateTime(s string) bool {
	return len(s) > 10 && strings.IndexByte("Tt ", s[10]) >= 0 && isDate(s[:10]) && isTime(s[11:])
}

func isDuration(s string) bool {
	return isDurationParts(s) && s != "P" && !strings.HasSuffix(s, "T")
}

func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || !isMailbox(s[:at]) {
		return false
	}
	host := s[at+1:]
	literal, ok := strings.CutPrefix(host, "[")
	if !ok {
		return isHostname(host)
	}
	literal, closed := strings.CutSuffix(literal, "]")
	if v6, ok := strings.CutPrefix(literal, "IPv6:"); ok {
		return closed && isIPv6(v6)
	}
	return closed && isIPv4(literal)
}

func isHostname(s string) bool { return len(s) <= 253 && isLabels(s) }

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isURI accepts absolute URIs of RFC 3986: a scheme, and no character outside its alphabet.
func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && isURIText(s) && u.Scheme != "" && (u.Host != "" || u.Opaque != "" || u.Path != "")
}
