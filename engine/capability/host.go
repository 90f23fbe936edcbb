package capability

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Host is the host of an address for HTTP as grants name it: in lower case, and with its port
// when that is not the scheme's own. The error says what is wrong with the address without
// repeating it, since it may hold a password.
func Host(address string) (string, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", errors.New("it cannot be read as a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("its scheme is not http or https")
	case u.User != nil:
		return "", errors.New("it carries a name or password")
	case u.Hostname() == "":
		return "", errors.New("it names no host")
	}
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if strings.IndexFunc(name, func(r rune) bool { return r > '~' || r <= ' ' }) >= 0 || name == "" {
		return "", errors.New("its host is not written in ASCII")
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		if ip.Zone() != "" {
			return "", errors.New("its address has a zone")
		}
		if name = ip.Unmap().String(); ip.Unmap().Is6() {
			name = "[" + name + "]"
		}
	} else if strings.Contains(name, ":") || numeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", errors.New("its host is no name or address") // 127.1 and 0x7f000001 are addresses to some
	}
	if port := u.Port(); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return "", errors.New("its port is no number from 1 to 65535")
		}
		if port = strconv.FormatUint(n, 10); u.Scheme+port != "http80" && u.Scheme+port != "https443" {
			name += ":" + port
		}
	}
	return name, nil
}

// numeric reports whether the last part of a host makes all of it an address, as browsers and others
// read it: of digits alone, or hexadecimal.
func numeric(label string) bool {
	hex, is := strings.CutPrefix(label, "0x")
	return is && strings.Trim(hex, "0123456789abcdef") == "" || strings.Trim(label, "0123456789") == ""
}

// HostOfText is the host of a URL of which only the beginning is certain: the first of several
// texts and secrets. It is "" when the host is not certain.
func HostOfText(v generable.Value) string {
	text, ok := v.AsStr()
	if list, parts := v.AsList(); parts && list.Len() > 0 {
		if text, ok = list.At(0).AsStr(); ok {
			return HostOfPrefix(text)
		}
	}
	if !ok {
		return ""
	}
	host, err := Host(text)
	if err != nil {
		return ""
	}
	return host
}

// HostOfPrefix is the host of a URL that begins with a text, "" when the host may go on behind it.
func HostOfPrefix(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	at := strings.IndexAny(rest, "/?#")
	if !ok || at < 0 {
		return ""
	}
	host, err := Host(scheme + "://" + rest[:at] + "/")
	if err != nil {
		return ""
	}
	return host
}
