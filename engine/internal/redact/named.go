package redact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine/internal/spelling"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Redactor takes secrets out of texts. All sessions with a server share one.
type Redactor struct {
	Mark string // what stands in the place of a secret, %s for its name; "[%s]" where it is empty

	mu      sync.RWMutex
	secrets []secret // of a value all forms that programs write
	r       *strings.Replacer
}

type secret struct{ name, form string }

// minSecret keeps very short values from making holes in every text.
const minSecret = 4

// maxSameName bounds how many spellings of the values of one name are known: tokens are renewed for as long as a host
// lives, and those of long ago are of no use to anybody.
const maxSameName = 128

// Add has a name stand for a value: of several names of one value the first in the alphabet.
func (v *Redactor) Add(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(value) < minSecret || slices.Contains(v.secrets, secret{name, value}) {
		return
	}
	named := func(s secret) bool { return s.name == name }
	known := 0
	for _, s := range v.secrets {
		if named(s) {
			known++
		}
	}
	forms := spelling.Of(value)
	for ; known > 0 && known+len(forms) > maxSameName; known-- {
		oldest := slices.IndexFunc(v.secrets, named)
		v.secrets = slices.Delete(v.secrets, oldest, oldest+1)
	}
	for _, form := range forms {
		v.secrets = append(v.secrets, secret{name, form})
	}
	longest := slices.Clone(v.secrets)
	slices.SortFunc(longest, func(a, b secret) int {
		return cmp.Or(cmp.Compare(len(b.form), len(a.form)), cmp.Compare(a.name, b.name))
	})
	var pairs []string
	for _, s := range longest {
		pairs = append(pairs, s.form, fmt.Sprintf(cmp.Or(v.Mark, "[%s]"), s.name))
	}
	v.r = strings.NewReplacer(pairs...)
}

// Text is a text without the secrets.
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
	return s[v.lost(s, func(form string, n int) bool { return strings.HasSuffix(form, s[:n]) }):]
}

// Ahead is a text of which the end is lost, without what is left of a secret there.
func (v *Redactor) Ahead(s string) string {
	return s[:len(s)-v.lost(s, func(form string, n int) bool { return strings.HasSuffix(s, form[:n]) })]
}

// lost is the length of the longest piece of a secret, and not all of it, for which is holds.
func (v *Redactor) lost(s string, is func(form string, n int) bool) (most int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, known := range v.secrets {
		for n := min(len(known.form)-1, len(s)); n > most; n-- {
			if is(known.form, n) {
				most = n
			}
		}
	}
	return most
}

// Longest is the length of the longest form of a secret.
func (v *Redactor) Longest() (n int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, known := range v.secrets {
		n = max(n, len(known.form))
	}
	return n
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
