package lenient

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// TestManyErrors checks that errors stay few and short, however many mistakes there are, and that all of them are
// counted. It would take minutes if each wrong text were compared with each value.
func TestManyErrors(t *testing.T) {
	wrong := 3000
	if testing.Short() {
		wrong = 600
	}
	values := make([]string, wrong)
	for i := range values {
		values[i] = "value number " + strconv.Itoa(i)
	}
	enum, errs := generable.NewEnum("E", "", values)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	text := "[" + strings.Repeat(`"walue nummer 1x",`, wrong-1) + `"walue"]`
	if r := Decode(generable.ListOfType(enum), text, generable.Options{Level: generable.Loose}); !r.OK || generable.JSON(r.Value, nil) != "[]" {
		t.Errorf("at level loose: %.200s, %v", generable.JSON(r.Value, nil), r.Errors)
	}
	for _, typ := range []*generable.Type{generable.ListOfType(enum), generable.ListOfType(generable.OneOf(enum, generable.IntT))} {
		for _, level := range []generable.Level{generable.Safe, generable.Strict} {
			r := Decode(typ, text, generable.Options{Level: level})
			if r.OK || len(r.Errors) != message.MaxErrors+1 {
				t.Fatalf("%s at level %d: OK %v, %d errors", typ, level, r.OK, len(r.Errors))
			}
			said := r.Errors.Error()
			if len(said) > message.MaxErrors*512 || !strings.Contains(said, fmt.Sprintf("and %d more", wrong-12)) || !strings.Contains(said, strconv.Itoa(wrong-message.MaxErrors)+" errors more") {
				t.Errorf("%s at level %d: %d bytes: %.2000s", typ, level, len(said), said)
			}
		}
	}
}
