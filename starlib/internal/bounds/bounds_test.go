package bounds_test

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/starlib/internal/bounds"
)

var options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true, GlobalReassign: true}

// outcome returns the effect of a script: its globals, or the error with its position.
func outcome(t *testing.T, src string, most int64) string {
	t.Helper()
	tree, err := options.Parse("x.star", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	env := starlark.StringDict{}
	restore := func() {}
	if most > 0 {
		env = bounds.Guards(most)
		restore = bounds.Rewrite(tree, starlark.Universe.Has)
	}
	before := strings.Join(strings.Fields(src), "")
	prog, err := starlark.FileProgram(tree, env.Has)
	restore()
	if got := strings.Join(strings.Fields(src), ""); got != before {
		t.Error("the source changed")
	}
	if err != nil {
		return err.Error()
	}
	thread := &starlark.Thread{}
	thread.SetMaxExecutionSteps(1_000_000)
	globals, err := prog.Init(thread, env)
	bounds.Forget(globals)
	if err != nil {
		if e, ok := err.(*starlark.EvalError); ok {
			return e.Msg + " at " + e.CallStack.At(0).Pos.String() + fmt.Sprint(len(e.CallStack))
		}
		return err.Error()
	}
	return fmt.Sprint(globals)
}

// TestSameResults: guards do not change the behaviour of small values: results, the order of evaluation,
// aliasing, errors and their positions.
func TestSameResults(t *testing.T) {
	for _, src := range []string{
		"a = [1]\nb = a\na += [2]\nc = a == b\n",
		"a = [1]\nb = a\na = a + [2]\nc = a == b\n",
		"a = [1]\na += (2, 3)\na += {4: 5}\na += range(3)\na += set([7])\n",
		"a = [1]\na += a\n", "a = (1,)\na += (2,)\n", "a = 'x'\na += 'y'\na *= 3\n", "a = 'x %s'\na %= 3\n", "a = 3\na <<= 4\na *= 'x'\n",
		"d = {'l': [1], 's': 'x', 'n': 2, 't': (1,)}\nd['l'] += [2]\nd['l'] += (3,)\nd['s'] += 'y'\nd['n'] += 3\nd['t'] += (2,)\nd['s'] *= 2\nd['n'] *= 5\nd['n'] <<= 2\nd['s'] += '%s'\nd['s'] %= 4\n",
		"d = {'n': 1}\nd['n'] *= 1.5\nd['n'] *= 300\nd['n'] *= -2\n",
		"a = 'x' + 1\n", "a = 1 + 'x'\n", "a = [] + ()\n", "a = 'x' * 'y'\n", "a = 'x' * 1.5\n", "a = 1 << 'x'\n", "a = 'x' << 1\n", "a = 1 << -1\n", "a = 1 << 600\n",
		"a = [1]\na += 5\n", "a = 'x'\na += [1]\n", "d = {}\nd['x'] += 1\n", "d = {'x': 'a'}\nd['x'] += 1\n", "d = {'x': []}\nd['x'] += 1\n",
		"def f():\n    a += 1\nf()\n", "def f(a):\n    a += [1]\n    return a\nx = f([])\n", "def f(a):\n    x = a\n    a += [1]\n    return x, a\nx = f([])\n",
		"def f(a):\n    x = a\n    for i in [1, 2]:\n        x = a + x\n    return x\nx = [f('a'), f([1]), f((1,)), f(3), f(1.5), f(b'x')]\n",
		"def f(a, b = 2, *c, **d):\n    \"doc\"\n    for i in [1]:\n        x = a * b\n        y = c * b\n    return x, y\nx = [f('a'), f([1], 3), f(3, 'x'), f(2, 2, 5), f(1.5, 2)]\n",
		"def f(a):\n    for i in [1]:\n        return lambda: a * 2\nx = f('a')()\n",
		"def f(a):\n    return [a * 2 for a in [1, 2]] + [a * 2]\nx = f('a')\n",
		"def f(a):\n    return [a + x for x in 'xyz'.elems()]\nx = f('a')\n",
		"def f(n):\n    for i in range(n):\n        n = n * 2\n    return n\nx = f(5)\n",
		"log = []\ndef say(x):\n    log.append(x)\n    return x\na = say(1) + say(2) * say(3)\nb = say('a') + say('b') * say(2)\n",
		"log = []\ndef key(x):\n    log.append(x)\n    return x\nd = {'k': 'x'}\nd[key('k')] += key('y')\nd[key('k')] *= key(2)\n",
		"a = 'a,b'.split(',')\nb = ' a b '.split()\nc = 'a,b,c'.split(',', 1)\nd = 'a\\nb'.splitlines()\ne = 'a,b,c'.rsplit(',', 1)\n",
		"a = ','.join(['a', 'b'])\nb = ','.join([])\nc = 'x'.join({'a': 1})\n", "a = ','.join([1])\n", "a = ','.join(5)\n", "a = ','.join()\n", "a = 'a'.replace('a')\n", "a = 'aXbX'.replace('X', 'yy')\nb = 'ab'.replace('', '-')\nc = 'aaa'.replace('a', 'bb', 2)\n",
		"a = '{} {x} {0}'.format(1, x = 2)\n", "a = '{} {x}'.format([1, 'a'], x = {'k': (1,)})\n", "a = '{'.format(1)\n", "a = '{x}'.format()\n", "a = '%d %s %r %%' % (1, 'a', 'b')\nb = '%(a)s %(b)d' % {'a': 1, 'b': 2}\n", "a = '%d' % 'x'\n", "a = '%s %s' % 1\n", "a = '%(a)s' % 1\n", "a = '%(' % {}\n",
		"f = 'a'.join\nx = f(['b', 'c'])\n", "f = [1].extend\nf([2])\nx = str(f)\n", "a = [1]\nx = a.extend([2])\n", "a = [1]\na.extend(5)\n", "a = 'x'.extend\n", "a = [].join\n", "a = (1).join\n", "a = str(','.join)\n",
		"x = 10\ny = x * x * x << 3 % 2\nz = -x * 2 + x // 3\n", "x = 1 << 500\ny = x * x * x\nz = y * 'a'\n", "x = 2.5 * 4\ny = x * x\n", "x = 'a' 'b'\n"[:8] + "\n",
		"x = 0\nwhile x < 10:\n    x += 1\ny = x * x\n", "a = []\nfor i in range(3):\n    a += [i * i]\n", "a, b = 0, 1\nfor _ in range(50):\n    a, b = b, a + b\n", "len = lambda x: 'aaa'\nx = len(1) * 3\n", "def range(n):\n    return ['a', 'b']\nfor i in range(2):\n    x = i * 2\n",
		"x = 'a' + 'b' + 'c'\ny = ['a'] + ['b']\nz = ('a',) + ('b',) + ()\n", "a = [1, 2]\na[0] += a[1] * 3\na[0] *= a[0]\n", "x = [1]\ndef f():\n    return x\nf().append(2)\ny = f() + f()\n", "def f(x):\n    x[0] += 'a'\n    return x\ny = f(['b'])\n", "x = True * 2\n", "x = None + 'a'\n", "(x) = 3\n(x) += 4\n", "x, y = 1, 2\n(x, y) += 3\n",
	} {
		if with, without := outcome(t, src, 1<<20), outcome(t, src, 0); with != without {
			t.Errorf("%s\nwith guards: %s\nwithout:     %s", src, with, without)
		}
	}
}

// TestFrozen: += on a frozen list fails with the interpreter's message.
func TestFrozen(t *testing.T) {
	for _, most := range []int64{0, 1 << 20} {
		tree, err := options.Parse("x.star", "def f(x):\n    x += [1]\n    return x\ndef g(x):\n    x[0] += [1]\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		env := starlark.StringDict{}
		if most > 0 {
			env = bounds.Guards(most)
			defer bounds.Rewrite(tree, starlark.Universe.Has)()
		}
		prog, err := starlark.FileProgram(tree, env.Has)
		if err != nil {
			t.Fatal(err)
		}
		globals, err := prog.Init(&starlark.Thread{}, env)
		if err != nil {
			t.Fatal(err)
		}
		inner := starlark.NewList(nil)
		inner.Freeze()
		for f, x := range map[string]starlark.Value{"f": inner, "g": starlark.NewList([]starlark.Value{inner})} {
			_, err = starlark.Call(&starlark.Thread{}, globals[f], starlark.Tuple{x}, nil)
			if err == nil || err.Error() != "cannot apply += to frozen list" {
				t.Errorf("limit %d, %s: %v", most, f, err)
			}
		}
	}
}

// TestResolved: every name of a function is resolved once the tree is as it was written.
func TestResolved(t *testing.T) {
	tree, err := options.Parse("x.star", "def f(a, b = 2):\n    for i in [1]:\n        x = (a) * b + a\n    return [a + x for i in [1]]\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	restore := bounds.Rewrite(tree, starlark.Universe.Has)
	if _, err = starlark.FileProgram(tree, bounds.Guards(1<<20).Has); err != nil {
		t.Fatal(err)
	}
	restore()
	for _, s := range tree.Stmts[0].(*syntax.DefStmt).Body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if id, ok := n.(*syntax.Ident); ok && id.Binding == nil {
				t.Errorf("%s at %s is not resolved", id.Name, id.NamePos)
			}
			return true
		})
	}
}
