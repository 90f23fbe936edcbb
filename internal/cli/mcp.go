package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// mcpVerb returns the verb for the MCP servers that scripts use.
func mcpVerb(c *term.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Inspect MCP servers and sign in to them",
		Long: `Mcp is about the servers that scripts name with mcp(...). Sign-ins are kept in a directory of the
user, $XDG_CONFIG_HOME/agentscript/mcp, in files that no one else can read.`,
		RunE: noSubverb,
	}
	cmd.AddCommand(mcpToolsVerb(c), mcpLoginVerb(c), mcpLogoutVerb(c), mcpLoginsVerb(c))
	return cmd
}

// noSubverb reports that none of a verb's subverbs was named.
func noSubverb(cmd *cobra.Command, args []string) error {
	names := oneOf(text.Each(cmd.Commands(), (*cobra.Command).Name))
	help := "agentscript " + cmd.Name() + " --help lists them"
	if len(args) > 0 {
		return term.Usagef(help, "there is no verb %q of %s: it has %s", args[0], cmd.Name(), names)
	}
	return term.Usagef(help, "%s needs a verb: %s", cmd.Name(), names)
}

const mcpToolsLong = `Tools starts the MCP server that COMMAND runs, or connects to the one at URL, and lists its tools as
the agents of a script get them: the name under which a model calls each tool, its parameters and
result, and what else is known about it. It calls none of them. The command is started with PATH,
HOME and similar variables, and with those of --env. Everything after COMMAND is an argument of the
command: agentscript mcp tools npx -y @scope/server DIR`

// toolsFlags are the flags of mcp tools.
type toolsFlags struct {
	format, name, transport, tokenEnv string
	globs, env, headers               []string
	oauth                             bool
	timeout                           time.Duration
}

func mcpToolsVerb(c *term.Console) *cobra.Command {
	var o toolsFlags
	cmd := &cobra.Command{
		Use: "tools COMMAND [ARG...] | URL", Short: "List what a server offers, as scripts see it", Long: mcpToolsLong,
		RunE: func(_ *cobra.Command, args []string) error { return mcpTools(c, &o, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after the command belong to it
	f.SortFlags = false
	f.StringVar(&o.format, "format", formatHuman, "`human` or json")
	f.StringArrayVar(&o.globs, "tool", nil, "list only tools that match this `GLOB`, as in tools = [...]; repeatable")
	f.StringVar(&o.name, "name", "server", "the server's `NAME`, which becomes part of tool names that clash")
	f.StringArrayVar(&o.env, "env", nil, "set a variable of the command to `NAME=VALUE`, or pass on NAME from this environment; repeatable")
	f.StringArrayVar(&o.headers, "header", nil, "send the header `NAME: VALUE` to the URL; repeatable")
	f.StringVar(&o.tokenEnv, "token-env", "", "send the token that the variable `NAME` holds to the URL")
	f.BoolVar(&o.oauth, "oauth", false, "use the sign-in of agentscript mcp login")
	f.StringVar(&o.transport, "transport", remote.TransportAuto, "the transport to the URL: `auto`, http or sse")
	f.DurationVar(&o.timeout, "timeout", remote.DefaultTimeout, "how long to wait for the server")
	return cmd
}

// spec returns the server that the command line names.
func (o *toolsFlags) spec(args []string) (*remote.Server, *term.Failure) {
	spec := &remote.Server{Name: o.name, Transport: remote.TransportStdio, Tools: o.globs, Timeout: o.timeout}
	switch {
	case len(args) == 0:
		return nil, term.Usagef("agentscript mcp tools npx -y @scope/server, or a URL", "mcp tools needs a COMMAND or a URL")
	case o.timeout <= 0:
		return nil, term.Usagef("", "--timeout: want more than 0, got %s", o.timeout)
	}
	for _, g := range o.globs {
		if err := agent.CheckGlob(g); err != nil {
			return nil, term.Usagef("", "--tool %q: %s", g, err)
		}
	}
	for _, pair := range o.env {
		name, value, literal := strings.Cut(pair, "=")
		set := remote.Setting{Name: name, Value: value}
		if !literal {
			set.Secret = name
		}
		spec.Env = append(spec.Env, set)
	}
	for _, h := range o.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, term.Usagef("write NAME: VALUE", "--header %q is no header", h)
		}
		spec.Headers = append(spec.Headers, remote.Setting{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if o.tokenEnv != "" {
		spec.Headers = append(spec.Headers, remote.Setting{Name: "Authorization", Value: "Bearer ", Secret: o.tokenEnv})
	}
	if strings.TrimSpace(args[0]) == "" {
		return nil, term.Usagef("name what starts the server, or its URL; a variable of the shell may be empty", "the COMMAND is empty")
	}
	if low := strings.ToLower(args[0]); !strings.HasPrefix(low, "http://") && !strings.HasPrefix(low, "https://") {
		spec.Command, spec.Args = args[0], args[1:]
		if len(spec.Headers) > 0 || o.oauth {
			return nil, term.Usagef("use --env NAME for a command", "headers, tokens and sign-ins are of servers at a URL, and %q is a command", args[0])
		}
		return spec, nil
	}
	if len(args) > 1 || len(spec.Env) > 0 {
		return nil, term.Usagef("flags come before the URL", "a server at a URL takes neither arguments nor variables")
	}
	if _, err := capability.Host(args[0]); err != nil {
		return nil, term.Usagef("", "%s: %s", args[0], err)
	}
	if !slices.Contains([]string{remote.TransportAuto, remote.TransportHTTP, remote.TransportSSE}, o.transport) {
		return nil, term.Usagef("", "--transport is auto, http or sse, not %q", o.transport)
	}
	spec.URL, spec.Transport = args[0], o.transport
	if o.oauth {
		spec.OAuth = &remote.OAuth{Grant: remote.GrantAuthorizationCode}
	}
	return spec, nil
}

func mcpTools(c *term.Console, o *toolsFlags, args []string) error {
	if err := wordOf("format", o.format, formatHuman, formatJSON); err != nil {
		return err
	}
	spec, problem := o.spec(args)
	if problem != nil {
		return problem
	}
	ctx, stop := c.Interruptible()
	defer stop()
	// Naming something on the command line grants it.
	opts := []mcp.Option{mcp.WithAllow(func(capability.Use) error { return nil }), mcp.WithSecrets(c.LookupEnv), mcp.WithClientName("agentscript", c.Version)}
	if dir := setup.TokenDir(c); dir != "" && o.oauth {
		opts = append(opts, mcp.WithTokens(mcp.TokenDir(dir)))
	}
	client := mcp.New(opts...)
	defer func() { _ = client.Close() }() // as in a run
	out := client.Do(ctx, &engine.Effect{Kind: engine.EffectMCP, Name: spec.Name, Req: &remote.ListRequest{Server: spec}, Class: engine.ClassRead}, nil)
	if out.Err != nil {
		return setup.StoreFailure(out.Err)
	}
	offered, err := agent.ToolsOf(spec, out.Value)
	if err != nil {
		return setup.StoreFailure(err)
	}
	rows := make([]toolRow, len(offered))
	var broken diag.List
	for i := range offered {
		if rows[i] = rowOf(&offered[i]); offered[i].Err != nil {
			broken.Add(term.Diagnose(offered[i].Err))
		}
	}
	err = c.PrintAs(o.format == formatJSON, map[string]any{"tools": rows}, func() string { return toolList(rows) })
	if err != nil || len(broken) == 0 {
		return err
	}
	return &term.Failure{Code: term.ExitFailed, Found: broken} // the exit code is that of a run
}

// toolRow is a tool in the list.
type toolRow struct {
	Name        string          `json:"name"` // the name for models; "" if it cannot be offered to them
	Remote      string          `json:"remote"`
	Signature   string          `json:"signature"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"`
	Output      json.RawMessage `json:"output"`
	Warnings    []string        `json:"warnings"`
	Error       string          `json:"error,omitempty"`
}

func rowOf(o *agent.Offered) toolRow {
	row := toolRow{Remote: o.Listed.Name, Description: o.Listed.Description, Input: jsonOr(o.Listed.Input), Output: jsonOr(o.Listed.Output), Warnings: []string{}}
	warn := func(format string, args ...any) { row.Warnings = append(row.Warnings, fmt.Sprintf(format, args...)) }
	if o.Err != nil {
		row.Error = fmt.Sprintf("%s: %s; %s", o.Err.Code, o.Err.Message, o.Err.Help)
		return row
	}
	t := o.Tool
	row.Name, row.Signature = t.Name, signature(t)
	if t.Name != t.Remote {
		warn("the server calls it %q: providers do not take that name", t.Remote)
	}
	if strings.TrimSpace(t.Doc) == "" {
		warn("it has no description: a model must guess what it does")
	}
	if t.Schema != "" {
		warn("no type expresses its whole input schema: a model gets the schema itself")
	}
	if o.Listed.Output != "" && t.Returns == nil {
		warn("no type says its output schema: results are not held to it")
	}
	return row
}

func jsonOr(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// signature returns the inputs and outputs of a tool: names and types of the script language, ? after optional names,
// ** before the type of any further names.
func signature(t *agent.Tool) string {
	var b strings.Builder
	b.WriteString(t.Name + "(")
	if t.Params.Kind == generable.RecordType {
		b.WriteString(fieldList(t.Params))
	} else {
		b.WriteString("**" + t.Params.Elem.String())
	}
	b.WriteString(")")
	switch r := t.Returns; {
	case r == nil:
	case r.Kind == generable.RecordType:
		b.WriteString(" -> {" + fieldList(r) + "}")
	default:
		b.WriteString(" -> " + r.String())
	}
	return b.String()
}

func fieldList(t *generable.Type) string {
	return strings.Join(text.Each(t.Fields, func(f generable.Field) string {
		mark := ": "
		if f.Optional {
			mark = "?: "
		}
		return f.Name + mark + shapeOf(f.Type, f.Optional)
	}), ", ")
}

// shapeOf returns a type as text; for an enum, its values, since its name is not the server's. The None of an optional
// name is not repeated in its type.
func shapeOf(t *generable.Type, leftOut bool) string {
	switch {
	case t.Kind == generable.EnumType && len(t.Values) <= 8:
		return strings.Join(text.Each(t.Values, strconv.Quote), " | ")
	case t.Kind == generable.ListType:
		return "list[" + shapeOf(t.Elem, false) + "]"
	case t.Kind == generable.OneOfType:
		var parts []string
		for _, v := range t.Variants {
			if v.Kind != generable.NoneType || !leftOut {
				parts = append(parts, shapeOf(v, false))
			}
		}
		return strings.Join(parts, " | ")
	}
	return t.String()
}

func toolList(rows []toolRow) string {
	var b strings.Builder
	for i, r := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		if r.Error != "" {
			fmt.Fprintf(&b, "%s\n  error: %s\n", text.Visible(r.Remote), text.Visible(r.Error))
			continue
		}
		fmt.Fprintf(&b, "%s\n", text.Visible(r.Signature))
		if lines := strings.Split(strings.TrimSpace(r.Description), "\n"); lines[0] != "" {
			about := lines[0]
			if len(lines) > 1 {
				about += " …"
			}
			fmt.Fprintf(&b, "  %s\n", text.Visible(about))
		}
		for _, w := range r.Warnings {
			fmt.Fprintf(&b, "  warning: %s\n", text.Visible(w))
		}
	}
	if len(rows) == 0 {
		return "it has no tools"
	}
	return strings.TrimRight(b.String(), "\n")
}
