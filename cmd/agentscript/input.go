package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// input is what the command line gives main.
type input struct {
	args   []string // INPUT
	params []*param // of a main that is a function
	opts   *runOptions
	json   bool // --input-json was given
	file   bool // --input-file was given
}

// gather collects the input of main from the arguments, a file or stdin, as options of a run.
func (c *command) gather(ctx context.Context, s *script, in input) ([]agentscript.RunOption, error) {
	ways := 0
	for _, given := range []bool{len(in.args) > 0, in.json, in.file} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return nil, usagef("give one of INPUT, --input-json and --input-file", "the input is given more than once")
	}
	if s.node() == nil {
		return c.arguments(ctx, in)
	}
	if len(in.args) > 1 {
		return nil, usagef("put quotes around an INPUT of several words", "main takes one INPUT, and got %q as well", in.args[1])
	}
	if in.json {
		v, err := strictJSON("--input-json", in.opts.inputJSON)
		if err != nil {
			return nil, err
		}
		return []agentscript.RunOption{agentscript.Input(v)}, nil
	}
	needed := !s.node().In().AcceptsNone()
	text, ok, err := c.text(ctx, in, needed)
	if err != nil || !ok {
		return nil, err
	}
	return []agentscript.RunOption{agentscript.InputText(text)}, nil
}

// arguments gives a main that is a function its arguments. Those without a flag fill the
// parameters in their order; a file and stdin stand for the first that is not given.
func (c *command) arguments(ctx context.Context, in input) ([]agentscript.RunOption, error) {
	args, err := in.named()
	if err != nil {
		return nil, err
	}
	var open []*param
	for _, p := range in.params {
		_, named := args[p.name]
		switch {
		case named && p.given:
			return nil, usagef("", "argument %s is given in --input-json and as --%s", p.name, p.flag())
		case p.given:
			args[p.name] = p.value
		case !named:
			open = append(open, p)
		}
	}
	take := func(p *param, text string) error {
		if err := p.Set(text); err != nil {
			return usagef("", "argument %s of main: %v", p.name, err)
		}
		args[p.name] = p.value
		return nil
	}
	if len(in.args) > len(open) {
		return nil, usagef(seeHelp, "main takes no further argument, and got %q", in.args[len(open)])
	}
	for i, text := range in.args {
		if i == 0 && text == "-" {
			continue
		}
		if err := take(open[i], text); err != nil {
			return nil, err
		}
	}
	if len(open) == 0 && in.file {
		return nil, usagef("", "main takes no further argument for --input-file")
	}
	if len(open) > 0 && !open[0].given {
		text, ok, err := c.text(ctx, in, open[0].required)
		if err != nil {
			return nil, err
		}
		if ok {
			if err := take(open[0], text); err != nil {
				return nil, err
			}
		}
	}
	var missing []string
	for _, p := range open {
		if p.required && !p.given {
			missing = append(missing, "--"+p.flag())
		}
	}
	if len(missing) > 0 {
		return nil, usagef(seeHelp, "main needs %s", strings.Join(missing, ", "))
	}
	return []agentscript.RunOption{agentscript.Args(args)}, nil
}

const seeHelp = "agentscript run FILE --help shows the parameters"

// named reads --input-json as an object of arguments.
func (in *input) named() (map[string]any, error) {
	args := map[string]any{}
	if !in.json {
		return args, nil
	}
	v, err := strictJSON("--input-json", in.opts.inputJSON)
	if err != nil {
		return nil, err
	}
	m, ok := v.AsMap()
	if !ok {
		return nil, usagef(`as in --input-json '{"`+nameOfFirst(in.params)+`": ...}'`, "--input-json must be an object of main's arguments, not %s", v.TypeName())
	}
	names := make([]string, len(in.params))
	for i, p := range in.params {
		names[i] = p.name
	}
	for i := range m.Len() {
		name, item := m.At(i)
		if !slices.Contains(names, name) {
			return nil, usagef(oneOf(name, names, "its parameters are "), "main has no parameter %q", name)
		}
		args[name] = item
	}
	return args, nil
}

func nameOfFirst(params []*param) string {
	if len(params) == 0 {
		return "name"
	}
	return params[0].name
}

// text gives the input as text: INPUT, a file, or stdin when it is asked for or needed.
func (c *command) text(ctx context.Context, in input, needed bool) (text string, ok bool, err error) {
	switch {
	case len(in.args) > 0 && in.args[0] != "-":
		return valid("INPUT", in.args[0])
	case in.file && in.opts.inputFile != "-":
		data, err := os.ReadFile(in.opts.inputFile)
		if err != nil {
			return "", false, usagef("", "--input-file %s: %s", in.opts.inputFile, fileProblem(err))
		}
		return valid(in.opts.inputFile, string(data))
	case len(in.args) > 0, in.file:
		text, err := c.readStdin(ctx)
		if err != nil {
			return "", false, err
		}
		return valid("stdin", text)
	case needed && c.stdinPiped:
		text, err := c.readStdin(ctx)
		if err != nil || text == "" { // an empty pipe is what processes get that have no input
			return "", false, err
		}
		return valid("stdin", text)
	}
	return "", false, nil
}

func valid(from, text string) (string, bool, error) {
	if !utf8.ValidString(text) {
		return "", false, usagef("convert it to UTF-8 first", "%s is not UTF-8 text", from)
	}
	return text, true, nil
}

// readStdin reads stdin to its end, or until the command is interrupted. The one line end
// that shells put behind a text is not part of it.
func (c *command) readStdin(ctx context.Context) (string, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1) // the reader may stay behind when the command is interrupted
	go func() {
		data, err := io.ReadAll(c.stdin)
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", &failure{code: exitInterrupted, found: diag.List{{Code: diag.Cancelled, Message: "interrupted while reading stdin"}}}
	case r := <-done:
		if r.err != nil {
			return "", usagef("", "stdin: %s", fileProblem(r.err))
		}
		text := strings.TrimSuffix(string(r.data), "\n")
		return strings.TrimSuffix(text, "\r"), nil
	}
}

// strictJSON reads JSON that somebody wrote on purpose: nothing is repaired.
func strictJSON(what, text string) (generable.Value, error) {
	res := generable.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict})
	if !res.OK {
		return res.Value, usagef("", "%s is no JSON: %v", what, res.Errors)
	}
	return res.Value, nil
}
