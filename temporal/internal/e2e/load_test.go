package e2e

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ticks is how many units per second Linux uses to count processor time.
const ticks = 100

// processorTime returns the processor time of the given processes, and of everything on the machine. ok is false where
// it is unknown.
func processorTime(pids ...int) (ours, all time.Duration, ok bool) {
	tick := time.Second / ticks
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, 0, false
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, field := range fields[11:13] { // utime and stime
			n, _ := strconv.Atoi(field)
			ours += time.Duration(n) * tick
		}
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:9] {
		if i != 3 && i != 4 { // idle, iowait
			n, _ := strconv.Atoi(field)
			all += time.Duration(n) * tick
		}
	}
	return ours, all, true
}

// measure measures how long f takes, as if the machine did nothing else. If the processors were fully busy, that is the
// processor time of the test's processes, divided by the number of processors that f can use.
func (c *cluster) measure(t *testing.T, processors int, f func()) time.Duration {
	t.Helper()
	pids := []int{os.Getpid(), c.server.cmd.Process.Pid}
	for _, w := range c.workers {
		pids = append(pids, w.Process.Pid)
	}
	ours, all, _ := processorTime(pids...)
	begun := time.Now()
	f()
	took := time.Since(begun)
	own, busy, ok := processorTime(pids...)
	own, busy = own-ours, busy-all
	if !ok || busy < took*time.Duration(runtime.NumCPU())*9/10 || own <= 0 || own >= busy {
		return took
	}
	t.Logf("in %s the processors computed %s, %s of it for this test", took, busy, own)
	return min(took, own/time.Duration(processors))
}
