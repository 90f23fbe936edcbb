package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/internal/cli/command"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/temporal"
)

func (v *verbs) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "version", Short: "Print the version and the type of the workflows", RunE: func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return term.Usagef("usage: agentscript temporal version [--json]", "version takes no argument, and got %q", args[0])
		}
		built := command.VersionOf(v.c.Version)
		is := struct {
			Version  string `json:"version"`
			Go       string `json:"go,omitempty"`
			ABI      int    `json:"abi"`
			Workflow string `json:"workflow"`
		}{built.Version, built.Go, built.ABI, temporal.Workflow}
		return v.c.PrintAs(asJSON, is, func() string {
			return fmt.Sprintf("agentscript-temporal %s\n%s, abi %d, workflows %s", text.Terminal(is.Version), is.Go, is.ABI, is.Workflow)
		})
	}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
