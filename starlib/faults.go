package starlib

import (
	"fmt"
	"strconv"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// fault is what is wrong with an argument, or with a part of one.
type fault struct {
	part piece
	code diag.Code // diag.WrongArgument when it is ""
	text string    // behind the argument's name: "want str, got int 3"
	full bool      // the text is the whole message
	help []string
}

// piece is an item of a list or an entry of a dict. The zero piece is the argument as a whole.
type piece struct {
	n   int // counted from 1
	key string
	at  bool // of an entry: it is about the key itself
}

func (p piece) String() string {
	switch {
	case p.key != "":
		return "[" + p.key + "]"
	case p.n > 0:
		return "[" + strconv.Itoa(p.n-1) + "]"
	}
	return ""
}

// wrong makes a fault of one remedy; "" is none.
func wrong(help, format string, args ...any) []fault {
	f := fault{text: fmt.Sprintf(format, args...)}
	if help != "" {
		f.help = []string{help}
	}
	return []fault{f}
}

// mostFaults is how many parts of one argument are reported.
const mostFaults = 5

// vetted lists what is wrong with a value that the kind takes.
func (k *Kind) vetted(p *Param, v starlark.Value) []fault {
	if _, failed := v.(*failedValue); failed || v == nil {
		return nil
	}
	var found []fault
	if k.vet != nil {
		found = k.vet(p, v)
	}
	for i := range k.alts {
		if _, ok := k.alts[i].takes(v); ok {
			return append(found, k.alts[i].vetted(p, v)...)
		}
	}
	if k.item != nil && (k.item.vet != nil || k.item.alts != nil) {
		for at, item := range k.partsOf(v) {
			for _, f := range k.item.vetted(p, item) {
				f.part = at
				found = append(found, f)
			}
		}
	}
	return found
}

// misfits lists what is wrong with the parts of a list or dict that the kind does not take because
// of them; none where it is the value itself that is wrong.
func (k *Kind) misfits(p *Param, v starlark.Value) []fault {
	for i := range k.alts {
		if found := k.alts[i].misfits(p, v); found != nil {
			return found
		}
	}
	if k.item == nil {
		return nil
	}
	var found []fault
	for at, item := range k.partsOf(v) {
		w, ok := k.item.takes(item)
		switch {
		case at.at:
			found = append(found, fault{part: at, text: "want str for a key, got " + describe(item)})
		case ok:
			for _, f := range k.item.vetted(p, w) {
				f.part = at
				found = append(found, f)
			}
		default:
			f := fault{part: at, text: fmt.Sprintf("want %s, got %s", k.item.Word, describe(item))}
			if k.item.isNode() {
				f.code = diag.NotANode
			}
			if k.item.hint != nil {
				if h := k.item.hint(item); h != "" {
					f.help = []string{h}
				}
			}
			found = append(found, f)
		}
	}
	return found
}

func (k *Kind) isNode() bool { return k.Word == NodeKind.Word || k.Word == nodesKind.Word }

// partsOf goes through the items of a list, or the entries of a dict with the keys that are no text.
func (k *Kind) partsOf(v starlark.Value) func(yield func(piece, starlark.Value) bool) {
	return func(yield func(piece, starlark.Value) bool) {
		n := 0
		if d, ok := v.(*starlark.Dict); ok && k.dict {
			for key, item := range d.Entries() {
				n++
				_, text := key.(starlark.String)
				if !text && !yield(piece{n: n, key: key.String(), at: true}, key) || !yield(piece{n: n, key: key.String()}, item) {
					return
				}
			}
			return
		}
		if _, list := acceptList(v); !list || k.dict {
			return
		}
		for item := range starlark.Elements(v.(starlark.Iterable)) {
			n++
			if !yield(piece{n: n}, item) {
				return
			}
		}
	}
}

// blame reports the faults of an argument, each at the part that it is about.
func (c *Call) blame(p *Param, ref argRef, found []fault) {
	name := p.Name
	if p.Shape == Keywords {
		name = ref.name
	}
	for i, f := range found {
		if i == mostFaults {
			d := c.wrong[len(c.wrong)-1]
			d.Help = append(d.Help, fmt.Sprintf("there are %d more such in %s", len(found)-i, name))
			return
		}
		code := f.code
		if code == "" {
			code = diag.WrongArgument
		}
		message := name + f.part.String() + ": " + f.text
		if f.full {
			message = f.text
		}
		c.complain(code, c.partSpan(ref, f.part), "%s", message).Help = f.help
	}
}

// written gives the parts of an argument that is written out as a list or a dict.
func (c *Call) written(ref argRef) source.Parts {
	c.lookup()
	if c.file == nil {
		return source.Parts{}
	}
	return c.file.PartsAt(c.pos, ref.n, ref.name)
}

// partSpan is the place of a part of an argument, where that is written out; else the argument's.
func (c *Call) partSpan(ref argRef, p piece) diag.Span {
	at := c.argSpan(ref)
	if p.n == 0 {
		return at
	}
	written := c.written(ref)
	switch {
	case p.at && p.n <= len(written.Keys):
		return written.Keys[p.n-1]
	case p.n <= len(written.Items) && (p.key != "") == (written.Keys != nil):
		return written.Items[p.n-1]
	}
	return at
}
