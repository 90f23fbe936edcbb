//go:build unix

package conformance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/hang"
)

// The verbs of runs, with arguments that they accept if the last run is waiting.
var runsVerbs = map[string]string{"ls": "", "show": "last", "resume": "last", "fork": "last --yes", "cost": "", "cancel": "last", "answer": "last go --result \"x\"",
	"rm": "last", "gc": "", "export": "last", "import": "r.run --as 0123456789abcdef"}

// The page about runs lists the exit codes of each verb, and no others.
func TestExitCodesOfRunsVerbs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "runs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Exit codes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	said := map[string]bool{} // verb and code
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || strings.TrimSpace(cells[1]) == "code" || strings.HasPrefix(cells[1], "---") {
			continue
		}
		code := strings.TrimSpace(cells[1])
		for verb := range runsVerbs {
			if strings.TrimSpace(cells[2]) == "all" || strings.Contains(cells[2], "`"+verb+"`") {
				if strings.HasPrefix(code, "as ") {
					said[verb+" as run"] = true
					continue
				}
				said[verb+" "+code] = true
			}
		}
	}
	returned := map[string]bool{}
	h := newHome(t, "def main(n = str):\n    return sh.run([\"sh\", \"-c\", \"echo paid >> paid.txt\"]).stdout + wait(\"go\", str)\n")
	h.want(nil, strings.Fields("run flow.star q -q --allow-exec sh --store r.db"), 5)
	h.want(nil, strings.Fields("runs export last -o r.run --store r.db"), 0)
	h.write("damaged.db", "none"+strings.Repeat("none", 4096))
	for verb, args := range runsVerbs {
		line := append([]string{"runs", verb}, strings.Fields(args)...)
		for _, name := range []string{"copy.db", "copy.db-wal", "copy.db-shm"} {
			_ = os.Remove(filepath.Join(h.dir, name)) // it may not exist
		}
		h.want(nil, strings.Fields("runs import r.run --as fedcba9876543210 --store copy.db"), 0)
		if verb == "resume" {
			h.want(nil, append(strings.Fields("runs answer last go --store copy.db --result"), `"x"`), 0)
		}
		try := func(code int, more ...string) {
			h.want(nil, append(slices.Clone(line), more...), code)
			returned[verb+" "+map[int]string{0: "0", 1: "1", 2: "2", 5: "5"}[code]] = true
		}
		grant := []string{"--store", "copy.db"}
		if verb == "resume" || verb == "fork" {
			grant = append(grant, "--allow-exec", "sh")
		}
		if verb != "fork" {
			try(0, grant...)
		}
		try(1, "--store", "damaged.db")
		try(2, "--nope")
	}
	h.want(nil, strings.Fields("run flow.star q -q --allow-exec sh --store r.db"), 5)
	h.want(nil, strings.Fields("runs fork last --plan --store r.db"), 0)
	h.want(nil, strings.Fields("runs fork last --from main/exec:run#0 --store r.db"), 5, "--yes does it")
	h.want(nil, strings.Fields("runs fork last --yes --from main/exec:run#0 -q --store r.db"), 5, "AS780")
	h.want(nil, append(strings.Fields("runs answer last go --store r.db --result"), `"x"`), 0)
	h.want(nil, strings.Fields("runs resume last -q --store r.db"), 0)
	for _, is := range []string{"fork 0", "fork 5", "fork as run", "resume as run"} {
		returned[is] = true
	}
	waitsForAnother(t, returned)
	for is := range said {
		if !returned[is] {
			t.Errorf("the page has %q, which nothing returned", is)
		}
	}
	for is := range returned {
		if !said[is] {
			t.Errorf("the page lacks %q", is)
		}
	}
}

// waitsForAnother makes verbs wait for the process of a run, which is stopped.
func waitsForAnother(t *testing.T, returned map[string]bool) {
	h := newHome(t, slowFlow)
	run := h.command(nil, strings.Fields("run flow.star q --allow-exec sh")...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = run.Process.Kill()
		_ = run.Wait() // it was killed
	}()
	hang.Until(t, "it pays", func() bool { return h.lines("paid.txt") > 0 })
	if err := run.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.want(nil, strings.Fields("runs cancel last"), 1, "has not ended it yet")
	returned["cancel 1"] = true
	for verb, line := range map[string]string{"show": "runs show last --follow", "cancel": "runs cancel last"} {
		cmd := h.command(nil, strings.Fields(line)...)
		out, err := os.Create(filepath.Join(h.dir, verb+".out"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = out
		err = cmd.Start()
		out.Close()
		if err != nil {
			t.Fatal(err)
		}
		if verb == "show" {
			hang.Until(t, "it follows", func() bool { return h.lines(verb+".out") > 0 })
		} else {
			time.Sleep(2 * time.Second) // it prints nothing while it waits for 5 seconds
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // its exit code is enough
		if code := cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%s: exit %d, want 130", line, code)
		}
		returned[verb+" 130"] = true
	}
}
