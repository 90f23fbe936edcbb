package redact

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine/internal/spelling"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Redactor takes secrets out of texts. All sessions with a server share one.
type Redactor struct {
	mu            sync.RWMutex
	names, values []string // of a value all forms that programs write
	r             *strings.Replacer
}

// minSecret keeps very short values from making holes in every text.
const minSecret = 4

// maxSameName bounds how many spellings of the values of one name are known: tokens are renewed for as long as a host
// lives, and those of long ago are of no use to anybody.
const maxSameName = 128

func indexes(names []string, name string) (at []int) {
	for i, n := range names {
		if n == name {
			at = append(at, i)
		}
	}
	return at
}

func (v *Redactor) Add(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(value) < minSecret || slices.Contains(v.values, value) {
		return
	}
	forms := spelling.Of(value)
	for same := indexes(v.names, name); len(same) > 0 && len(same)+len(forms) > maxSameName; same = indexes(v.names, name) {
		v.names, v.values = slices.Delete(v.names, same[0], same[0]+1), slices.Delete(v.values, same[0], same[0]+1)
	}
	for _, form := range forms {
		v.names, v.values = append(v.names, name), append(v.values, form)
	}
	order := make([]int, len(v.values))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return len(v.values[order[a]]) > len(v.values[order[b]]) })
	var pairs []string
	for _, i := range order {
		pairs = append(pairs, v.values[i], "["+v.names[i]+"]")
	}
	v.r = strings.NewReplacer(pairs...)
}

func (v *Redactor) Text(s string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.r == nil {
		return s
	}
	return v.r.Replace(s)
}

func (v *Redactor) empty() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.r == nil
}

// Brief is a text that the other side decides about, cut only when no secret is in it any more.
func (v *Redactor) Brief(s string) string { return text.Brief(v.Text(s)) }

// Behind is a text of which the beginning is lost, without what is left of a secret there.
func (v *Redactor) Behind(s string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	from := 0
	for _, form := range v.values {
		for n := min(len(form)-1, len(s)); n > from; n-- {
			if s[:n] == form[len(form)-n:] {
				from = n
			}
		}
	}
	return s[from:]
}

// Value takes secrets out of all texts of a value.
func (v *Redactor) Value(x generable.Value) generable.Value {
	if v.empty() {
		return x
	}
	if s, ok := x.AsStr(); ok {
		return generable.StrOf(v.Text(s))
	}
	if l, ok := x.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = v.Value(l.At(i))
		}
		return generable.NewList(items).Value()
	}
	if m, ok := x.AsMap(); ok {
		out := generable.NewMap(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			out.Set(v.Text(key), v.Value(item))
		}
		return out.Value()
	}
	return x
}
