package lint

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// server records what mcp(...) uses, as far as it is literal: the command or the host, and the secrets that it is
// given. The rest is checked when a run connects to the server.
func (l *useLint) server(call *syntax.CallExpr) {
	if spreads(call) {
		return
	}
	given := map[string]syntax.Expr{}
	for i, arg := range call.Args {
		if a := startree.ArgOf(arg); a.Name != nil {
			given[a.Name.Name] = a.Value
		} else if i == 0 {
			given["command"] = arg
		}
	}
	if at := given["command"]; at != nil && given["url"] == nil {
		// A command line is not a program, which composing reports.
		if word, ok := l.str(at); ok && word != "" && !script.IsCommandLine(word) {
			l.use(at, capability.Use{Kind: engine.EffectExec, Target: word}, l.c.ServerMay)
		}
	} else if at := given["url"]; at != nil && given["command"] == nil {
		text, _ := l.str(at)
		if host, err := capability.Host(text); err == nil { // otherwise composing reports what is wrong
			l.use(at, capability.Use{Kind: engine.EffectHTTP, Target: host}, l.c.ServerMay)
		}
	}
	for _, name := range []string{"env", "headers"} {
		if at := given[name]; at != nil {
			l.settings(at)
		}
	}
}

// oauth records the secret or key of a client and the host of an authorization server.
func (l *useLint) oauth(call *syntax.CallExpr) {
	if spreads(call) {
		return
	}
	for _, arg := range call.Args {
		a := startree.ArgOf(arg)
		if a.Name == nil {
			continue
		}
		switch a.Name.Name {
		case "secret", "key":
			l.setting(a.Value)
		case "issuer":
			text, _ := l.str(a.Value)
			if host, err := capability.Host(text); err == nil {
				l.use(a.Value, capability.Use{Kind: engine.EffectHTTP, Target: host}, l.c.ServerMay)
			}
		}
	}
}

// settings records the secrets in a literal dict of headers or variables.
func (l *useLint) settings(e syntax.Expr) {
	dict, ok := startree.Unparen(e).(*syntax.DictExpr)
	if !ok {
		return
	}
	for _, entry := range dict.List {
		l.setting(entry.(*syntax.DictEntry).Value)
	}
}

// setting records the secret that a value is.
func (l *useLint) setting(val syntax.Expr) {
	name := ""
	if call, ok := val.(*syntax.CallExpr); ok && l.calls(call, "secret") && len(call.Args) > 0 {
		name, _ = l.str(call.Args[0])
		l.seen[call] = true
	} else if v, ok := written(l.c.State, l.u, val); ok {
		if s, ok := v.(*value.Secret); ok {
			name = s.Name
		}
	}
	if name != "" {
		l.use(val, capability.Use{Kind: engine.EffectEnv, Op: "secret", Target: name}, l.c.ServerMay)
	}
}

// calls reports whether a call is a call of the builtin with a name.
func (l *useLint) calls(call *syntax.CallExpr, name string) bool {
	id, ok := call.Fn.(*syntax.Ident)
	if !ok || id.Name != name {
		return false
	}
	v, _ := written(l.c.State, l.u, id)
	_, ok = v.(*starlark.Builtin)
	return ok && v == l.c.Predeclared[name]
}
