package conformance

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// loadText loads a script that may have up to 16 MiB.
func loadText(src string) (*agentscript.Module, error) { return loadIn(context.Background(), src) }

func loadIn(ctx context.Context, src string) (*agentscript.Module, error) {
	e := agentscript.New(agentscript.WithLoadTimeout(0), agentscript.WithSizes(agentscript.Sizes{Source: 16 << 20}))
	return e.Load(ctx, fstest.MapFS{"x.star": {Data: []byte(src)}}, "x.star")
}

// Promise 26.90 (sound): loading takes time and memory linear in the length of the script, whatever it contains.
func TestPromise_26_90_LinearLoading(t *testing.T) {
	unraced(t)
	sizes := []int{1 << 10, 16 << 10, 256 << 10}
	switch {
	case os.Getenv("AGENTSCRIPT_BOUNDS") != "": // up to the usual limit and beyond it, which takes minutes
		sizes = []int{1 << 10, 32 << 10, 1 << 20, 10 << 20}
	case testing.Short():
		sizes = []int{256, 8 << 10}
	}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		t.Run(name, func(t *testing.T) {
			linear(t, sizes, families[name], func(ctx context.Context, src string) {
				_, err := loadIn(ctx, src)
				boundedFindings(t, err, len(src))
			})
		})
	}
}

// boundedFindings checks that the list of findings, and everything rendered from it, stays readable.
func boundedFindings(t *testing.T, err error, size int) {
	t.Helper()
	wrong, ok := err.(*agentscript.LoadError)
	if !ok {
		return
	}
	if len(wrong.List) > 3*diag.MostAlike {
		t.Errorf("%d findings", len(wrong.List))
	}
	var out strings.Builder
	if err := diag.Render(&out, wrong.List, wrong.Sources, diag.Options{}); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1<<20 {
		t.Errorf("%d bytes are rendered of a script of %d", out.Len(), size)
	}
}

// Promise 26.91 (sound): `Load` returns, and our own passes stop, within 100 ms of the load limit, the end of the context or a signal.
func TestPromise_26_91_LoadsEnd(t *testing.T) {
	t.Run("callers return while the load goes on", func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		for name, load := range map[string]func(fs.FS) error{
			"limit": func(f fs.FS) error {
				_, err := agentscript.New(agentscript.WithLoadTimeout(time.Millisecond)).Load(context.Background(), f, "x.star")
				return err
			},
			"deadline": func(f fs.FS) error {
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				defer cancel()
				_, err := agentscript.New(agentscript.WithParsed(agentscript.NewParsed())).Load(ctx, f, "x.star")
				return err
			},
			"context": func(f fs.FS) error {
				ctx, cancel := context.WithCancel(context.Background())
				go func() {
					<-f.(*stuckFile).reached
					cancel()
				}()
				_, err := agentscript.New(agentscript.WithLoadTimeout(0)).Load(ctx, f, "x.star")
				return err
			},
		} {
			err := load(&stuckFile{release: release, reached: make(chan struct{}), once: new(sync.Once)})
			wrong, ok := err.(*agentscript.LoadError)
			if want := map[string]diag.Code{"context": diag.Cancelled}[name]; !ok || len(wrong.List) != 1 || wrong.List[0].Code != cmp.Or(want, diag.Timeout) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
	t.Run("a script ends it with a file after it", func(t *testing.T) {
		// A load that was abandoned leaves nothing behind for the next one.
		parsed := agentscript.NewParsed()
		release := make(chan struct{})
		e := agentscript.New(agentscript.WithParsed(parsed), agentscript.WithLoadTimeout(time.Millisecond))
		if _, err := e.Load(context.Background(), &stuckFile{release: release, reached: make(chan struct{}), once: new(sync.Once)}, "x.star"); err == nil {
			t.Fatal("it was loaded")
		}
		close(release)
		if _, err := agentscript.New(agentscript.WithParsed(parsed)).Load(context.Background(), fstest.MapFS{"x.star": {Data: []byte("x = 1\n")}}, "x.star"); err != nil {
			t.Error(err)
		}
	})
	t.Run("our passes look at the context all the time", func(t *testing.T) {
		for _, name := range []string{"a,", "defs", "assign", "{1:2,", "chain+", "class", "import", "undefined", "comps", "calls", "calls/def", "ifs"} {
			src, parts := families[name](128<<10), []int64{1, 2, 3, 5, 8, 20, 60, 90}
			if testing.Short() {
				src, parts = families[name](16<<10), []int64{1, 5, 60}
			}
			load := func(after int64) int64 {
				ctx := &countedContext{Context: context.Background(), after: after}
				_, err := agentscript.New(agentscript.WithLoadTimeout(0)).Load(ctx, fstest.MapFS{"x.star": {Data: []byte(src)}}, "x.star")
				if ctx.Err() != nil && err == nil {
					t.Errorf("%s: it is loaded, and was not checked to its end: after %d", name, after)
				}
				return ctx.asked.Load()
			}
			all := load(1 << 60)
			if all < int64(len(src))/(8<<10) {
				t.Errorf("%s: %d bytes are loaded, and the context is looked at %d times", name, len(src), all)
			}
			for _, part := range parts {
				after := all * part / 100
				if more := load(after) - after; more > 150 { // 100 of them ask whether to compare names
					t.Errorf("%s: %d looks at a context that had ended after %d of %d", name, more, after, all)
				}
			}
		}
	})
}

// stuckFile is a file system whose files open when they are released.
type stuckFile struct {
	release, reached chan struct{}
	once             *sync.Once
}

func (f *stuckFile) Open(string) (fs.File, error) {
	f.once.Do(func() { close(f.reached) })
	<-f.release
	return nil, fs.ErrNotExist
}

// countedContext has ended once it was asked a number of times. It notifies nobody: code that does not ask continues.
type countedContext struct {
	context.Context
	asked atomic.Int64
	after int64
}

func (c *countedContext) Err() error {
	if c.asked.Add(1) > c.after {
		return context.Canceled
	}
	return nil
}

// Promise 26.92 (sound): too deep nesting is refused at the first excess, before the parser sees it, and a source over the limit before it is read whole.
func TestPromise_26_92_NestingAndSize(t *testing.T) {
	for name, c := range map[string]struct {
		src       string
		line, col int
	}{
		"brackets":      {"x = 1\ny = " + strings.Repeat("[", 100_000), 2, 78},
		"braces":        {strings.Repeat("{1: ", 100_000), 1, 293},
		"closed":        {strings.Repeat("f(", 80) + strings.Repeat(")", 80), 1, 148},
		"blocks":        {nestedBlocks(500), 322, 322},
		"lambdas":       {"x = " + strings.Repeat("lambda: ", 1000) + "1", 1, 3845},
		"not":           {"x = " + strings.Repeat("not ", 2000) + "1", 1, 3845},
		"signs":         {"x = " + strings.Repeat("-", 2000) + "1", 1, 965},
		"conditions":    {"x = " + strings.Repeat("1 if 1 else ", 2000) + "1", 1, 11532},
		"operators":     {"x = " + strings.Repeat("1 + ", 20_000) + "1", 1, 40007},
		"elifs":         {"if 1: pass\n" + strings.Repeat("elif 1: pass\n", 20_000), 10_002, 1},
		"digits":        {"x = " + strings.Repeat("7", 5000), 1, 5},
		"after strings": {"s = '(((' + \"\"\"[[[\n'{{{\n\"\"\"  # (((\nx = é\ny = " + strings.Repeat("(", 200), 5, 78},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadText(c.src)
			wrong, ok := err.(*agentscript.LoadError)
			if !ok || len(wrong.List) != 1 {
				t.Fatalf("got %v", err)
			}
			d := wrong.List[0]
			if d.Code != diag.SyntaxError || d.Span.Line != c.line || d.Span.Col != c.col || len(d.Help) == 0 || d.Cause != nil {
				t.Errorf("got %v with the cause %v, want line %d, column %d", d, d.Cause, c.line, c.col)
			}
		})
	}
	// The interpreter's compiler recurses into branches: what would overflow its stack is rejected.
	for name, line := range map[string]string{"or": "0" + strings.Repeat(" or 0", 9000) + "\n", "if": "if 0: 0\n", "for": "[0 for i in []]\n"} {
		branches := max(1, strings.Count(line, " or ")) // on a line
		text := strings.Repeat(line, (1<<18)/branches+1)
		_, err := loadText(text)
		wrong, ok := err.(*agentscript.LoadError)
		if !ok || len(wrong.List) != 1 || wrong.List[0].Code != diag.SyntaxError || wrong.List[0].Span.Line != (1<<18)/branches+1 || !strings.Contains(err.Error(), "too many branches") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := loadText(strings.Repeat("[", 70) + strings.Repeat("]", 70)); err != nil {
		t.Errorf("70 brackets: %v", err)
	}
	for name, most := range map[string]int64{"usual": 0, "raised": 4 << 20} {
		limit := max(int(most), 1<<20)
		e := agentscript.New(agentscript.WithSizes(agentscript.Sizes{Source: most}))
		for _, size := range []int{limit, limit + 1, 1 << 40} {
			file := &countingFile{size: size}
			_, err := e.Load(context.Background(), file, "x.star")
			loaded, loading := fstest.MapFS{"main.star": {Data: []byte("load(\"x.star\", \"x\")\n")}}, &countingFile{size: size}
			_, errLoaded := e.Load(context.Background(), beside{loaded, loading}, "main.star")
			if size <= limit {
				if err != nil {
					t.Errorf("%s: %d bytes: %v", name, size, err)
				}
				continue
			}
			for _, err := range []error{err, errLoaded} {
				if err == nil || !strings.Contains(err.Error(), "more than") {
					t.Errorf("%s: %d bytes: %v", name, size, err)
				}
			}
			if read := file.read + loading.read; read > 0 {
				t.Errorf("%s: %d bytes of %d were read", name, read, size)
			}
		}
	}
	endless := &countingFile{size: 1 << 40, silent: true}
	if _, err := agentscript.New().Load(context.Background(), endless, "x.star"); err == nil || endless.read > 2<<20 {
		t.Errorf("a file that does not tell its size: %d bytes were read: %v", endless.read, err)
	}
}

func nestedBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "if 1:\n")
	}
	return b.String() + strings.Repeat(" ", n) + "pass\n"
}

// countingFile is a file system of one file, a comment of a given size.
type countingFile struct {
	fs.FileInfo
	size, read int
	silent     bool // it claims to be empty, as files of /proc do
}

func (f *countingFile) Open(string) (fs.File, error) { return f, nil }
func (f *countingFile) Stat() (fs.FileInfo, error)   { return f, nil }
func (f *countingFile) Close() error                 { return nil }
func (f *countingFile) Mode() fs.FileMode            { return 0 }
func (f *countingFile) Size() int64 {
	if f.silent {
		return 0
	}
	return int64(f.size)
}

func (f *countingFile) Read(p []byte) (int, error) {
	n := min(len(p), f.size-f.read)
	for i := range n {
		p[i] = '#'
	}
	if f.read += n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// beside opens x.star in a separate file system.
type beside struct {
	fstest.MapFS
	x *countingFile
}

func (b beside) Open(name string) (fs.File, error) {
	if name == "x.star" {
		return b.x, nil
	}
	return b.MapFS.Open(name)
}

func (b beside) Stat(name string) (fs.FileInfo, error) {
	if name == "x.star" {
		return b.x, nil
	}
	return b.MapFS.Stat(name)
}

// Promise 26.93 (sound): a loaded script keeps at most 128 bytes per source byte, and loading allocates at most 512.
func TestPromise_26_93_MemoryOfLoading(t *testing.T) {
	unraced(t)
	const size = 256 << 10
	if _, err := loadText("main = 1\n"); err != nil { // initializes what is made once for all
		_ = err.Error()
	}
	for i, name := range slices.Sorted(maps.Keys(families)) {
		if strings.Contains(name, ">>") || strings.Contains(name, "×") {
			continue // the nodes that it makes when it is executed take memory
		}
		if testing.Short() && i%5 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			src := families[name](size)
			var before, after, settled runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			m, err := loadText(src)
			runtime.ReadMemStats(&after)
			runtime.GC()
			runtime.ReadMemStats(&settled)
			per := func(n int64) int64 { return n / int64(len(src)) }
			if all := per(int64(after.TotalAlloc - before.TotalAlloc)); all > 512 {
				t.Errorf("%d bytes are allocated for each of the source", all)
			}
			if live := per(int64(settled.HeapAlloc) - int64(before.HeapAlloc)); live > 128 {
				t.Errorf("%d bytes are held for each of the source", live)
			}
			runtime.KeepAlive(m)
			runtime.KeepAlive(err)
		})
	}
}

// Promise 26.94 (sound): an operation whose result would exceed the value limit fails before it allocates it, and numbers and nodes pay next to nothing for the check.
func TestPromise_26_94_GrowingOperations(t *testing.T) {
	// s, b, l, t and n are a little smaller than the limit of 64 KiB, in bytes, items or bits.
	const prefix = "s = \"x\" * 62500\nb = b\"x\" * 62500\nl = [0] * 3750\nt = (0,) * 3750\nd = {\"s\": s, \"l\": list(l), \"t\": t}\n"
	const huge = "def big():\n    x = 1\n    for i in range(40):\n        x = x << 511\n    for i in range(4):\n        x = x * x\n    return x\nn = big()\n"
	load := func(src string) (*agentscript.Module, error) {
		e := agentscript.New(agentscript.WithSizes(agentscript.Sizes{Value: 1 << 16}))
		return e.Load(context.Background(), fstest.MapFS{"x.star": {Data: []byte(src)}}, "x.star")
	}
	for _, c := range []struct{ op, at string }{
		{"x = s * 2", "*"}, {"x = 2 * s", "*"}, {"x = b * 2", "*"}, {"x = l * 2", "*"}, {"x = 2 * l", "*"}, {"x = t * 2", "*"}, {"x = s * (1 << 30)", "*"},
		{"x = s + s", "+"}, {"x = b + b", "+"}, {"x = l + l", "+"}, {"x = t + t", "+"}, {"x = \"a\" + s + s", "+"},
		{"s += s", "+="}, {"b += b", "+="}, {"l += l", "+="}, {"l += range(3750)", "+="}, {"t += t", "+="}, {"s *= 2", "*="}, {"l *= 2", "*="},
		{"d[\"s\"] += s", "+="}, {"d[\"l\"] += l", "+="}, {"d[\"l\"] += range(3750)", "+="}, {"d[\"t\"] += t", "+="}, {"d[\"s\"] *= 2", "*="}, {"d[\"l\"] *= 2", "*="},
		{"x = n * n", "*"},
		{"x = \"\".join([s, s])", ""}, {"x = s.join([\"a\", \"b\", \"c\"])", ""}, {"x = \"\".join({s: 1, s + \"y\": 2})", ""}, {"x = s.replace(\"x\", \"yy\")", ""}, {"x = s.replace(\"\", \"y\")", ""}, {"x = s.replace(\"x\", s)", ""},
		{"l.extend(l)", ""}, {"l.extend(range(3750))", ""}, {"x = getattr(\"\", \"join\")([s, s])", ""}, {"f = l.extend\nf(t)", ""},
		{"x = \"%s%s\" % (s, s)", "%"}, {"x = s % ()\nx = (s + \"%s\") % s", "%"}, {"x = \"%(a)s%(a)s\" % {\"a\": s}", "%"}, {"x = \"{}{}\".format(s, s)", ""}, {"x = \"{0}{0}\".format(s)", ""}, {"x = \"{a}{a}\".format(a = s)", ""},
		{"x = \"%r\" % [s, s]", "%"}, {"x = repr([s, s])", ""}, {"x = s.split(\"x\")", ""}, {"x = [i for i in [1]] + l + l", "+"},
	} {
		for where, src := range map[string]string{
			"load":     c.op,
			"function": "def f(s, b, l, t, d, n):\n    " + strings.ReplaceAll(c.op, "\n", "\n    ") + "\nf(s, b, list(l), t, d, n)",
			"loop":     "def f(s, b, l, t, d, n):\n    for again in [1]:\n        " + strings.ReplaceAll(c.op, "\n", "\n        ") + "\nf(s, b, list(l), t, d, n)",
		} {
			if where == "load" && strings.HasSuffix(c.at, "=") && !strings.HasPrefix(c.op, "d") {
				continue // a global is assigned once
			}
			if where == "load" && strings.Contains(c.op, "\nx") || where == "load" && strings.Contains(c.op, "\nfor") {
				continue
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := load(prefix + huge + src + "\n")
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "large, and a value may have 65536") && !strings.Contains(err.Error(), "text of the value has more than 65536") {
				t.Errorf("%s, %s: %v", where, c.op, err)
				continue
			}
			d := err.(*agentscript.LoadError).List[0]
			line := strings.Split(prefix+huge+src, "\n")[d.Span.Line-1]
			if !strings.HasPrefix(string([]rune(line)[d.Span.Col-1:]), c.at) || len(d.Help) == 0 {
				t.Errorf("%s, %s: at %q of %q, want %q", where, c.op, string([]rune(line)[d.Span.Col-1:]), line, c.at)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 4<<20 {
				t.Errorf("%s, %s: %d MiB were allocated", where, c.op, made>>20)
			}
		}
	}
	t.Run("usual limit", func(t *testing.T) {
		m, err := loadText("def main(n = 26):\n    x = \"0123456789abcdef\"\n    for i in range(n):\n        x = x + x\n    return len(x)\n")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := m.Start(context.Background(), agentscript.Args(map[string]any{"n": 22})).Wait(); err != nil {
			t.Errorf("64 MiB: %v", err)
		} else if n, _ := r.Value.AsInt(); n != 64<<20 {
			t.Errorf("64 MiB: %d", n)
		}
		_, err = m.Start(context.Background(), agentscript.Args(map[string]any{"n": 23})).Wait()
		var e *agentscript.Error
		if !errors.As(err, &e) || e.Code != diag.WrongValue || e.Pos.Line != 4 || !strings.Contains(e.Message, "the sum would be 134217728 bytes large, and a value may have 67108864") {
			t.Errorf("128 MiB: %v", err)
		}
	})
	t.Run("shifts", func(t *testing.T) {
		e := agentscript.New(agentscript.WithSizes(agentscript.Sizes{Value: 1000}))
		for _, body := range []string{"x = x << 511", "x <<= 511", "d[0] <<= 511", "d[0] = d[0] << 511"} {
			src := "def f(x, d):\n    for i in range(20):\n        " + body + "\nf(1, [1])\n"
			_, err := e.Load(context.Background(), fstest.MapFS{"x.star": {Data: []byte(src)}}, "x.star")
			if err == nil || !strings.Contains(err.Error(), "x.star:3:") || !strings.Contains(err.Error(), "the shifted number would be 1") {
				t.Errorf("%s: %v", body, err)
			}
		}
	})
	t.Run("carets of forums stay", func(t *testing.T) {
		src := "a = fn(lambda x: x, input = int, output = int)\nb = fn(lambda x: x, input = str, output = str)\nmain = a * b\n"
		_, err := loadText(src)
		wrong, ok := err.(*agentscript.LoadError)
		if !ok || wrong.List[0].Span.Line != 3 || wrong.List[0].Span.Col != 12 {
			t.Errorf("got %v", err)
		}
	})
}
