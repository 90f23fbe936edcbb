package starlib

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
	"github.com/agentscript/agentscript/starlib/internal/infer"
	"github.com/agentscript/agentscript/starlib/internal/prompt"
)

// whole checks the statements of a block as part of one file, which they form with the session, and keeps each finding
// for the statement that it belongs to.
func (b *Block) whole(ctx context.Context) {
	w := b.w
	shown := path.Join(w.c.opts.Dir, path.Clean(w.c.opts.Entry))
	w.sure(ctx, &w.session, shown)
	file := w.session.With(b.asParts, w.has)
	w.sure(ctx, file, shown)
	var found diag.List
	for {
		var m *Module
		if m, found = w.asFile(ctx, file); slices.ContainsFunc(found, ended) {
			return // what follows was not checked
		}
		w.others = m.Sources()
		if !b.leaveRuns(file, found, shown) {
			break
		}
	}
	last := b.asParts[len(b.asParts)-1]
	for _, d := range found {
		if ofFiles(d) {
			continue
		}
		p := b.executed(file, d, shown)
		if p == nil {
			if file.Again {
				continue // it is about an earlier value of a name
			}
			p = last
		}
		if d = file.Placed(d, shown); !w.known[keyOf(d)] {
			w.known[keyOf(d)] = true
			b.found[p] = append(b.found[p], d)
		}
	}
}

// executed returns the statement of the block that a finding is about: if a function of an earlier statement failed,
// the statement that was being executed. It returns nil if there is none.
func (b *Block) executed(file *prompt.Session, d *diag.Diagnostic, shown string) *prompt.Part {
	var at []diag.Pos // outermost first
	for _, f := range d.Trace {
		at = append(at, f.Pos)
	}
	for _, pos := range append(at, d.Span.Pos) {
		if p := file.At(pos.Line); pos.File == shown && slices.Contains(b.asParts, p) {
			return p
		}
	}
	return nil
}

// sure leaves out of a file the statements that keep it from loading without the statements that are not accepted yet.
func (w *Workspace) sure(ctx context.Context, file *prompt.Session, shown string) {
	for file.Unsure {
		_, found := w.asFile(ctx, file.Accepted())
		if slices.ContainsFunc(found, ended) {
			return
		}
		for _, d := range found {
			w.known[keyOf(file.Placed(d, shown))] = true
		}
		file.Unsure = file.Leave(found, shown)
	}
}

// asFile loads a session as one file, for its findings.
func (w *Workspace) asFile(ctx context.Context, file *prompt.Session) (*Module, diag.List) {
	text, bound := file.Text()
	o := w.c.opts
	o.Source, o.Print, o.Parsed = []byte(text), nil, nil
	m, found := load(ctx, o, &analysis.Query{Names: file.Lost(w.names.Keys(), bound)})
	if !found.HasErrors() {
		found = append(found, w.Unfit(m)...)
	}
	return m, found
}

// ended reports whether a finding says that loading was ended.
func ended(d *diag.Diagnostic) bool {
	return d.Code == diag.StepLimit || d.Code == diag.Timeout || d.Code == diag.Cancelled
}

// leaveRuns leaves out the statements of the block that only a run can execute and those that bind a name more than
// once, as in both arms of an if. If something is placed twice, it also leaves out the expressions, which give their
// places back. It reports whether it left out any.
func (b *Block) leaveRuns(file *prompt.Session, found diag.List, shown string) (left bool) {
	for _, d := range found {
		if d.Code == diag.AlreadyPlaced {
			for _, p := range b.asParts {
				left = left || p.Value && !p.Out
				p.Out = p.Out || p.Value
			}
		}
		if d.Code != diag.CalledWhileComposing && d.Code != diag.Reassigned {
			continue
		}
		p := file.At(d.Span.Line)
		for _, n := range d.Trace {
			if n.File == shown && !slices.Contains(b.asParts, p) {
				p = file.At(n.Line)
			}
		}
		if d.Span.File == shown && slices.Contains(b.asParts, p) && !p.Out {
			p.Out, left = true, true
		}
	}
	return left
}

// ofFiles reports whether a finding concerns files only. The lists and dicts of a session can be changed until a run
// has them, and the next input may use what is still unused.
func ofFiles(d *diag.Diagnostic) bool {
	switch d.Code {
	case diag.UnusedAgent, diag.CalledWhileComposing:
		return true
	case diag.FrozenValue:
		return strings.HasSuffix(d.Message, infer.AtLoad)
	case diag.NoMain:
		return d.Severity == diag.Warning
	}
	return false
}

// keyOf returns a key that identifies a finding.
func keyOf(d *diag.Diagnostic) string { return fmt.Sprint(d.Code, d.Span, d.Message) }

// has reports whether a name is bound.
func (w *Workspace) has(name string) bool { return w.names[name] != nil }

// mutable reports whether a name holds a mutable value.
func (w *Workspace) mutable(name string) bool {
	switch w.names[name].(type) {
	case *starlark.List, *starlark.Dict, *starlark.Set:
		return true
	}
	return false
}

// Sources returns the texts of the entries, of the files they load, and of those that the block read last loads.
func (w *Workspace) Sources() diag.Sources {
	own := w.Module().Sources()
	return diag.SourceFunc(func(file string) (string, bool) {
		if text, ok := own.Source(file); ok || w.others == nil {
			return text, ok
		}
		return w.others.Source(file)
	})
}
