package cli

import (
	"fmt"
	"io"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/tty"
	"github.com/agentscript/agentscript/internal/hang"
)

// A line that is typed after the keyboard was left belongs to whoever reads then, as a question does.
func TestKeysAreLeft(t *testing.T) {
	hang.Guard(t)
	user, terminal := terminalPair(t)
	k := tty.NewKeyboard(terminal)
	over, pressed := make(chan struct{}), make(chan string)
	defer close(over)
	go func() {
		var keys [64]byte
		for {
			n := k.Read(keys[:])
			select {
			case <-over:
				return
			default:
			}
			if got := string(keys[:n]); got == "p" {
				pressed <- got
			} else if n > 0 {
				fmt.Fprintf(user, "read as keys: %q\n", got) // so that nobody waits for it
			}
		}
	}()
	for range 10 {
		k.Take()
		fmt.Fprint(user, "p")
		<-pressed
		k.Leave()
		fmt.Fprint(user, "y\n")
		var line [64]byte
		if n, err := terminal.Read(line[:]); err != nil || string(line[:n]) != "y\n" {
			t.Fatalf("the line is %q %v", line[:n], err)
		}
		if n, err := io.ReadFull(user, line[:len("y\r\n")]); err != nil { // shown as it was typed
			t.Fatalf("shown is %q %v", line[:n], err)
		}
	}
}
