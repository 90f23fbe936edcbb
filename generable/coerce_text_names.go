package generable

import (
	"slices"
	"strings"
)

// nameTable finds which of a type's parts a text names: the fields of a schema, the values of
// an enum, the variants of a union. It is made once per type.
type nameTable struct {
	how    folding
	alias  map[string]int32 // the other names, as they are
	folded map[string]int32 // all names and aliases; -1 where several parts have one
	phrase map[string]int32 // what a part means, alone or behind its name
	parts  []partName       // all names and aliases, in order
}

type partName struct {
	name string
	of   int32
}

// maxName bounds the texts that are compared with names.
const maxName = 4 * maxSuggestLen

// maxPhrase bounds the texts that are compared with descriptions.
const maxPhrase = 1 << 10

// partNames is the table of a nominal type.
func (t *Type) partNames() *nameTable {
	return kept(t, &t.made.names, func() *nameTable { return newNameTable(t) })
}

func newNameTable(t *Type) *nameTable {
	n := &nameTable{how: foldValue, folded: make(map[string]int32)}
	switch t.Kind {
	case RecordType:
		n.how = foldKey
		for i := range t.Fields {
			n.add(i, t.Fields[i].Name, t.Fields[i].Alias)
		}
	case EnumType:
		for i, v := range t.Values {
			note := t.Note(i)
			n.add(i, v, note.Alias)
			n.describe(i, v, note)
		}
	case UnionType:
		for i, name := range t.variantNames() {
			n.add(i, name, nil)
		}
	}
	return n
}

func (n *nameTable) add(i int, name string, aliases []string) {
	n.fold(n.folded, name, i)
	n.parts = append(n.parts, partName{name, int32(i)})
	for _, a := range aliases {
		if n.alias == nil {
			n.alias = make(map[string]int32)
		}
		n.alias[a] = int32(i)
		n.fold(n.folded, a, i)
		n.parts = append(n.parts, partName{a, int32(i)})
	}
}

// describe adds the texts that a model copies from a prompt: the description, and a name with
// the description behind it.
func (n *nameTable) describe(i int, name string, note ValueNote) {
	if note.Doc == "" {
		return
	}
	if n.phrase == nil {
		n.phrase = make(map[string]int32)
	}
	n.fold(n.phrase, note.Doc, i)
	for _, name := range append([]string{name}, note.Alias...) {
		n.fold(n.phrase, name+" "+note.Doc, i)
	}
}

func (n *nameTable) fold(to map[string]int32, text string, i int) {
	key := fold(text, n.how)
	if key == "" {
		return
	}
	if have, ok := to[key]; ok && have != int32(i) {
		to[key] = -1
		return
	}
	to[key] = int32(i)
}

// aliased finds the part that has the very text as an alias, or -1.
func (n *nameTable) aliased(text string) int {
	if i, ok := n.alias[text]; ok {
		return int(i)
	}
	return -1
}

// find finds the only part that a text names when case, accents and punctuation do not count.
// Where they tell two names apart, they count. It returns -1 when there is none.
func (n *nameTable) find(text string) int {
	if len(text) > maxName {
		return -1
	}
	var buf [maxName]byte
	key := appendFold(buf[:0], text, n.how)
	i, ok := n.folded[string(key)]
	if ok && i >= 0 {
		return int(i)
	}
	if !ok && len(key) > 0 {
		return -1
	}
	// Several names fold to this, or it is all punctuation.
	text = strings.Trim(text, " \t\r\n\"'`*")
	found := int32(-1)
	for _, p := range n.parts {
		if text != "" && strings.EqualFold(p.name, text) {
			if found >= 0 && found != p.of {
				return -1
			}
			found = p.of
		}
	}
	return int(found)
}

// describes finds the only part that a text describes. It returns -1 when there is none.
func (n *nameTable) describes(text string) int {
	if len(n.phrase) == 0 || len(text) > maxPhrase {
		return -1
	}
	if i, ok := n.phrase[fold(text, n.how)]; ok {
		return int(i)
	}
	return -1
}

// mentioned counts how often a text names each part, longer names first, and returns the part
// named most, or -1 and all that are named as often. A mention behind a negation is none.
// Upper and lower case count if that finds one: a is a word before it is the answer A.
func (n *nameTable) mentioned(text string) (int, []int) {
	if len(text) > maxSearched {
		return -1, nil
	}
	part, ties := -1, []int(nil)
	for _, exact := range []bool{true, false} {
		if part, ties = n.mentions(splitText(text, exact), exact); part >= 0 || len(ties) > 0 {
			break
		}
	}
	return part, ties
}

func (n *nameTable) mentions(w wordText, exact bool) (int, []int) {
	type key struct {
		text string
		of   int32
	}
	keys := make([]key, 0, len(n.parts))
	for _, p := range n.parts {
		if k := splitText(p.name, exact).text; k != "" {
			keys = append(keys, key{k, p.of})
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return len(b.text) - len(a.text) })
	taken := make([]bool, len(w.starts))
	counts := make(map[int32]int)
	most := 0
	for _, k := range keys {
		for at := 0; ; {
			i := strings.Index(w.text[at:], k.text)
			if i < 0 {
				break
			}
			at += i
			first, next := w.wordAt(at), w.wordAt(at+len(k.text))
			if first < 0 || next < 0 || slices.Contains(taken[first:next], true) {
				at++
				continue
			}
			for j := first; j < next; j++ {
				taken[j] = true
			}
			at += len(k.text)
			if !negated(w.words[:first]) {
				counts[k.of]++
				most = max(most, counts[k.of])
			}
		}
	}
	var top []int
	for _, p := range n.parts {
		if most > 0 && counts[p.of] == most && !slices.Contains(top, int(p.of)) {
			top = append(top, int(p.of))
		}
	}
	if len(top) == 1 {
		return top[0], nil
	}
	return -1, top
}
