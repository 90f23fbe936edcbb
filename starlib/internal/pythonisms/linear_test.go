package pythonisms_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
)

// A file full of one habit is read in linear time and the remedies stay small. Reading one in quadratic time takes
// minutes, so the test shows this by ending within its time limit.
func TestLinear(t *testing.T) {
	size := 100_000
	if testing.Short() {
		size = 20_000
	}
	for _, unit := range []string{
		"a < ", "is ", "(", "f'{", "f\"\"\"{ ", "lambda ", "x ** ", "*a, ", "[*a, ", "{**a, ", "x is y + ",
		"a.b(c) is not ", "class A:\n", "try:\n x\n", "def f(a: int, ", "lambda x: int, ", "for x in ( ", "for *a, ",
		"'a' 'b' ", "@a\n", "assert a, ", "x = x && ", "! ", "x ? y : ", "{1,", "'%5d' % (x, ", "'{:>5}'.format(",
		"else:\n", "a := ", "from x import ", "import ", "x: ", "1_0 ", "null ", "a\\\n", "for a in b: pass\nelse:\n pass\n",
		"yield ", "await ", "del a[", "raise ", "x < y < z and ", "x => ", "with a as b, ", "{x for y in ", "match x:\n",
		" x\n", "f'{x:{y:", "x.y.", "print x ", "x.class ", "f(from = 1, ",
	} {
		l := pythonisms.Check("x.star", []byte(strings.Repeat(unit, size/len(unit))), nil, 0, nil)
		help := 0
		for _, d := range l {
			for _, h := range d.Help {
				help += len(h)
			}
		}
		if help > 100*size {
			t.Errorf("%q repeated gives %d bytes of help", unit, help)
		}
	}
}
