// Package naming finds which of several names a text means, ignoring case, accents, punctuation and the words around
// a name.
package naming

import (
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Table finds which of a type's parts a text names: the fields of a schema, the values of an enum, the variants of a
// union. It is built once per type.
type Table struct {
	how    Folding
	signs  bool              // some name has a significant sign
	alias  map[string]int32  // the aliases, verbatim
	folded map[string]int32  // all names and aliases; -1 where several parts share one
	phrase map[string]int32  // the meaning of a part, alone or after its name
	parts  []partName        // all names and aliases, in order
	words  func() []partName // [Table.byLength], in lower case
	cased  func() []partName // the same in their original case
}

type partName struct {
	name string
	of   int32
}

// MaxName bounds the texts that are compared with names.
const MaxName = 4 * message.MaxName

// maxPhrase bounds the texts that are compared with descriptions.
const maxPhrase = 1 << 10

// NewTable returns an empty table for names that are folded by how. signs says that some name has a significant sign.
func NewTable(how Folding, signs bool) *Table {
	n := &Table{how: how, signs: signs, folded: make(map[string]int32)}
	n.words = sync.OnceValue(func() []partName { return n.byLength(false) })
	n.cased = sync.OnceValue(func() []partName { return n.byLength(true) })
	return n
}

// HasSigns reports whether a name has a sign that distinguishes it from other texts.
func HasSigns(name string) bool { return len(appendSigns(nil, plainSigns(name, true))) > 0 }

// appendKey appends the lookup key of a name.
func (n *Table) appendKey(b []byte, name string) []byte {
	if n.how != Values {
		return appendFold(b, name, n.how)
	}
	name = plainSigns(name, n.signs)
	from := len(b)
	b = appendFold(b, name, n.how)
	if n.signs && len(b) > from {
		b = appendSigns(append(b, 0), name)
	}
	return b
}

func (n *Table) Add(i int, name string, aliases []string) {
	enter(n.folded, string(n.appendKey(nil, name)), i)
	n.parts = append(n.parts, partName{name, int32(i)})
	for _, a := range aliases {
		if n.alias == nil {
			n.alias = make(map[string]int32)
		}
		n.alias[a] = int32(i)
		enter(n.folded, string(n.appendKey(nil, a)), i)
		n.parts = append(n.parts, partName{a, int32(i)})
	}
}

// Describe adds the texts that a model may copy from a prompt: the description, and a name followed by the
// description.
func (n *Table) Describe(i int, name string, aliases []string, doc string) {
	if doc == "" {
		return
	}
	if n.phrase == nil {
		n.phrase = make(map[string]int32)
	}
	enter(n.phrase, fold(doc, n.how), i)
	for _, name := range append([]string{name}, aliases...) {
		enter(n.phrase, fold(name+" "+doc, n.how), i)
	}
}

// enter assigns a key to part i, or to no part if another part has it.
func enter(to map[string]int32, key string, i int) {
	if key == "" {
		return
	}
	if have, ok := to[key]; ok && have != int32(i) {
		to[key] = -1
		return
	}
	to[key] = int32(i)
}

// Aliased returns the part that has exactly this text as an alias, or -1.
func (n *Table) Aliased(text string) int {
	if i, ok := n.alias[text]; ok {
		return int(i)
	}
	return -1
}

// Find returns the only part that a text names, ignoring case, accents and punctuation unless they distinguish two
// names. It returns -1 without such a part.
func (n *Table) Find(text string) int {
	if len(text) > MaxName {
		return -1
	}
	var buf [MaxName]byte
	key := n.appendKey(buf[:0], text)
	i, ok := n.folded[string(key)]
	if ok && i >= 0 {
		if n.how == Values && doubted(plainSigns(text, true)) && !slices.ContainsFunc(n.parts, func(p partName) bool { return p.of == i && doubted(p.name) }) {
			return -1
		}
		return int(i)
	}
	if !ok && len(key) > 0 {
		return -1
	}
	// Several names fold to this, or the text is only punctuation.
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

// Describes returns the only part that a text describes, or -1.
func (n *Table) Describes(text string) int {
	if len(n.phrase) == 0 || len(text) > maxPhrase {
		return -1
	}
	if i, ok := n.phrase[fold(text, n.how)]; ok {
		return int(i)
	}
	return -1
}

// Mentioned counts how often a text names each part, longer names first, and returns the part that is named most
// often, or -1 and all parts that are named equally often. A mention after a negation does not count. Case is
// significant if that leads to a result: a is a word before it is the answer A.
func (n *Table) Mentioned(text string) (int, []int) {
	if len(text) > MaxSearched {
		return -1, nil
	}
	part, ties := -1, []int(nil)
	for _, exact := range []bool{true, false} {
		if part, ties = n.mentions(splitText(text, exact, n.signs), exact); part >= 0 || len(ties) > 0 {
			break
		}
	}
	return part, ties
}

// byLength lists all names reduced to their words, longer ones first.
func (n *Table) byLength(exact bool) []partName {
	keys := make([]partName, 0, len(n.parts))
	for _, p := range n.parts {
		if k := splitText(p.name, exact, n.signs).text; k != "" {
			keys = append(keys, partName{k, p.of})
		}
	}
	sorting.By(keys, func(a, b partName) int { return len(b.name) - len(a.name) })
	return keys
}

func (n *Table) mentions(w wordText, exact bool) (int, []int) {
	keys := n.words
	if exact {
		keys = n.cased
	}
	taken := make([]bool, len(w.starts))
	counts := make(map[int32]int)
	most := 0
	for _, k := range keys() {
		for at := 0; len(w.text)-at >= len(k.name); {
			i := strings.Index(w.text[at:], k.name)
			if i < 0 {
				break
			}
			at += i
			first, next := w.wordAt(at), w.wordAt(at+len(k.name))
			if first < 0 || next < 0 || slices.Contains(taken[first:next], true) {
				at++
				continue
			}
			for j := first; j < next; j++ {
				taken[j] = true
			}
			at += len(k.name)
			if !Negated(w.words[:first]) {
				counts[k.of]++
				most = max(most, counts[k.of])
			}
		}
	}
	var top []int
	if most == 0 {
		return -1, nil
	}
	for _, p := range n.parts {
		if counts[p.of] == most && !slices.Contains(top, int(p.of)) {
			top = append(top, int(p.of))
		}
	}
	if len(top) == 1 {
		return top[0], nil
	}
	return -1, top
}
