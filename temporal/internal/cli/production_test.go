package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/hang"
)

// A run is restricted to its own grants, on a worker that is granted more: it fails as it does on one machine, and has
// no effect.
func TestHeldToItsGrants(t *testing.T) {
	b := onServer(t)
	b.env = append(b.env, "COLOUR=red", "SHAPE=round")
	var asked atomic.Int32
	serves := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/on" {
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
			return
		}
		asked.Add(1)
		_, _ = w.Write([]byte("served"))
	}
	granted, other := httptest.NewServer(http.HandlerFunc(serves)), httptest.NewServer(http.HandlerFunc(serves))
	defer granted.Close()
	defer other.Close()
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	dir := t.TempDir()
	notes := filepath.Join(dir, "notes")
	out := filepath.Join(dir, "out")
	for _, name := range []string{notes, out} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(dir, "secret.txt"), filepath.Join(notes, "note.txt")} {
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, log := b.workerWithLog("--task-queue", "held", "--allow-fs", dir+":rw", "--allow-net", host(granted), "--allow-net", host(other), "--allow-env", "COLOUR", "--allow-env", "SHAPE", "--allow-exec", "true", "--allow-exec", "echo")
	agentscript := b.agentscript()
	file := b.script(`
def main(do = str, what = str):
    if do == "get":
        return http.get(what).text
    if do == "read":
        return fs.read(what)
    if do == "write":
        fs.write(what, "new")
        return "written"
    if do == "env":
        return env.get(what)
    return str(sh.run([what]).code)
`)
	grants := []string{"--allow-fs", notes + ":ro", "--allow-fs", out + ":rw", "--allow-exec", "echo", "--allow-net", host(granted), "--allow-env", "COLOUR"}
	for _, c := range []struct{ do, what, want string }{
		{"get", other.URL, ""},
		{"get", granted.URL + "/on?to=" + other.URL, ""},
		{"get", granted.URL, "served"},
		{"read", filepath.Join(dir, "secret.txt"), ""},
		{"read", filepath.Join(notes, "note.txt"), "text"},
		{"write", filepath.Join(notes, "note.txt"), ""},
		{"env", "SHAPE", ""},
		{"env", "COLOUR", "red"},
		{"run", "true", ""},
		{"run", "echo", "0"},
	} {
		line := append(append([]string{}, grants...), file, c.do, c.what)
		asked.Store(0)
		local := b.exec(agentscript, append([]string{"run", "--ephemeral"}, line...)...)
		ofLocal := asked.Swap(0)
		begun := time.Now()
		got := b.exec("temporal", append([]string{"run", "--task-queue", "held"}, line...)...)
		if got.out != local.out || got.out != c.want || got.code != local.code || code(got.err) != code(local.err) || asked.Load() != ofLocal {
			t.Errorf("%s %s: %q exit %d %s, locally %q exit %d %s, want %q\n%s\n%s", c.do, c.what, got.out, got.code, code(got.err), local.out, local.code, code(local.err), c.want, got.err, local.err)
		}
		if time.Since(begun) > 20*time.Second {
			t.Errorf("%s %s: another worker was looked for", c.do, c.what)
		}
	}
	if strings.Contains(log.String(), "refused") {
		t.Errorf("the worker refused:\n%s", log)
	}
}

// code returns the first diagnostic code in a text.
func code(text string) string {
	_, rest, _ := strings.Cut(text, "error[")
	is, _, _ := strings.Cut(rest, "]")
	return is
}

// A worker that is granted less than others refuses what it was handed, and another one carries out the run.
func TestGrantOfOneWorker(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "one grant"}
	_, bare := b.workerWithLog(at...)
	b.worker(append(at, "--allow-exec", "true")...)
	for range 6 {
		b.temporal(0, "", append(append([]string{"run"}, at...), "--allow-exec", "true", b.script("def main():\n    return sh.run([\"true\"]).code\n"))...)
	}
	if text := bare.String(); !strings.Contains(text, `msg="refused: another worker may take it"`) || !strings.Contains(text, "run=") {
		t.Errorf("the worker that is granted less says\n%s", text)
	}
}

// A worker that is started before its server waits for it, for as long as --wait says, and an interrupt ends that.
func TestWorkerFirst(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close() // its port is free again
	b := newBench(t, "TEMPORAL_ADDRESS="+at)
	begin := func() (*exec.Cmd, *syncBuffer) {
		cmd, errs := b.command("temporal", "worker"), &syncBuffer{}
		cmd.Stderr = errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
		})
		hang.Until(t, "the worker waits", func() bool { return strings.Contains(errs.String(), "trying again") })
		return cmd, errs
	}
	cmd, errs := begin()
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != term.ExitInterrupted {
		t.Errorf("exit %d\n%s", code, errs)
	}
	begun := time.Now()
	b.temporal(term.ExitProvider, "no Temporal server is reached at "+at, "worker", "--wait", "2s")
	if took := time.Since(begun); took < 2*time.Second {
		t.Errorf("it waited for %s", took)
	}
	path := serverPath(t) // what is tested above needs no server
	_, errs = begin()
	startServer(t, path, at)
	hang.Until(t, "the worker is ready", func() bool { return strings.Contains(errs.String(), "ready: ") })
}

// A worker's log has a line when a run begins and ends, with its id, and no error for what is expected: races that are
// lost, and effects that are cancelled.
func TestLogs(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "logs"}
	cmd, log := b.workerWithLog(append(at, "--allow-exec", "sleep", "--allow-exec", "true", "--log-json")...)
	file := b.script(`
def quick(x):
    return sh.run(["true"]).code
def slow(x):
    return sh.run(["sleep", "20"]).code
def main(what = str):
    if what == "race":
        return race([quick, slow], "x")
    return slow("x")
`)
	raced := b.temporal(0, "", append([]string{"run", "--allow-exec", "sleep", "--allow-exec", "true"}, append(at, "--detach", file, "race")...)...).out
	cancelled := b.startRun(append([]string{"--allow-exec", "sleep", "--allow-exec", "true"}, append(at, file, "cancel")...)...)
	hang.Until(t, "it sleeps", func() bool {
		return strings.Contains(b.exec("temporal", append([]string{"runs", "show", cancelled, "--json"}, at...)...).out, `"exec"`)
	})
	b.temporal(0, "", append([]string{"runs", "cancel", cancelled}, at...)...)
	ends := func(id, status string) bool {
		return strings.Contains(log.String(), fmt.Sprintf(`"msg":"run ended","run":%q,"status":%q`, id, status))
	}
	hang.Until(t, "both have ended", func() bool { return ends(raced, "done") && ends(cancelled, "cancelled") })
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	for line := range strings.Lines(log.String()) {
		var entry struct{ Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Level == "ERROR" || entry.Level == "WARN" {
			t.Errorf("%v: %s", err, line)
		}
	}
	if !strings.Contains(log.String(), fmt.Sprintf(`"msg":"run begins","run":%q`, raced)) {
		t.Errorf("it does not say that a run begins:\n%s", log)
	}
}

// startServer starts a server that ends with the test, and returns its address.
func startServer(t *testing.T, path, at string) string {
	t.Helper()
	server, addr, err := launch(path, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	return addr
}

// Workers and clients of one machine share blobs in one file.
func TestBlobsInAFile(t *testing.T) {
	path := serverPath(t)
	b := newBench(t, "TEMPORAL_ADDRESS="+startServer(t, path, "127.0.0.1:0")) // others list what is on the common server, without the file
	file := filepath.Join(t.TempDir(), "blobs.db")
	at := []string{"--task-queue", "blobs in a file", "--blobs", file}
	b.temporal(term.ExitUsage, "there is no such file", append([]string{"runs", "ls"}, at...)...)
	b.temporal(term.ExitUsage, "--blobs "+filepath.Join(file, "x.db"), "worker", "--blobs", filepath.Join(file, "x.db"))
	dir := t.TempDir()
	b.worker(append(at, "--allow-fs", dir+":rw")...)
	b.worker(append(at, "--allow-fs", dir+":rw")...)
	script := b.script("DIR = \"" + dir + "\"\n" + `
def main(n = int):
    total = 0
    for i in range(n):
        fs.write(DIR + "/%d" % i, "x" * 100000)
        total += len(fs.read(DIR + "/%d" % i))
    return str(total)
`)
	id := b.startRun(append(append([]string{}, at...), "--allow-fs", dir+":rw", script, "--n", "10")...)
	hang.Until(t, "the run ends", func() bool {
		return strings.Contains(b.exec("temporal", append([]string{"runs", "show", id}, at...)...).out, "result: 1000000")
	})
	if is, err := os.Stat(file); err != nil || is.Size() == 0 {
		t.Errorf("%v %v", is, err)
	}
}

// Promise 31.73 (temporal): if workers are builds of a deployment, a run continues with the build that began it after
// another build has become the current one, even if the run is pinned to a worker.
func TestPromise_31_73_Deployments(t *testing.T) {
	b := onServer(t)
	c, err := client.Dial(client.Options{HostPort: address})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	current := func(build string) {
		t.Helper()
		hang.Until(t, build+" is current", func() bool {
			_, err := c.WorkerDeploymentClient().GetHandle("flows").SetCurrentVersion(t.Context(), client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build, IgnoreMissingTaskQueues: true})
			return err == nil // the version is known once its worker has polled
		})
	}
	at := []string{"--task-queue", "deployments", "--allow-exec", "true"}
	b.worker(append(at, "--deployment", "flows:b1")...)
	current("b1")
	file := b.script("def main():\n    wait(\"go\", str)\n    return sh.run([\"true\"]).code\n")
	first := b.startRun(append(at, file)...)
	pinned := b.startRun(append(at, "--pin-worker", file)...)
	hang.Until(t, "they wait", func() bool {
		return strings.Count(b.exec("temporal", "runs", "ls", "--status", "parked", "--task-queue", "deployments").out, "flow.star") >= 2
	})
	b.worker(append(at, "--deployment", "flows:b2")...)
	current("b2")
	second := b.startRun(append(at, file)...)
	for id, build := range map[string]string{first: "b1", pinned: "b1", second: "b2"} {
		hang.Until(t, "it is answered", func() bool {
			return b.exec("temporal", "runs", "answer", id, "go", "--result", `"on"`, "--task-queue", "deployments").code == 0
		})
		hang.Until(t, "it has ended", func() bool {
			return strings.Contains(b.exec("temporal", "runs", "show", id, "--task-queue", "deployments").out, "result: 0")
		})
		d, err := c.DescribeWorkflowExecution(t.Context(), id, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId(); got != build {
			t.Errorf("ran on build %q, want %s", got, build)
		}
	}
}
