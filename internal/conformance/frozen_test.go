package conformance

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/hang"
)

// The corpus in testdata/frozen was written by an earlier version and contains what no later one may change: the ids of
// effects, records, codes, exit codes, the keys of all JSON that the command writes, and the names and defaults of the
// language. It is never rewritten. -freeze adds missing files, which belong to new cases.
var freeze = flag.Bool("freeze", false, "write the files of the frozen corpus that are missing")

const frozenDir = "testdata/frozen"

// frozen compares a text with a file of the corpus.
func frozen(t *testing.T, name, got string) {
	t.Helper()
	frozenAs(t, name, got, func(was, is []string) int {
		is = slices.DeleteFunc(slices.Clone(is), func(line string) bool { return warns(line) && !slices.Contains(was, line) })
		for i := range max(len(was), len(is)) {
			if lineAt(was, i) != lineAt(is, i) && !helped(lineAt(was, i), lineAt(is, i)) {
				return i
			}
		}
		return -1
	})
}

// warns reports whether a line contains only warnings: a later version may have more of them.
func warns(line string) bool {
	return strings.HasPrefix(line, "{diagnostics:") && strings.Contains(line, " errors:0 ") && !strings.Contains(line, `severity:"error"`)
}

// helped reports whether an error that had no help has one now: a later version may say more about what it rejects.
func helped(was, is string) bool {
	return strings.HasPrefix(was, "{diagnostics:") && was == strings.ReplaceAll(is, " help:[]", "")
}

// frozenFindings compares the output of check with a file of the corpus: each line of the file must occur in order. A
// later version may find more, and say more about its findings: a label, a fix.
func frozenFindings(t *testing.T, name, got string) {
	t.Helper()
	frozenAs(t, name, got, func(was, is []string) int {
		next := 0
		for i, line := range was {
			for next < len(is) && strings.TrimRight(is[next], "]}") != strings.TrimRight(line, "]}") {
				next++
			}
			if next == len(is) {
				return i
			}
			next++
		}
		return -1
	})
}

// frozenAs compares a text with a file of the corpus by lines: differs returns the first line of the file that the text
// lacks, or -1.
func frozenAs(t *testing.T, name, got string, differs func(was, is []string) int) {
	t.Helper()
	file := filepath.Join(frozenDir, filepath.FromSlash(name))
	want, err := os.ReadFile(file)
	if os.IsNotExist(err) && *freeze {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	was, is := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	if i := differs(was, is); i >= 0 {
		t.Fatalf("%s is frozen, and line %d differs:\nwas %s\nis  %s", file, i+1, lineAt(was, i), lineAt(is, i))
	}
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(no such line)"
}

// frozenFlows copies the flows of the corpus and their records, and returns the directory in which the cases run.
func frozenFlows(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(frozenDir)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "flows")
}

// frozenCommand runs the command in a directory, with no keys and no settings.
func frozenCommand(t *testing.T, dir string, args ...string) output {
	t.Helper()
	path := command(t)
	cmd := hang.Command(t, path, args...)
	cmd.Dir = dir
	cmd.Env = []string{"NO_COLOR=1", "HOME=" + dir, "AGENTSCRIPT_STORE=off", "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return output{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// frozenCases returns the cases of the corpus by their names: the arguments of the command.
func frozenCases(t *testing.T) ([]string, map[string][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(frozenDir, "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	cases := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		var words []string
		if err := json.Unmarshal([]byte(line), &words); err != nil {
			t.Fatal(err)
		}
		names = append(names, words[0])
		cases[words[0]] = words[1:]
	}
	return names, cases
}

// buildVersion matches the version of the tests' own binary: in a clean clone it is the commit's.
var buildVersion = regexp.MustCompile(`version:"v0\.0\.0-[^"]*"`)

// Promise 25.2 (packages): later versions keep exit codes, results, paths and ids of effects, and the keys of all JSON
// with their order: events of every kind, findings, SARIF, graphs and sessions.
func TestPromise_25_2_FrozenRuns(t *testing.T) {
	dir := frozenFlows(t)
	names, cases := frozenCases(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			args := cases[name]
			if *freeze {
				args = recorded(t, name, args)
			}
			got := frozenCommand(t, dir, args...)
			stdout := got.stdout
			if args[0] != "run" {
				stdout = buildVersion.ReplaceAllString(shapes(t, stdout, "\n"), `version:"(devel)"`)
			}
			compare := frozen
			if args[0] == "check" {
				compare = frozenFindings
			}
			compare(t, "runs/"+name+".txt", fmt.Sprintf("exit %d\n%s\n%s", got.code, stdout, eventsOf(t, args, got.stderr)))
		})
	}
}

// eventsOf returns the shapes of what a case wrote to stderr, which is JSON with --json. It excludes runs that race: it
// is undetermined which branch begins first, and what of the other is seen.
func eventsOf(t *testing.T, args []string, stderr string) string {
	if slices.Contains(args, "-q") {
		return ""
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(shapes(t, stderr, ""))), func(line string) bool {
		return slices.ContainsFunc(laterKinds, func(kind string) bool { return strings.HasPrefix(line, `{kind:"`+kind+`" `) })
	})
	return byPath(strings.Join(lines, ""))
}

// laterKinds are the kinds of lines that are newer than the corpus: a later version may have more of them.
var laterKinds = []string{"summary", "route"}

// recorded adds --record to a run that a script answers, if the case is new.
func recorded(t *testing.T, name string, args []string) []string {
	file, err := filepath.Abs(filepath.Join(frozenDir, "recorded", name+".rec"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(frozenDir, "runs", name+".txt")); err == nil || !slices.Contains(args, "--scripted") {
		return args
	}
	return append(slices.Clone(args), "--record", file)
}

// Promise 25.3 (packages): later versions replay existing records: the result, the exit code and the ids are those of
// the recorded run.
func TestPromise_25_3_FrozenCassettes(t *testing.T) {
	dir := frozenFlows(t)
	names, cases := frozenCases(t)
	replayed := 0
	for _, name := range names {
		cassette := filepath.Join(dir, "..", "recorded", name+".rec")
		i := slices.Index(cases[name], "--scripted")
		if _, err := os.Stat(cassette); err != nil || i < 0 {
			continue
		}
		replayed++
		t.Run(name, func(t *testing.T) {
			args := slices.Clone(cases[name])
			args[i], args[i+1] = "--replay", cassette
			got := frozenCommand(t, dir, args...)
			was, err := os.ReadFile(filepath.Join(frozenDir, "runs", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			head, events, _ := strings.Cut(string(was), "\n\n")
			if is := strings.TrimSuffix(fmt.Sprintf("exit %d\n%s", got.code, got.stdout), "\n"); is != head {
				t.Errorf("got\n%s\nwant\n%s\n%s", is, head, got.stderr)
			}
			if is, want := ids(eventsOf(t, args, got.stderr)), ids(events); !slices.Equal(is, want) {
				t.Errorf("ids of a replay\n%s\nof the run\n%s", strings.Join(is, "\n"), strings.Join(want, "\n"))
			}
		})
	}
	if replayed < 30 {
		t.Errorf("only %d recorded runs are there", replayed)
	}
}

// ids returns the ids of the effects in shapes of events, in order.
func ids(events string) []string {
	var out []string
	for line := range strings.Lines(events) {
		if _, id, ok := strings.Cut(line, ` id:"`); ok && strings.HasPrefix(line, `{kind:"effect" phase:"start"`) {
			id, _, _ = strings.Cut(id, `"`)
			out = append(out, id)
		}
	}
	return out
}

// Promise 25.5 (packages): codes of diagnostics are permanent: later versions may add codes.
func TestPromise_25_5_FrozenCodes(t *testing.T) {
	got := frozenCommand(t, t.TempDir(), "explain")
	var codes []string
	for line := range strings.Lines(got.stdout) {
		if code, _, ok := strings.Cut(line, " "); ok {
			codes = append(codes, code)
		}
	}
	held(t, "codes.txt", codes)
}

// Promise 25.6 (packages): the names that the language predeclares are permanent, with their parameters, the order of
// positional parameters, defaults and return values. Later versions may add to them.
func TestPromise_25_6_FrozenNames(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for line := range strings.Lines(frozenCommand(t, dir, "doc").stdout) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(line, "  ") {
			names = append(names, fields[0])
		}
	}
	slices.Sort(names)
	var lines []string
	for _, name := range slices.Compact(names) {
		got := frozenCommand(t, dir, "doc", name)
		if got.code != 0 {
			t.Errorf("doc %s: exit code %d\n%s", name, got.code, got.stderr)
		}
		head, _, _ := strings.Cut(got.stdout, "\n\n")
		for line := range strings.Lines(head) { // an overloaded name has several
			params, gives, called := strings.Cut(strings.TrimSpace(line), ") -> ")
			if !called { // the name of a value, FINISH: finish
				params, gives, _ = strings.Cut(params, ": ")
			}
			_, params, _ = strings.Cut(params, "(")
			lines = append(lines, name+" -> "+gives)
			for param := range strings.SplitSeq(params, ", ") {
				lines = append(lines, name+" "+param)
			}
		}
	}
	frozen := readLines(t, "names.txt", lines)
	for len(frozen) > 0 {
		was, head := group(frozen), frozen[0]
		frozen = frozen[len(was):]
		at := slices.Index(lines, head)
		if at < 0 {
			t.Errorf("names.txt is frozen, and this is not there any more, or not in its place: %s", head)
			continue
		}
		is := group(lines[at:])
		lines = lines[at+len(is):]
		for n, line := range was {
			keyword := slices.Contains(was[:n+1], strings.Fields(head)[0]+" *") // it may be passed by position too now
			if i := slices.Index(is, line); i < 0 || !keyword && i != n {
				t.Errorf("names.txt is frozen, and this is not there any more, or not in its place: %s", line)
			}
		}
	}
}

// group returns the lines of the first name: its result, and its parameters.
func group(lines []string) []string {
	for i, line := range lines[1:] {
		if strings.Contains(line, " -> ") {
			return lines[:i+1]
		}
	}
	return lines
}

// readLines returns the lines of a file of the corpus, which is written if it is new.
func readLines(t *testing.T, name string, lines []string) []string {
	t.Helper()
	file := filepath.Join(frozenDir, name)
	if _, err := os.Stat(file); os.IsNotExist(err) {
		frozen(t, name, strings.Join(lines, "\n")+"\n")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// held requires that the lines of a file of the corpus occur among the lines, in order.
func held(t *testing.T, name string, lines []string) {
	t.Helper()
	for _, line := range readLines(t, name, lines) {
		i := slices.Index(lines, line)
		if i < 0 {
			t.Errorf("%s is frozen, and this is not there any more, or not in its place:\n%s", name, line)
			continue
		}
		lines = lines[i+1:]
	}
}
