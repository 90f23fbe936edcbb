package agents

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

var (
	// settingsKind takes headers and variables.
	settingsKind = table.Vetted(table.DictOf(&table.Kind{Word: "str and secret(...)", Stub: "str | Secret", Accept: value.Either(value.As[starlark.String], value.As[*value.Secret])}), badSettings)
	globKind     = table.Texts(func(_ *table.Param, glob string) []table.Fault {
		return badServer(agent.CheckGlob(glob) != nil || glob == "" || glob == "!", `* matches anything, ? one letter, [ab] one of several: "read_*"`, "%q is not a glob", glob)
	})
	serverNameKind = table.Texts(func(_ *table.Param, name string) []table.Fault {
		return badServer(!fitsServer(name), serverNameHelp, "%q cannot name an MCP server", name)
	})
	urlKind = table.Texts(func(_ *table.Param, text string) []table.Fault {
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return badServer(true, `write "https://host/path"`, "it cannot be read as a URL")
		case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return badServer(true, `write "https://host/path"`, "want an http or https URL with a host")
		}
		return badServer(u.User != nil, `write headers = {"Authorization": secret("NAME", prefix = "Bearer ")}`, "it carries a name or password, which would be in every record")
	})
	secretNameKind = table.Texts(func(_ *table.Param, name string) []table.Fault {
		return table.FaultIf(name == "" || strings.ContainsAny(name, "=\x00 \t\r\n"), `secrets are named like environment variables: secret("GITHUB_TOKEN")`, "%q cannot name a secret", name)
	})
	lineKind = table.Texts(func(_ *table.Param, text string) []table.Fault {
		return table.FaultIf(strings.ContainsAny(text, "\r\n\x00"), "", "it holds a line break or a NUL")
	})
)

// badServer is a fault in how a server is reached, if wrong is true.
func badServer(wrong bool, help, format string, args ...any) []table.Fault {
	return table.Coded(diag.BadServer, table.FaultIf(wrong, help, format, args...))
}

// settingNames describe valid names.
var settingNames = map[string]string{"env": "variables are named like API_TOKEN", "headers": "headers are named like Authorization or X-Api-Key"}

// badSettings lists names and values that are invalid in a header or variable.
func badSettings(p *table.Param, v starlark.Value) []table.Fault {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil
	}
	var found []table.Fault
	n := 0
	for key, item := range d.Entries() {
		n++
		if k, _ := key.(starlark.String); k == "" || strings.ContainsAny(string(k), "=: \t\r\n\x00") {
			f := badServer(true, settingNames[p.Name], "it is not a name")[0]
			f.Part = table.Piece{N: n, Key: key.String(), At: true}
			found = append(found, f)
		}
		if text, _ := item.(starlark.String); strings.ContainsAny(string(text), "\r\n\x00") && p.Name == "headers" {
			f := badServer(true, "", "the value holds a line break or a NUL")[0]
			f.Part = table.Piece{N: n, Key: key.String()}
			found = append(found, f)
		}
	}
	return found
}

// serverCommandKind takes the command of a server.
var serverCommandKind = table.Hinted(table.StrKind, func(v starlark.Value) string {
	switch v.(type) {
	case *starlark.Dict, *starlark.List:
		return `write the parts as arguments: mcp("npx", args = ["-y", "..."], env = {...}), or mcp(url = "https://...")`
	}
	return ""
})

func serverRows() []table.Builtin {
	return []table.Builtin{
		{Name: "mcp", Group: table.GroupAgents, Aside: "args env headers auth transport tools name timeout call_timeout effect on_unknown untrusted", Returns: "mcp", Effect: table.Compose, Func: mcpFunc, May: true,
			Params: []table.Param{
				{Name: "command", Kind: serverCommandKind, Default: "None", Doc: "the command that starts the server, which communicates over its standard input and output"},
				table.Opt("args", table.ListOf(table.StrKind), "[]", "arguments of the command"),
				table.Opt("env", settingsKind, "{}", "variables of the process in addition to PATH, HOME and the like: str or secret(...)"),
				table.Opt("url", urlKind, "None", "the URL of the server, instead of a command"),
				table.Opt("headers", settingsKind, "{}", "headers of every request to the server: str or secret(...)"),
				table.Opt("auth", oauthKind, "None", "how to get the token for a server at a URL: oauth(...)"),
				table.Opt("transport", table.OneOf("auto", "http", "sse"), `"auto"`, "how to communicate with a server at a URL: streamable HTTP, the older SSE, or the first that works"),
				table.Opt("tools", table.ListOf(globKind), "[]", `the tools that agents get, as globs: ["read_*", "!read_media"]; by default all`),
				table.Opt("name", serverNameKind, "None", "its name; by default that of the variable it is assigned to"),
				table.Opt("timeout", table.TimeKind, `"30s"`, "the time limit for starting the server and listing its tools"),
				table.Opt("call_timeout", table.TimeKind, `"5m"`, "the time limit of one tool call"),
				table.Opt("effect", table.OneOf("read", "idempotent", "once"), `"once"`, "what each of its tools does: "+effectDoc),
				unknownParam(),
				table.Opt("untrusted", table.BoolKind, "False", "its tools return text from outside, which the model is instructed to treat only as information"),
			},
			Doc: "Declares an MCP server. An agent gets the server's tools with tools = [...]. The server is contacted when such an agent runs; its list of tools and the calls are recorded."},
		oauthRow(),
		{Name: "secret", Group: table.GroupAgents, Aside: "prefix", Returns: "secret", Effect: table.Compose, Func: secretFunc, May: true,
			Params: []table.Param{
				{Name: "name", Kind: secretNameKind, Doc: "the name under which the host or the environment stores it"},
				table.Opt("prefix", lineKind, `""`, `the text before the value: "Bearer "`),
			},
			Doc: "Names a secret of the host, for headers and env of mcp(...) and for oauth(...). The script never sees its value, and no record, event or message contains it."},
	}
}

func secretFunc(c *table.Call) (starlark.Value, error) {
	return &value.Secret{Name: c.Str("name"), Prefix: c.Str("prefix")}, nil
}

func mcpFunc(c *table.Call) (starlark.Value, error) {
	spec := &remote.Server{Name: c.Str("name"), Command: c.Str("command"), URL: c.Str("url"), Transport: remote.TransportStdio,
		Class: engine.Class(c.Str("effect")), Span: c.FuncSpan()}
	if !c.Has("name") {
		spec.Name = cmp.Or(c.Variable(), "mcp")
	}
	if !fitsServer(spec.Name) {
		c.Problemf(diag.BadServer, c.FuncSpan(), "%q cannot name an MCP server", spec.Name).Help = []string{serverNameHelp}
	}
	reached(c, spec)
	spec.Untrusted = c.Bool("untrusted", false)
	var asked agent.Judge
	if spec.OnUnknown, asked = unknown(c); asked != nil {
		spec.Reconcile = asked
	}
	spec.Args, spec.Tools = c.Texts("args"), c.Texts("tools")
	spec.Env = serverSettings(c, "env", "command", "url")
	spec.Headers = serverSettings(c, "headers", "url", "command")
	spec.OAuth = serverAuth(c, spec)
	spec.Timeout, spec.Call = c.Duration("timeout"), c.Duration("call_timeout")
	return c.Made(&value.Server{Kind: "mcp", Text: "mcp(" + spec.Name + ")", Of: spec})
}

const serverNameHelp = "use letters, digits, - and _, 32 at most: tools are called server.tool, and server__tool by models"

// fitsServer reports whether a name is valid as the server in server.tool, and in the name of a tool that a model
// calls.
func fitsServer(name string) bool { return name != "" && remote.NameOf(name) == name }

// reached reads how the server is reached.
func reached(c *table.Call, spec *remote.Server) {
	switch {
	case c.Passed("command") == c.Passed("url"):
		d := c.Problemf(diag.BadServer, c.FuncSpan(), "an MCP server has a command or a URL")
		d.Help = []string{`write mcp("npx", args = ["-y", "..."]) or mcp(url = "https://...")`}
		if spec.Command != "" {
			d.Label = "it has both"
		}
		return
	case c.Passed("command"):
		words := strings.Fields(spec.Command)
		switch {
		case len(words) == 0:
			c.Problemf(diag.BadServer, c.ArgSpan("command"), "command: the command is empty").Help = []string{`name the program first: mcp("npx", args = ["-y", "..."])`}
		case script.IsCommandLine(spec.Command):
			c.Problemf(diag.BadServer, c.ArgSpan("command"), "command: no shell reads it, and %q is not a program", spec.Command).Help = []string{fmt.Sprintf("write mcp(%q, args = %s)", words[0], script.QuotedList(words[1:]))}
		}
		if c.Has("transport") {
			c.Problemf(diag.BadServer, c.ArgSpan("transport"), "transport: a server that is started communicates over its standard input and output").Help = []string{"leave it out, or pass url ="}
		}
		return
	}
	spec.Transport = c.StrOr("transport", remote.TransportAuto)
	if len(c.List("args")) > 0 {
		c.Problemf(diag.BadServer, c.ArgSpan("args"), "args: a server at a URL is not started, and takes none")
	}
}

// serverSettings reads headers or variables. Each applies only to servers that are reached in one of the two ways.
func serverSettings(c *table.Call, name, of, other string) []remote.Setting {
	d, ok := c.Arg(name).(*starlark.Dict)
	if !ok || d.Len() == 0 {
		return nil
	}
	if !c.Passed(of) && c.Passed(other) {
		help := map[string]string{"env": "a server at a URL is sent headers = {...}", "headers": "a server that is started gets env = {...}"}[name]
		c.Problemf(diag.BadServer, c.ArgSpan(name), "%s: this server has none", name).Help = []string{help}
	}
	var out []remote.Setting
	for key, item := range d.Entries() {
		k, _ := key.(starlark.String)
		s := remote.Setting{Name: string(k)}
		switch v := item.(type) {
		case starlark.String:
			s.Value = string(v)
		case *value.Secret:
			s.Value, s.Secret = v.Prefix, v.Name
		case *value.Failed:
			c.Incomplete = true
		}
		out = append(out, s)
	}
	return out
}

// serverList reads the MCP servers among tools.
func serverList(c *table.Call) []*remote.Server {
	var out []*remote.Server
	for _, item := range c.List("tools") {
		if v, ok := item.(*value.Server); ok {
			out = append(out, v.Of)
		}
	}
	return out
}

// hasServers reports whether an agent has tools that only a run can list.
func hasServers(spec *agent.Spec) bool {
	return len(spec.Servers) > 0 || slices.ContainsFunc(spec.Skills, func(sk *agent.Skill) bool { return len(sk.Servers) > 0 })
}
