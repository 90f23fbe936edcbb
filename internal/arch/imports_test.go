package arch

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/agentscript/agentscript"

// A LinkRule says what packages must not link, directly or indirectly. Paths are full import paths; a pattern that ends
// in "/..." stands for the package and all below it. The rule applies to non-test files.
type LinkRule struct {
	Packages []string
	Never    []string
	Why      string
}

// A Library is third-party code, with the packages of this module that import it directly.
type Library struct {
	Path string   // a pattern
	By   []string // patterns
	Why  string
}

var (
	starlark    = "go.starlark.net/..."
	langchain   = "github.com/tmc/langchaingo/..."
	sqlite      = []string{"modernc.org/...", "github.com/mattn/go-sqlite3/...", "database/sql/..."}
	observed    = "go.opentelemetry.io/..."
	temporal    = "go.temporal.io/..."
	grpc        = "google.golang.org/grpc/..."
	commandLine = "github.com/spf13/..."
	drivers     = slices.Concat([]string{langchain, observed, temporal, grpc, commandLine}, sqlite)

	// heavyProviders are the parts of the provider library that bring gRPC, tens of megabytes or broken tool calls; the
	// command speaks those wire formats itself.
	heavyProviders = []string{
		"github.com/tmc/langchaingo/llms/googleai/...",
		"github.com/tmc/langchaingo/llms/mistral/...",
		"github.com/tmc/langchaingo/llms/bedrock/...",
		"cloud.google.com/...",
	}
)

// own returns patterns of this module's packages, given by their paths in it.
func own(paths ...string) []string {
	patterns := make([]string, len(paths))
	for i, p := range paths {
		patterns[i] = strings.TrimSuffix(module+"/"+p, "/.")
	}
	return patterns
}

// LinkRules are the rules that [Rooms] does not express: about what third-party libraries and the standard library
// bring in.
var LinkRules = []LinkRule{
	{
		// Not generable/codec: its formats are its own, and contain nothing whose order or numbers that library would
		// change.
		Packages: own("generable", "generable/internal/...", "generable/dialect", "generable/govalue", "generable/jsonschema", "generable/lenient/...", "generable/sample"),
		Never:    []string{"encoding/json/..."},
		Why:      "it has its own JSON, which keeps order and numbers",
	},
	{
		Packages: own("engine", "engine/internal/...", "engine/predicate", "engine/model", "engine/policy", "engine/agent", "engine/flow",
			"engine/draw", "engine/sched/...", "engine/run", "engine/cassette"),
		Never: append([]string{starlark, "net/http/..."}, drivers...),
		Why:   "a host that embeds the engine links neither a language nor a provider nor a store",
	},
	{
		Packages: own("engine/llm/..."),
		Never:    append([]string{starlark, observed, temporal, grpc, commandLine}, heavyProviders...),
		Why:      "the model port knows providers and no language",
	},
	{
		Packages: own("engine/store/..."),
		Never:    []string{starlark, langchain, observed, temporal, grpc, commandLine},
		Why:      "a store knows effects and no language",
	},
	{
		Packages: own("engine/mcp/..."),
		Never:    append([]string{starlark, langchain, observed, temporal, grpc, commandLine}, sqlite...),
		Why:      "tools of other processes are effects; they know no language",
	},
	{
		Packages: own("engine/grant/..."),
		Never:    append([]string{starlark}, drivers...),
		Why:      "commands, requests and files know the engine and no language",
	},
	{
		Packages: own("starlib/..."),
		Never:    slices.Concat(own("engine/llm/...", "engine/store/...", "engine/grant/..."), []string{"net/http/...", "os/exec/..."}, drivers),
		Why:      "the language drives the engine and knows no provider",
	},
	{
		Packages: own("flowjson/..."),
		Never:    append([]string{starlark, "net/http/..."}, drivers...),
		Why:      "flows in JSON lower to the engine, not to the language",
	},
	{
		Packages: own("."),
		Never: slices.Concat(own("engine/llm/...", "engine/store/...", "engine/mcp/...", "engine/grant/..."),
			[]string{"net/http/...", "os/exec/..."}, drivers),
		Why: "models, stores, grants and MCP come in as options, so that a host links only what it names",
	},
	{
		Packages: own("cmd/agentscript"),
		Never:    append([]string{grpc, temporal}, heavyProviders...),
		Why:      "the command stays small and starts fast: no gRPC, no provider with a cloud SDK",
	},
}

// Libraries lists all third-party code that packages of this module import, and which of them do.
var Libraries = []Library{
	{Path: starlark, By: own("starlib/...", "internal/startree", "internal/cli/starfmt", "internal/cli/repl", "internal/cli/repl/transcript"), Why: "the language is one package tree; others know its nodes and modules"},
	{Path: "github.com/tmc/langchaingo/llms", By: own("engine/llm"), Why: "the interface of models, which hosts implement"},
	{Path: langchain, By: own("engine/llm/internal/langchain"), Why: "one package knows the provider library"},
	{Path: "github.com/modelcontextprotocol/go-sdk/...", By: own("engine/mcp/..."), Why: "the protocol is the client's and the server's affair"},
	{Path: "golang.org/x/oauth2/...", By: own("engine/mcp/internal/oauth"), Why: "one package signs in"},
	{Path: "modernc.org/sqlite/...", By: own("engine/store/sqlite/..."), Why: "only hosts that name it link SQLite"},
	{Path: commandLine, By: own("internal/cli/..."), Why: "flags and verbs are the command's"},
	{Path: "github.com/rivo/uniseg", By: own("internal/cli/term"), Why: "columns and lines are as wide as a terminal has them"},
	{Path: "golang.org/x/sys/unix", By: own("internal/cli/tty"), Why: "one package sets the mode of a terminal"},
	{Path: "golang.org/x/term", By: own("internal/cli/tty"), Why: "and asks for its size, on Windows too"},
	{Path: "github.com/reeflective/readline", By: own("internal/cli/repl"), Why: "one package reads what a person types as statements"},
	{Path: "github.com/rogpeppe/go-internal/diff", By: own("internal/cli", "internal/cli/repl"), Why: "fmt -d and the prompt show changes"},
	{Path: "github.com/bazelbuild/buildtools/build", By: own("internal/cli/starfmt"), Why: "one package formats"},
	{Path: "github.com/pelletier/go-toml/v2/...", By: own("internal/cli/project"), Why: "one package reads the project file"},
}

// CheckLinks returns what packages link against the rules, in the order of rules and paths, each with the path of
// imports that leads to it.
func (g Graph) CheckLinks(rules []LinkRule) []Finding {
	var found []Finding
	for _, rule := range rules {
		for _, path := range g.matching(rule.Packages...) {
			for _, way := range g.ways(path) {
				if last := way[len(way)-1]; matchAny(rule.Never, last) {
					found = append(found, Finding{path, fmt.Sprintf("links %s (%s): %s", last, strings.Join(way, " → "), rule.Why)})
				}
			}
		}
	}
	return found
}

// CheckLibraries returns the packages below a path that import third-party code without being listed for it.
func (g Graph) CheckLibraries(below string, libraries []Library) []Finding {
	var found []Finding
	for _, path := range g.matching(below + "/...") {
		for _, imp := range g[path].Imports {
			if dep := g[imp]; dep == nil || dep.Standard || match(below+"/...", imp) {
				continue
			}
			if !slices.ContainsFunc(libraries, func(l Library) bool { return match(l.Path, imp) && matchAny(l.By, path) }) {
				found = append(found, Finding{path, "imports " + imp + ", for which no library names it"})
			}
		}
	}
	return found
}
