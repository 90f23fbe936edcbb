package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/cli/reading"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// decodeOptions set the type of an answer, and how it is read.
type decodeOptions struct {
	schema string
	lines  bool
	report string
	told   bool // explain how the answer was read
	how    generable.Options
}

func decodeVerb(c *term.Console) *cobra.Command {
	var o decodeOptions
	cmd := &cobra.Command{
		Use:   "decode [flags] [FILE]",
		Short: "Read a value from the answer of a model",
		Long: `Decode reads a model's answer from FILE or stdin and prints the value in it as JSON. The value may
be inside prose or fences or follow reasoning, and its JSON may be broken in the ways that models
break it. With --schema, it is a value of a JSON Schema, or of a type of a script (types.star:Name);
without, any value. Repairs and errors go to stderr. With --explain, there is a line for the value
that was chosen, for each part that was left out or repaired, and for each error: its place, the
original text, what it became, the reason, and the cost.

With --jsonl, each line of the input is a row: a JSON object with the answer under "input". Its
other keys are optional: "id", which is returned as it was written, "schema", and "level", "pick",
"on_bad_item", "extra_keys", "max_cost", "max_depth" and "partial", which are the flags of this row.
Each row is answered as it arrives, with a line {"id", "ok", "value", "errors", "repairs", "cost"}.
A row that is not a JSON object, or that has more text after the object, is answered with
"ok": false.

The exit code is 1 if an answer cannot be decoded (not with --jsonl), and 2 if the schema is not
valid.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && strings.HasSuffix(args[0], ".star") {
				return typeMissing(args[0], "%s is a script, and decode reads a model's answer", args[0])
			}
			if len(args) > 1 {
				_, err := oneFile(cmd, args)
				return err
			}
			for i, n := range []int{o.how.MaxCost, o.how.MaxDepth} {
				if name := []string{"max-cost", "max-depth"}[i]; cmd.Flags().Changed(name) && n < 1 {
					return term.Usagef([]string{"--level strict repairs nothing", "without it, 512 levels are read"}[i], "--%s must be at least 1", name)
				}
			}
			if err := wordOf("report", o.report, formatHuman, formatJSON); err != nil {
				return err
			}
			if o.told && (o.lines || o.report == formatJSON) {
				return term.Usagef("with --report json, and in each row, repairs and errors are data", "--explain shows people what became of one answer, and cannot be combined with --jsonl or --report json")
			}
			return decodeInput(c, cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.schema, "schema", "", "a `FILE` with a JSON Schema, or types.star:Name")
	f.BoolVar(&o.lines, "jsonl", false, "read and write rows")
	f.StringVar(&o.report, "report", "human", "how repairs and errors are reported: `human` or json")
	f.BoolVar(&o.told, "explain", false, "report what was chosen, left out and repaired, and why")
	word := func(name, option, usage string) { // defines a flag for a word of a decoder option
		f.Func(name, usage+" (default "+strings.ReplaceAll(generable.OptionWords(option)[0], "_", "-")+")", func(word string) error {
			err := o.how.Set(option, strings.ReplaceAll(word, "-", "_"))
			if e, wrong := errors.AsType[*generable.FieldError](err); wrong {
				return &setup.FlagError{Text: strings.TrimSuffix("want "+e.Expected+", got "+e.Got+"; "+e.Hint, "; ")}
			}
			return nil
		})
	}
	word("level", "level", "how far repairs may go: `strict`, safe or loose")
	word("pick", "pick", "which of several values to take: `best`, first, last or error")
	word("on-bad-item", "on_bad_item", "what to do with an item that does not fit: `error`, drop or keep")
	word("extra-keys", "extra_keys", "what to do with keys that are not properties: `drop`, error or by-level")
	f.IntVar(&o.how.MaxCost, "max-cost", 0, "reject a value whose repairs cost more than `N` in total")
	f.IntVar(&o.how.MaxDepth, "max-depth", 0, "reject lists and objects nested deeper than `N` (default 512)")
	f.BoolVar(&o.how.Partial, "partial", false, "read a truncated answer: print what is known of the value")
	return cmd
}

func decodeInput(c *term.Console, ctx context.Context, args []string, o decodeOptions) error {
	t, err := decodeType(c, ctx, o.schema)
	if err != nil {
		return err
	}
	in, name := c.Stdin, "stdin"
	if len(args) == 1 && args[0] != "-" {
		name = args[0]
		file, err := os.Open(name)
		if err != nil {
			return term.Usagef("", "%s: %s", name, term.FileProblem(err))
		}
		defer file.Close()
		in = file
	}
	if o.lines {
		return decodeRows(c, in, name, t, o.how)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return term.Usagef("", "%s: %s", name, term.FileProblem(err))
	}
	r := lenient.Decode(t, string(text), o.how)
	if o.told {
		reading.Explain(c.Stderr, string(text), t, o.how, r)
	} else {
		tellDecoded(c, r, o.report == formatJSON)
	}
	if !r.OK {
		return &term.Failure{Code: term.ExitFailed}
	}
	return printRaw(c, append(generable.AppendJSON(nil, r.Value, t), '\n'))
}

// decodeType returns the type that --schema names; nil means any.
func decodeType(c *term.Console, ctx context.Context, schema string) (*generable.Type, error) {
	if schema == "" {
		return nil, nil
	}
	if i := strings.LastIndex(schema, ".star:"); i >= 0 {
		return scriptType(c, ctx, schema[:i+len(".star")], schema[i+len(".star:"):])
	}
	if strings.HasSuffix(schema, ".star") {
		return nil, typeMissing(schema, "--schema %s is a script, and names none of its types", schema)
	}
	text, err := os.ReadFile(schema)
	if err != nil {
		return nil, term.Usagef("", "--schema %s: %s", schema, term.FileProblem(err))
	}
	t, ignored, errs := jsonschema.Parse(string(text), rowSchema)
	if errs != nil {
		f := &term.Failure{Code: term.ExitUsage}
		for _, e := range errs {
			f.Found = append(f.Found, &diag.Diagnostic{Code: diag.BadSchema, Message: schema + ": " + e.Error()})
		}
		return nil, f
	}
	for _, e := range ignored {
		c.Report(diag.List{{Severity: diag.Warning, Code: diag.BadSchema, Message: schema + ": not checked: " + e.Error()}}, nil)
	}
	return t, nil
}

// typeMissing returns the error about the name of a script's type.
func typeMissing(file, format string, args ...any) error {
	return term.Usagef("name a type that the script assigns to a variable: agentscript decode --schema "+text.ShellWord(file+":Name")+" answer.txt", format, args...)
}

// scriptType returns the type that a script binds to a global name.
func scriptType(c *term.Console, ctx context.Context, file, name string) (*generable.Type, error) {
	if f := setup.Readable(file); f != nil {
		return nil, f
	}
	m, err := setup.Engine(c, agentscript.WithUngranted()).LoadFile(ctx, file)
	if err != nil {
		f := setup.LoadFailure(file, err)
		f.Code = term.ExitUsage
		return nil, f
	}
	if t := m.Type(name); t != nil {
		return t, nil
	}
	return nil, term.Usagef(diag.DidYouMean(name, m.Names()), "%s has no type named %q", file, name)
}

// tellDecoded writes to stderr what was repaired and what does not fit.
func tellDecoded(c *term.Console, r lenient.Result, asJSON bool) {
	if asJSON { // if stderr fails, there is nowhere to report it
		_, _ = c.JSONOut().Write(append(appendOutcome(append(strconv.AppendBool([]byte(`{"ok":`), r.OK), ','), r), "}\n"...))
		return
	}
	for _, fix := range r.Repairs {
		if !r.OK { // a repair is of no use without a value
			break
		}
		before, after := strings.TrimSpace(fix.Before), strings.TrimSpace(fix.After)
		line := "repaired: " + strings.ReplaceAll(fix.Kind, "-", " ")
		if fix.Path != "" {
			line += " in " + strings.TrimPrefix(fix.Path, ".")
		}
		switch {
		case before != "" && after != "":
			line += ": " + before + " -> " + after
		case before+after != "":
			line += ": " + before + after
		}
		_, _ = fmt.Fprintln(c.Stderr, text.Terminal(line))
	}
	for _, e := range r.Errors {
		_, _ = fmt.Fprintln(c.Stderr, text.Terminal("error: "+e.Error()))
	}
}
