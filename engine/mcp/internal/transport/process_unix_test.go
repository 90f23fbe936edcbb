//go:build unix

package transport

import (
	"bufio"
	"io"
	"testing"
	"time"
)

// A process that does not exit at the end of its input gets a signal, and is killed only if it ignores that.
func TestProcessIsAsked(t *testing.T) {
	t.Parallel()
	p, err := Start("/bin/sh", []string{"-c", `trap "exit 5" TERM; echo ready; while :; do sleep 0.01; done`}, nil, io.Discard, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	p.Stop()
	if how := p.Ended(time.Minute); how != "exit status 5" {
		t.Errorf("it ended by %s", how)
	}
}
