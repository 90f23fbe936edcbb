package lenient

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// counting is a context that is done after a number of calls of Err.
type counting struct {
	context.Context
	left int
}

var errEnough = errors.New("enough")

func (c *counting) Err() error {
	c.left--
	if c.left < 0 {
		return errEnough
	}
	return nil
}

// TestDecodeContext requires the result of Decode, and that decoding stops soon after its context is done.
func TestDecodeContext(t *testing.T) {
	text, typ := catalogue(t, 800)
	got, err := DecodeContext(t.Context(), typ, text, generable.Options{})
	if want := Decode(typ, text, generable.Options{}); err != nil || render(got) != render(want) || got.Visits != want.Visits {
		t.Errorf("another result: %v", err)
	}
	long := "[" + strings.Repeat("[1], ", 1<<20)
	c := &counting{t.Context(), 3}
	if r, err := DecodeContext(c, nil, long, generable.Options{}); err == nil || r.OK || c.left < -2 {
		t.Errorf("%v after %d looks", err, 3-c.left)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	if _, err := DecodeContext(ended, nil, "1", generable.Options{}); !errors.Is(err, errEnough) {
		t.Errorf("got %v", err)
	}
	if r, err := DecodeContext(t.Context(), nil, "", generable.Options{}); err != nil || r.OK {
		t.Error("nothing was read as something")
	}
}
