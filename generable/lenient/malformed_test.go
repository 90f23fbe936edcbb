package lenient

import (
	"math/rand/v2"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// The tests break a document of tokens in the ways in which models break JSON. The value that it represents is known,
// so that a reading of the broken document is right or wrong.

// docToken is one token of a document as it is written.
type docToken struct {
	kind  byte   // one of { } [ ] : , or s for a string, n for a number, l for a literal
	pre   string // blanks before it
	text  string // as written
	value string // of a string
	key   bool
	obj   bool // it is in an object
	depth int  // brackets around it
}

// document is a value written as tokens.
type document struct {
	*rand.Rand
	value  generable.Value
	tokens []docToken
	front  string // text before and after
	back   string
	pretty bool
	spaced bool
}

var docKeys = []string{"id", "name", "title", "city", "tags", "items", "note", "score", "ok", "user", "next", "meta", "first_name", "isActive", "x", "y"}

// docTexts are contents of strings; the first plainTexts of them are words without special characters.
var docTexts = []string{
	"Oslo", "first draft", "hello world", "done", "very high", "Ann", "blue car", "low-cost", "step_one", "Zoë",
	"a, b and c", "see: the note", "Dr. Smith (chair)", "https://example.org/a?b=1", "2024-05-01", "50%", "It's fine", "", "User not found.",
	"x = y", "why?", "#1 of 3", "A/B", "42", "line one\nline two", `say "hi" to him`, `C:\temp\x`, "[draft]", "{name}", "e.g. this; that", "C++",
}

const plainTexts = 10

func newDocument(r *rand.Rand) *document {
	d := &document{Rand: r, pretty: r.IntN(3) == 0, spaced: r.IntN(2) == 0}
	switch r.IntN(8) {
	case 0:
		d.value = d.list(0)
	case 1:
		d.value = generable.ListOf(d.object(1), d.object(1), d.object(1))
	default:
		d.value = d.object(0)
	}
	d.write(d.value, 0, false)
	return d
}

func (d *document) object(depth int) generable.Value {
	m := generable.NewMap(4)
	for _, i := range d.Perm(len(docKeys))[:1+d.IntN(4)] {
		m.Set(docKeys[i], d.any(depth+1))
	}
	return m.Value()
}

func (d *document) list(depth int) generable.Value {
	var items []generable.Value
	kind := d.IntN(4)
	for range 1 + d.IntN(4) {
		switch kind {
		case 0:
			items = append(items, generable.StrOf(docTexts[d.IntN(len(docTexts))]))
		case 1:
			items = append(items, generable.IntOf(int64(d.IntN(200)-20)))
		case 2:
			items = append(items, d.object(depth+1))
		default:
			items = append(items, d.any(depth+1))
		}
	}
	return generable.ListOf(items...)
}

func (d *document) any(depth int) generable.Value {
	switch n := d.IntN(16); {
	case n < 5:
		return generable.StrOf(docTexts[d.IntN(len(docTexts))])
	case n < 8:
		return generable.StrOf(docTexts[d.IntN(plainTexts)])
	case n < 10:
		return generable.IntOf(int64(d.IntN(3000) - 100))
	case n == 10:
		v, _ := generable.FloatOf(float64(d.IntN(1000)) / 8)
		return v
	case n == 11:
		return generable.BoolOf(d.IntN(2) == 0)
	case n == 12 && depth > 1:
		return generable.Value{}
	case depth > 2:
		return generable.BoolOf(true)
	case n < 14:
		return d.list(depth)
	}
	return d.object(depth)
}

func (d *document) add(t docToken) { d.tokens = append(d.tokens, t) }

func (d *document) write(v generable.Value, depth int, inObj bool) {
	line := func(n int) string {
		if d.pretty {
			return "\n" + strings.Repeat("  ", n)
		}
		return ""
	}
	blank := ""
	if d.pretty || d.spaced {
		blank = " "
	}
	pre := ""
	if inObj {
		pre = blank
	} else if depth > 0 {
		pre = line(depth)
	}
	switch {
	case v.Kind() == generable.MapKind:
		m, _ := v.AsMap()
		d.add(docToken{kind: '{', pre: pre, text: "{", obj: inObj, depth: depth})
		for i := range m.Len() {
			key, item := m.At(i)
			k := docToken{kind: 's', pre: line(depth + 1), text: text.Quote(key), value: key, key: true, obj: true, depth: depth + 1}
			if i > 0 {
				d.add(docToken{kind: ',', text: ",", obj: true, depth: depth + 1})
				if k.pre == "" {
					k.pre = blank
				}
			}
			d.add(k)
			d.add(docToken{kind: ':', text: ":", obj: true, depth: depth + 1})
			d.write(item, depth+1, true)
		}
		d.add(docToken{kind: '}', pre: line(depth), text: "}", obj: inObj, depth: depth})
	case v.Kind() == generable.ListKind:
		l, _ := v.AsList()
		d.add(docToken{kind: '[', pre: pre, text: "[", obj: inObj, depth: depth})
		for i := range l.Len() {
			at := len(d.tokens)
			if i > 0 {
				d.add(docToken{kind: ',', text: ",", depth: depth + 1})
				at++
			}
			d.write(l.At(i), depth+1, false)
			if i > 0 && !d.pretty {
				d.tokens[at].pre = blank
			}
		}
		d.add(docToken{kind: ']', pre: line(depth), text: "]", obj: inObj, depth: depth})
	default:
		t := docToken{kind: 'l', pre: pre, text: generable.JSON(v, nil), obj: inObj, depth: depth}
		switch v.Kind() {
		case generable.Str:
			t.kind = 's'
			t.value, _ = v.AsStr()
		case generable.Int, generable.Float:
			t.kind = 'n'
		}
		d.add(t)
	}
}

// text returns the document as written.
func (d *document) text() string {
	var b strings.Builder
	b.WriteString(d.front)
	for _, t := range d.tokens {
		b.WriteString(t.pre)
		b.WriteString(t.text)
	}
	b.WriteString(d.back)
	return b.String()
}

// pick finds a matching token, starting at a random one; -1 without one.
func (d *document) pick(fits func(i int, t *docToken) bool) int {
	n := len(d.tokens)
	from := d.IntN(n)
	for k := range n {
		if i := (from + k) % n; fits(i, &d.tokens[i]) {
			return i
		}
	}
	return -1
}

func (d *document) remove(i int) {
	d.tokens = append(d.tokens[:i], d.tokens[i+1:]...)
}

func (d *document) insert(i int, t docToken) {
	d.tokens = append(d.tokens[:i], append([]docToken{t}, d.tokens[i:]...)...)
}
