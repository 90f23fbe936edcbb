package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// Readable rejects what cannot be a script before it is loaded: a missing file, a directory, an unreadable file.
func Readable(path string) *term.Failure {
	if path == "" {
		return term.Usagef("write the path of a script; a variable of the shell may be empty", "the name of the FILE is empty")
	}
	if path == "-" {
		return term.Usagef("`-` means an input; a script reads its neighbours and so needs a place", "a script is read from a file, not from stdin")
	}
	info, err := os.Stat(path)
	switch {
	case os.IsNotExist(err):
		name, scripts := filepath.Base(path), scriptsIn(filepath.Dir(path))
		if slices.Contains(scripts, name+".star") {
			return term.Usagef("did you mean \""+name+".star\"?", "%s: there is no such file", path)
		}
		return term.Usagef(diag.DidYouMean(name, scripts), "%s: there is no such file", path)
	case err != nil:
		return term.Usagef("", "%s: %s", path, term.FileProblem(err))
	case info.IsDir():
		help := "name a script: a file that ends in .star"
		if found := scriptsIn(path); len(found) > 0 {
			help = "name a script in it: " + strings.Join(found[:min(len(found), listedScripts)], ", ")
			if more := len(found) - listedScripts; more > 0 {
				help += fmt.Sprintf(" and %d more", more)
			}
		}
		return term.Usagef(help, "%s is a directory", path)
	case !info.Mode().IsRegular(): // it is read more than once, and a pipe can only be read once
		return term.Usagef("save the script in a file first", "%s is a pipe or a device, and a script is a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return term.Usagef("", "%s: %s", path, term.FileProblem(err))
	}
	_ = f.Close() // it was only opened to check that it can be
	return nil
}

// ReadSource reads a script or a flow without loading it, up to the number of bytes that loading allows.
func ReadSource(path string) ([]byte, error) {
	if f := Readable(path); f != nil {
		return nil, f
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, term.Usagef("", "%s: %s", path, term.FileProblem(err))
	}
	defer f.Close()
	return ReadSourceFrom(f, path)
}

// ReadSourceFrom is ReadSource for an open file.
func ReadSourceFrom(r io.Reader, name string) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, starlib.DefaultMaxSource+1))
	isFlow := flowjson.IsFlow(name, src) // data, which has another limit
	if err == nil && isFlow && len(src) > starlib.DefaultMaxSource {
		var rest []byte
		rest, err = io.ReadAll(io.LimitReader(r, starlib.DefaultMaxFile))
		src = append(src, rest...)
	}
	switch {
	case err != nil:
		return nil, term.Usagef("", "%s: %s", name, term.FileProblem(err))
	case isFlow && len(src) > starlib.DefaultMaxFile:
		return nil, term.Usagef("divide it into flows that a script composes", "%s has more than %d bytes", name, starlib.DefaultMaxFile)
	case isFlow:
	case len(src) > starlib.DefaultMaxSource:
		return nil, term.Usagef("divide it into files that load each other, and keep data in files that it reads", "%s has more than %d bytes", name, starlib.DefaultMaxSource)
	}
	return src, nil
}

// listedScripts bounds the scripts of a directory that a message names.
const listedScripts = 8

// scriptsIn lists the scripts of a directory, for suggestions.
func scriptsIn(dir string) []string {
	names, _ := fs.Glob(os.DirFS(dir), "*.star") // if the directory is unreadable, there is nothing to suggest
	return names
}

// Script is a loaded script with the entry point of its runs.
type Script struct {
	*agentscript.Module
	File      string
	MainEntry *agentscript.Entry // nil if there is none; NoMain says why
	NoMain    *diag.Diagnostic
}

// Load reads and checks a script. Errors in it end the command; what it prints while it loads is progress.
func Load(c *term.Console, ctx context.Context, file, root string, opts ...agentscript.Option) (*Script, error) {
	if f := Readable(file); f != nil {
		return nil, f
	}
	within, f := Rooted(root, file)
	if f != nil {
		return nil, f
	}
	m, err := Engine(c, append(within, opts...)...).LoadFile(ctx, file)
	if err != nil {
		return nil, LoadFailure(file, err)
	}
	s := &Script{Module: m, File: file}
	s.MainEntry, s.NoMain = m.Main()
	return s, nil
}

// Around is the environment of scripts.
type Around struct {
	Models  *llm.Registry
	Aliases project.Aliases
	Project *project.Settings // may be nil
}

// Around returns the environment of scripts for the flags. Its models are those of runs if runs is not nil.
func (o *RunFlags) Around(c *term.Console, runs *Ports) (around *Around, problem *term.Failure) {
	around = &Around{Project: o.Project}
	if around.Aliases, problem = o.aliases.Of(o.Project); problem != nil {
		return nil, problem
	}
	if runs != nil {
		around.Models = runs.Models
		return around, nil
	}
	around.Models, problem = Registry(c, o.EnvFile, o.prices)
	return around, problem
}

// Unfit returns flaws of a script that loading does not detect: models that nothing answers, and tools that policies of
// the script and of its project deny. A script runs with such tools, so they are warnings.
func (a *Around) Unfit(m *agentscript.Module) diag.List {
	return slices.Concat(unanswerable(m, a.Models, a.Aliases), deniedByItself(m), deniedBy(a.Project.Policy(), diag.Warning, m))
}

// Findings returns all findings in a script, or in a flow as JSON. The error says why it cannot be read. The module is
// nil for a flow, and if loading found errors.
func Findings(c *term.Console, ctx context.Context, file, root string, around *Around, opts ...agentscript.Option) (*agentscript.Module, diag.List, diag.Sources, error) {
	if f := Readable(file); f != nil {
		return nil, nil, nil, f
	}
	within, f := Rooted(root, file)
	if f != nil {
		return nil, nil, nil, f
	}
	m, err := Engine(c, slices.Concat(opts, within)...).LoadFile(ctx, file)
	if wrong, ok := errors.AsType[*agentscript.LoadError](err); ok {
		return nil, wrong.List, wrong.Sources, nil
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return m, slices.Concat(m.Diagnostics(), around.Unfit(m)), m.Sources(), nil
}

// Engine returns an engine that shares the scripts that the process has parsed, and shows what scripts print.
func Engine(c *term.Console, opts ...agentscript.Option) *agentscript.Engine {
	opts = append(opts, agentscript.WithParsed(parsedScripts(c)))
	return agentscript.New(append(opts, agentscript.WithPrint(func(_ diag.Pos, said string) {
		said = c.Hidden(said)
		switch { // if stderr fails, there is nowhere to report it
		case c.Reloaded:
		case c.JSON:
			(&term.JSONLines{Out: c.JSONOut()}).Event(engine.Event{Kind: engine.EventLog, At: time.Now(), Data: &event.Log{Text: said}})
		default:
			_, _ = fmt.Fprintln(c.Stderr, text.Terminal(said))
		}
	}))...)
}

// parsedScripts returns the parsed scripts of a process.
func parsedScripts(c *term.Console) *agentscript.Parsed {
	p, ok := c.Parsed.(*agentscript.Parsed)
	if !ok {
		p = agentscript.NewParsed()
		c.Parsed = p
	}
	return p
}

// MainNode returns the node that main is, or nil if main is a function or missing.
func (s *Script) MainNode() *flow.Node {
	if s.MainEntry == nil {
		return nil
	}
	return s.MainEntry.Node
}

// NodeNames lists the globals that hold nodes.
func (s *Script) NodeNames() []string {
	return slices.DeleteFunc(s.Names(), func(name string) bool { return s.Node(name) == nil })
}

// FlowFlags set how a flow as JSON is loaded.
type FlowFlags struct{ Tools, Compat string }

// AddTo adds --tools and --compat to the flags of a verb that loads flows.
func (f *FlowFlags) AddTo(set *pflag.FlagSet) {
	set.StringVar(&f.Tools, "tools", "", "use the functions of this `FILE` as the local tools of a JSON flow")
	set.StringVar(&f.Compat, "compat", "", "evaluate the conditions of a JSON flow bug for bug as `NAME`, an origin of the format, does")
}

// Or returns the flags, with those of g for the ones that are not given.
func (f FlowFlags) Or(g FlowFlags) FlowFlags {
	return FlowFlags{cmp.Or(f.Tools, g.Tools), cmp.Or(f.Compat, g.Compat)}
}

// IsFlow reports whether a file is a flow as JSON, by its name or, if that is not conclusive, by its first bytes.
func IsFlow(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return flowjson.IsFlow(file, nil) // reading it will report the reason
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return flowjson.IsFlow(file, head[:n])
}

// Option returns the loading option for a file. most bounds the agents that a run executes; 0 is the default.
func (f FlowFlags) Option(file string, most int64) (agentscript.Option, *term.Failure) {
	if !IsFlow(file) {
		if f != (FlowFlags{}) {
			return nil, term.Usagef("a script loads its flows itself: load_flow(\"flow.json\", tools = {...})", "--tools and --compat are of flows as JSON, and %s is a script", file)
		}
		return nil, nil
	}
	o, problem := f.loading(file, most)
	return agentscript.WithFlow(o), problem
}

// Script returns the script that loads a flow as JSON, and its name in positions.
func (f FlowFlags) Script(file, text string) (name, script string, problem *term.Failure) {
	o, problem := f.loading(file, 0)
	return file + ".star", flowjson.LoadScript(file, text, o, nil), problem
}

func (f FlowFlags) loading(file string, most int64) (o flowjson.LoadOptions, problem *term.Failure) {
	if f.Compat != "" && f.Compat != flowjson.Upstream {
		return o, term.Usagef("write "+flowjson.Upstream+", or leave it out", "--compat %s: there is no such mode", f.Compat)
	}
	if f.Tools != "" {
		if problem := Readable(f.Tools); problem != nil {
			return o, problem
		}
	}
	return f.options(file, most)
}

// options returns the options that the flags describe, whether their files exist or not.
func (f FlowFlags) options(file string, most int64) (o flowjson.LoadOptions, problem *term.Failure) {
	o = flowjson.LoadOptions{Compat: f.Compat, MaxSteps: int(min(most, math.MaxInt32))}
	if f.Tools != "" {
		dir, wrong := filepath.Abs(filepath.Dir(file))
		at, failed := filepath.Abs(f.Tools)
		below, apart := filepath.Rel(dir, at)
		if err := errors.Join(wrong, failed, apart); err != nil {
			return o, term.Usagef("", "--tools %s: %v", f.Tools, err)
		}
		o.Tools = filepath.ToSlash(below)
	}
	return o, nil
}

// Chosen returns the node with a name. For "" it returns main or, if main is a function, the only node that no other
// holds.
func (s *Script) Chosen(name string) (*flow.Node, error) {
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
		var whole []*flow.Node
		for _, name := range names {
			if n := s.Node(name); n.Free() && !slices.Contains(whole, n) { // one node may have two names
				whole = append(whole, n)
			}
		}
		if len(whole) == 1 {
			return whole[0], nil
		}
		return nil, term.Usagef(others, "main is a function, and what it calls is only known when it runs")
	}
	none := *s.NoMain
	if len(names) > 0 {
		none.Help = append(slices.Clone(none.Help), others)
	}
	return nil, &term.Failure{Code: term.ExitCheck, Found: diag.List{&none}, Sources: s.Sources()}
}

// AddRoot adds --root to the flags of a verb that loads scripts.
func AddRoot(set *pflag.FlagSet, dir *string) {
	set.StringVar(dir, "root", "", "let load and file read below this `DIR` instead of the script's own directory")
}

// Rooted returns the loading option for --root; "" means none.
func Rooted(dir, file string) ([]agentscript.Option, *term.Failure) {
	if dir == "" {
		return nil, nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, term.Usagef("", "--root %s: %s", dir, term.FileProblem(err))
	case !info.IsDir():
		return nil, term.Usagef("name a directory that holds the script and what it reads", "--root %s: it is no directory", dir)
	case !below(dir, file):
		return nil, term.Usagef("name a directory above the script, or leave --root out", "%s does not lie below --root %s", file, dir)
	}
	return []agentscript.Option{agentscript.WithRoot(dir)}, nil
}

// SharedRoot returns the root of a file that is checked together with others: the topmost directory above it that
// contains another given file itself, so that a part of a flow is checked as the flow loads it. If there is none, it
// returns "", which means the file's own directory. A directory in which no file was named never becomes a root.
func SharedRoot(file string, files []string) string {
	root := filepath.Dir(file)
	for _, other := range files {
		if dir := filepath.Dir(other); below(dir, root) {
			root = dir
		}
	}
	if root == filepath.Dir(file) {
		return ""
	}
	return root
}

// below reports whether a path is a directory or lies below it, judging by the paths as written.
func below(dir, path string) bool {
	top, err := filepath.Abs(dir)
	at, wrong := filepath.Abs(path)
	rel, apart := filepath.Rel(top, at)
	return errors.Join(err, wrong, apart) == nil && filepath.IsLocal(rel)
}

// LoadFailure returns the failure for a script that could not be loaded.
func LoadFailure(file string, err error) *term.Failure {
	l, ok := errors.AsType[*agentscript.LoadError](err)
	if !ok {
		return &term.Failure{Code: term.ExitCheck, Found: diag.List{{Message: err.Error(), Span: diag.Span{Pos: diag.Pos{File: file}}}}}
	}
	return &term.Failure{Code: LoadCode(l.List), Found: l.List, Sources: l.Sources}
}

// LoadCode returns the exit code for a script that could not be loaded: it has errors, or loading did not end.
func LoadCode(found diag.List) int {
	for _, d := range found {
		switch d.Code {
		case diag.Timeout:
			return term.ExitTimeout
		case diag.Cancelled:
			return term.ExitInterrupted
		}
	}
	return term.ExitCheck
}

// RunFailure returns the failure for a run that failed.
func (s *Script) RunFailure(err error) error {
	return &term.Failure{Code: term.ExitCodeOf(err), Found: diag.List{term.Diagnose(err)}, Sources: s.Sources()}
}
