package lenient

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// malformation breaks a document without changing the value that it represents. It reports whether it could be
// applied.
type malformation struct {
	name  string
	apply func(d *document) bool
}

// whole reports whether a token is still in its original form, so that one malformation does not undo another.
func (t *docToken) whole() bool {
	switch t.kind {
	case 's':
		return t.text == text.Quote(t.value)
	case '{', '}', '[', ']', ':', ',':
		return t.text == string(t.kind)
	}
	return true
}

func (t *docToken) plain() bool {
	return t.kind == 's' && t.whole() && t.value != "" && strings.Trim(t.value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ _-ë") == ""
}

// ends reports whether a token ends a value, so that a comma may follow it.
func (t *docToken) ends() bool {
	return !t.key && strings.IndexByte("snl}]", t.kind) >= 0
}

// rewrite changes the text of one matching token.
func rewrite(fits func(t *docToken) bool, to func(d *document, t *docToken) string) func(d *document) bool {
	return func(d *document) bool {
		i := d.pick(func(_ int, t *docToken) bool { return t.whole() && fits(t) })
		if i < 0 {
			return false
		}
		d.tokens[i].text = to(d, &d.tokens[i])
		return true
	}
}

// everywhere changes the texts of all matching tokens.
func everywhere(fits func(t *docToken) bool, to func(t *docToken) string) func(d *document) bool {
	return func(d *document) bool {
		done := false
		for i := range d.tokens {
			if t := &d.tokens[i]; t.whole() && fits(t) {
				t.text = to(t)
				done = true
			}
		}
		return done
	}
}

// before inserts a text before a matching token.
func before(fits func(i int, t *docToken) bool, text ...string) func(d *document) bool {
	return func(d *document) bool {
		i := d.pick(fits)
		if i < 0 {
			return false
		}
		d.tokens[i].pre = text[d.IntN(len(text))] + d.tokens[i].pre
		return true
	}
}

func tokenOf(kinds string) func(t *docToken) bool {
	return func(t *docToken) bool { return strings.IndexByte(kinds, t.kind) >= 0 }
}

func valueText(t *docToken) bool { return t.kind == 's' && !t.key }

func plainString(t *docToken) bool { return t.plain() }

func plainKey(t *docToken) bool { return t.key && t.plain() }

func plainValue(t *docToken) bool { return !t.key && t.plain() }

func content(t *docToken) string { q := text.Quote(t.value); return q[1 : len(q)-1] }

func inside(i int, _ *docToken) bool { return i > 0 }

// constantly returns the same text for every token.
func constantly(text string) func(d *document, t *docToken) string {
	return func(*document, *docToken) string { return text }
}

// quotedBy writes a string in other quotes.
func quotedBy(open, end string) func(t *docToken) string {
	return func(t *docToken) string { return open + t.value + end }
}

func once(to func(t *docToken) string) func(d *document, t *docToken) string {
	return func(_ *document, t *docToken) string { return to(t) }
}

// unquoted removes the closing quote of a text, but not of an item before a number or a literal, which could be words
// of it.
func unquoted(fits func(t *docToken) bool) func(d *document) bool {
	return func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.whole() && fits(t) && (t.obj || i+2 >= len(d.tokens) || strings.IndexByte("nl", d.tokens[i+2].kind) < 0)
		})
		if i < 0 {
			return false
		}
		d.tokens[i].text = `"` + content(&d.tokens[i])
		return true
	}
}

// malformations are single faults that leave the value unambiguous.
var malformations = []malformation{
	{"comma missing", func(d *document) bool {
		i := d.pick(func(_ int, t *docToken) bool { return t.kind == ',' && t.whole() })
		if i < 0 {
			return false
		}
		if next := &d.tokens[i+1]; next.pre == "" {
			next.pre = " "
		}
		d.remove(i)
		return true
	}},
	{"comma doubled", rewrite(tokenOf(","), constantly(",,"))},
	{"comma at the end", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return (t.kind == '}' || t.kind == ']') && t.whole() && d.tokens[i-1].ends()
		})
		if i < 0 {
			return false
		}
		d.insert(i, docToken{kind: ',', text: ", "[:1+d.IntN(2)]})
		return true
	}},
	{"comma in front", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool { return (t.kind == '{' || t.kind == '[') && t.whole() })
		d.insert(i+1, docToken{kind: ',', text: ","})
		return true
	}},
	{"semicolons", everywhere(tokenOf(","), func(*docToken) string { return ";" })},
	{"comma wide", rewrite(tokenOf(","), constantly("，"))},
	{"colon missing", func(d *document) bool {
		i := d.pick(func(_ int, t *docToken) bool { return t.kind == ':' && t.whole() })
		if i < 0 {
			return false
		}
		if next := &d.tokens[i+1]; next.pre == "" {
			next.pre = " "
		}
		d.remove(i)
		return true
	}},
	{"colon an equals sign", rewrite(tokenOf(":"), constantly(" ="))},
	{"colon an arrow", rewrite(tokenOf(":"), constantly(" =>"))},
	{"colon doubled", rewrite(tokenOf(":"), constantly("::"))},
	{"colon wide", rewrite(tokenOf(":"), constantly("："))},
	{"single quotes", func(d *document) bool {
		return everywhere(func(t *docToken) bool { return t.kind == 's' && !strings.ContainsAny(t.value, "'\\\n\"") }, quotedBy("'", "'"))(d)
	}},
	{"single quotes once", rewrite(func(t *docToken) bool { return t.kind == 's' && !strings.ContainsAny(t.value, "'\\\n\"") }, once(quotedBy("'", "'")))},
	{"apostrophe in single quotes", rewrite(func(t *docToken) bool { return t.value == "It's fine" }, constantly(`'It's fine'`))},
	{"curly quotes", everywhere(func(t *docToken) bool { return t.kind == 's' && !strings.ContainsAny(t.value, "'\\\n\"") }, quotedBy("“", "”"))},
	{"curly quote in front", rewrite(plainString, func(_ *document, t *docToken) string { return "“" + t.value + `"` })},
	{"ticks", rewrite(func(t *docToken) bool { return t.kind == 's' && !strings.ContainsAny(t.value, "'\\\n\"") }, once(quotedBy("`", "`")))},
	{"doubled quotes", rewrite(plainString, once(quotedBy(`""`, `""`)))},
	{"quote doubled in front", rewrite(plainString, once(quotedBy(`""`, `"`)))},
	{"quote doubled behind a key", rewrite(plainKey, once(quotedBy(`"`, `""`)))},
	{"triple quotes", rewrite(plainValue, once(quotedBy(`"""`, `"""`)))},
	{"escaped quotes once", rewrite(plainString, once(quotedBy(`\"`, `\"`)))},
	{"key without quotes", rewrite(func(t *docToken) bool { return t.key && message.IsWord(t.value) }, once(quotedBy("", "")))},
	{"keys without quotes", everywhere(func(t *docToken) bool { return t.key && message.IsWord(t.value) }, quotedBy("", ""))},
	{"text without quotes", rewrite(plainValue, once(quotedBy("", "")))},
	{"texts without quotes", everywhere(plainValue, quotedBy("", ""))},
	{"key lacks its first quote", rewrite(plainKey, once(quotedBy("", `"`)))},
	{"key lacks its last quote", rewrite(plainKey, once(quotedBy(`"`, "")))},
	{"text lacks its first quote", rewrite(plainValue, once(quotedBy("", `"`)))},
	{"text lacks its last quote", unquoted(plainValue)},
	{"any text lacks its last quote", unquoted(func(t *docToken) bool {
		return valueText(t) && t.value != "" && !strings.ContainsAny(t.value, "\"\\\n,:[]{}")
	})},
	{"quotation inside", func(d *document) bool {
		return d.reword(`he said "no" twice`)
	}},
	{"quotation at the end", func(d *document) bool { return d.reword(`they call it "blue"`) }},
	{"quotation in front", func(d *document) bool { return d.reword(`"blue" is the word`) }},
	{"quotation with a comma", func(d *document) bool { return d.reword(`he said "no, never" twice`) }},
	{"inches", func(d *document) bool { return d.reword(`a 27" screen`) }},
	{"line end in a text", func(d *document) bool { return d.reword("one line\nand another") }},
	{"tab in a text", func(d *document) bool { return d.reword("one\ttwo") }},
	{"backslashes alone", func(d *document) bool {
		return d.rewriteText(`C:\dir\sub`, `"C:\dir\sub"`)
	}},
	{"apostrophe escaped", func(d *document) bool { return d.rewriteText("it's so", `"it\'s so"`) }},
	{"brackets in an open text", func(d *document) bool { return d.reword(`see "x" {y}, [z] ok`) }},
	{"Python literals", everywhere(tokenOf("l"), func(t *docToken) string {
		return map[string]string{"true": "True", "false": "False", "null": "None"}[t.text]
	})},
	{"number with a plus", rewrite(func(t *docToken) bool { return t.kind == 'n' && t.text[0] != '-' }, func(_ *document, t *docToken) string { return "+" + t.text })},
	{"number in groups", func(d *document) bool {
		return d.renumber(1_250_000, "1_250_000")
	}},
	{"number to base 16", func(d *document) bool { return d.renumber(255, "0xFF") }},
	{"line comment", before(func(i int, t *docToken) bool { return i > 0 && t.kind != ':' && t.kind != ',' }, " // a note\n", " # a note\n")},
	{"line comment with signs", before(func(i int, t *docToken) bool { return i > 0 && strings.IndexByte("snl{[", t.kind) >= 0 }, " // it's {x}, \"y\": 1\n")},
	{"line comment behind a comma", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool { return t.kind == ',' && t.whole() })
		if i < 0 {
			return false
		}
		d.tokens[i].text = ", // see [1]\n"
		return true
	}},
	{"block comment", before(inside, " /* a, b: c */ ", "/* \"x\" */")},
	{"blank of another kind", before(inside, "\u00a0", "\u3000", "\u200b")},
	{"closer missing at the end", func(d *document) bool { return d.cut(1) }},
	{"closers missing at the end", func(d *document) bool { return d.cut(1 + d.IntN(3)) }},
	{"closer missing inside", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.depth > 0 && (t.kind == '}' || t.kind == ']') && t.whole() && t.obj != (t.kind == '}')
		})
		if i < 0 {
			return false
		}
		d.remove(i)
		return true
	}},
	{"closer of the other kind", func(d *document) bool {
		return rewrite(tokenOf("}]"), func(_ *document, t *docToken) string {
			if t.kind == '}' {
				return "]"
			}
			return "}"
		})(d)
	}},
	{"closer too many at the end", func(d *document) bool {
		d.tokens[len(d.tokens)-1].text += []string{"}", "]", "}}", "}]"}[d.IntN(4)]
		return true
	}},
	{"closer too many inside", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.depth > 0 && t.obj && (t.kind == '}' || t.kind == ']') && t.whole()
		})
		if i < 0 {
			return false
		}
		d.tokens[i].text += d.tokens[i].text
		return true
	}},
	{"opener missing in front", func(d *document) bool {
		if d.front != "" || d.tokens[0].kind != '{' {
			return false
		}
		d.remove(0)
		return true
	}},
	{"braces doubled", func(d *document) bool {
		last := len(d.tokens) - 1
		if d.tokens[0].kind != '{' || d.tokens[0].text != "{" || d.tokens[last].text != "}" {
			return false
		}
		d.tokens[0].text, d.tokens[last].text = "{{", "}}"
		return true
	}},
	{"tuple", func(d *document) bool {
		for i := range d.tokens {
			if t := &d.tokens[i]; t.kind == '[' && t.whole() && i > 0 && d.tokens[i+1].kind != '{' {
				for k := i + 1; k < len(d.tokens); k++ {
					if e := &d.tokens[k]; e.kind == ']' && e.depth == t.depth {
						if !e.whole() || k == i+2 {
							return false
						}
						t.text, e.text = "(", ")"
						return true
					}
				}
			}
		}
		return false
	}},
	{"ellipsis behind the last", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return (t.kind == '}' || t.kind == ']') && t.whole() && d.tokens[i-1].ends()
		})
		if i < 0 {
			return false
		}
		marks := []string{", ...", ", …", "..."}
		if strings.IndexByte("\"}]", d.tokens[i-1].text[len(d.tokens[i-1].text)-1]) < 0 {
			marks = marks[:2] // dots that touch an unquoted text belong to it
		}
		d.insert(i, docToken{kind: '.', text: marks[d.IntN(len(marks))]})
		return true
	}},
	{"concatenation", func(d *document) bool {
		return rewrite(func(t *docToken) bool { return plainValue(t) && strings.Contains(t.value, " ") }, func(_ *document, t *docToken) string {
			a, b, _ := strings.Cut(t.value, " ")
			return strconv.Quote(a+" ") + " + " + strconv.Quote(b)
		})(d)
	}},
	{"call", rewrite(func(t *docToken) bool { return plainValue(t) || t.kind == 'n' }, func(_ *document, t *docToken) string { return "Of(" + t.text + ")" })},
	{"word before a key", before(func(_ int, t *docToken) bool { return t.key && t.whole() }, "COMMENT ", "and ")},
	{"document escaped", func(d *document) bool {
		for i := range d.tokens {
			if t := &d.tokens[i]; !t.whole() || strings.ContainsAny(t.value, "\\\n\"") {
				return false
			}
		}
		return everywhere(tokenOf("s"), quotedBy(`\"`, `\"`))(d)
	}},
	{"fence", func(d *document) bool { return d.enclose("```json\n", "\n```") }},
	{"fence never closed", func(d *document) bool { return d.enclose("```json\n", "") }},
	{"fence with prose", func(d *document) bool { return d.enclose("Here is {it}:\n\n```\n", "\n```\nSay [1] or \"no\".") }},
	{"prose", func(d *document) bool { return d.enclose("Sure! The answer is ", " as you asked.") }},
	{"prose on lines", func(d *document) bool { return d.enclose("Answer:\n\n", "\n\nI hope that helps: tell me {if} not.") }},
	{"reasoning", func(d *document) bool { return d.enclose("<think>\nmaybe {\"id\": 0}\n</think>\n", "") }},
	{"assignment", func(d *document) bool { return d.enclose("const x = ", ";") }},
	{"call of a function", func(d *document) bool { return d.enclose("callback(", ");") }},
	{"element", func(d *document) bool { return d.enclose("<answer>", "</answer>") }},
	{"fence behind prose, cut", func(d *document) bool {
		return d.front == "" && d.cut(1) && d.enclose("Result:\n```json\n", "")
	}},
}

// cut removes the last closers, at most n, if the document then still ends in a value.
func (d *document) cut(n int) bool {
	last := len(d.tokens)
	for ; n > 0; n-- {
		if t := &d.tokens[last-1]; t.kind != '}' && t.kind != ']' || !t.whole() || !d.tokens[last-2].ends() {
			break
		}
		last--
	}
	if last == len(d.tokens) || d.back != "" {
		return false
	}
	d.tokens = d.tokens[:last]
	return true
}

// enclose puts a text around the document.
func (d *document) enclose(front, back string) bool {
	if d.tokens[0].kind == 's' && !strings.Contains(front, "```") {
		return false // nothing marks where members without a brace begin in prose
	}
	if d.front != "" || d.back != "" || strings.ContainsAny(d.tokens[len(d.tokens)-1].text, "\"snl") && back != "" {
		return false
	}
	d.front, d.back = front, back
	return true
}

// reword gives a text other content, written verbatim between quotes.
func (d *document) reword(value string) bool { return d.rewriteText(value, `"`+value+`"`) }

// rewriteText gives a text other content.
func (d *document) rewriteText(value, text string) bool {
	return d.replace(valueText, generable.StrOf(value), text, value)
}

// renumber gives a number another value.
func (d *document) renumber(n int64, text string) bool {
	return d.replace(tokenOf("n"), generable.IntOf(n), text, "")
}

// replace replaces a matching scalar by another one, in the text and in the value.
func (d *document) replace(fits func(t *docToken) bool, v generable.Value, text, value string) bool {
	at := d.pick(func(_ int, t *docToken) bool { return t.whole() && fits(t) })
	if at < 0 {
		return false
	}
	d.tokens[at].text, d.tokens[at].value = text, value
	n := 0 // scalars before it
	for i := range at {
		if t := &d.tokens[i]; !t.key && strings.IndexByte("snl", t.kind) >= 0 {
			n++
		}
	}
	d.value = replaced(d.value, &n, v)
	return true
}

// replaced returns a value whose n-th scalar is replaced.
func replaced(v generable.Value, n *int, by generable.Value) generable.Value {
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = replaced(l.At(i), n, by)
		}
		return generable.ListOf(items...)
	}
	if m, ok := v.AsMap(); ok {
		out := generable.NewMap(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			out.Set(key, replaced(item, n, by))
		}
		return out.Value()
	}
	*n--
	if *n == -1 {
		return by
	}
	return v
}
