package generable

import (
	"strconv"
	"strings"
	"testing"
)

// TestManyErrors holds that errors stay few and short, whatever is wrong how often, that all
// of them are counted. It would take minutes if each wrong text were compared with each value.
func TestManyErrors(t *testing.T) {
	values := make([]string, 3000)
	for i := range values {
		values[i] = "value number " + strconv.Itoa(i)
	}
	enum, errs := NewEnum("E", "", values)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	const wrong = 3000
	text := "[" + strings.Repeat(`"walue nummer 1x",`, wrong-1) + `"walue"]`
	if r := Decode(ListOfType(enum), text, Options{Level: Loose}); !r.OK || JSON(r.Value, nil) != "[]" {
		t.Errorf("at level loose: %.200s, %v", JSON(r.Value, nil), r.Errors)
	}
	for _, typ := range []*Type{ListOfType(enum), ListOfType(OneOf(enum, IntT))} {
		for _, level := range []Level{Safe, Strict} {
			r := Decode(typ, text, Options{Level: level})
			if r.OK || len(r.Errors) != maxErrors+1 {
				t.Fatalf("%s at level %d: OK %v, %d errors", typ, level, r.OK, len(r.Errors))
			}
			said := r.Errors.Error()
			if len(said) > maxErrors*512 || !strings.Contains(said, "and 2988 more") || !strings.Contains(said, strconv.Itoa(wrong-maxErrors)+" errors more") {
				t.Errorf("%s at level %d: %d bytes: %.2000s", typ, level, len(said), said)
			}
		}
	}
}
