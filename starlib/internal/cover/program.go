package cover

import (
	"bytes"
	"encoding/binary"
	"errors"

	"go.starlark.net/starlark"
)

// program is a compiled file in the interpreter's storage format: a part with numbers and the lengths of texts, and a
// part with the texts. The functions are decoded, the rest is kept unchanged.
type program struct {
	head, texts []byte // head is what precedes the functions
	globals     []string
	functions   []*funcode // the top level first
	recursion   int64
}

// funcode is a compiled function.
type funcode struct {
	name      binding
	doc, code []byte
	lines     []int64
	locals    []binding
	cells     []int64
	free      []binding
	frame     [5]int64 // stack, parameters, keyword-only parameters, *args, **kwargs
}

type binding struct {
	name      []byte
	line, col int64
}

const headerSize = 8 // the magic number, and the offset of the texts

var errCompiled = errors.New("the compiled form of a file is not as expected")

// taken decodes a program.
func taken(prog *starlark.Program) (*program, error) {
	var b bytes.Buffer
	if err := prog.Write(&b); err != nil {
		return nil, err
	}
	data := b.Bytes()
	if len(data) < headerSize {
		return nil, errCompiled
	}
	at := int(binary.LittleEndian.Uint32(data[4:headerSize]))
	if at < headerSize || at > len(data) {
		return nil, errCompiled
	}
	r := &reader{in: data[headerSize:at], texts: data[at:]}
	r.int()               // version
	r.text()              // file
	r.bindings()          // loads
	for range r.count() { // names
		r.text()
	}
	for range r.count() { // constants
		switch r.int() {
		case 2:
			r.int()
		case 3:
			r.uint()
		default:
			r.text()
		}
	}
	p := &program{}
	for _, g := range r.bindings() {
		p.globals = append(p.globals, string(g.name))
	}
	p.head, p.texts = data[:at-len(r.in)], data[at:len(data)-len(r.texts)]
	p.functions = append(p.functions, r.function())
	for range r.count() {
		p.functions = append(p.functions, r.function())
	}
	p.recursion = r.int()
	if r.bad || len(r.in)+len(r.texts) > 0 {
		return nil, errCompiled
	}
	return p, nil
}

// compiled encodes the parts as a program.
func (p *program) compiled() (*starlark.Program, error) {
	w := &writer{out: bytes.Clone(p.head), texts: bytes.Clone(p.texts)}
	for i, f := range p.functions {
		if i == 1 {
			w.int(int64(len(p.functions) - 1))
		}
		w.function(f)
	}
	if len(p.functions) == 1 {
		w.int(0)
	}
	w.int(p.recursion)
	binary.LittleEndian.PutUint32(w.out[4:headerSize], uint32(len(w.out)))
	return starlark.CompiledProgram(bytes.NewReader(append(w.out, w.texts...)))
}

type reader struct {
	in, texts []byte
	bad       bool
}

func (r *reader) int() int64 {
	x, n := binary.Varint(r.in)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.in = r.in[n:]
	return x
}

func (r *reader) uint() {
	_, n := binary.Uvarint(r.in)
	if n <= 0 {
		r.bad = true
		return
	}
	r.in = r.in[n:]
}

// count reads the number of items of a list, each of which takes at least one byte.
func (r *reader) count() int64 {
	n := r.int()
	if n < 0 || n > int64(len(r.in)) {
		r.bad = true
		return 0
	}
	return n
}

func (r *reader) text() []byte {
	n := r.int()
	if n < 0 || n > int64(len(r.texts)) {
		r.bad = true
		return nil
	}
	text := r.texts[:n:n]
	r.texts = r.texts[n:]
	return text
}

func (r *reader) binding() binding { return binding{r.text(), r.int(), r.int()} }

func (r *reader) bindings() []binding {
	list := make([]binding, r.count())
	for i := range list {
		list[i] = r.binding()
	}
	return list
}

func (r *reader) ints() []int64 {
	list := make([]int64, r.count())
	for i := range list {
		list[i] = r.int()
	}
	return list
}

func (r *reader) function() *funcode {
	f := &funcode{name: r.binding(), doc: r.text(), code: r.text(), lines: r.ints(), locals: r.bindings(), cells: r.ints(), free: r.bindings()}
	for i := range f.frame {
		f.frame[i] = r.int()
	}
	return f
}

type writer struct {
	out, texts []byte
}

func (w *writer) int(x int64) { w.out = binary.AppendVarint(w.out, x) }

func (w *writer) text(text []byte) {
	w.int(int64(len(text)))
	w.texts = append(w.texts, text...)
}

func (w *writer) bindings(list []binding) {
	w.int(int64(len(list)))
	for _, b := range list {
		w.binding(b)
	}
}

func (w *writer) binding(b binding) {
	w.text(b.name)
	w.int(b.line)
	w.int(b.col)
}

func (w *writer) ints(list []int64) {
	w.int(int64(len(list)))
	for _, x := range list {
		w.int(x)
	}
}

func (w *writer) function(f *funcode) {
	w.binding(f.name)
	w.text(f.doc)
	w.text(f.code)
	w.ints(f.lines)
	w.bindings(f.locals)
	w.ints(f.cells)
	w.bindings(f.free)
	for _, x := range f.frame {
		w.int(x)
	}
}
