package conformance

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/hang"
)

// BenchmarkCommandStart measures the time from starting the command to its first event, the beginning of the run: the
// script is loaded and checked by then. The whole is the time until it has ended.
func BenchmarkCommandStart(b *testing.B) {
	bin := command(b)
	var first, whole time.Duration
	for b.Loop() {
		cmd := hang.Command(b, bin, "run", "examples/area.star", "circle", "--json")
		cmd.Dir = repository("")
		cmd.Env = []string{"HOME=" + os.Getenv("HOME")}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		events := bufio.NewReader(stderr)
		line, err := events.ReadString('\n')
		if err != nil || !strings.Contains(line, `"kind":"run","phase":"start"`) {
			b.Fatalf("the first event is %q, %v", line, err)
		}
		first += time.Since(begun)
		if _, err := io.Copy(io.Discard, events); err != nil {
			b.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		whole += time.Since(begun)
	}
	b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "ms/first-event")
	b.ReportMetric(float64(whole.Microseconds())/1000/float64(b.N), "ms/run")
	b.ReportMetric(0, "ns/op")
}
