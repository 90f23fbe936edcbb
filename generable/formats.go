package generable

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// format is a named shape of text. Its check reads the text a bounded number of times.
type format struct {
	what, example string
	valid         func(string) bool
}

var formats = map[string]format{
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

// FormatNames lists the formats that [Limits] know, sorted.
func FormatNames() []string {
	names := make([]string, 0, len(formats))
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// digits reads exactly n digits at the start of s.
func digits(s string, n int) (value int, rest string, ok bool) {
	if len(s) < n {
		return 0, s, false
	}
	for i := range n {
		if s[i] < '0' || s[i] > '9' {
			return 0, s, false
		}
		value = value*10 + int(s[i]-'0')
	}
	return value, s[n:], true
}

func isDate(s string) bool {
	year, s, ok1 := digits(s, 4)
	s, dash1 := strings.CutPrefix(s, "-")
	month, s, ok2 := digits(s, 2)
	s, dash2 := strings.CutPrefix(s, "-")
	day, s, ok3 := digits(s, 2)
	if !ok1 || !ok2 || !ok3 || !dash1 || !dash2 || s != "" || month < 1 || month > 12 {
		return false
	}
	last := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		last = 29
	}
	return day >= 1 && day <= last
}

// isTime accepts the full-time of RFC 3339; a second of 60 only where a leap second can be,
// in the last minute of a UTC day.
func isTime(s string) bool {
	hour, s, ok1 := digits(s, 2)
	s, colon1 := strings.CutPrefix(s, ":")
	minute, s, ok2 := digits(s, 2)
	s, colon2 := strings.CutPrefix(s, ":")
	second, s, ok3 := digits(s, 2)
	if !ok1 || !ok2 || !ok3 || !colon1 || !colon2 || hour > 23 || minute > 59 || second > 60 {
		return false
	}
	if frac, ok := strings.CutPrefix(s, "."); ok {
		s = strings.TrimLeft(frac, "0123456789")
		if len(s) == len(frac) {
			return false
		}
	}
	offset := 0
	if s != "Z" && s != "z" {
		if s == "" || (s[0] != '+' && s[0] != '-') {
			return false
		}
		h, rest, ok1 := digits(s[1:], 2)
		rest, colon := strings.CutPrefix(rest, ":")
		m, rest, ok2 := digits(rest, 2)
		if !ok1 || !ok2 || !colon || rest != "" || h > 23 || m > 59 {
			return false
		}
		offset = h*60 + m
		if s[0] == '-' {
			offset = -offset
		}
	}
	const day = 24 * 60
	return second < 60 || (hour*60+minute-offset+2*day)%day == day-1
}

func isDateTime(s string) bool {
	return len(s) > 10 && strings.IndexByte("Tt ", s[10]) >= 0 && isDate(s[:10]) && isTime(s[11:])
}

// isDuration accepts ISO 8601 durations: P3W, or P1Y2M3DT4H5M6S with at least one part.
func isDuration(s string) bool {
	s, ok := strings.CutPrefix(s, "P")
	if !ok {
		return false
	}
	date, clock, hasT := strings.Cut(s, "T")
	if !hasT && strings.HasSuffix(date, "W") {
		return durationParts(date, "W") == 1
	}
	d, c := durationParts(date, "YMD"), durationParts(clock, "HMS")
	return d >= 0 && c >= 0 && d+c > 0 && (!hasT || c > 0)
}

// durationParts counts number-and-unit pairs whose units come in the given order; -1 when
// the text is not made of such.
func durationParts(s, units string) int {
	n := 0
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if len(rest) == len(s) || rest == "" {
			return -1
		}
		i := strings.IndexByte(units, rest[0])
		if i < 0 {
			return -1
		}
		units, s = units[i+1:], rest[1:]
		n++
	}
	return n
}

func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 {
		return false
	}
	local, host := s[:at], s[at+1:]
	if local[0] == '"' {
		if len(local) < 3 || local[len(local)-1] != '"' || strings.ContainsAny(local[1:len(local)-1], "\"\\\r\n") {
			return false
		}
	} else {
		if strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, "..") {
			return false
		}
		for i := 0; i < len(local); i++ {
			c := local[i]
			if c < utf8.RuneSelf && !message.IsAlnum(c) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~.", c) < 0 {
				return false
			}
		}
	}
	if lit, ok := strings.CutPrefix(host, "["); ok {
		lit, closed := strings.CutSuffix(lit, "]")
		if v6, ok := strings.CutPrefix(lit, "IPv6:"); ok {
			return closed && isIPv6(v6)
		}
		return closed && isIPv4(lit)
	}
	return isHostname(host)
}

// isHostname accepts RFC 1123 names in ASCII.
func isHostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := 0; i < len(label); i++ {
			if !message.IsAlnum(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// isURI accepts absolute URIs of RFC 3986: a scheme, and no character outside its alphabet.
func isURI(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Opaque != "" || u.Path != "")
}
