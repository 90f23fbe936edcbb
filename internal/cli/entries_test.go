package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// partsOf returns the top-level statements of a script, those on one line as one, and the line of each.
func partsOf(name, text string) (parts []string, at []int) {
	dialect := syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	tree, err := dialect.Parse(name, text, 0)
	if err != nil {
		return nil, nil
	}
	lines := strings.SplitAfter(text, "\n")
	end := 0
	for _, stmt := range tree.Stmts {
		from, to := stmt.Span()
		last := min(int(to.Line), len(lines))
		if int(from.Line) <= end {
			parts[len(parts)-1] += strings.Join(lines[end:last], "")
		} else {
			parts, at = append(parts, strings.Join(lines[from.Line-1:last], "")), append(at, int(from.Line))
		}
		end = last
	}
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n") + "\n"
	}
	return parts, at
}

var (
	inEntry  = regexp.MustCompile(`entry (\d+)(?::(\d+))?`)
	numbered = regexp.MustCompile(`^ *(\d+) \|`)
	gutter   = regexp.MustCompile(`^ *(-->|\||=)`)
)

// inFile converts a finding of an entry to one of the file that contains its statement. at holds the number of lines
// before each entry.
func inFile(finding, file string, at []int) string {
	before := 0
	line := func(entry, line string) string {
		i, _ := strconv.Atoi(entry)
		n, _ := strconv.Atoi(line)
		return fmt.Sprint(n + at[i-1] - 1)
	}
	var out strings.Builder
	for l := range strings.Lines(finding) {
		if m := inEntry.FindStringSubmatch(l); m != nil && strings.Contains(l, "-->") {
			i, _ := strconv.Atoi(m[1])
			before = at[i-1] - 1
		}
		l = inEntry.ReplaceAllStringFunc(l, func(s string) string {
			m := inEntry.FindStringSubmatch(s)
			if m[2] == "" {
				return file
			}
			return file + ":" + line(m[1], m[2])
		})
		if m := numbered.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			l = fmt.Sprintf("%d |%.120s\n", n+before, strings.TrimSuffix(l[len(m[0]):], "\n"))
		}
		out.WriteString(gutter.ReplaceAllString(l, "$1"))
	}
	return out.String()
}

// ofFiles matches findings that concern a whole file, or a file that does not change, though their code does not say
// so.
var ofFiles = regexp.MustCompile(`has no main to run|it is made while the file loads, and does not change any more`)

// typing is a standard input that delivers one entry at a time, and records what is on stderr by then.
type typing struct {
	entries []string
	stderr  *strings.Builder
	until   []int
	rest    string
}

func (in *typing) Read(p []byte) (int, error) {
	if in.rest == "" {
		in.until = append(in.until, in.stderr.Len())
		if len(in.entries) == 0 {
			return 0, io.EOF
		}
		in.rest, in.entries = in.entries[0], in.entries[1:]
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// An entry typed at the prompt reports what check reports for a file of the statements so far, and did not report for
// the file without the entry. The entries are the statements of all scripts; one with an error defines nothing, and is
// not in the file. The test ignores what the rest of a file decides, that nothing uses an agent (AS326) and that there
// is no main (AS215), and what is allowed in a session: calls of nodes (AS210), rebound names (AS217), and changes to
// lists of the session in functions (AS221).
func TestEntriesAreStatementsOfAFile(t *testing.T) {
	n := 0
	eachScript(t, func(script string) {
		parts, at := partsOf(script, read(t, script))
		if filepath.Dir(script) != "." || parts == nil {
			return
		}
		n += len(parts)
		const sofar = "statements_so_far.star"
		defer os.Remove(sofar)
		wrong := make([]bool, len(parts))
		check := func(upto int) (all []string) {
			var text strings.Builder
			line := 1
			for i, part := range parts[:upto+1] {
				if wrong[i] {
					continue
				}
				text.WriteString(strings.Repeat("\n", at[i]-line) + part)
				line = at[i] + strings.Count(part, "\n")
			}
			write(t, sofar, text.String())
			for _, f := range reported(t, "", "check", sofar) {
				all = append(all, strings.ReplaceAll(inFile(f, "", nil), sofar, script))
			}
			return all
		}
		var before []string
		for next := 0; next < len(parts); {
			stdin := &typing{}
			var lines, entries []int
			for i, part := range parts {
				if !wrong[i] {
					stdin.entries, lines, entries = append(stdin.entries, part+":more\n"), append(lines, at[i]), append(entries, i)
				}
			}
			_, _, stderr := inProcess(t, func(s *term.Process) {
				s.Stdin, s.StdinPiped = stdin, true
				stdin.stderr = s.Stderr.(*strings.Builder)
			}, "repl", "--mock")
			stdin.until = append(stdin.until, len(stderr))
			for k, i := range entries {
				if i < next {
					continue
				}
				next = i + 1
				var got, want []string
				for _, f := range findings(stderr[stdin.until[k]:stdin.until[k+1]]) {
					got = append(got, inFile(f, script, lines))
				}
				now := check(i)
				for _, f := range now {
					if !slices.Contains(before, f) && !ofFiles.MatchString(f) {
						want = append(want, f)
					}
				}
				runs := slices.ContainsFunc(want, func(f string) bool { return strings.Contains(f, string(diag.CalledWhileComposing)) })
				if want = without(want, diag.UnusedAgent, diag.Reassigned); !runs {
					same(t, fmt.Sprintf("the entry at %s:%d", script, at[i]), got, want)
				}
				if wrong[i] = slices.ContainsFunc(now, isError) || slices.ContainsFunc(got, isError); wrong[i] {
					break
				}
				before = now
			}
		}
	})
	t.Logf("%d statements", n)
}

// What is not a mistake in a session is not reported at the prompt, even if the session can no longer be one file.
func TestEntriesThatAreNoFile(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "lib", "flow.star"), "load(\"parts.star\", \"shout\")\nc = agent(prompt = \"C.\")\nd = c >> fn(shout)\n")
	write(t, filepath.Join(dir, "lib", "parts.star"), "def shout(x):\n    return x + \"!\"\n")
	for entries, want := range map[string]string{
		agents + "team = a >> b\ndef f(x):\n    return team(x)\n\nteam = None\nteam = b >> a\nf(\"x\")\n":                                                                              "\"[mock] a\"\n",
		agents + "def new():\n    return a >> b\n\nt = new()\nt = None\ndef new():\n    return b >> a\n\nt = new()\nt(\"x\")\n":                                                        "\"[mock] a\"\n",
		agents + "answer = a(\"x\")\nc = agent(prompt = \"Go on from \" + answer)\nd = c >> b\nd(answer)\n":                                                                            "\"[mock] b\"\n",
		agents + "xs = []\nxs.append(a)\nxs.pop()\nxs.append(b)\nxs[0] >> a\n":                                                                                                         "├─ agent b: str → str\n└─ agent a: str → str\n",
		"xs = []\ndef add(x):\n    xs.append(x)\n    return len(xs)\n\nadd(1)\nadd(2)\ny = 10 // (len(xs) - 1)\ny\nxs = [y] + xs\nxs\n":                                                "1\n2\n10\n[10, 1, 2]\n",
		"x = 1\ny = x\nx = 2\nz = x + y\nx = z + x\nx\ndef f():\n    return x\n\nx = \"t\"\nf() + \"!\"\n":                                                                             "5\n\"t!\"\n",
		"def none(x):\n    return x\n\nlen = 3\nlen + 1\n":                                                                                                                             "4\n",
		"xs = [i for i in range(300000)]\nys = [i for i in range(300000)]\nzs = [i for i in range(300000)]\nn = len([i for i in range(300000)])\nlen(xs + ys + zs) + n + len(\"é\")\n": "1200002\n",
		"T = schema(\"T\", n = int)\nU = schema(\"U\", of = list[ref(\"T\")])\nT = schema(\"T\", s = str)\nU(of = [])\n":                                                               "U\n  of  []\n",
		":load lib/flow.star\nc2 = agent(prompt = \"C2.\")\ne = c2 >> fn(shout)\ne(\"x\")\n_ + \"?\"\n":                                                                                "\"[mock] c2!\"\n\"[mock] c2!?\"\n",
	} {
		if code, stdout, stderr := piped(t, dir, entries, "--mock", "-q"); code != 0 || !strings.HasSuffix(stdout, want) {
			t.Errorf("%s\nends with %d and writes\n%s%s\nnot\n%s", entries, code, stdout, stderr, want)
		}
	}
	var many strings.Builder
	for i := range 600 {
		fmt.Fprintf(&many, "x%d = %d\n", i, i)
	}
	gives(t, dir, many.String()+"x0 + x1 + x599\n", "600\n", "--mock")
	refuses(t, dir, agents+"best = a or b\n", "error[AS207]: a node has no truth value", "entry 3:1:8")
	refuses(t, dir, "def f(x):\n    return\n\na = agent(output = int, run = f)\n", "error[AS705]", "entry 1:2:5")
	refuses(t, dir, "main = agent(model = \"opnai/x\", prompt = \"A.\")\nx = (\n", "there is no provider \"opnai\"")
}
