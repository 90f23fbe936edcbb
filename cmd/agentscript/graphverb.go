package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/draw"
)

// drawings are the formats of a graph.
var drawings = map[string]func(*engine.Node) string{"mermaid": draw.Mermaid, "dot": draw.DOT, "svg": draw.SVG, "json": draw.JSON}

func (c *command) graphVerb() *cobra.Command {
	var format, name, root string
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a composition, with the types on its edges",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := oneFile(cmd, args)
			if err != nil {
				return err
			}
			form := drawings[format]
			if form == nil {
				return usagef(diag.DidYouMean(format, slices.Sorted(maps.Keys(drawings))), "--format is mermaid, dot, svg or json, not %q", format)
			}
			ctx, stop := c.interruptible()
			defer stop()
			s, err := c.load(ctx, file, root, agentscript.WithUngranted())
			if err != nil {
				return err
			}
			n, err := chosenNode(s, name)
			if err != nil {
				return err
			}
			return c.print(strings.TrimSuffix(form(n), "\n"))
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "`mermaid`, dot, svg or json")
	addRoot(cmd.Flags(), &root)
	cmd.Flags().StringVar(&name, "node", "", "draw the node of this `name` instead of main")
	return cmd
}

func chosenNode(s *script, name string) (*engine.Node, error) {
	names := s.nodeNames()
	others := "the script has no nodes at its top level"
	if len(names) > 0 {
		others = "name one with --node: " + strings.Join(names, ", ")
	}
	switch {
	case name != "" && s.Node(name) != nil:
		return s.Node(name), nil
	case name != "":
		help := diag.DidYouMean(name, names)
		if help == "" {
			help = others
		}
		return nil, usagef(help, "the script has no node %q", name)
	case s.node() != nil:
		return s.node(), nil
	case s.main != nil:
		return nil, usagef(others, "main is a function, and what it calls is only known when it runs")
	}
	none := *s.none
	if len(names) > 0 {
		none.Help = append(slices.Clone(none.Help), others)
	}
	return nil, &failure{code: exitCheck, found: diag.List{&none}, sources: s.Sources()}
}
