package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/hang"
)

// paysFlow pays again and again, and each payment says much.
const paysFlow = `def main(n = str):
    for i in range(8):
        sh.run(["sh", "-c", "echo pay%d >> paid.txt; head -c 200000 /dev/zero | tr '\\0' x" % i])
    return "ok"
`

// paid returns the lines of a file that commands wrote, which is empty from then on.
func (h *home) paid() []string {
	h.t.Helper()
	path := filepath.Join(h.dir, "paid.txt")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	_ = os.Remove(path) // where there is one
	return strings.Fields(string(text))
}

// Promise 30.53 (durable): a run that goes on though its store has failed cannot be resumed into doing again what it did; where
// the store can neither be written nor be rid of the run, it begins nothing that must not happen twice.
func TestPromise_30_53_UnkeptMidway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no limit of the size of files can be set")
	}
	failed := 0
	for _, most := range []string{"900", "1100", "1300", "1600"} {
		h := newHome(t, paysFlow)
		cmd := hang.Command(t, "sh", "-c", `ulimit -f `+most+`; exec "$0" "$@"`, command(t), "run", "flow.star", "q", "--allow-exec", "sh")
		cmd.Dir, cmd.Env = h.dir, append([]string{"NO_COLOR=1", "PATH=" + os.Getenv("PATH")}, h.env...)
		said, err := cmd.CombinedOutput()
		paid := h.paid()
		if strings.Contains(string(said), "this run is not kept") {
			failed++
		}
		if err == nil && len(paid) != 8 || err != nil && !strings.Contains(string(said), "must not happen twice") {
			t.Errorf("%s: %v: paid %q\n%s", most, err, paid, said)
		}
		out := h.run(nil, "runs", "resume", "last")
		for _, again := range h.paid() {
			if slices.Contains(paid, again) {
				t.Errorf("%s: %s a second time, exit %d\n%s", most, again, out.code, out.stderr)
			}
		}
	}
	if failed == 0 {
		t.Error("the store has not failed once")
	}
}
