package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/cli/command"
	"github.com/agentscript/agentscript/internal/cli/needs"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/watch"
	"github.com/agentscript/agentscript/internal/text"
)

func checkVerb(c *term.Console) *cobra.Command {
	var o checking
	var grants setup.GrantFlags
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check scripts without running them",
		Long: `Check loads each script, builds its graph and reports every mistake with its position and a remedy.
It calls no model and no tool. It reports all mistakes of a stage at once: first the syntax of a
file, then its names, then what it composes.

A script may read what is below its own directory, below the directory of another FILE that is
above it, or below --root. So check flow.star lib/*.star checks the parts of a flow together with
the flow.

A FILE that ends in .json or begins with { is a JSON flow of the agents-protocol. Its agents,
transitions, conditions and tools are checked in the same way.

With --schemas, check compiles the output type of each agent for the provider of its model, or for
all providers if the script names no model. It writes to stdout how much of a provider's budgets
the schema uses, and how the schema is rewritten. It is an error if the agent's own provider accepts
the type in no form.

With --cost, check writes to stdout the most that a run can ask of models: every agent takes all its
turns, loops and retries reach their limits, and each call fills the context window, at the prices
that agentscript models shows. A budget that several agents share is counted once. Models without a
price are named, and are not part of the sum.

With --manifest, check writes to stdout what a run may touch, as far as the script and everything it
loads spell it out, sorted and with a hash; * stands for what only a run knows. This needs no
grants. --manifest-against FILE compares the manifest with one that --format json saved: an entry
that is new is the error AS623.

What a script needs from outside (commands, hosts, paths and variables, including those of MCP
servers) is not a mistake of the script. Check lists it with the flags that grant it, on stderr, or
as needs with --format json. With any of --allow-exec, --allow-net, --allow-fs and --allow-env, the
script is held to all of them, as a run is: a use that is not granted is the error AS620. With
--allow, --ask and --deny, it is held to these rules: a tool for which they permit no call is the
error AS624.

Findings go to stderr, or to stdout as one document with --format json or sarif. SARIF is the format
that code hosts and editors read: each code is a rule with its explanation. The exit code is 3 if a
script has errors, with --strict also if it has warnings, and 7 if it took too long to load.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := wordOf("format", o.format, formatHuman, formatJSON, formatSARIF); err != nil {
				return err
			}
			for _, r := range o.reports() {
				if r.asked && o.format == formatSARIF {
					return term.Usagef("ask for it apart: check --"+r.flag+" --format json", "--%s has no form in SARIF", r.flag)
				}
			}
			for _, flag := range []string{"items", "model", "prices"} {
				if cmd.Flags().Changed(flag) && !o.cost.asked {
					return term.Usagef("add --cost", "--%s says how check --cost is to count", flag)
				}
			}
			if o.items < 1 {
				return term.Usagef("", "--items must be at least 1")
			}
			if len(args) == 0 {
				return term.Usagef("usage: "+cmd.UseLine(), "check needs a FILE")
			}
			if timeout <= 0 {
				return term.Usagef("", "--timeout must be more than 0")
			}
			opts := []agentscript.Option{agentscript.WithLoadTimeout(timeout)}
			if o.strict {
				opts = append(opts, agentscript.WithStrict())
			}
			if f := o.readSaved(); f != nil {
				return f
			}
			g, allowed, f := grants.Open(c)
			if f != nil {
				return f
			}
			if g != nil {
				defer func() { _ = g.Close() }() // nothing was written
			}
			if o.held = grants.Any(); !o.held {
				allowed = agentscript.WithUngranted()
			}
			ctx, stop := c.Interruptible()
			defer stop()
			opts = append(opts, allowed)
			if !o.watch {
				return checkFiles(c, ctx, args, &o, opts, nil)
			}
			if o.format != formatHuman {
				return term.Usagef("", "--watch is for people, and --format %s for programs", o.format)
			}
			of := watch.New(c, args...)
			return of.Run(ctx, func(ctx context.Context) error {
				each := o
				return checkFiles(c, ctx, args, &each, opts, of)
			})
		},
	}
	cmd.Flags().StringVar(&o.format, "format", formatHuman, "`human`, json or sarif")
	cmd.Flags().DurationVar(&timeout, "timeout", agentscript.DefaultLoadTimeout, "give up on a script that does not load within this `DURATION`")
	setup.AddRoot(cmd.Flags(), &o.root)
	o.flows.AddTo(cmd.Flags())
	o.schemas.addTo(cmd.Flags(), "schemas", "schemas", "print the schemas that providers get for the output types")
	o.cost.addTo(cmd.Flags(), "cost", "costs", "print the most that a run can ask of models, in calls, tokens and money")
	cmd.Flags().IntVar(&o.items, "items", 1, "with --cost: assume `N` items in lists whose length only a run knows")
	cmd.Flags().StringVar(&o.model, "model", "", "with --cost: the `provider/model` for agents that name no model")
	cmd.Flags().StringVar(&o.prices, "prices", "", "with --cost: your own prices, a `FILE` of JSON that overrides the built-in table")
	o.manifest.addTo(cmd.Flags(), "manifest", "manifests", "print what a run may touch: commands, hosts, paths, variables, tools, models and servers")
	cmd.Flags().StringVar(&o.against, "manifest-against", "", "compare the manifest with this `FILE` of check --manifest --format json; a new entry is an error")
	grants.AddTo(cmd.Flags())
	o.policy.AddTo(cmd.Flags())
	o.aliases.AddTo(cmd.Flags())
	cmd.Flags().BoolVar(&o.watch, "watch", false, "check again whenever a file of the scripts changes")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "treat warnings as errors, and note what only a run can prove")
	return cmd
}

// checking holds the settings and results of a check.
type checking struct {
	format, root            string
	flows                   setup.FlowFlags
	strict, watch           bool
	schemas, cost, manifest reports
	items                   int                    // for --cost, as are
	model, prices           string                 // both of these
	against                 string                 // a file of manifests
	saved                   []agentscript.Manifest // the manifests in that file
	policy                  setup.PolicyFlags
	aliases                 project.AliasFlags
	held                    bool // grants were given, and uses that are not granted are errors
	needs                   []capability.Need
}

// reports are what a flag requests in addition to findings, one for each script.
type reports struct {
	asked        bool
	flag, member string // the flag's name, and the name of its list in JSON
	list         []fmt.Stringer
}

func (r *reports) addTo(set *pflag.FlagSet, flag, member, usage string) {
	r.flag, r.member = flag, member
	set.BoolVar(&r.asked, flag, false, usage)
}

func (how *checking) reports() []*reports {
	return []*reports{&how.schemas, &how.cost, &how.manifest}
}

const (
	formatHuman = "human"
	formatJSON  = "json"
	formatSARIF = "sarif"
)

func checkFiles(c *term.Console, ctx context.Context, files []string, how *checking, opts []agentscript.Option, of *watch.Session) error {
	models, problem := setup.Registry(c, "", how.prices)
	if problem != nil {
		return problem
	}
	code := term.ExitOK
	var all diag.List
	var scripts []*checked
	var modules []*agentscript.Module
	for _, file := range files {
		s := &checked{file: file}
		var err error
		of.Loads(file, how.prices, how.against, project.Find(filepath.Dir(file)))
		if s.project, problem = project.Open(filepath.Dir(file), c.LookupEnv); problem != nil {
			return problem
		}
		aliases, problem := how.aliases.Of(s.project)
		if problem != nil {
			return problem
		}
		s.aliases = aliases
		root := cmp.Or(how.root, setup.SharedRoot(file, files))
		loaded := opts
		if setup.IsFlow(file) {
			flowing, problem := how.flows.Option(file, 0)
			if problem != nil {
				return problem
			}
			loaded = append(slices.Clone(opts), flowing)
		}
		s.module, s.found, s.sources, err = setup.Findings(c, ctx, file, root, &setup.Around{Models: models, Aliases: aliases, Project: s.project}, loaded...)
		of.Loaded(root, file, s.module)
		if f, ok := errors.AsType[*term.Failure](err); ok {
			all = append(all, f.Found...)
			code = max(code, f.Code)
			continue
		}
		if err != nil {
			return err
		}
		if scripts = append(scripts, s); s.module != nil {
			modules = append(modules, s.module)
		}
	}
	denied, problem := how.policy.Denied(len(modules) == len(files), modules...)
	if problem != nil {
		return problem
	}
	for _, s := range scripts {
		if s.module != nil {
			if problem := setup.UnknownRules(c, s.project, s.file, s.module); problem != nil {
				return problem
			}
			s.found = slices.Concat(s.found, denied(s.module))
			how.report(s, models)
		}
		code = max(code, how.codeOf(s))
		if how.format == formatHuman && !s.found.HasErrors() && !slices.ContainsFunc(s.found, isWarning) {
			fmt.Fprintln(c.Stderr, text.Terminal(s.file)+": ok"+withoutMain(s.module))
		}
		all = append(all, s.found...)
	}
	all = distinct(all)
	if err := printChecked(c, all, how); err != nil {
		return c.Unwritten(err)
	}
	if how.format == formatHuman {
		how.tellNeeds(c)
		c.Report(all, diag.SourceFunc(func(file string) (string, bool) {
			for _, s := range scripts {
				if text, ok := s.sources.Source(file); ok {
					return text, true
				}
			}
			return "", false
		}))
	}
	return quietly(code)
}

// checked is one file with its findings.
type checked struct {
	file    string
	module  *agentscript.Module // nil for a flow as JSON, and if loading found errors
	found   diag.List
	sources diag.Sources
	aliases project.Aliases
	project *project.Settings // the defaults for the file's directory
}

// report adds what the flags request in addition to findings, with the findings of that.
func (how *checking) report(s *checked, models *llm.Registry) {
	if how.schemas.asked {
		s.found = append(s.found, how.schemas.of(s.file, s.module)...)
	}
	if how.cost.asked && !s.found.HasErrors() {
		how.cost.list = append(how.cost.list, costOf(s.file, s.module, models, s.aliases, cmp.Or(how.model, s.project.Text(project.Run, "model")), how.items))
	}
	if how.manifest.asked || how.against != "" {
		touches := s.module.Manifest()
		how.manifest.list = append(how.manifest.list, touches)
		s.found = append(s.found, how.widened(touches)...)
	}
	if !how.manifest.asked && how.against == "" && len(s.module.Tests()) == 0 { // manifests list the needs already, and tests touch nothing outside
		how.needs = append(how.needs, s.module.Needs()...)
	}
}

// distinct removes findings that another script which loads the same file has reported.
func distinct(all diag.List) diag.List {
	type finding struct {
		code    diag.Code
		span    diag.Span
		message string
		rest    string
	}
	seen := map[finding]bool{}
	return slices.DeleteFunc(all, func(d *diag.Diagnostic) bool {
		f := finding{d.Code, d.Span, d.Message, fmt.Sprint(d.Label, d.Notes, d.Help, d.Trace)}
		again := seen[f] && d.Span.IsValid()
		seen[f] = true
		return again
	})
}

// codeOf returns the exit code for the findings in a script.
func (how *checking) codeOf(s *checked) int {
	switch {
	case s.found.HasErrors():
		return setup.LoadCode(s.found)
	case how.strict && slices.ContainsFunc(s.found, isWarning):
		return term.ExitCheck
	}
	return term.ExitOK
}

func isWarning(d *diag.Diagnostic) bool { return d.Severity == diag.Warning }

// tellNeeds lists for people what the scripts need, unless the needs were checked against grants.
func (how *checking) tellNeeds(c *term.Console) {
	if how.held {
		return
	}
	for begin, end := 0, 0; begin < len(how.needs); begin = end {
		script := how.needs[begin].Script
		for end = begin; end < len(how.needs) && how.needs[end].Script == script; end++ {
		}
		_, _ = fmt.Fprint(c.Stderr, needs.Text(script, how.needs[begin:end]))
	}
}

// withoutMain notes that a file is for tests or for loading, since it has nothing to run. That is not a mistake.
func withoutMain(m *agentscript.Module) string {
	if m != nil {
		if _, d := m.Main(); d != nil && d.Code == diag.NoMain {
			if tests := m.Tests(); len(tests) > 0 {
				return fmt.Sprintf(" (%s for agentscript test)", text.Count(len(tests), "test"))
			}
			return " (it has no main: a file for load, not for run)"
		}
	}
	return ""
}

// printChecked writes what goes to stdout.
func printChecked(c *term.Console, all diag.List, how *checking) error {
	var doc bytes.Buffer
	switch how.format {
	case formatSARIF:
		return errors.Join(diag.SARIF(&doc, all, command.VersionOf(c.Version).Version), c.Write(doc.String()))
	case formatJSON:
		if err := diag.JSON(&doc, all); err != nil { // it ends with the document's brace and a newline
			return err
		}
	}
	for _, r := range how.reports() {
		switch {
		case !r.asked:
		case how.format == formatHuman:
			for _, of := range r.list {
				doc.WriteString(of.String())
			}
		default:
			text, err := json.Marshal(append([]fmt.Stringer{}, r.list...))
			if err != nil {
				return err
			}
			addMember(&doc, r.member, string(text))
		}
	}
	if how.format == formatJSON && len(how.needs) > 0 {
		text, err := needs.JSON(how.needs)
		if err != nil {
			return err
		}
		addMember(&doc, "needs", text)
	}
	return c.Write(doc.String())
}

// addMember adds a member to a document that ends with its brace and a newline.
func addMember(doc *bytes.Buffer, name, text string) {
	doc.Truncate(doc.Len() - len("}\n"))
	fmt.Fprintf(doc, ",%q:%s}\n", name, text)
}

// quietly exits with a code after everything was reported.
func quietly(code int) error {
	if code == term.ExitOK {
		return nil
	}
	return &term.Failure{Code: code}
}

// readSaved reads the manifests to compare with.
func (how *checking) readSaved() *term.Failure {
	if how.against == "" {
		return nil
	}
	text, err := os.ReadFile(how.against)
	if err != nil {
		return term.Usagef("", "--manifest-against %s: %s", how.against, term.FileProblem(err))
	}
	var doc struct {
		Manifests []agentscript.Manifest `json:"manifests"`
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Manifests == nil {
		return term.Usagef("save one: agentscript check --manifest --format json FILE > "+how.against, "--manifest-against %s: it is no manifest", how.against)
	}
	how.saved = doc.Manifests
	return nil
}

// widened reports what a script may touch that its saved manifest does not list.
func (how *checking) widened(m agentscript.Manifest) diag.List {
	if how.against == "" {
		return nil
	}
	for _, old := range how.saved {
		if old.Script == m.Script {
			return m.Widened(old)
		}
	}
	return diag.List{{Code: diag.Widened, Span: diag.Span{Pos: diag.Pos{File: m.Script}}, Message: fmt.Sprintf("%s holds no manifest of %s", how.against, m.Script),
		Help: []string{"save it there: check --manifest --format json"}}}
}
