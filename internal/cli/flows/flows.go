// Package flows has the verbs for flows as JSON: convert, export and schema.
package flows

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Verbs returns the verbs of the package.
func Verbs(c *term.Console) []*cobra.Command {
	return []*cobra.Command{convertVerb(c), exportVerb(c), schemaVerb(c)}
}

// write writes a text to a file or, without one, to stdout.
func write(c *term.Console, name, text string, reads ...string) error {
	if name == "" {
		return c.Print(strings.TrimSuffix(text, "\n"))
	}
	f, problem := output.Create("--output", name, reads...)
	if problem != nil {
		return problem
	}
	return f.Write(text)
}

// report shows the findings, and returns a failure if there are errors.
func report(c *term.Console, found diag.List, sources diag.Sources) error {
	if found.HasErrors() {
		return &term.Failure{Code: term.ExitCheck, Found: found, Sources: sources}
	}
	c.Report(found, sources)
	return nil
}

func convertVerb(c *term.Console) *cobra.Command {
	var out, form string
	var flags setup.FlowFlags
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Convert a JSON flow to a script",
		Long: `Convert writes a JSON flow as the script that a person would have written. The script makes the same model calls as the
flow. With --form structured, it uses pipelines, branches and loops where they can express the flow; with graph, it keeps
the transitions as edges. Comments, and everything that nothing reads, become comments.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return term.Usagef("usage: "+cmd.UseLine(), "convert needs one FILE")
			}
			forms := []string{string(flowjson.Structured), string(flowjson.Graph)}
			if !slices.Contains(forms, form) {
				return term.Usagef("write structured or graph", "--form %s: there is no such form", form)
			}
			text, err := setup.ReadSource(args[0])
			if err != nil {
				return err
			}
			if !flowjson.IsFlow(args[0], text) {
				return term.Usagef("agentscript export "+args[0]+" writes it as JSON", "%s is a script already", args[0])
			}
			if _, problem := flags.Option(args[0], 0); problem != nil {
				return problem
			}
			sources := diag.SourceMap{args[0]: string(text)}
			f, found := flowjson.Parse(args[0], string(text), flowjson.Options{Compat: flags.Compat})
			if f == nil {
				return report(c, found, sources)
			}
			script, more := f.Convert(flowjson.Form(form))
			if err := report(c, append(found, more...), sources); err != nil {
				return err
			}
			return write(c, out, script, args[0])
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the script to this `FILE` instead of stdout")
	cmd.Flags().StringVar(&form, "form", string(flowjson.Structured), "`structured` or graph")
	cmd.Flags().StringVar(&flags.Compat, "compat", "", "keep the conditions bug for bug as `NAME`, an origin of the format, evaluates them")
	return cmd
}

func exportVerb(c *term.Console) *cobra.Command {
	var out, node, id, version, root string
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Export a composition of a script as a JSON flow",
		Long: `Export writes a composition as a JSON flow, if that format can express it: agents, verify, pick, pipelines, branches and
loops with conditions, parallels, graphs. If it cannot, export reports the position of each part that cannot be expressed,
and writes nothing.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return term.Usagef("usage: "+cmd.UseLine(), "export needs one FILE")
			}
			ctx, stop := c.Interruptible()
			defer stop()
			return export(c, ctx, args[0], root, node, out, flowjson.ExportOptions{ID: id, Version: version})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the flow to this `FILE` instead of stdout")
	cmd.Flags().StringVar(&node, "node", "", "write the node of this `name` instead of main")
	cmd.Flags().StringVar(&id, "id", "", "the `ID` of the flow (default: the name of the file)")
	cmd.Flags().StringVar(&version, "flow-version", "1.0", "the `VERSION` of the flow")
	setup.AddRoot(cmd.Flags(), &root)
	return cmd
}

func export(c *term.Console, ctx context.Context, file, root, node, out string, o flowjson.ExportOptions) error {
	s, err := setup.Load(c, ctx, file, root, agentscript.WithUngranted())
	if err != nil {
		return err
	}
	n, err := s.Chosen(node)
	if err != nil {
		return err
	}
	if o.ID == "" {
		o.ID = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	if s.MainEntry != nil && o.Description == "" {
		o.Description = s.MainEntry.Doc
	}
	text, found := flowjson.Export(n, o)
	if err := report(c, found, s.Sources()); err != nil {
		return err
	}
	return write(c, out, string(text), file)
}

func schemaVerb(c *term.Console) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:       "schema flow",
		Short:     "Print the JSON Schema of flows, for editors",
		ValidArgs: []string{"flow"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != "flow" {
				return term.Usagef("write agentscript schema flow -o flow.schema.json, and name the file in the editor or in \"$schema\"", "schema prints that of a format: flow")
			}
			return write(c, out, string(flowjson.Schema()))
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the schema to this `FILE` instead of stdout")
	return cmd
}
