// Package capability names what scripts can access outside of their run: commands, hosts, files and environment
// variables.
//
// An [Operation] is what a script calls, such as fs.read. A [Request] asks for it as an effect. A [Use] is what a grant
// is decided about: the operation and its target, as far as they are known. [Grants] decides about uses and carries out
// requests; package grant implements it for the command line.
package capability

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Grants decides what scripts can access, and carries it out. It is the handler of [engine.EffectExec],
// [engine.EffectHTTP], [engine.EffectFS] and [engine.EffectEnv].
type Grants interface {
	engine.Handler
	// Allows reports whether a use is granted. A use whose target is known only to a run is allowed if some target
	// would be.
	Allows(u Use) bool
}

// Request asks for one operation of a capability. It is the [engine.Payload] of these effects.
type Request struct {
	Op string // [Operation].Name

	// Args are the arguments by name, without those that were not given. Instead of a text, an argument may be a list
	// of texts and secrets, which are records of [SecretType]. Only the handler knows the values of the secrets, so no
	// secret is in a request, an event or a record.
	Args *generable.Map
}

// Digest implements [engine.Payload].
func (r *Request) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon([]byte(r.Op+"\x00"), r.Args.Value()))
}

// MarshalJSON encodes the operation and its arguments.
func (r *Request) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Op   string          `json:"op"`
		Args json.RawMessage `json:"args"`
	}{r.Op, generable.AppendJSON(nil, r.Args.Value(), nil)})
}

// Unhandled returns the error of a request for which nothing is granted.
func (r *Request) Unhandled(e *engine.Effect) *engine.Error { return Ungranted(r.Use(e.Kind)).Err }

// Ungranted is the outcome of an effect that nothing grants.
func Ungranted(u Use) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindTool, diag.UngrantedUse, "%s is not granted", u).WithHelp("run it with %s", u.Flag()))
}

// elsewhere is part of the message of a request whose host is granted and that redirects to a host that is not.
const elsewhere = " redirects to another host: "

// Redirect adds to an error that what, a request that was granted and made, redirects to something that is not granted.
func Redirect(what string, ungranted *engine.Error) *engine.Error {
	ungranted.Message = what + elsewhere + ungranted.Message
	return ungranted
}

// Redirected reports whether an error was made by [Redirect]: something was done before the failure.
func Redirected(e *engine.Error) bool { return strings.Contains(e.Message, elsewhere) }

// Use is how a script uses a capability, as far as the script's text says.
type Use struct {
	Kind engine.EffectKind
	Op   string // of [Operation]; "" if only a run knows

	// Target is the command, the host as [Host] returns it, the path, or the name of the variable. It is "" if only a
	// run knows it.
	Target string
}

// Writes reports whether the use may change files.
func (u Use) Writes() bool {
	return u.Kind == engine.EffectFS && (u.Op == "" || u.Op == "write" || u.Op == "remove")
}

// SecretAsText reports whether the use reads a variable as plain text although its name suggests a secret.
func (u Use) SecretAsText() bool {
	return u.Kind == engine.EffectEnv && u.Op == "get" && LooksSecret(u.Target)
}

// Flag returns the flag that grants the use on the command line, such as --allow-exec git.
func (u Use) Flag() string {
	switch target := text.ShellWord(u.Target); u.Kind {
	case engine.EffectExec:
		return "--allow-exec " + cmp.Or(target, "CMD")
	case engine.EffectHTTP:
		return "--allow-net " + cmp.Or(target, "HOST")
	case engine.EffectEnv:
		if u.SecretAsText() {
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
		dir = text.ShellWord(path.Clean(dir))
	}
	if u.Writes() {
		access = ":rw"
	}
	return "--allow-fs " + dir + access
}

// String describes the use: `the command "git"`, `reading "notes/a.md"`.
func (u Use) String() string {
	what := ""
	if u.Target != "" {
		what = " " + strconv.Quote(u.Target)
	}
	switch u.Kind {
	case engine.EffectExec:
		return "the command" + cmp.Or(what, " of sh.run")
	case engine.EffectHTTP:
		return "the host" + cmp.Or(what, " of http."+cmp.Or(u.Op, "get"))
	case engine.EffectEnv:
		return "the environment variable" + cmp.Or(what, " of env."+cmp.Or(u.Op, "get"))
	}
	return cmp.Or(fileVerbs[u.Op], "touching") + cmp.Or(what, " files")
}

var fileVerbs = map[string]string{"read": "reading", "write": "writing", "list": "listing", "exists": "looking for", "stat": "looking at", "remove": "removing"}

// secretWords are words in the names of variables that hold secrets.
var secretWords = strings.Fields("TOKEN SECRET PASSWORD PASSWD PASSPHRASE PASS PWD KEY APIKEY CREDENTIAL CREDENTIALS PRIVATE AUTH AUTHORIZATION COOKIE SESSION DSN JWT PAT BEARER SIGNATURE")

// LooksSecret reports whether the name of an environment variable suggests that its value is a secret: OPENAI_API_KEY,
// DB_PASSWORD, GITHUB_TOKEN.
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

// longestWord is the maximum length of a secret that counts as a word.
const longestWord = 20

// IsWord reports whether a value is an ordinary word, such as "postgres". A word occurs in texts that have nothing to
// do with the variable, even if the variable's name suggests a secret.
func IsWord(s string) bool {
	return len(s) <= longestWord && !strings.ContainsFunc(s, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Use returns what a request uses. The target is set as far as the request holds it.
func (r *Request) Use(kind engine.EffectKind) Use {
	u := Use{Kind: kind, Op: r.Op}
	arg := func(name string) generable.Value { v, _ := r.Args.Get(name); return v }
	switch kind {
	case engine.EffectExec:
		if list, ok := arg("command").AsList(); ok && list.Len() > 0 {
			u.Target, _ = list.At(0).AsStr()
		}
	case engine.EffectHTTP:
		u.Target = HostOfText(arg("url"))
	case engine.EffectFS:
		u.Target, _ = arg("path").AsStr()
	case engine.EffectEnv:
		u.Target, _ = arg("name").AsStr()
	}
	return u
}
