package starlib

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

type (
	// serverValue is an MCP server whose tools an agent may have. It is not contacted while loading.
	serverValue struct {
		part
		spec *engine.ServerSpec
	}
	// secretValue names a secret. Its value is never in the script's reach.
	secretValue struct {
		part
		name, prefix string
	}
)

func (v *serverValue) String() string { return fmt.Sprintf("mcp(%s)", v.spec.Name) }
func (v *serverValue) Type() string   { return "mcp" }
func (v *secretValue) String() string { return fmt.Sprintf("secret(%q)", v.name) }
func (v *secretValue) Type() string   { return "secret" }

// settingsKind takes headers and variables.
var settingsKind = Kind{Word: "dict of str and secret(...)", Stub: "dict[str, str | Secret]", accept: func(v starlark.Value) (starlark.Value, bool) {
	d, ok := v.(*starlark.Dict)
	if !ok {
		return v, false
	}
	for key, item := range d.Entries() {
		if _, ok := key.(starlark.String); !ok {
			return v, false
		}
		switch item.(type) {
		case starlark.String, *secretValue, *failedValue:
		default:
			return v, false
		}
	}
	return v, true
}}

func serverRows() []Builtin {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	return []Builtin{
		{Name: "mcp", Group: GroupAgents, Returns: "mcp", Effect: Compose, Func: mcpFunc, May: true,
			Params: []Param{
				{Name: "command", Kind: StrKind, Default: "None", Doc: "what starts the server, which is spoken to over its standard input and output"},
				opt("args", listOf(StrKind), "[]", "arguments of the command"),
				opt("env", settingsKind, "{}", "variables of the process beside PATH, HOME and the like: str or secret(...)"),
				opt("url", StrKind, "None", "where the server is, instead of a command"),
				opt("headers", settingsKind, "{}", "headers of every request to the server: str or secret(...)"),
				opt("transport", oneOf("auto", "http", "sse"), `"auto"`, "how a server at a URL is spoken to: streamable HTTP, the older SSE, or the first that works"),
				opt("tools", listOf(StrKind), "[]", `the tools that agents get, as globs: ["read_*", "!read_media"]; all when not given`),
				opt("name", StrKind, "None", "its name; else the variable it is assigned to"),
				opt("timeout", either(StrKind, FloatKind), `"30s"`, "how long it may take to start and to list its tools"),
				opt("call_timeout", either(StrKind, FloatKind), `"5m"`, "how long one call of a tool may take"),
				opt("effect", oneOf("read", "idempotent", "once"), `"once"`, "what may be done again of what its tools do"),
				opt("untrusted", BoolKind, "False", "what its tools give is text from outside, which the model is told to take for information alone"),
			},
			Doc: "Declares an MCP server, whose tools an agent gets with tools = [...]. It is contacted when such an agent runs; its list of tools and the calls are recorded."},
		{Name: "secret", Group: GroupAgents, Returns: "secret", Effect: Compose, Func: secretFunc, May: true,
			Params: []Param{
				{Name: "name", Kind: StrKind, Doc: "the name under which the host or the environment keeps it"},
				opt("prefix", StrKind, `""`, `what stands before it: "Bearer "`),
			},
			Doc: "Names a secret of the host, for headers and env of mcp(...). The script never sees its value, and no record, event or message holds it."},
	}
}

func secretFunc(c *Call) (starlark.Value, error) {
	name := c.Str("name")
	if name == "" || strings.ContainsAny(name, "=\x00 \t\r\n") {
		c.complain(diag.WrongArgument, c.spanOf("name"), "%q is no name of a secret", name).Help = []string{`secrets are named like environment variables: secret("GITHUB_TOKEN")`}
	}
	if strings.ContainsAny(c.Str("prefix"), "\r\n\x00") {
		c.complain(diag.WrongArgument, c.spanOf("prefix"), "prefix: it holds a line break or a NUL")
	}
	return &secretValue{name: name, prefix: c.Str("prefix")}, nil
}

func mcpFunc(c *Call) (starlark.Value, error) {
	spec := &engine.ServerSpec{Name: c.Str("name"), Command: c.Str("command"), URL: c.Str("url"), Transport: engine.TransportStdio,
		Class: engine.Class(c.Str("effect")), Span: c.fnSpan()}
	if !c.Has("name") {
		if spec.Name = c.name(); spec.Name == "" {
			spec.Name = "mcp"
		}
	}
	c.checkServerName(spec.Name)
	c.reached(spec)
	spec.Untrusted = c.Bool("untrusted", false)
	for item := range c.items("args") {
		if s, ok := item.(starlark.String); ok {
			spec.Args = append(spec.Args, string(s))
		}
	}
	spec.Env = c.serverSettings("env", spec.Command)
	spec.Headers = c.serverSettings("headers", spec.URL)
	for item := range c.items("tools") {
		glob, _ := item.(starlark.String)
		if err := engine.CheckGlob(string(glob)); err != nil || glob == "" || glob == "!" {
			c.complain(diag.BadServer, c.spanOf("tools"), "tools: %q is no glob", string(glob)).Help = []string{`* stands for anything, ? for one letter, [ab] for one of some: "read_*"`}
		}
		spec.Tools = append(spec.Tools, string(glob))
	}
	spec.Timeout, spec.Call = c.timeSpan("timeout"), c.timeSpan("call_timeout")
	if c.stood {
		return c.standIn(), nil
	}
	return &serverValue{spec: spec}, nil
}

// checkServerName refuses names that cannot stand in server.tool, or in the name of a tool as a
// model calls it.
func (c *Call) checkServerName(name string) {
	fits := name != "" && len(name) <= 32
	for i, r := range name {
		fits = fits && (r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || i > 0 && (r == '-' || '0' <= r && r <= '9'))
	}
	if !fits {
		at := c.fnSpan()
		if c.Has("name") {
			at = c.spanOf("name")
		}
		c.complain(diag.BadServer, at, "%q is no name for an MCP server", name).Help = []string{"use letters, digits, - and _, 32 at most: tools are called server.tool, and server__tool by models"}
	}
}

// reached settles how the server is reached.
func (c *Call) reached(spec *engine.ServerSpec) {
	switch {
	case (spec.Command == "") == (spec.URL == ""):
		d := c.complain(diag.BadServer, c.fnSpan(), "an MCP server is a command or at a URL")
		d.Help = []string{`write mcp("npx", args = ["-y", "..."]) or mcp(url = "https://...")`}
		if spec.Command != "" {
			d.Label = "it is given both"
		}
		return
	case spec.Command != "":
		if strings.ContainsAny(spec.Command, " \t\x00") && !strings.ContainsAny(spec.Command, `/\`) {
			c.complain(diag.BadServer, c.spanOf("command"), "command: no shell reads it, and %q is no program", spec.Command).Help = []string{fmt.Sprintf("write mcp(%q, args = [...])", strings.Fields(spec.Command)[0])}
		}
		if c.Has("transport") {
			c.complain(diag.BadServer, c.spanOf("transport"), "transport: a server that is started is spoken to over its standard input and output").Help = []string{"leave it out, or give url ="}
		}
		return
	}
	spec.Transport = engine.TransportAuto
	if c.Has("transport") {
		spec.Transport = c.Str("transport")
	}
	if len(c.list("args")) > 0 {
		c.complain(diag.BadServer, c.spanOf("args"), "args: a server at a URL is not started, and takes none")
	}
	u, err := url.Parse(spec.URL)
	at := c.spanOf("url")
	switch {
	case err != nil:
		c.complain(diag.BadServer, at, "url: it cannot be read as a URL").Help = []string{`write "https://host/path"`}
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		c.complain(diag.BadServer, at, "url: want an http or https URL with a host").Help = []string{`write "https://host/path"`}
	case u.User != nil:
		c.complain(diag.BadServer, at, "url: it carries a name or password, which would be in every record").Help = []string{`write headers = {"Authorization": secret("NAME", prefix = "Bearer ")}`}
	}
}

// list is a list argument as values.
func (c *Call) list(name string) []starlark.Value {
	var out []starlark.Value
	for item := range c.items(name) {
		out = append(out, item)
	}
	return out
}

// serverSettings reads headers or variables. They have a meaning for one of the two ways alone.
func (c *Call) serverSettings(name, of string) []engine.Setting {
	d, ok := c.Arg(name).(*starlark.Dict)
	if !ok || d.Len() == 0 {
		return nil
	}
	if of == "" && c.Str("command")+c.Str("url") != "" {
		help := map[string]string{"env": "a server at a URL is sent headers = {...}", "headers": "a server that is started gets env = {...}"}[name]
		c.complain(diag.BadServer, c.spanOf(name), "%s: this server has none", name).Help = []string{help}
	}
	var out []engine.Setting
	for key, item := range d.Entries() {
		k, _ := key.(starlark.String)
		s := engine.Setting{Name: string(k)}
		if strings.ContainsAny(s.Name, "=: \t\r\n\x00") || s.Name == "" {
			c.complain(diag.BadServer, c.spanOf(name), "%s: %q is no name", name, s.Name)
		}
		switch v := item.(type) {
		case starlark.String:
			s.Value = string(v)
		case *secretValue:
			s.Value, s.Secret = v.prefix, v.name
		case *failedValue:
			c.stood = true
		}
		if strings.ContainsAny(s.Value, "\r\n\x00") && name == "headers" {
			c.complain(diag.BadServer, c.spanOf(name), "%s: the value of %s holds a line break or a NUL", name, s.Name)
		}
		out = append(out, s)
	}
	return out
}

// timeSpan reads a time: "90s", or seconds; 0 when it was not given.
func (c *Call) timeSpan(name string) time.Duration {
	switch v := c.Arg(name).(type) {
	case starlark.String:
		d, err := time.ParseDuration(string(v))
		if c.Has(name) && (err != nil || d <= 0) {
			c.complain(diag.WrongArgument, c.spanOf(name), "%s: want a time such as \"90s\" or \"2m\", got %s", name, v)
		}
		return d
	case starlark.Float:
		if v <= 0 || v > 1e9 {
			c.complain(diag.WrongArgument, c.spanOf(name), "%s: want a number of seconds above 0, got %v", name, float64(v))
			return 0
		}
		return time.Duration(float64(v) * float64(time.Second))
	}
	return 0
}

// serverList reads the MCP servers among tools.
func (c *Call) serverList(name string) []*engine.ServerSpec {
	var out []*engine.ServerSpec
	for item := range c.items(name) {
		if v, ok := item.(*serverValue); ok {
			out = append(out, v.spec)
		}
	}
	return out
}

// hasServers reports whether an agent has tools that only a run knows.
func hasServers(spec *engine.AgentSpec) bool {
	n := len(spec.Servers)
	for _, sk := range spec.Skills {
		n += len(sk.Servers)
	}
	return n > 0
}
