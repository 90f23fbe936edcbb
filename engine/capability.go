package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// The kinds of effects by which a script touches the world outside of its run. Each is there
// only as far as the host granted it, see [Grants].
const (
	EffectExec EffectKind = "exec" // a command, without a shell
	EffectHTTP EffectKind = "http"
	EffectFS   EffectKind = "fs"
	EffectEnv  EffectKind = "env"
)

// Grants is what a host lets scripts touch, and what does it. It is the handler of the four
// kinds above.
type Grants interface {
	Handler
	// Allows reports whether a use is granted. One whose target only a run knows is allowed
	// when some target would be.
	Allows(u Use) bool
}

// Operation is one thing that a capability can do.
type Operation struct {
	Kind    EffectKind
	Name    string // "run"; "get", "post", "request"; "read", "write", ...; "get", "secret"
	Class   Class
	Returns *generable.Type
}

// TouchRequest asks for one operation of a capability: the [Payload] of these effects.
type TouchRequest struct {
	Op string // [Operation].Name

	// Args are the arguments by name, without those that were not given. A text among them may
	// be a list of texts and of secrets, records of [SecretType]: only the handler knows what
	// these stand for, so that no secret is in a request, an event or a record.
	Args *generable.Map
}

// Digest implements [Payload].
func (r *TouchRequest) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon([]byte(r.Op+"\x00"), r.Args.Value()))
}

// MarshalJSON encodes the operation and its arguments.
func (r *TouchRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Op   string          `json:"op"`
		Args json.RawMessage `json:"args"`
	}{r.Op, generable.AppendJSON(nil, r.Args.Value(), nil)})
}

// notGranted is the error of a use that a run came to and nothing grants.
func notGranted(u Use) *Error {
	return Errorf(KindTool, diag.UngrantedUse, "%s is not granted", u).WithHelp("run it with %s", u.Flag())
}

// Ungranted is the outcome of an effect that nothing grants.
func Ungranted(u Use) Outcome { return Failed(notGranted(u)) }

// What operations of capabilities give.
var (
	// CompletedType is what came of a command.
	CompletedType = recordType("Completed", "What came of a command",
		generable.Field{Name: "code", Type: generable.IntT, Guide: "the exit code; 128 and the signal's number for a command that a signal ended"},
		generable.Field{Name: "stdout", Type: generable.StrT, Guide: "what it wrote, up to the cap; bytes that are no UTF-8 are replaced"},
		generable.Field{Name: "stderr", Type: generable.StrT, Guide: "what it complained of, up to the cap"},
		generable.Field{Name: "truncated", Type: generable.BoolT, Guide: "whether it wrote more than the cap of one of them"})

	// ResponseType is the answer to a request of HTTP.
	ResponseType = recordType("HTTPResponse", "The answer to a request of HTTP",
		generable.Field{Name: "status", Type: generable.IntT, Guide: "200, 404, ..."},
		generable.Field{Name: "headers", Type: generable.DictOfType(generable.StrT), Guide: "by name in lower case; several of one name joined by a comma"},
		generable.Field{Name: "text", Type: generable.StrT, Guide: "the body, up to the cap; bytes that are no UTF-8 are replaced"},
		generable.Field{Name: "truncated", Type: generable.BoolT, Guide: "whether the body is longer than the cap"},
		generable.Field{Name: "url", Type: generable.StrT, Guide: "what answered, after redirects"})

	// FileStatType is what is known of a file.
	FileStatType = recordType("FileStat", "What is known of a file",
		generable.Field{Name: "path", Type: generable.StrT, Guide: "as it was given"},
		generable.Field{Name: "kind", Type: &generable.Type{Kind: generable.EnumType, Name: "FileKind", Values: []string{"file", "dir", "other"}}, Guide: "file, dir, or other: a pipe, a device, a socket"},
		generable.Field{Name: "size", Type: generable.IntT, Guide: "in bytes"},
		generable.Field{Name: "modified", Type: generable.StrT, Guide: "when it was written last, as 2026-01-31T12:00:00Z"})

	// SecretType stands for the value of an environment variable inside of a request: its
	// handler puts the value in its place.
	SecretType = recordType("Secret", "The value of an environment variable that is not shown",
		generable.Field{Name: "env", Type: generable.StrT, Guide: "the name of the variable"})
)

func recordType(name, doc string, fields ...generable.Field) *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: name, Doc: doc, Fields: fields}
}

// OperationOf finds an operation by module and name as scripts write them: "fs.read".
func OperationOf(name string) (*Operation, bool) {
	op, ok := operations[name]
	return op, ok
}

var operations = map[string]*Operation{
	"sh.run":       {EffectExec, "run", ClassOnce, CompletedType},
	"http.get":     {EffectHTTP, "get", ClassRead, ResponseType},
	"http.post":    {EffectHTTP, "post", ClassOnce, ResponseType},
	"http.request": {EffectHTTP, "request", ClassOnce, ResponseType},
	"fs.read":      {EffectFS, "read", ClassRead, generable.StrT},
	"fs.write":     {EffectFS, "write", ClassIdempotent, generable.NoneT},
	"fs.list":      {EffectFS, "list", ClassRead, generable.ListOfType(generable.StrT)},
	"fs.exists":    {EffectFS, "exists", ClassRead, generable.BoolT},
	"fs.stat":      {EffectFS, "stat", ClassRead, FileStatType},
	"fs.remove":    {EffectFS, "remove", ClassIdempotent, generable.NoneT},
	"env.get":      {EffectEnv, "get", ClassRead, generable.OneOf(generable.StrT, generable.NoneT)},
	"env.secret":   {EffectEnv, "secret", ClassRead, generable.BoolT},
}

// HTTPClass is the class of a request by its method.
func HTTPClass(method string) Class {
	switch method {
	case "GET", "HEAD", "OPTIONS":
		return ClassRead
	case "PUT", "DELETE":
		return ClassIdempotent
	}
	return ClassOnce
}

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
