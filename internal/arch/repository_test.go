package arch

import (
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The lines of the README that precede its flow and its two commands.
const (
	flowLine = "## A flow in 20 lines"
	runLine  = "## Two commands"
	testLine = "<!-- test-command -->"
)

// Finding is one breach of a rule.
type Finding struct {
	Where string // "path:line", slash-separated and relative to the root; or a package
	What  string
}

func (f Finding) String() string { return f.Where + ": " + f.What }

// at returns a finding at a position of the file.
func (s *Source) at(pos token.Pos, what string) Finding {
	return Finding{fmt.Sprintf("%s:%d", s.Rel, s.Fset.Position(pos).Line), what}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// exists reports whether root contains a file or directory at the slash-separated path.
func exists(root, path string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(path)))
	return err == nil
}

// need skips a promise whose subject does not exist; it applies when the path appears.
func need(t *testing.T, path string) {
	t.Helper()
	if !exists(root(t), path) {
		t.Skip("not built: " + path + " is missing")
	}
}

func fail(t *testing.T, found []Finding) {
	t.Helper()
	for _, f := range found {
		t.Error(f)
	}
}

func sources(t *testing.T) []*Source {
	t.Helper()
	all, err := Sources(root(t))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, rel string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(rel)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// repository returns the packages of this module with everything that they link.
func repository(t *testing.T) Graph {
	t.Helper()
	g, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

var listed = sync.OnceValues(func() (Graph, error) {
	dir, err := Root()
	if err != nil {
		return nil, err
	}
	return List(dir, "./...")
})

// imports checks packages against the rules about what they link and which libraries they import.
func imports(t *testing.T, paths ...string) {
	t.Helper()
	g := repository(t)
	for _, p := range own(paths...) {
		if g.matching(p) == nil {
			t.Errorf("there is no package %s", p)
		}
	}
	for _, f := range slices.Concat(g.CheckLinks(LinkRules), g.CheckLibraries(module, Libraries)) {
		if matchAny(own(paths...), f.Where) {
			t.Error(f)
		}
	}
}

// Promise 1.1 (repository): a host that imports `engine` alone links no Starlark, model provider,
// SQLite, OpenTelemetry or Temporal.
func TestPromise_1_1_EngineAlone(t *testing.T) {
	imports(t, "engine", "engine/model", "engine/predicate", "engine/policy", "engine/agent", "engine/flow", "engine/sched", "engine/run", "engine/draw", "engine/internal/...")
}

// Promise 1.2 (repository): a host that imports the root package links the language and no model
// provider, store, MCP client or telemetry that it has not named itself.
func TestPromise_1_2_RootAlone(t *testing.T) { imports(t, ".") }

// Promise 1.3 (repository): the command links no gRPC, no Temporal and no provider library with a
// cloud SDK.
func TestPromise_1_3_CommandWithoutGRPC(t *testing.T) {
	imports(t, "cmd/agentscript", "internal/cli/...", "internal/input")
}

// No package of the main module links Temporal or gRPC: only the module temporal does.
func TestNothingLinksTemporal(t *testing.T) {
	fail(t, repository(t).CheckLinks([]LinkRule{{Packages: []string{module, module + "/..."}, Never: []string{temporal, grpc}, Why: "runs on Temporal are a module of their own"}}))
}

// Promise 1.4 (repository): `diag` and `generable` depend on the standard library alone, and `generable` reads and
// writes JSON itself.
func TestPromise_1_4_BottomPackages(t *testing.T) {
	imports(t, "diag/...", "generable/...", "internal/text")
}

// Promise 1.5 (repository): all other packages import in one direction, from the command through the
// root, the language and the engine to the types.
func TestPromise_1_5_OneDirection(t *testing.T) {
	imports(t, "engine/llm/...", "engine/cassette/...", "engine/store/...", "engine/mcp/...", "engine/grant/...", "starlib/...", "flowjson/...")
}

// Promise 1.6 (repository): the engine and the language use no goroutine, channel, timer, clock, random number or
// derived context outside the goroutine scheduler.
func TestPromise_1_6_NoChance(t *testing.T) {
	checked := 0
	for _, s := range sources(t) {
		if IsHermetic(s) {
			checked++
			fail(t, Chance(s, Excused[s.Rel]))
		}
	}
	if checked == 0 {
		t.Fatal("no file was checked")
	}
	for rel := range Excused {
		if !exists(root(t), rel) {
			t.Errorf("%s is excused and does not exist", rel)
		}
	}
}

// Promise 1.7 (repository): the README opens with what agentscript is, a flow of at most 20 lines,
// and two commands: one runs the main example offline, one passes all tests.
func TestPromise_1_7_Readme(t *testing.T) {
	need(t, "README.md")
	page := read(t, "README.md")
	if !strings.HasPrefix(page, "# agentscript\n\n") {
		t.Error("the first line is not the title")
	}
	intro, _, found := strings.Cut(strings.TrimPrefix(page, "# agentscript\n\n"), "\n## ")
	if !found || len(strings.Fields(intro)) < 15 {
		t.Errorf("before the first heading stands no text that says what it is: %q", intro)
	}
	at := -1
	for _, part := range []struct {
		line string
		max  int
	}{{flowLine, 20}, {runLine, 1}, {testLine, 1}} {
		block, err := Block(page, part.line)
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(block, "\n") + 1; n > part.max {
			t.Errorf("below %q stand %d lines, more than %d", part.line, n, part.max)
		}
		if i := strings.Index(page, part.line); i < at {
			t.Errorf("%q stands too early", part.line)
		} else {
			at = i
		}
	}
}

// Promise 1.8 (repository): the README's first command builds the command and runs the main example
// without a network.
func TestPromise_1_8_RunCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the command")
	}
	need(t, "README.md")
	need(t, "cmd/agentscript")
	command, err := Block(read(t, "README.md"), runLine)
	if err != nil {
		t.Fatal(err)
	}
	// If the system lets a test have one, in a separate network namespace, in which nothing is reachable.
	run := "export GOPROXY=off GOFLAGS=-mod=mod; " + command
	if _, err := shell(t, "unshare --net --map-root-user true"); err == nil {
		run = "unshare --net --map-root-user bash -c " + strconv.Quote(run)
	} else {
		t.Log("with a network: this system has no namespaces for a test")
	}
	out, err := shell(t, run)
	if err != nil {
		t.Fatalf("%s: %v\n%s", run, err, out)
	}
	if !strings.Contains(out, "Deployed with confidence 0.95\n") {
		t.Errorf("%s printed no result:\n%s", command, out)
	}
}

// Promise 1.9 (repository): continuous integration runs exactly the test command that the README gives.
func TestPromise_1_9_TestCommand(t *testing.T) {
	need(t, "README.md")
	want, err := Block(read(t, "README.md"), testLine)
	if err != nil {
		t.Fatal(err)
	}
	got, err := shell(t, "bash .ci/run --print test-command")
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if strings.TrimSpace(got) != want {
		t.Errorf("the script would run %q, the README says %q", got, want)
	}
	script := read(t, ".ci/run")
	_, stage, found := strings.Cut(script, "command=$(readme \"$test_line\")\n")
	if stage, _, _ = strings.Cut(stage, "\nbegin "); !found || !strings.Contains(stage, "\ntests bash -euo pipefail -c \"$command\"\n") {
		t.Error(".ci/run does not run what it reads from the README")
	}
}

// Promise 1.10 (repository): every package except SQLite's builds without cgo for Linux, macOS and Windows, on amd64
// and arm64, and passes vet on each of the three systems.
func TestPromise_1_10_Platforms(t *testing.T) {
	// The targets of make do that for minutes; .ci/run runs them.
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make on this machine")
	}
	says := func(command string, words ...string) {
		t.Helper()
		out, err := shell(t, command)
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("%s does not run %q:\n%s", command, w, out)
			}
		}
	}
	says("make -n cross", "for t in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64;", "GOOS=${t%/*} GOARCH=${t#*/} go build ")
	says("make -n lint", "for t in linux/amd64 darwin/arm64 windows/amd64;", "GOOS=${t%/*} GOARCH=${t#*/} go vet ")
	says("make -p -n", "CGO_ENABLED := 0")
	for _, list := range []string{"BUILT", "PORTABLE"} { // what they leave out needs SQLite
		out, err := shell(t, `make --eval 'print: ; @printf "%s\n" $(`+list+`)' print`)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		listed := strings.Fields(out)
		every, err := shell(t, "go list -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./...")
		if err != nil {
			t.Fatalf("%v\n%s", err, every)
		}
		for _, pkg := range strings.Fields(every) {
			if !slices.Contains(listed, pkg) && !strings.Contains(pkg, "/engine/store") {
				t.Errorf("%s of the Makefile lacks %s", list, pkg)
			}
		}
	}
	all := read(t, ".ci/run")
	for _, target := range []string{"make lint", "make cross"} {
		if !regexp.MustCompile("(?m)^" + target + "( TARGETS='linux/amd64 linux/arm64 darwin/arm64 windows/amd64')?$").MatchString(all) {
			t.Errorf(".ci/run does not run %s", target)
		}
	}
}

// maxBinary bounds the command with all providers and the store of runs.
const maxBinary = 28_000_000

// Promise 1.11 (repository): the stripped command is no larger than 28 MB.
func TestPromise_1_11_BinarySize(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the command")
	}
	need(t, "cmd/agentscript")
	bin := filepath.Join(t.TempDir(), "agentscript")
	if out, err := shell(t, "make build BIN='"+bin+"'"); err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	info, err := os.Stat(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() > maxBinary {
		t.Errorf("%d bytes, more than %d", info.Size(), maxBinary)
	}
}

// Promise 1.12 (repository): the repository is under the Apache License 2.0, and documents its changes, how to report
// a vulnerability and how to contribute.
func TestPromise_1_12_Pages(t *testing.T) {
	for rel, words := range map[string][]string{
		"LICENSE":         {"Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS"},
		"NOTICE":          {"agentscript", "THIRD_PARTY_NOTICES"},
		"CHANGELOG.md":    {"# Changelog", "## Unreleased"},
		"SECURITY.md":     {"Reporting a vulnerability"},
		"CONTRIBUTING.md": {"make test", ".ci/run"},
	} {
		page := read(t, rel)
		for _, w := range words {
			if !strings.Contains(page, w) {
				t.Errorf("%s does not say %q", rel, w)
			}
		}
	}
}

// Promise 1.13 (repository): make builds, tests, benchmarks, lints, fuzzes and runs the project.
func TestPromise_1_13_Make(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make on this machine")
	}
	for _, target := range strings.Fields("build test check bench lint fuzz run e2e golden notices docs") {
		if out, err := shell(t, "make -n "+target); err != nil || strings.TrimSpace(out) == "" {
			t.Errorf("make -n %s: %v\n%s", target, err, out)
		}
	}
}

func TestFileLengths(t *testing.T) {
	all := sources(t)
	for _, f := range Lengths(all, LongFile) {
		t.Log(f)
	}
	fail(t, Lengths(all, MaxFile))
}

func TestEveryPackageSaysWhatItIs(t *testing.T) { fail(t, Undocumented(sources(t))) }

func TestRepositorySpeaksOfTheProductAlone(t *testing.T) {
	dir := root(t)
	err := Files(dir, func(rel string) error {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		fail(t, Words(rel, text, WordRules))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// shell runs a command line in the root, as a reader would.
func shell(t *testing.T, line string) (string, error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the README are for a Unix shell")
	}
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = root(t)
	cmd.Env = environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// environ returns the environment without what a calling make or go test left in it.
func environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name != "MAKEFLAGS" && name != "MFLAGS" && name != "MAKELEVEL" && name != "TESTFLAGS" && name != "CGO_ENABLED" {
			env = append(env, kv)
		}
	}
	return env
}
