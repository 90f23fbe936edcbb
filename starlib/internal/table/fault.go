package table

import (
	"cmp"
	"fmt"
	"strconv"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Fault is what is wrong with an argument, or with a part of one.
type Fault struct {
	Part Piece
	Code diag.Code // "" means diag.WrongArgument
	Text string    // follows the argument's name: "want str, got int 3"
	Full bool      // Text is the whole message
	Help []string

	given starlark.Value // what should be of the kind; nil if something else is wrong
	kind  *Kind
}

// Piece is an item of a list or an entry of a dict. The zero Piece is the whole argument.
type Piece struct {
	N   int // counted from 1
	Key string
	At  bool // for an entry: the fault is in the key
}

func (p Piece) String() string {
	switch {
	case p.Key != "":
		return "[" + p.Key + "]"
	case p.N > 0:
		return "[" + strconv.Itoa(p.N-1) + "]"
	}
	return ""
}

// Faultf returns a fault with one remedy, or without one if help is "".
func Faultf(help, format string, args ...any) []Fault {
	f := Fault{Text: fmt.Sprintf(format, args...)}
	if help != "" {
		f.Help = []string{help}
	}
	return []Fault{f}
}

// FaultIf returns a fault if wrong is true, and none otherwise.
func FaultIf(wrong bool, help, format string, args ...any) []Fault {
	if !wrong {
		return nil
	}
	return Faultf(help, format, args...)
}

// Coded sets the code of faults and returns them.
func Coded(code diag.Code, found []Fault) []Fault {
	for i := range found {
		found[i].Code = code
	}
	return found
}

// mostFaults bounds the parts of an argument that are reported.
const mostFaults = 5

// vetted lists what is wrong with a value that the kind accepts.
func (k *Kind) vetted(p *Param, v starlark.Value) []Fault {
	if _, failed := v.(*value.Failed); failed || v == nil {
		return nil
	}
	var found []Fault
	if k.vet != nil {
		found = k.vet(p, v)
	}
	for i := range k.alts {
		if _, ok := k.alts[i].Takes(v); ok {
			return append(found, k.alts[i].vetted(p, v)...)
		}
	}
	if k.item != nil && (k.item.vet != nil || k.item.alts != nil) {
		for at, item := range k.partsOf(v) {
			for _, f := range k.item.vetted(p, item) {
				f.Part = at
				found = append(found, f)
			}
		}
	}
	return found
}

// misfits lists what is wrong with the parts of a list or dict that the kind rejects because of them. It returns none
// if the value itself is wrong.
func (k *Kind) misfits(p *Param, v starlark.Value) []Fault {
	for i := range k.alts {
		if found := k.alts[i].misfits(p, v); found != nil {
			return found
		}
	}
	if k.item == nil {
		return nil
	}
	var found []Fault
	for at, item := range k.partsOf(v) {
		w, ok := k.item.Takes(item)
		switch {
		case at.At:
			found = append(found, Fault{Part: at, Text: "want str for a key, got " + value.Describe(item)})
		case ok:
			for _, f := range k.item.vetted(p, w) {
				f.Part = at
				found = append(found, f)
			}
		default:
			f := Fault{Part: at, Text: fmt.Sprintf("want %s, got %s", k.item.Word, value.Describe(item)), given: item, kind: k.item}
			if k.item.isNode() {
				f.Code = diag.NotANode
			}
			if h := k.item.HintOf(item); h != "" {
				f.Help = []string{h}
			}
			found = append(found, f)
		}
	}
	return found
}

func (k *Kind) isNode() bool { return k.Word == NodeKind.Word || k.Word == NodesKind.Word }

// partsOf iterates over the items of a list, or over the entries of a dict and the keys that are not texts.
func (k *Kind) partsOf(v starlark.Value) func(yield func(Piece, starlark.Value) bool) {
	return func(yield func(Piece, starlark.Value) bool) {
		n := 0
		if d, ok := v.(*starlark.Dict); ok && k.dict {
			for key, item := range d.Entries() {
				n++
				_, text := key.(starlark.String)
				if !text && !yield(Piece{N: n, Key: key.String(), At: true}, key) || !yield(Piece{N: n, Key: key.String()}, item) {
					return
				}
			}
			return
		}
		if _, list := AcceptList(v); !list || k.dict {
			return
		}
		for item := range starlark.Elements(v.(starlark.Iterable)) {
			n++
			if !yield(Piece{N: n}, item) {
				return
			}
		}
	}
}

// blame reports the faults of an argument, each at the part it is about.
func (c *Call) blame(p *Param, ref ArgRef, found []Fault) {
	name := p.Name
	if p.Shape == Keywords {
		name = ref.Name
	}
	for i, f := range found {
		if i == mostFaults {
			d := c.Problems[len(c.Problems)-1]
			d.Help = append(d.Help, fmt.Sprintf("there are %d more such in %s", len(found)-i, name))
			return
		}
		message := name + f.Part.String() + ": " + f.Text
		if f.Full {
			message = f.Text
		}
		d := c.Problemf(cmp.Or(f.Code, diag.WrongArgument), c.PartSpan(ref, f.Part), "%s", message)
		if d.Help = f.Help; f.given != nil {
			f.kind.advise(c, d, f.given)
		}
	}
}

// Parts returns the parts of an argument that is a list or dict literal.
func (c *Call) Parts(ref ArgRef) source.Parts {
	c.Locate()
	if c.File == nil {
		return source.Parts{}
	}
	if p, ok := c.parts[ref]; ok {
		return p
	}
	p := c.File.PartsAt(c.Pos, ref.n, ref.Name)
	if c.parts == nil {
		c.parts = map[ArgRef]source.Parts{}
	}
	c.parts[ref] = p
	return p
}

// PartSpan returns the span of a part of a literal argument, or the argument's span.
func (c *Call) PartSpan(ref ArgRef, p Piece) diag.Span {
	at := c.RefSpan(ref)
	if p.N == 0 {
		return at
	}
	written := c.Parts(ref)
	switch {
	case p.At && p.N <= len(written.Keys):
		return written.Keys[p.N-1]
	case p.N <= len(written.Items) && (p.Key != "") == (written.Keys != nil):
		return written.Items[p.N-1]
	}
	return at
}
