package engine

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Use is what a script does with a capability, as far as its text tells.
type Use struct {
	Kind EffectKind
	Op   string // of [Operation]; "" when only a run knows

	// Target is the command, the host of [Host], the path or the name of the variable; "" when
	// only a run knows it.
	Target string
}

// Writes reports whether the use may change files.
func (u Use) Writes() bool {
	return u.Kind == EffectFS && (u.Op == "" || u.Op == "write" || u.Op == "remove")
}

// Flag is what grants the use on the command line: --allow-exec git.
func (u Use) Flag() string {
	switch target := ShellWord(u.Target); u.Kind {
	case EffectExec:
		return "--allow-exec " + cmp.Or(target, "CMD")
	case EffectHTTP:
		return "--allow-net " + cmp.Or(target, "HOST")
	case EffectEnv:
		if u.Op == "get" && LooksSecret(u.Target) {
			target += ":plain"
		}
		return "--allow-env " + cmp.Or(target, "NAME")
	}
	dir, access := "DIR", ":ro"
	if u.Target != "" {
		dir = u.Target
		if u.Op != "list" {
			dir = path.Dir(path.Clean(dir))
		}
		dir = ShellWord(path.Clean(dir))
	}
	if u.Writes() {
		access = ":rw"
	}
	return "--allow-fs " + dir + access
}

// String names the use: `the command "git"`, `reading "notes/a.md"`.
func (u Use) String() string {
	what := ""
	if u.Target != "" {
		what = " " + strconv.Quote(u.Target)
	}
	switch u.Kind {
	case EffectExec:
		return "the command" + cmp.Or(what, " of sh.run")
	case EffectHTTP:
		return "the host" + cmp.Or(what, " of http."+cmp.Or(u.Op, "get"))
	case EffectEnv:
		return "the environment variable" + cmp.Or(what, " of env."+cmp.Or(u.Op, "get"))
	}
	return cmp.Or(fileVerbs[u.Op], "touching") + cmp.Or(what, " files")
}

var fileVerbs = map[string]string{"read": "reading", "write": "writing", "list": "listing", "exists": "looking for", "stat": "looking at", "remove": "removing"}

// ShellWord quotes a word for a shell where it must be.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:=@%+,~", r)
	}
	if s == "" || strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

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

// secretWords are parts of the names of variables that hold what nobody may see.
var secretWords = strings.Fields("TOKEN SECRET PASSWORD PASSWD PASSPHRASE PASS PWD KEY APIKEY CREDENTIAL CREDENTIALS PRIVATE AUTH AUTHORIZATION COOKIE SESSION DSN JWT PAT BEARER SIGNATURE")

// LooksSecret reports whether the name of an environment variable says that its value is a
// secret: OPENAI_API_KEY, DB_PASSWORD, GITHUB_TOKEN.
func LooksSecret(name string) bool {
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	for _, word := range strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return (r < 'A' || r > 'Z') }) {
		if slices.Contains(secretWords, word) || slices.Contains(secretWords, strings.TrimSuffix(word, "S")) {
			return true
		}
		for _, end := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY"} {
			if strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	return false
}

// Use is what a request uses: its target as far as the request holds it.
func (r *TouchRequest) Use(kind EffectKind) Use {
	u := Use{Kind: kind, Op: r.Op}
	arg := func(name string) generable.Value { v, _ := r.Args.Get(name); return v }
	switch kind {
	case EffectExec:
		if list, ok := arg("command").AsList(); ok && list.Len() > 0 {
			u.Target, _ = list.At(0).AsStr()
		}
	case EffectHTTP:
		u.Target = HostOfText(arg("url"))
	case EffectFS:
		u.Target, _ = arg("path").AsStr()
	case EffectEnv:
		u.Target, _ = arg("name").AsStr()
	}
	return u
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
