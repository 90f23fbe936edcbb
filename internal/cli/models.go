package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/cli/cost"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

func modelsVerb(c *term.Console) *cobra.Command {
	var asJSON bool
	var envFile, priceFile string
	var aliases project.AliasFlags
	cmd := &cobra.Command{
		Use:   "models [PATTERN]",
		Short: "List models, their prices and context windows, and whether a key is set",
		Long: `Models lists the models whose name contains PATTERN, in which * matches any text: what agentscript
can request of each (tools, schema, JSON, stream), its context window, and what a million tokens
cost in US dollars. Without a PATTERN, it lists the providers and what each of them needs. It uses
no network: names, windows and prices come from a table whose date is shown, and from your own
--prices.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usagef("quote a pattern with blanks or *", "models takes one PATTERN, and got %d", len(args))
			}
			registry, problem := setup.Registry(c, envFile, priceFile)
			if problem != nil {
				return problem
			}
			here, problem := project.Open(".", c.LookupEnv)
			if problem != nil {
				return problem
			}
			known, problem := aliases.Of(here)
			if problem != nil {
				return problem
			}
			if len(args) == 0 {
				return c.PrintAs(asJSON, registry.Providers(), func() string { return providerList(registry) + aliasList(known) })
			}
			args[0] = known.Named(args[0])
			found := registry.Models(args[0])
			if len(found) == 0 {
				return term.Usagef("agentscript models lists the providers; a name that the table does not hold works as well, if the provider knows it"+nearModel(registry, args[0]),
					"no model is known whose name holds %q", args[0])
			}
			return c.PrintAs(asJSON, found, func() string { return modelList(registry, found) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	aliases.AddTo(f)
	f.StringVar(&envFile, "env-file", "", "also read keys and addresses from this `FILE` of NAME=value lines")
	f.StringVar(&priceFile, "prices", "", "your own prices and context windows, a `FILE` of JSON that overrides the built-in table")
	return cmd
}

func providerList(r *llm.Registry) string {
	return term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "PROVIDER\tREADY\tKEY\tADDRESS")
		for _, p := range r.Providers() {
			key, address := strings.Join(p.Keys, " or "), p.BaseURL
			if p.Keyless {
				key = "none needed"
			}
			if address == "" && len(p.BaseEnv) > 0 {
				address = "set " + p.BaseEnv[0]
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, yesNo(p.Ready), key, address)
		}
	}) + "\n\nagentscript models PATTERN lists models: agentscript models openai/gpt-5"
}

// aliasList lists the aliases of the project and of the flags, or returns "" if there are none.
func aliasList(aliases project.Aliases) string {
	if len(aliases) == 0 {
		return ""
	}
	return "\n\n" + term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "ALIAS\tMODEL")
		for _, name := range slices.Sorted(maps.Keys(aliases)) {
			fmt.Fprintf(w, "%s\t%s\n", name, aliases[name])
		}
	})
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func modelList(r *llm.Registry, models []llm.ModelInfo) string {
	list := term.Table(3, func(w io.Writer) {
		fmt.Fprintln(w, "MODEL\tREADY\tCAN\tCONTEXT\tIN\tOUT\tCACHED IN")
		for _, m := range models {
			context, in, out, cached := "?", "?", "?", "?"
			if m.Context > 0 {
				context = strconv.Itoa(m.Context)
			}
			if p := m.Prices; p != nil {
				in, out, cached = dollars(p.In), dollars(p.Out), dollars(p.CacheRead)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Model, yesNo(m.Ready), abilities(m.Caps), context, in, out, cached)
		}
	})
	if len(models) == 1 && !models[0].Listed {
		list += fmt.Sprintf("\n\n%s is not in the table; its provider may know it%s", models[0].Model, nearModel(r, models[0].Model))
	}
	table := r.Prices()
	return list + fmt.Sprintf("\n\nUS dollars for a million tokens, as of %s (%s); ? is not known", table.Date, table.Source)
}

func abilities(c llm.Caps) string {
	var words []string
	for _, can := range []struct {
		is   bool
		word string
	}{{c.Tools, "tools"}, {c.Schema, "schema"}, {!c.Schema && c.JSONMode, "json"}, {c.Stream, "stream"}} {
		if can.is {
			words = append(words, can.word)
		}
	}
	return strings.Join(words, " ")
}

func dollars(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// nearModel suggests a similar name from the table of models, or "".
func nearModel(r *llm.Registry, name string) string {
	provider, _, _ := strings.Cut(name, "/")
	names := text.Each(r.Models(provider+"/"), func(m llm.ModelInfo) string { return m.Model })
	if near, is := diag.Suggest(name, names); is {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// costOf computes the cost report of a script. model is the model of agents that name none.
func costOf(file string, m *agentscript.Module, models *llm.Registry, aliases project.Aliases, model string, items int) cost.Report {
	nodes, code := setup.Outermost(m), true // code calls compositions as a whole: a loop with all its iterations
	if main := m.Node("main"); main != nil {
		called, _ := flow.Called(main)
		nodes, code = append([]*flow.Node{main}, called...), len(called) > 0
	}
	items = max(items, 1)
	bounds, shared := flow.SharedBounds(items, nodes...)
	for i := range bounds {
		bounds[i].Model, bounds[i].Instead = aliases.Named(bounds[i].Model), text.Each(bounds[i].Instead, aliases.Named)
	}
	return cost.Of(file, code, items, bounds, shared, models, aliases.Named(model))
}
