package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/draw"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// drawings are the formats of a graph.
var drawings = map[string]func(*flow.Node) string{"mermaid": draw.Mermaid, "dot": draw.DOT, "svg": draw.SVG, "json": draw.JSON}

func graphVerb(c *term.Console) *cobra.Command {
	var format, name, root string
	var flows setup.FlowFlags
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a composition, with the types on its edges",
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := oneFile(cmd, args)
			if err != nil {
				return err
			}
			if err := wordOf("format", format, "mermaid", "dot", "svg", "json"); err != nil {
				return err
			}
			ctx, stop := c.Interruptible()
			defer stop()
			flowing, problem := flows.Option(file, 0)
			if problem != nil {
				return problem
			}
			s, err := setup.Load(c, ctx, file, root, agentscript.WithUngranted(), flowing)
			if err != nil {
				return err
			}
			n, err := s.Chosen(name)
			if err != nil {
				return err
			}
			return c.Print(strings.TrimSuffix(drawings[format](n), "\n"))
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "`mermaid`, dot, svg or json")
	setup.AddRoot(cmd.Flags(), &root)
	flows.AddTo(cmd.Flags())
	cmd.Flags().StringVar(&name, "node", "", "draw the node of this `name` instead of main")
	return cmd
}
