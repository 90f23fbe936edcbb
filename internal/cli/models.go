package cli

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
)

func modelsVerb(c *term.Console) *cobra.Command {
	var asJSON bool
	var envFile, priceFile string
	cmd := &cobra.Command{
		Use:   "models [PATTERN]",
		Short: "List models, their prices and context windows, and whether a key is there",
		Long: "Models lists the models whose name holds PATTERN, in which * stands for anything: what the port can ask of each (tools, schema, JSON, stream), " +
			"its context window, and what a million tokens cost in US dollars. Without a PATTERN it lists the providers and what each of them needs. " +
			"No network is used: names, windows and prices are of a table whose day is shown, and of your own --prices.",
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usagef("quote a pattern with blanks or *", "models takes one PATTERN, and got %d", len(args))
			}
			registry, problem := setup.Registry(c, envFile, priceFile)
			if problem != nil {
				return problem
			}
			if len(args) == 0 {
				if asJSON {
					return c.PrintJSON(registry.Providers())
				}
				return c.Print(providerList(registry))
			}
			found := registry.Models(args[0])
			if len(found) == 0 {
				return noModel(registry, args[0])
			}
			if asJSON {
				return c.PrintJSON(found)
			}
			return c.Print(modelList(registry, found))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&envFile, "env-file", "", "read keys and addresses from this `FILE` of NAME=value lines as well")
	f.StringVar(&priceFile, "prices", "", "prices and context windows of your own, a `FILE` of JSON that goes before the table")
	return cmd
}

func providerList(r *llm.Registry) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tREADY\tKEY\tADDRESS")
	for _, p := range r.Providers() {
		ready, key := "yes", strings.Join(p.Keys, " or ")
		if !p.Ready {
			ready = "no"
		}
		if p.Keyless {
			key = "none needed"
		}
		address := p.BaseURL
		if address == "" && len(p.BaseEnv) > 0 {
			address = "set " + p.BaseEnv[0]
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, ready, key, address)
	}
	_ = w.Flush() // a Builder takes everything
	return b.String() + "\nagentscript models PATTERN lists models: agentscript models openai/gpt-5"
}

func modelList(r *llm.Registry, models []llm.ModelInfo) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "MODEL\tREADY\tCAN\tCONTEXT\tIN\tOUT\tCACHED IN")
	for _, m := range models {
		ready := "yes"
		if !m.Ready {
			ready = "no"
		}
		context, in, out, cached := "?", "?", "?", "?"
		if m.Context > 0 {
			context = strconv.Itoa(m.Context)
		}
		if p := m.Prices; p != nil {
			in, out, cached = dollars(p.In), dollars(p.Out), dollars(p.CacheRead)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Model, ready, abilities(m.Caps), context, in, out, cached)
	}
	_ = w.Flush() // a Builder takes everything
	table := r.Prices()
	if len(models) == 1 && !models[0].Listed {
		fmt.Fprintf(&b, "\n%s is not in the table; its provider may know it%s\n", models[0].Model, nearModel(r, models[0].Model))
	}
	return b.String() + fmt.Sprintf("\nUS dollars for a million tokens, as of %s (%s); ? is not known", table.Date, table.Source)
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

func noModel(r *llm.Registry, pattern string) error {
	help := "agentscript models lists the providers; a name that the table does not hold works as well, if the provider knows it" + nearModel(r, pattern)
	return term.Usagef(help, "no model is known whose name holds %q", pattern)
}

// nearModel is a question after a name of the table like this one, "" when there is none.
func nearModel(r *llm.Registry, name string) string {
	provider, _, _ := strings.Cut(name, "/")
	var names []string
	for _, m := range r.Models(provider + "/") {
		names = append(names, m.Model)
	}
	if near, is := diag.Suggest(name, names); is {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}
