package mcp

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// A float with an exact whole value is sent to servers as a whole number.
func TestArguments(t *testing.T) {
	for want, v := range map[string]float64{"2": 2, "-2": -2, "2.5": 2.5, "9007199254740991": 1<<53 - 1, "9007199254740992.0": 1 << 53} {
		m := generable.NewMap(1)
		n, _ := generable.FloatOf(v)
		m.Set("n", n)
		if got := string(arguments(m.Value())); got != `{"n":`+want+`}` {
			t.Errorf("%v is sent as %s, want %s", v, got, want)
		}
	}
}

// A media type that could end the data URL that contains it is not a picture's.
func TestIsPicture(t *testing.T) {
	for _, mime := range []string{"image/a", "image/z", "image/x0", "image/9", "image/svg+xml", "image/vnd.x-y"} {
		if !isPicture(mime) {
			t.Errorf("%s is no picture", mime)
		}
	}
	for _, mime := range []string{"", "image", "image/", "text/plain", "image/A", "image/`", "image/{", "image/x/", "image/x:", "image/x;y", "image/x,y", "image/x y"} {
		if isPicture(mime) {
			t.Errorf("%s is a picture", mime)
		}
	}
}
