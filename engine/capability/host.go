package capability

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Host returns the host of an HTTP address in the form that grants use: in lower case, with the port unless it is the
// default of the scheme. The error says what is wrong with the address without repeating it, since it may hold a
// password.
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
		return "", errors.New("its host is no name or address") // some programs read 127.1 and 0x7f000001 as addresses
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

// numeric reports whether the last label of a host makes the whole host an address, as browsers and other programs read
// it: it has only digits, or is hexadecimal.
func numeric(label string) bool {
	hex, is := strings.CutPrefix(label, "0x")
	return is && strings.Trim(hex, "0123456789abcdef") == "" || strings.Trim(label, "0123456789") == ""
}

// HostOfText returns the host of a URL that may consist of several texts and secrets: only the first text is certain.
// It returns "" if the host is not certain.
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

// HostOfPrefix returns the host of a URL that begins with text. It returns "" if the host may continue after the text.
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
