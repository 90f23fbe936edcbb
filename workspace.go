package agentscript

import (
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Workspace is a script that grows, as at a prompt. Each statement that is added is composed and checked, and
// executed as a run if it calls what only a run can; it sees what was defined before. A Workspace belongs to one
// goroutine.
type Workspace struct {
	engine *Engine
	lib    *starlib.Workspace
}

// Workspace returns a workspace without names. path is that of the script that its texts represent: they load and
// read what is next to it. The file need not exist.
func (e *Engine) Workspace(path string) (*Workspace, error) {
	o, wrong := e.file(context.Background(), path)
	if wrong != nil {
		return nil, wrong
	}
	e.equip(&o)
	return &Workspace{engine: e, lib: starlib.NewWorkspace(o)}, nil
}

// Eval adds a text and returns the value of its last statement, if that is an expression whose value is data. The
// error is a [*LoadError] or that of a run; statements before the failed one stay.
func (w *Workspace) Eval(ctx context.Context, text string, opts ...RunOption) (last Result, err error) {
	b := w.Read(ctx, "entry", text)
	for b.Next(ctx) {
		last = Result{}
		if b.Runs() {
			if last, err = b.Start(ctx, opts...).Wait(); err == nil {
				err = b.Take(last)
			}
			if err != nil {
				return Result{}, err
			}
		} else if b.IsValue() {
			last.Value, _ = w.Module().Value(starlib.Last)
		}
	}
	return last, b.Err()
}

// Sources returns the texts that findings quote, except those that the host reads itself.
func (w *Workspace) Sources() diag.Sources { return w.lib.Sources() }

// CheckAsFile arranges for blocks to be checked as the next statements of a file, with f as the check. That executes
// once more what the statements compute.
func (w *Workspace) CheckAsFile(f func(*Module) diag.List) {
	w.lib.Unfit = func(m *starlib.Module) diag.List { return f(&Module{engine: w.engine, lib: m}) }
}

// Block is a text that is added one statement at a time.
type Block struct {
	w    *Workspace
	file string
	text string
	lib  *starlib.Block     // nil if the text has a syntax error
	now  *starlib.Statement // the statement that was composed last
	said diag.List
	err  error
}

// Read begins to add a text. file is the name of the file in its positions.
func (w *Workspace) Read(ctx context.Context, file, text string) *Block {
	ctx, cancel := w.engine.inLoadTime(ctx)
	defer cancel()
	b := &Block{w: w, file: file, text: text}
	lib, found := w.lib.Read(ctx, file, []byte(text))
	b.found(found)
	b.lib = lib
	return b
}

// Checked says that the text was already checked as a whole, so that checking each statement by itself is enough.
func (b *Block) Checked() *Block {
	if b.lib != nil {
		b.lib.Checked = true
	}
	return b
}

// found records what was found.
func (b *Block) found(found diag.List) {
	if b.said = found; found.HasErrors() {
		b.err = &LoadError{List: found, Sources: b.Sources()}
	}
}

// Next composes the next statement. It returns false after the last one, and when a statement has an error; that
// statement then defines nothing.
func (b *Block) Next(ctx context.Context) bool {
	if b.err != nil || b.lib == nil {
		return false
	}
	ctx, cancel := b.w.engine.inTime(ctx, "the statement", "a loop in it, or in a function that it calls, may not end")
	defer cancel()
	now, found := b.lib.Next(ctx)
	b.now = now
	b.found(found)
	return b.now != nil && b.err == nil
}

// Err returns why Next ended before the end of the text, a [*LoadError], or nil.
func (b *Block) Err() error { return b.err }

// Diagnostics returns the warnings and notes of the statement.
func (b *Block) Diagnostics() diag.List { return b.said }

// Sources returns the texts to which positions of the block refer.
func (b *Block) Sources() diag.Sources {
	return diag.SourceFunc(func(file string) (string, bool) {
		if file == b.file {
			return b.text, true
		}
		return b.w.lib.Sources().Source(file)
	})
}

// Text returns the statement as it is written.
func (b *Block) Text() string { return b.now.Text }

// Names returns the names that the statement binds.
func (b *Block) Names() []string { return b.now.Names }

// IsValue reports whether the statement is an expression whose value is not None, as far as that is known. The name _
// holds the value, and _2 and _3 the values before it.
func (b *Block) IsValue() bool { return b.now.Value && !b.now.None }

// Runs reports whether the statement calls what only a run can: it has no value yet.
func (b *Block) Runs() bool { return b.now.Run != nil }

// Prints reports whether the statement printed while it was composed.
func (b *Block) Prints() bool { return b.now.Prints }

// Changed reports whether the statement, or its run once that has ended, changed a list, dict or set that names
// referred to before. It is valid until the next statement is composed.
func (b *Block) Changed() bool { return b.now.Changed() }

// Start begins the run of the statement. Its result must be passed to [Block.Take].
func (b *Block) Start(ctx context.Context, opts ...RunOption) *Run {
	return b.w.Module().start(ctx, b.now.Run, nil, opts)
}

// Take sets the names of the statement, or _, to the result of its run.
func (b *Block) Take(r Result) error { return b.now.Take(r.Value) }

// Module returns what the workspace has defined so far, to be run like a script. Names that are bound later do not
// change it, but its functions see them.
func (w *Workspace) Module() *Module { return &Module{engine: w.engine, lib: w.lib.Module()} }

// Complete returns what can be at a byte offset of a text that is being typed. Nothing of the text is executed.
func (w *Workspace) Complete(ctx context.Context, text string, offset int) starlib.Completion {
	return w.lib.Complete(ctx, text, offset)
}

// KeepResults returns a function that resets _, _2 and _3 to what they hold now, so that what is added in the
// meantime does not count as a result.
func (w *Workspace) KeepResults() (restore func()) { return w.lib.KeepResults() }

// Release removes names. A builtin that a name hid is visible again.
func (w *Workspace) Release(names ...string) { w.lib.Release(names...) }

// Value returns the data that a global name of the script holds, and false if there is none or the value is not data.
func (m *Module) Value(name string) (generable.Value, bool) { return m.lib.Value(name) }

// Describe returns what a name of the script or of the language means: its type, its form as text, its help, and
// where a function or node is written. The type is "" if there is no such name.
func (m *Module) Describe(name string) (typ, text, help string, at diag.Pos) {
	return m.lib.Describe(name)
}
