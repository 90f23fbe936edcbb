package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// ImportRule says what a package may know. Paths are full import paths; a pattern that ends in
// "/..." stands for the package and all below it. The rule covers non-test files.
type ImportRule struct {
	Package string   // a pattern; each package it matches is held to the rule
	May     []string // what it may import itself besides the standard library; nil: not limited
	Never   []string // what it must not link, however far away
	Why     string
}

const module = "github.com/agentscript/agentscript"

var (
	starlark    = "go.starlark.net/..."
	langchain   = "github.com/tmc/langchaingo/..."
	sqlite      = []string{"modernc.org/...", "github.com/mattn/go-sqlite3/...", "database/sql/..."}
	observed    = "go.opentelemetry.io/..."
	temporal    = "go.temporal.io/..."
	grpc        = "google.golang.org/grpc/..."
	commandLine = "github.com/spf13/..."
	engine      = []string{module + "/engine/predicate", module + "/engine/model", module + "/engine/policy", module + "/engine/agent", module + "/engine/flow", module + "/engine/sched", module + "/engine/run"}
	engineOrder = []string{"internal/abi", "internal/units", "internal/typing", "predicate", "model", "", "internal/callback", "policy", "sched", "agent", "internal/node", "flow",
		"internal/exec", "internal/conversation", "internal/interp", "run"} // from the bottom up, below engine
	// contract is what a handler of effects knows of the engine: never how flows are made or run.
	contract = []string{module + "/engine", module + "/engine/model", module + "/engine/internal/redact", module + "/generable/...", module + "/diag/...", texts}
	drivers  = slices.Concat([]string{langchain, observed, temporal, grpc, commandLine}, sqlite)
)

// texts is below everything: how messages quote, count and clip. It is of the standard library alone, so
// diag and generable stay of use without the rest of the module.
const texts = module + "/internal/text"

// ImportRules is the direction of imports: cmd → root → starlib, flowjson → engine → generable → diag → internal/text.
// A rule whose package does not exist holds nothing back, and begins to when the package appears.
var ImportRules = append(inOrder(), []ImportRule{
	{
		Package: texts,
		May:     []string{texts},
		Why:     "the wording of texts is the bottom: the standard library alone",
	},
	{
		Package: module + "/diag/...",
		May:     []string{module + "/diag/...", texts},
		Why:     "diag is of use alone: the standard library, and how texts are worded",
	},
	{
		Package: module + "/generable/...",
		May:     []string{module + "/generable/...", texts},
		Never:   []string{"encoding/json/..."},
		Why:     "generable is of use alone: the standard library only, and its own JSON, which keeps order and numbers",
	},
	{
		Package: module + "/generable",
		May:     []string{module + "/generable/internal/...", texts},
		Why:     "types and values stand below what reads them: the decoder, JSON Schema and Go",
	},
	{
		Package: module + "/generable/internal/...",
		May:     []string{module + "/generable/internal/...", texts},
		Why:     "names, paths and strings know nothing of types",
	},
	{
		Package: module + "/generable/lenient",
		May:     []string{module + "/generable", module + "/generable/internal/...", module + "/generable/lenient/internal/...", texts},
		Why:     "the decoder reads a text by its tape into values: lenient → coerce → tape",
	},
	{
		Package: module + "/generable/lenient/internal/coerce",
		May:     []string{module + "/generable", module + "/generable/internal/...", module + "/generable/lenient/internal/tape", texts},
		Why:     "values are made of a tape, whoever wants them",
	},
	{
		Package: module + "/generable/lenient/internal/tape",
		May:     []string{module + "/generable/internal/...", texts},
		Why:     "the scanner repairs JSON and knows no type",
	},
	{
		Package: module + "/generable/jsonschema",
		May:     []string{module + "/generable", module + "/generable/internal/...", module + "/generable/lenient", texts},
		Why:     "a JSON Schema is read into a type, and its text as any JSON",
	},
	{
		Package: module + "/generable/govalue",
		May:     []string{module + "/generable", module + "/generable/internal/...", module + "/generable/lenient", texts},
		Why:     "Go's types and values stand beside the decoder, not in it",
	},
	{
		Package: module + "/engine/internal/...",
		May:     append([]string{module + "/engine", module + "/engine/internal/...", module + "/generable/...", module + "/diag/...", texts}, engine...),
		Never:   append([]string{starlark, "net/http/..."}, drivers...),
		Why:     "as engine, which links it",
	},
	{
		Package: module + "/engine/llm/...",
		May:     slices.Concat(contract, []string{module + "/engine/llm/...", module + "/engine/agent", langchain}),
		Never:   append([]string{starlark, observed, temporal, grpc, commandLine}, heavyProviders...),
		Why:     "the model port knows providers and no language",
	},
	{
		Package: module + "/engine/cassette/...",
		May:     contract,
		Never:   append([]string{starlark, "net/http/..."}, drivers...),
		Why:     "records hold effects of every kind and know no provider",
	},
	{
		Package: module + "/engine/store/...",
		May: append(append([]string{module + "/engine", module + "/engine/store/...", module + "/engine/internal/disk", module + "/generable/...",
			module + "/diag/...", texts}, sqlite...), engine...),
		Never: []string{starlark, langchain, observed, temporal, grpc, commandLine},
		Why:   "a store knows effects and no language",
	},
	{
		Package: module + "/engine/mcp/...",
		May: slices.Concat(contract, []string{module + "/engine/mcp/...", module + "/engine/internal/disk", module + "/engine/internal/reaper",
			"github.com/modelcontextprotocol/go-sdk/...", "golang.org/x/oauth2/..."}),
		Never: append([]string{starlark, langchain, observed, temporal, grpc, commandLine}, sqlite...),
		Why:   "tools of other processes are effects; they know no language",
	},
	{
		Package: module + "/engine/grant/...",
		May:     slices.Concat(contract, []string{module + "/engine/internal/reaper", module + "/engine/internal/spelling"}),
		Never:   append([]string{starlark}, drivers...),
		Why:     "commands, requests and files stand here alone; they know the engine and no language",
	},
	{
		Package: module + "/engine/telemetry/...",
		Never:   append([]string{starlark, langchain, temporal, grpc, commandLine}, sqlite...),
		Why:     "spans are middleware over effects; the exporters that bring gRPC are a module of their own",
	},
	{
		Package: module + "/starlib/...",
		May: append([]string{module + "/starlib/...", module + "/engine", module + "/generable/...", module + "/diag/...", texts,
			module + "/internal/startree", starlark}, engine...),
		Never: append([]string{module + "/engine/llm/...", module + "/engine/store/...", module + "/engine/grant/...", "net/http/...", "os/exec/..."}, drivers...),
		Why:   "the language drives the engine and knows no provider",
	},
	layer("script", "source"),
	layer("value", "source", "script"),
	layer("thread", "source", "script", "value"),
	layer("table", "source", "script", "value", "thread"),
	layer("lint", "source", "script", "value", "thread", "table"),
	layer("doc", "script", "value", "table"),
	layer("data", "source", "script", "value", "thread", "table", "lint", "doc"),
	layer("agents", "source", "script", "value", "thread", "table", "lint", "doc", "data"),
	layer("compose", "source", "script", "value", "thread", "table", "lint", "doc", "data", "agents"),
	{
		Package: module + "/internal/startree",
		May:     []string{starlark},
		Why:     "the trees of scripts are the language's and the formatter's alike, and know neither",
	},
	{
		Package: module + "/flowjson/...",
		May:     append([]string{module + "/flowjson/...", module + "/engine", module + "/generable/...", module + "/diag/...", texts}, engine...),
		Never:   append([]string{starlark, module + "/engine/llm/..."}, drivers...),
		Why:     "flows in JSON lower to the engine, not to the language",
	},
	{
		Package: module,
		May: append([]string{module + "/starlib/...", module + "/flowjson/...", module + "/engine", module + "/generable/...",
			module + "/diag/...", module + "/internal/..."}, engine...),
		Never: append([]string{module + "/engine/llm/...", module + "/engine/store/...", module + "/engine/mcp/...",
			module + "/engine/telemetry/...", module + "/engine/grant/...", "net/http/...", "os/exec/..."}, drivers...),
		Why: "models, stores, grants, MCP and telemetry come in as options, so that a host links only what it names",
	},
	{
		Package: module + "/cmd/agentscript",
		May:     []string{module + "/internal/cli"},
		Why:     "main only calls the verbs, so that other commands can have them as well",
	},
	{
		Package: module + "/internal/input",
		May:     []string{module + "/engine", module + "/generable/...", module + "/diag", texts},
		Why:     "reading an input is below the root and the command alike",
	},
	{
		Package: module + "/internal/cli/term",
		May:     []string{module, module + "/engine/...", module + "/generable/...", module + "/diag", texts},
		Why:     "how a command speaks and exits is below what it runs: verbs and their setup know it",
	},
	{
		Package: module + "/internal/cli/setup",
		Never:   []string{module + "/internal/cli", module + "/internal/cli/starfmt"},
		Why:     "what a run is made of is below the verbs, for commands with other verbs",
	},
	{
		Package: module + "/cmd/agentscript/...",
		Never:   append([]string{grpc, temporal}, heavyProviders...),
		Why:     "the command stays small and starts fast: no gRPC, no provider with a cloud SDK",
	},
}...)

// layer says which packages of the language one of them may know: those below it.
func layer(name string, below ...string) ImportRule {
	may := append([]string{module + "/engine", module + "/generable/...", module + "/diag/...", texts, module + "/internal/startree", starlark}, engine...)
	for _, b := range below {
		may = append(may, module+"/starlib/internal/"+b)
	}
	return ImportRule{Package: module + "/starlib/internal/" + name, May: may,
		Why: "the packages of the language know those below them: script, value, thread, table, lint, doc, then the builtins by topic"}
}

// heavyProviders are those parts of the provider library that bring gRPC, tens of megabytes or
// broken tool calls; the command speaks those wire formats itself.
var heavyProviders = []string{
	"github.com/tmc/langchaingo/llms/googleai/...",
	"github.com/tmc/langchaingo/llms/mistral/...",
	"github.com/tmc/langchaingo/llms/bedrock/...",
	"cloud.google.com/...",
}

// Package is what the go command says of one package.
type Package struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string // of non-test files
	Module     *Module
	Error      *struct{ Err string }
}

// Module is the module of a package.
type Module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *Module
}

// Graph is a set of packages with all that they link, by import path.
type Graph map[string]*Package

// List asks the go command for the packages of patterns below dir and all that they link, built
// without cgo for goos ("" for the host's).
func List(dir, goos string, patterns ...string) (Graph, error) {
	cmd := exec.Command("go", append([]string{"list", "-e", "-deps",
		"-json=ImportPath,Dir,Standard,Imports,Module,Error", "--"}, patterns...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if goos != "" {
		cmd.Env = append(cmd.Env, "GOOS="+goos)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	graph := Graph{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(Package)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return graph, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("go list: %s: %s", p.ImportPath, p.Error.Err)
		}
		graph[p.ImportPath] = p
	}
}

// Check returns the breaches of rules, in the order of rules and paths. A package that is linked
// against a rule is given with the way that leads to it.
func (g Graph) Check(rules []ImportRule) []Finding {
	var found []Finding
	for _, rule := range rules {
		for _, path := range g.matching(rule.Package) {
			p := g[path]
			for _, imp := range p.Imports {
				if dep := g[imp]; rule.May != nil && dep != nil && !dep.Standard && !matchAny(rule.May, imp) {
					found = append(found, Finding{path, fmt.Sprintf("imports %s: %s", imp, rule.Why)})
				}
			}
			for _, way := range g.ways(path) {
				if last := way[len(way)-1]; matchAny(rule.Never, last) {
					found = append(found, Finding{path, fmt.Sprintf("links %s (%s): %s", last, strings.Join(way, " → "), rule.Why)})
				}
			}
		}
	}
	return found
}

// matching returns the non-standard packages that a pattern matches, sorted.
func (g Graph) matching(pattern string) []string {
	var paths []string
	for path, p := range g {
		if !p.Standard && match(pattern, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// ways returns, for each package that from links, a shortest way of imports to it. Breadth first
// over sorted imports, so that the answer is the same on each run.
func (g Graph) ways(from string) [][]string {
	seen := map[string]bool{from: true}
	queue := [][]string{{from}}
	for i := 0; i < len(queue); i++ {
		way := queue[i]
		p := g[way[len(way)-1]]
		if p == nil {
			continue
		}
		for _, imp := range p.Imports {
			if !seen[imp] {
				seen[imp] = true
				queue = append(queue, append(slices.Clone(way), imp))
			}
		}
	}
	return queue[1:]
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

// match reports whether an import path is the pattern, or below it where it ends in "/...".
func match(pattern, path string) bool {
	base, tree := strings.CutSuffix(pattern, "/...")
	return path == base || tree && strings.HasPrefix(path, base+"/")
}

// inOrder are the rules of the engine's own packages: each imports those before it in engineOrder.
func inOrder() []ImportRule {
	var rules []ImportRule
	below := []string{module + "/generable/...", module + "/diag/...", texts}
	for _, name := range engineOrder {
		path := strings.TrimSuffix(module+"/engine/"+name, "/")
		rules = append(rules, ImportRule{
			Package: path,
			May:     slices.Clone(below),
			Never:   append([]string{starlark, "net/http/..."}, drivers...),
			Why:     "the engine is in one order, from values and the contract up to what starts a run; a host that embeds it links neither a language nor a provider nor a store",
		})
		below = append(below, path)
	}
	return rules
}
