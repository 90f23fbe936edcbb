package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/input"
	"github.com/agentscript/agentscript/internal/text"
)

// Input is the input of main from the command line.
type Input struct {
	Args   []string // INPUT
	Params []*Param // the parameters if main is a function
	Opts   *RunFlags
	JSON   bool // --input-json was given
	File   bool // --input-file was given
	Rest   bool // what is not given is known from elsewhere, as for a forked run

	flow bool // main is a flow as JSON
}

// isFlow reports whether a script is a flow as JSON, whose only parameter is a text.
func (s *Script) isFlow() bool { return s.MainNode() != nil && len(s.MainEntry.Params) > 0 }

// Gather collects the input of main from the arguments, a file or stdin, as options of a run.
func Gather(c *term.Console, ctx context.Context, s *Script, in Input) ([]agentscript.RunOption, error) {
	if in.JSON && in.File || len(in.Args) > 0 && (in.JSON || in.File) {
		return nil, term.Usagef("pass one of INPUT, --input-json and --input-file", "the input is passed more than once")
	}
	if in.flow = s.isFlow(); in.flow || s.MainNode() == nil {
		return arguments(c, ctx, s.File, in)
	}
	if len(in.Args) > 1 {
		return nil, term.Usagef("put quotes around an INPUT of several words", "main takes one INPUT, and got %q as well", in.Args[1])
	}
	t := s.MainNode().In()
	read := func(text string, t *generable.Type) (generable.Value, error) {
		return readText(text, t, len(in.Args) > 0 && in.Args[0] != "-")
	}
	var text, from string
	var err error
	if in.JSON {
		read = func(text string, t *generable.Type) (generable.Value, error) {
			v, err := input.JSON(text, t)
			if err == nil {
				err = checkPictures(v)
			}
			return v, err
		}
		text, from, err = jsonText(c, ctx, in.Opts.inputJSON)
	} else {
		text, from, err = inputText(c, ctx, in, t, !t.AcceptsNone())
	}
	if err != nil || from == "" {
		return nil, err
	}
	v, err := read(text, t)
	if err != nil {
		if wantsPicture(t) { // a file was read already
			text = ""
		}
		return nil, badInput(err, from, text)
	}
	return []agentscript.RunOption{agentscript.Input(v)}, nil
}

// badInput returns the error for an input that does not fit main. Its positions refer to the source of the input.
func badInput(err error, from, text string) error {
	d := term.Diagnose(err)
	if d.Code == "" {
		d.Code = diag.BadInput
	}
	if from != "INPUT" {
		d.Notes = append(d.Notes, diag.Note{Message: "it is read from " + from})
	}
	if name := strings.TrimPrefix(text, "@"); from == "--input-json" || from == "INPUT" {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			d.Help = append(d.Help, name+" is a file: --input-file "+name+" reads it")
		} else if os.IsNotExist(err) && (strings.HasPrefix(text, "@") || strings.HasSuffix(name, ".json")) {
			d.Help = append(d.Help, "--input-file FILE reads a file; there is no "+name)
		}
	}
	return &term.Failure{Code: term.ExitUsage, Found: diag.List{d}}
}

// jsonText returns the text of --input-json, which may be on stdin.
func jsonText(c *term.Console, ctx context.Context, given string) (text, from string, err error) {
	if given == "-" {
		return readStdin(c, ctx, nil)
	}
	return valid("--input-json", given, nil)
}

// arguments passes the arguments to a main that is a function. Those without a flag fill the parameters in order; a
// file or stdin fills the first parameter that is not given.
func arguments(c *term.Console, ctx context.Context, file string, in Input) ([]agentscript.RunOption, error) {
	args, err := named(c, ctx, in)
	if err != nil {
		return nil, err
	}
	var open []*Param
	for _, p := range in.Params {
		_, named := args[p.of.Name]
		switch {
		case named && p.given:
			return nil, term.Usagef("", "argument %s is set in --input-json and as --%s", p.of.Name, p.flag())
		case p.given:
			args[p.of.Name] = p.value
		case !named:
			open = append(open, p)
		}
	}
	take := func(p *Param, text, from string) error {
		if err := p.set(text, from == "INPUT"); err != nil {
			return badInput(fmt.Errorf("argument %s of main: %w", p.of.Name, err), from, text)
		}
		args[p.of.Name] = p.value
		return nil
	}
	if len(in.Args) > len(open) {
		return nil, term.Usagef("agentscript run "+text.ShellWord(file)+" --help shows the parameters", "main takes no further argument, and got %q", in.Args[len(open)])
	}
	for i, text := range in.Args {
		if i == 0 && text == "-" {
			continue
		}
		if err := take(open[i], text, "INPUT"); err != nil {
			return nil, err
		}
	}
	if len(open) == 0 && in.File {
		return nil, term.Usagef("", "main takes no further argument for --input-file")
	}
	if len(open) > 0 && !open[0].given && (!in.Rest || in.File || len(in.Args) > 0 && in.Args[0] == "-") {
		text, from, err := inputText(c, ctx, in, open[0].of.Type, !open[0].of.Optional)
		if err == nil && from != "" {
			err = take(open[0], text, from)
		}
		if err != nil {
			return nil, err
		}
	}
	var missing, shown []string
	for _, p := range open {
		if !p.of.Optional && !p.given && !in.Rest {
			missing, shown = append(missing, "--"+p.flag()), append(shown, p.example())
		}
	}
	if len(missing) > 0 {
		run := "agentscript run " + text.ShellWord(file)
		return nil, term.Usagef(fmt.Sprintf("%s %s; %[1]s --help shows all parameters", run, strings.Join(shown, " ")), "main needs %s", strings.Join(missing, ", "))
	}
	return []agentscript.RunOption{agentscript.Args(args)}, nil
}

// named reads --input-json as an object of arguments.
func named(c *term.Console, ctx context.Context, in Input) (map[string]any, error) {
	if !in.JSON {
		return map[string]any{}, nil
	}
	text, from, err := jsonText(c, ctx, in.Opts.inputJSON)
	if err != nil {
		return nil, err
	}
	if in.flow {
		text, err := flowInput(text)
		if err != nil {
			return nil, badInput(err, from, text)
		}
		return map[string]any{in.Params[0].of.Name: text}, nil
	}
	params := make([]generable.Field, len(in.Params))
	for i, p := range in.Params {
		params[i] = generable.Field{Name: p.of.Name, Type: p.of.Type}
	}
	args, err := input.Args(text, params)
	if err != nil {
		return nil, badInput(err, from, text)
	}
	return args, nil
}

// flowInput returns the input of a flow as JSON, which is a text: a JSON text as the text it is, any other value as
// JSON. An object whose only member is input passes it by name.
func flowInput(text string) (string, error) {
	v, err := input.JSON(text, generable.AnyT)
	if err != nil {
		return text, err
	}
	if m, ok := v.AsMap(); ok && m.Len() == 1 {
		if name, named := m.At(0); name == "input" {
			v = named
		}
	}
	if said, ok := v.AsStr(); ok {
		return said, nil
	}
	return generable.JSON(v, nil), nil
}

// inputText returns the input as text and its source: INPUT, a file, or stdin if it is requested or needed. The source
// is "" if there is none.
func inputText(c *term.Console, ctx context.Context, in Input, t *generable.Type, needed bool) (text, from string, err error) {
	switch {
	case len(in.Args) > 0 && in.Args[0] != "-":
		return valid("INPUT", in.Args[0], t)
	case in.File && in.Opts.InputFile != "-":
		data, problem := readAll(ctx, "--input-file "+in.Opts.InputFile, func() (io.ReadCloser, error) { return os.Open(in.Opts.InputFile) })
		if problem != nil {
			return "", "", problem
		}
		return valid(in.Opts.InputFile, data, t)
	case len(in.Args) > 0, in.File:
		return readStdin(c, ctx, t)
	case needed && c.StdinPiped:
		text, from, err := readStdin(c, ctx, t)
		if text == "" { // processes without an input get an empty pipe
			from = ""
		}
		return text, from, err
	}
	return "", "", nil
}

// valid rejects input that is not UTF-8. If a picture is wanted, the bytes of one become its URL.
func valid(name, text string, t *generable.Type) (valid, from string, err error) {
	if !utf8.ValidString(text) {
		if picture, ok := model.ReadImage(text); ok && wantsPicture(t) {
			return picture.URL, name, nil
		}
		return "", "", term.Usagef("convert it to UTF-8 first", "%s is not UTF-8 text", name)
	}
	return text, name, nil
}

// readStdin reads stdin, without the one line end that shells append to a text.
func readStdin(c *term.Console, ctx context.Context, t *generable.Type) (text, from string, err error) {
	text, problem := readAll(ctx, "stdin", func() (io.ReadCloser, error) { return io.NopCloser(c.Stdin), nil })
	if problem != nil {
		return "", "", problem
	}
	return valid("stdin", strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), t)
}

func wantsPicture(t *generable.Type) bool { return t != nil && withoutNone(t) == model.ImageType }

// readText reads a value of type t from text. A picture is a URL or, if named is set, the name of a file: naming it on
// the command line grants it.
func readText(text string, t *generable.Type, named bool) (generable.Value, error) {
	if !wantsPicture(t) || strings.HasPrefix(strings.TrimSpace(text), "{") {
		v, err := input.Text(text, t)
		if err == nil {
			err = checkPictures(v)
		}
		return v, err
	}
	wrong := func(help, format string, args ...any) (generable.Value, error) {
		return generable.Value{}, engine.Errorf(engine.KindInput, diag.BadInput, format, args...).WithHelp("%s", help)
	}
	switch {
	case model.IsImageURL(text):
		return model.ImageValue(model.Image{URL: text}), nil
	case !named:
		return wrong("--input-file FILE reads one", "the input is not a picture, nor the URL of one")
	}
	file, err := os.Open(text)
	if err != nil {
		return wrong("a picture is a file (png, jpeg, gif or webp), or an http, https or data URL", "the picture %q: %s", text, term.FileProblem(err))
	}
	defer file.Close() // it is only read
	data, err := io.ReadAll(io.LimitReader(file, longestInput))
	if err != nil {
		return wrong("name a file", "the picture %q: %s", text, term.FileProblem(err))
	}
	picture, ok := model.ReadImage(string(data))
	if !ok {
		return wrong("png, jpeg, gif and webp are read", "%q is not a picture that models read", text)
	}
	return model.ImageValue(picture), nil
}

// checkPictures rejects pictures in an input that are not URLs: files named in data are not read.
func checkPictures(v generable.Value) error {
	var pictures []model.Image
	model.WithoutPictures(v, &pictures)
	for _, p := range pictures {
		if !model.IsImageURL(p.URL) {
			return engine.Errorf(engine.KindInput, diag.BadInput, "the picture %q is not an http, https or data URL", p.URL).
				WithHelp("only an argument that is itself a picture may name a file: main = agent(input = Image), or def main(picture = Image)")
		}
	}
	return nil
}

// longestInput bounds what is read from a source that may never end.
const longestInput = 64 << 20

// readAll reads to the end, or until the command is interrupted or out of time. Opening may block as long as reading: a
// pipe waits for its other end.
func readAll(ctx context.Context, name string, open func() (io.ReadCloser, error)) (string, *term.Failure) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1) // the reader may be left behind when the command is interrupted
	go func() {
		r, err := open()
		if err != nil {
			done <- result{nil, err}
			return
		}
		defer r.Close() // it is only read
		data, err := io.ReadAll(io.LimitReader(r, longestInput+1))
		done <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		if late := context.Cause(ctx); errors.Is(late, engine.ErrTimeout) {
			return "", &term.Failure{Code: term.ExitTimeout, Found: diag.List{term.Diagnose(late)}}
		}
		return "", &term.Failure{Code: term.ExitInterrupted, Found: diag.List{{Code: diag.Cancelled, Message: "interrupted while reading " + name}}}
	case r := <-done:
		switch {
		case r.err != nil:
			return "", term.Usagef("", "%s: %s", name, term.FileProblem(r.err))
		case len(r.data) > longestInput:
			return "", term.Usagef("pass a part of it, or a text that says where it is", "%s: it has more than %d MiB, the limit of an input", name, longestInput>>20)
		}
		return string(r.data), nil
	}
}
