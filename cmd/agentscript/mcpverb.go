package main

import "github.com/spf13/cobra"

// mcpVerb is about the MCP servers that scripts use.
func (c *command) mcpVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Look at MCP servers and sign in to them",
		Long: "Mcp is about the servers that scripts name with mcp(...). Sign-ins are kept in a directory of the user, " +
			"$XDG_CONFIG_HOME/agentscript/mcp, in files that nobody else can read.",
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(c.mcpToolsVerb(), c.mcpLoginVerb(), c.mcpLogoutVerb(), c.mcpLoginsVerb())
	cmd.RunE = func(_ *cobra.Command, args []string) error { return c.noSubverb(cmd, args) }
	return cmd
}

// noSubverb is what happens when none of a verb's own verbs is named.
func (c *command) noSubverb(cmd *cobra.Command, args []string) error {
	var names string
	subs := cmd.Commands()
	for i, sub := range subs {
		switch {
		case i > 0 && i == len(subs)-1:
			names += " or "
		case i > 0:
			names += ", "
		}
		names += sub.Name()
	}
	help := "agentscript " + cmd.Name() + " --help tells of them"
	if len(args) > 0 {
		return usagef(help, "there is no verb %q of %s: it has %s", args[0], cmd.Name(), names)
	}
	return usagef(help, "%s needs a verb: %s", cmd.Name(), names)
}
