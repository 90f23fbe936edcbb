package thread

import (
	"strings"
	"testing"
)

// The part of a message that is searched for slips is bounded: a script can fail with a text of any length.
func TestSlipsInLongMessages(t *testing.T) {
	const slip = "unknown binary op: string + int"
	if SlipHelp(slip, nil) == "" {
		t.Fatalf("%q has no remedy any more: choose another message", slip)
	}
	if SlipHelp(slip+strings.Repeat(" x", longestSlip), nil) == "" {
		t.Error("a slip at the beginning of a long message has no remedy")
	}
	if help := SlipHelp(strings.Repeat("x ", longestSlip)+slip, nil); help != "" {
		t.Errorf("all of a long message is looked through: %s", help)
	}
}
