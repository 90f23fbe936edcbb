package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
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
			if name == "" && setup.IsFlow(file) {
				name = "flow"
			}
			n, err := chosenNode(s, name)
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

func chosenNode(s *setup.Script, name string) (*flow.Node, error) {
	names := s.NodeNames()
	others := "the script has no nodes at its top level"
	if len(names) > 0 {
		others = "name one with --node: " + strings.Join(names, ", ")
	}
	switch {
	case name != "" && s.Node(name) != nil:
		return s.Node(name), nil
	case name != "":
		return nil, term.Usagef(cmp.Or(diag.DidYouMean(name, names), others), "the script has no node %q", name)
	case s.MainNode() != nil:
		return s.MainNode(), nil
	case s.MainEntry != nil:
		return nil, term.Usagef(others, "main is a function, and what it calls is only known when it runs")
	}
	none := *s.NoMain
	if len(names) > 0 {
		none.Help = append(slices.Clone(none.Help), others)
	}
	return nil, &term.Failure{Code: term.ExitCheck, Found: diag.List{&none}, Sources: s.Sources()}
}
