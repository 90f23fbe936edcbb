package lenient

import (
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// structured are single faults around structure: strings and unquoted texts that contain it, fences as values, and
// missing, doubled or wrong signs between values.
var structured = []malformation{
	{"object in an open text", func(d *document) bool { return d.reword(`Use {"b": "c"} here`) }},
	{"list in an open text", func(d *document) bool { return d.reword(`one of ["a", "b"] ok`) }},
	{"calls in an open text", func(d *document) bool { return d.reword(`f("a", "b"); g(x)`) }},
	{"block of code in an open text", func(d *document) bool { return d.reword(`if x == "y" { return "z" }`) }},
	{"reference with a quote", func(d *document) bool { return d.reword(`see [1" and more`) }},
	{"pattern with a quote", func(d *document) bool { return d.reword(`^[a-z"]{2,3}+$`) }},
	{"LaTeX with quotes", func(d *document) bool {
		return d.rewriteText(`\sqrt{x} is "\mathbb{R}" too`, `"\sqrt{x} is "\mathbb{R}" too"`)
	}},
	{"fence in an open text", func(d *document) bool { return d.reword("Use:\n```json\n{\"a\": [1]}\n```\nthen go") }},
	{"text lacks its last quote, key its quotes", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return plainValue(t) && i+4 < len(d.tokens) && d.tokens[i+1].whole() && d.tokens[i+1].kind == ',' &&
				d.tokens[i+2].key && d.tokens[i+2].plain() && d.tokens[i+4].kind == 's' && d.tokens[i+4].whole()
		})
		if i < 0 {
			return false
		}
		d.tokens[i].text = `"` + d.tokens[i].value
		d.tokens[i+2].text = d.tokens[i+2].value
		return true
	}},

	{"signature without quotes", bareMember("def f(a, b: int) -> str")},
	{"braces in text without quotes", bareMember("words{in braces}more")},
	{"template without quotes", bareMember("hello {name} world")},
	{"brackets in text without quotes", bareMember("see [1] and [2, 3]")},
	{"lines without quotes", bareMember("one line\nand another")},
	{"paragraphs without quotes", bareMember("First part.\n\nSecond part, too.")},
	{"version without quotes", func(d *document) bool { return d.replace(valueText, generable.StrOf("2.0.1"), "2.0.1", "2.0.1") }},
	{"first member without a colon", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.kind == '{' && t.whole() && i+3 < len(d.tokens) && plainKey(&d.tokens[i+1]) && d.tokens[i+2].whole() && plainValue(&d.tokens[i+3])
		})
		if i < 0 {
			return false
		}
		d.tokens[i+1].text = d.tokens[i+1].value
		d.tokens[i+3].text, d.tokens[i+3].pre = "'"+d.tokens[i+3].value+"'", " "
		d.remove(i + 2)
		return true
	}},
	{"Mongolian blank", before(inside, "\u180e")},

	{"fence with a tag as a value", fenceMember("js")},
	{"fence without a tag as a value", fenceMember("")},
	{"comment behind a value", func(d *document) bool {
		return d.between(" // a note, it's \"b\": 1\n", true)
	}},

	{"comma a line break", func(d *document) bool { return d.between("\n", false) }},
	{"comma a comment", func(d *document) bool { return d.between(" /* next */ ", false) }},
	{"object opens where closer and comma lack", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.kind == '}' && t.whole() && i+2 < len(d.tokens) && d.tokens[i+1].kind == ',' && d.tokens[i+1].whole() &&
				d.tokens[i+2].kind == '{' && d.tokens[i+2].whole() && d.tokens[i-1].ends()
		})
		if i < 0 {
			return false
		}
		d.remove(i)
		d.remove(i)
		return true
	}},
	{"opener behind a text", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.obj && plainValue(t) && i+1 < len(d.tokens) && d.tokens[i+1].kind == ',' && d.tokens[i+1].whole()
		})
		if i < 0 {
			return false
		}
		d.tokens[i].text += "{"
		return true
	}},
	{"quote doubled behind a text", rewrite(plainValue, once(quotedBy(`"`, `""`)))},
	{"quotes in a run behind a text", rewrite(plainValue, once(quotedBy(`"`, `"""`)))},
	{"item lacks its first quote", rewrite(func(t *docToken) bool { return !t.obj && plainValue(t) }, once(quotedBy("", `"`)))},
	{"item lacks its last quote", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool { // not before a number, which could be words of it
			return !t.obj && plainValue(t) && t.whole() && i+2 < len(d.tokens) && d.tokens[i+2].kind == 's'
		})
		if i < 0 {
			return false
		}
		d.tokens[i].text = `"` + d.tokens[i].value
		return true
	}},
	{"list closed by a brace", rewrite(tokenOf("]"), constantly("}"))},
	{"list closed by a parenthesis", rewrite(tokenOf("]"), constantly(")"))},
	{"list without brackets", func(d *document) bool {
		last := len(d.tokens) - 1
		if d.front+d.back != "" || d.tokens[0].kind != '[' || d.tokens[1].kind != '{' || !d.tokens[0].whole() || !d.tokens[last].whole() || d.tokens[last].kind != ']' {
			return false
		}
		for i := range d.tokens { // nothing but objects in sequence
			if t := &d.tokens[i]; t.depth == 1 && t.kind != '{' && t.kind != '}' && t.kind != ',' {
				return false
			}
		}
		d.tokens = d.tokens[1:last]
		separator := []string{"", "\n", ",", " "}[d.IntN(4)]
		for i := range d.tokens {
			if t := &d.tokens[i]; t.kind == ',' && t.depth == 1 && !t.obj && t.whole() {
				t.text = separator
			}
		}
		return len(d.tokens) > 0 && d.listOfSeveral()
	}},
	{"texts in fences", func(d *document) bool {
		return everywhere(func(t *docToken) bool { return plainValue(t) && t.obj }, quotedBy("```\n", "\n```"))(d)
	}},
	{"quote in a key", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool { return plainKey(t) && len(t.value) > 3 && d.tokens[i+1].whole() })
		if i < 0 {
			return false
		}
		old := d.tokens[i].value
		key := old[:2] + `"` + old[2:]
		n := 0 // keys before it
		for k := range i {
			if d.tokens[k].key {
				n++
			}
		}
		d.tokens[i].text, d.tokens[i].value = `"`+key+`"`, key
		d.value = rekeyed(d.value, &n, key)
		return true
	}},
	{"closer too many, members go on", func(d *document) bool {
		i := d.pick(func(i int, t *docToken) bool {
			return t.depth == 1 && t.obj && t.ends() && t.whole() && i+2 < len(d.tokens) && d.tokens[i+1].kind == ',' && d.tokens[i+1].whole()
		})
		if i < 0 {
			return false
		}
		d.tokens[i].text += "}"
		return true
	}},
}

// bareMember writes an unquoted text as the value of a member.
func bareMember(value string) func(d *document) bool {
	return func(d *document) bool {
		return d.replace(func(t *docToken) bool { return valueText(t) && t.obj }, generable.StrOf(value), value, value)
	}
}

// fenceMember writes code in a fence, with a tag, as the value of a member.
func fenceMember(tag string) func(d *document) bool {
	const code = "f(\"x\", [1]); // }, \"y\": 2\ng()"
	return func(d *document) bool {
		return d.replace(func(t *docToken) bool { return valueText(t) && t.obj }, generable.StrOf(code), "```"+tag+"\n"+code+"\n```", code)
	}
}

// between inserts a text between two values, after their comma or in its place.
func (d *document) between(text string, comma bool) bool {
	i := d.pick(func(i int, t *docToken) bool {
		return t.kind == ',' && t.whole() && !strings.Contains(d.tokens[i+1].pre, "/")
	})
	if i < 0 {
		return false
	}
	d.tokens[i+1].pre = text
	if !comma {
		d.remove(i)
	}
	return true
}

// listOfSeveral reports whether the value is a list of more than one item.
func (d *document) listOfSeveral() bool {
	l, ok := d.value.AsList()
	return ok && l.Len() > 1
}

// rekeyed returns a value whose n-th key is replaced.
func rekeyed(v generable.Value, n *int, by string) generable.Value {
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = rekeyed(l.At(i), n, by)
		}
		return generable.ListOf(items...)
	}
	m, ok := v.AsMap()
	if !ok {
		return v
	}
	out := generable.NewMap(m.Len())
	for i := range m.Len() {
		key, item := m.At(i)
		if *n--; *n == -1 {
			key = by
		}
		out.Set(key, rekeyed(item, n, by))
	}
	return out.Value()
}
