package grant

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
)

// host is a granted name, address or range of addresses.
type host struct {
	name   string       // "api.example.com"; ".example.com" for all below it; "*" for all
	prefix netip.Prefix // instead of a name
	port   string       // "" is any port
}

// Net grants hosts: "api.example.com", "api.example.com:8443", "*.example.com" (all below it), "*" (all), an address,
// or a range such as "10.0.0.0/8". Without a port all ports are granted. A name that resolves to an address of a
// private network, of this machine or of the link is refused unless the address itself is granted, or the name is
// localhost.
func Net(hosts ...string) Option {
	return func(g *Grants) error {
		for _, given := range hosts {
			h, err := parseHost(given)
			if err != nil {
				return err
			}
			g.hosts = append(g.hosts, h)
		}
		return nil
	}
}

func parseHost(given string) (host, error) {
	wrong := func() (host, error) {
		e := unusable("%q is no host", given)
		if u, err := url.Parse(given); err == nil && u.Host != "" {
			return host{}, e.WithHelp("name the host alone, without scheme and path: %s", u.Host)
		}
		return host{}, e.WithHelp("write a name, an address or a range, and a port or none: api.example.com, localhost:8080, [::1]:8080, 10.0.0.0/8")
	}
	if p, err := netip.ParsePrefix(given); err == nil {
		bits := p.Bits()
		if p.Addr().Is4In6() {
			bits -= 96 // length in the IPv4 range; a shorter prefix is not in it
		}
		if p = netip.PrefixFrom(p.Addr().Unmap(), bits); !p.IsValid() {
			return wrong()
		}
		return host{prefix: p.Masked()}, nil
	}
	name, port := given, ""
	if _, err := netip.ParseAddr(given); err != nil { // otherwise the colons belong to the address
		if i := strings.LastIndexByte(given, ':'); i >= 0 && !strings.HasSuffix(given, "]") {
			name, port = given[:i], given[i+1:]
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return wrong()
			}
		}
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil {
		if ip.Zone() != "" {
			return wrong()
		}
		ip = ip.Unmap()
		return host{prefix: netip.PrefixFrom(ip, ip.BitLen()), port: port}, nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	label := strings.TrimPrefix(name, "*.")
	switch {
	case name == "*" && !strings.HasPrefix(given, "*."): // "*." is an incomplete name
		return host{name: name, port: port}, nil
	case label == "" || strings.Contains(label, "..") || label[0] == '.' || strings.IndexFunc(label, notInName) >= 0:
		return wrong()
	}
	if _, err := capability.Host("http://" + label + "/"); err != nil {
		return wrong()
	}
	if label != name {
		name = "." + label
	}
	return host{name: name, port: port}, nil
}

func notInName(r rune) bool {
	return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
}

// covers reports whether the grant includes a host, given as a name or an address.
func (h *host) covers(name string) bool {
	if h.prefix.IsValid() {
		ip, err := netip.ParseAddr(name)
		return err == nil && h.prefix.Contains(ip.Unmap())
	}
	switch {
	case h.name == "*":
		return true
	case h.name[0] == '.':
		return strings.HasSuffix(name, h.name)
	}
	return h.name == name
}

// allowsHost reports whether a host returned by [capability.Host] is granted. That leaves out the default port of the
// scheme, so a host without a port matches port 80 or 443.
func (g *Grants) allowsHost(target string) bool {
	name, ports := target, []string{"80", "443"}
	if i := strings.LastIndexByte(target, ':'); i >= 0 && !strings.HasSuffix(target, "]") {
		name, ports = target[:i], []string{target[i+1:]}
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return slices.ContainsFunc(ports, func(port string) bool { return g.permits(name, port) })
}

// permits reports whether a host and port are granted.
func (g *Grants) permits(name, port string) bool {
	return slices.ContainsFunc(g.hosts, func(h host) bool { return (h.port == "" || h.port == port) && h.covers(name) })
}

// reaches reports whether a granted name may resolve to an address.
func (g *Grants) reaches(name string, ip netip.Addr, port string) bool {
	ip = ip.Unmap()
	if public(ip) {
		return true
	}
	return slices.ContainsFunc(g.hosts, func(h host) bool {
		return (h.port == "" || h.port == port) && (h.prefix.IsValid() && h.prefix.Contains(ip) ||
			h.name == "localhost" && name == "localhost" && ip.IsLoopback())
	})
}

// inward reports whether the text of a host itself names a private network, and that is not granted. It is the only
// such check that is possible when a proxy resolves the names.
func (g *Grants) inward(name, port string) bool {
	if ip, err := netip.ParseAddr(name); err == nil {
		return !g.reaches(name, ip, port)
	}
	return (name == "localhost" || strings.HasSuffix(name, ".localhost")) && !slices.ContainsFunc(g.hosts, func(h host) bool {
		return h.name == name && (h.port == "" || h.port == port)
	})
}

// inner lists addresses outside the public network, beyond those that netip knows.
var inner = prefixes("0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 ::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 fec0::/10")

// carriers are IPv6 prefixes that embed an IPv4 address, at the given byte.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{{netip.MustParsePrefix("64:ff9b::/96"), 12}, {netip.MustParsePrefix("2002::/16"), 2}}

func prefixes(list string) []netip.Prefix {
	var out []netip.Prefix
	for _, p := range strings.Fields(list) {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// public reports whether an address belongs to the public network. An IPv6 address that embeds an IPv4 address is as
// public as that one.
func public(ip netip.Addr) bool {
	ip = ip.Unmap()
	for _, c := range carriers {
		if c.prefix.Contains(ip) {
			b := ip.As16()
			return public(netip.AddrFrom4([4]byte(b[c.at : c.at+4])))
		}
	}
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !slices.ContainsFunc(inner, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// use returns the request for access to an ungranted host, for messages.
func use(op, name, port, scheme string) capability.Use {
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port != "" && scheme+port != "http80" && scheme+port != "https443" {
		name += ":" + port
	}
	return capability.Use{Kind: engine.EffectHTTP, Op: op, Target: name}
}
