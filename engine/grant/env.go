package grant

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/generable"
	words "github.com/agentscript/agentscript/internal/text"
)

// variable is a granted environment variable, or all variables with a granted prefix.
type variable struct {
	name   string
	many   bool // name is a prefix
	marked bool // the grant says whether it is a secret, else the variable's name decides
	secret bool // its value appears in no request, event or record
}

// Env grants environment variables by name or by prefix, as in "LC_*". The name decides whether a variable is a secret,
// see [capability.LooksSecret]; NAME:plain and NAME:secret override that, and a single name takes precedence over a
// prefix. Commands get all granted variables. A secret is removed from a command's output where it appears verbatim or
// as URLs, JSON, base64 and hex write it. A command that reverses, cuts or dumps it, such as rev, cut and od, reveals
// it to the script. Do not grant such a command together with a secret to a script that you do not trust with it.
func Env(names ...string) Option {
	return func(g *Grants) error {
		for _, given := range names {
			name, how, marked := strings.Cut(given, ":")
			prefix, many := strings.CutSuffix(name, "*")
			switch {
			case name == "" || strings.ContainsAny(prefix, "=\x00 *"):
				return unusable("%q is no name of an environment variable", given).
					WithHelp("name a variable, and how it is shown or nothing: --allow-env TOKEN:secret")
			case marked && how != "plain" && how != "secret":
				return unusable("%q: only :plain or :secret can follow the name", given)
			}
			g.env = append(g.env, variable{prefix, many, marked, how == "secret"})
		}
		return nil
	}
}

// granted reports whether a variable is granted, by its name or else by the longest prefix, and whether it is a secret.
func (g *Grants) granted(name string) (secret, ok bool) {
	longest := -1
	for _, v := range g.env {
		rank := len(v.name)
		switch {
		case !v.many && v.name == name:
			rank, longest = math.MaxInt, 0 // if a name is granted twice, the last grant applies
		case !v.many || name == "" || !strings.HasPrefix(name, v.name):
			continue
		}
		if rank > longest {
			longest, ok = rank, true
			secret = v.secret || !v.marked && capability.LooksSecret(name)
		}
	}
	return secret, ok
}

// grantedNames returns the names of all granted variables; for prefixes, those of the variables that this process has.
func (g *Grants) grantedNames() (names []string) {
	for _, v := range g.env {
		if !v.many {
			names = append(names, v.name)
		}
	}
	if slices.ContainsFunc(g.env, func(v variable) bool { return v.many }) {
		for _, pair := range os.Environ() {
			name, _, _ := strings.Cut(pair, "=")
			if _, ok := g.granted(name); ok {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// LookupEnv sets the source of the variables' values, instead of the process's environment.
func LookupEnv(lookup func(name string) (string, bool)) Option {
	return func(g *Grants) error {
		g.lookup = lookup
		return nil
	}
}

func (g *Grants) allowsEnv(u capability.Use) bool {
	if u.Target == "" {
		return len(g.env) > 0
	}
	secret, ok := g.granted(u.Target)
	return ok && (u.Op != "get" || !secret)
}

// variable answers env.get and env.secret. For a secret it only says whether it is set.
func (g *Grants) variable(op string, a args) engine.Outcome {
	name := a.str("name")
	secret, ok := g.granted(name)
	if !ok {
		return capability.Ungranted(capability.Use{Kind: engine.EffectEnv, Op: op, Target: name})
	}
	text, set := g.lookup(name)
	switch {
	case op == "secret":
		return engine.Outcome{Value: generable.BoolOf(set)}
	case secret:
		return engine.Failed(failed(diag.TouchRefused, "the environment variable %q is a secret, which env.get does not return", name).
			WithHelp("read it by env.secret(%q); if it is no secret, grant it with --allow-env %s:plain", name, name))
	case !set:
		return engine.Outcome{}
	case !utf8.ValidString(text):
		return engine.Failed(failed(diag.TouchFailed, "the value of the environment variable %q is no UTF-8 text", name))
	}
	return engine.Outcome{Value: generable.StrOf(text)}
}

// environ returns the environment of a command: the path for looking up commands, and the granted variables.
func (g *Grants) environ() []string {
	out := []string{} // nil would mean the host's whole environment
	names := append(g.grantedNames(), needed...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if text, set := g.lookup(name); set && !strings.ContainsRune(text, 0) {
			out = append(out, name+"="+text)
		}
	}
	return out
}

// Secrets returns the values of the granted variables that are secrets, as an [engine.Handler] with secrets does. It
// leaves out a value that is a word, such as "postgres": unrelated texts contain it too.
func (g *Grants) Secrets() (values []string) {
	for _, name := range g.grantedNames() {
		if secret, _ := g.granted(name); secret {
			if text, set := g.lookup(name); set && !capability.IsWord(text) {
				values = append(values, text)
			}
		}
	}
	return values
}

// Redact removes the values of granted secret variables from a text.
func (g *Grants) Redact(text string) string { return g.secrets().Text(text) }

// shortSecrets warns about secrets that are too short to distinguish from other text.
func (g *Grants) shortSecrets() {
	for _, name := range g.grantedNames() {
		if text, set := g.lookup(name); set && text != "" && len(text) < redact.Shortest {
			if secret, _ := g.granted(name); secret {
				g.warnings = append(g.warnings, fmt.Sprintf("the secret %s has %s: one of fewer than %d cannot be distinguished from other text and is not always hidden", name, words.Count(len(text), "character"), redact.Shortest))
			}
		}
	}
}

// secretMark replaces a secret.
const secretMark = "<secret %s>"

// secrets returns the values, by name, that must not appear in a command's output or in an answer.
func (g *Grants) secrets() *redact.Redactor {
	hidden := &redact.Redactor{Mark: secretMark}
	for _, name := range g.grantedNames() {
		secret, _ := g.granted(name)
		if text, set := g.lookup(name); secret && set {
			hidden.Add(name, text)
		}
	}
	return hidden
}

// text returns a text argument with the values of its secrets inserted.
func (g *Grants) text(v generable.Value, known *redact.Redactor) (string, *engine.Error) {
	if s, ok := v.AsStr(); ok || v.IsNull() {
		return s, nil
	}
	list, _ := v.AsList()
	var b strings.Builder
	for _, part := range list.Items() {
		if s, ok := part.AsStr(); ok {
			b.WriteString(s)
			continue
		}
		r, ok := part.AsRecord()
		if !ok || r.Type() != capability.SecretType {
			return "", failed(diag.TouchRefused, "a text of the request is no text")
		}
		name, _ := r.At(0).AsStr()
		if _, granted := g.granted(name); !granted {
			return "", capability.Ungranted(capability.Use{Kind: engine.EffectEnv, Op: "secret", Target: name}).Err
		}
		text, set := g.lookup(name)
		if !set {
			return "", failed(diag.TouchFailed, "the environment variable %q is not set", name).WithHelp("set it where the run is started")
		}
		known.Add(name, text)
		b.WriteString(text)
	}
	return b.String(), nil
}
