package star

import (
	"strings"
	"unicode/utf8"
)

// width is the length at which a line is broken if possible.
const width = 100

// mostArguments bounds the positional arguments of a call.
const mostArguments = 255

// doc is an expression with its layout: on one line if it fits, otherwise with one part per line.
type doc struct {
	label string // before it: a keyword or a key
	open  string // a name, a literal, or what precedes its parts
	close string
	parts []*doc
	chain bool     // the parts are joined by >>
	lines []string // of a triple-quoted text
	notes []string // comments above it
}

func atom(text string) *doc { return &doc{open: text} }

func call(name string, args ...*doc) *doc { return &doc{open: name + "(", close: ")", parts: args} }

func list(items ...*doc) *doc { return &doc{open: "[", close: "]", parts: items} }

// named labels an argument.
func named(name string, d *doc) *doc {
	d.label = name + " = "
	return d
}

// keyed labels an entry of a dict.
func keyed(key string, d *doc) *doc {
	d.label = key + ": "
	return d
}

// chained returns a sequence of steps.
func chained(parts []*doc) *doc {
	if len(parts) == 1 {
		return parts[0]
	}
	return &doc{chain: true, parts: parts}
}

// flat writes an expression on one line, without its label. ok is false if it does not fit into the room.
func (d *doc) flat(room int) (string, bool) {
	if d.lines != nil {
		return "", false
	}
	var b strings.Builder
	b.WriteString(d.open)
	sep := ", "
	if d.chain {
		sep = " >> "
	}
	for i, p := range d.parts {
		if len(p.notes) > 0 || b.Len() > 4*room { // a character has at most four bytes
			return "", false
		}
		if i > 0 {
			b.WriteString(sep)
		}
		text, ok := p.flat(room - b.Len())
		if !ok {
			return "", false
		}
		b.WriteString(p.label + text)
	}
	b.WriteString(d.close)
	return b.String(), len(d.parts) == 0 || utf8.RuneCountInString(b.String()) <= room
}

// print writes an expression that begins at a column of an indented line, leaving room for what follows it.
func (d *doc) print(indent, column, behind int) string {
	if text, ok := d.flat(width - column - behind); ok {
		return text
	}
	pad := strings.Repeat(" ", indent)
	switch {
	case d.lines != nil:
		var b strings.Builder
		b.WriteString(`"""` + "\n")
		for _, line := range d.lines {
			if line != "" {
				line = pad + "    " + line
			}
			b.WriteString(line + "\n")
		}
		return b.String() + pad + `"""`
	case d.chain:
		if text, ok := d.hugged(" >> ", indent, column, behind); ok {
			return text
		}
		d = &doc{open: "then(", close: ")", parts: d.parts}
		if len(d.parts) > mostArguments {
			d.open, d.close = "then([", "])"
		}
	default:
		if text, ok := d.hugged(", ", indent, column, behind); ok {
			return text
		}
	}
	var b strings.Builder
	b.WriteString(d.open + "\n")
	for _, p := range d.parts {
		for _, note := range p.notes {
			b.WriteString(pad + "    " + strings.TrimRight("# "+note, " ") + "\n")
		}
		b.WriteString(pad + "    " + p.label + p.print(indent+4, indent+4+len(p.label), 1) + ",\n")
	}
	return b.String() + pad + d.close
}

// hugged writes an expression whose one long part is broken, while everything around it stays on the lines where that
// part begins and ends: f(x, [ … ], y = z). The part is a list or a dict, or the only argument.
func (d *doc) hugged(sep string, indent, column, behind int) (string, bool) {
	long := -1
	for i, p := range d.parts {
		text, ok := p.flat(width)
		switch {
		case len(p.notes) > 0:
			return "", false
		case ok && utf8.RuneCountInString(text) < width/2 && long < 0, ok && long >= 0 && len(p.parts) == 0:
		case long >= 0:
			return "", false
		default:
			long = i
		}
	}
	if long < 0 || d.parts[long].lines != nil || len(d.parts[long].parts) == 0 {
		return "", false
	}
	p := d.parts[long]
	if bracket := (p.open == "[" || p.open == "{") && p.label == ""; !bracket && !d.chain && len(d.parts) > 1 || d.chain && p.chain {
		return "", false
	}
	around := func(parts []*doc, from int) string {
		var b strings.Builder
		for i, q := range parts {
			if from+i > 0 {
				b.WriteString(sep)
			}
			text, _ := q.flat(width)
			b.WriteString(q.label + text)
		}
		return b.String()
	}
	head := d.open + around(d.parts[:long], 0)
	if long > 0 {
		head += sep
	}
	head += p.label
	tail := around(d.parts[long+1:], long+1) + d.close
	text := head + p.print(indent, column+len(head), len(tail)+behind) + tail
	first, _, _ := strings.Cut(text, "\n")
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return text, column+len(first) <= width && len(last)+behind <= width && strings.Contains(text, "\n")
}
