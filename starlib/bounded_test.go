package starlib_test

import (
	"strings"
	"testing"
)

// TestLongRanges checks that only loops have long ranges: a range that is consumed in one step cannot be interrupted.
func TestLongRanges(t *testing.T) {
	for _, use := range []string{
		"max(#)", "min(#)", "sorted(#)", "list(#)", "tuple(#)", "set(#)", "any(#)", "all(#)", "enumerate(#)", "zip(#, #)", "reversed(#)",
		"dict([(1, #)])", "3.5 in #", "#[::2]", "[0] + list(#)", "print(*#)", "[].extend(#)", "[i for i in list(#)]", "[i for i in [#]]",
		"(lambda r: r)(#)", "\"\".join(#)",
	} {
		m, found := load("x = " + strings.ReplaceAll(use, "#", "range(1, 1 << 40)") + "\n")
		if len(found) != 1 || !strings.Contains(found[0].Message, "1099511627775 numbers, and at most 10000000") || found[0].Span.Line != 1 || len(found[0].Help) == 0 {
			t.Errorf("%s:\n%s", use, render(m, found))
		}
	}
	for _, sound := range []string{
		"def f():\n    for i in range(1 << 40):\n        if i == 9:\n            return i\nx = f()\n",
		"def f():\n    for i in (range(1 << 40)):\n        return i\nx = f()\n",
		"def f():\n    n = 0\n    for i in range(10000001):\n        return i\nx = f()\n",
		"x = len(range(10000000))\n",
		"x = 5 in range(0, 10000000)\n",
		"range = 1\n",
	} {
		if m, found := load(sound); len(found) > 0 {
			t.Errorf("%s\n%s", sound, render(m, found))
		}
	}
	m, found := load("def f():\n    for i in range(-(1 << 62), 1 << 62):\n        pass\nf()\n")
	if len(found) != 1 || !strings.Contains(found[0].Message, "too many numbers") {
		t.Errorf("a range whose length is no int:\n%s", render(m, found))
	}
}

// TestLongRepetitions checks that no huge text or list is made in one step.
func TestLongRepetitions(t *testing.T) {
	for _, src := range []string{"\"x\" * (1 << 40)", "(1 << 40) * \"x\"", "[0] * (1 << 40)", "(0,) * (1 << 40)", "b\"x\" * (1 << 40)", "\"x\" * (1 << 30)", "1 << (1 << 20)"} {
		if m, found := load("x = " + src + "\n"); len(found) != 1 {
			t.Errorf("%s:\n%s", src, render(m, found))
		}
	}
}
