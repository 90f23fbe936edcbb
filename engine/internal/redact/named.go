package redact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine/internal/secretforms"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Redactor removes secrets from texts. All sessions with a server share one.
type Redactor struct {
	Mark string // the replacement for a secret, %s for its name; "[%s]" if empty

	mu      sync.RWMutex
	secrets []secret // all forms of a value that programs write
	m       *matcher
}

type secret struct{ name, value, form string }

// minSecret keeps very short values from being replaced everywhere.
const minSecret = 4

// maxSameName bounds how many values of one name are known: tokens are renewed for as long as a host lives,
// and old ones are useless.
const maxSameName = 512

// Add makes a name stand for a value: of several names of one value, the first alphabetically.
func (v *Redactor) Add(name, value string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(value) < minSecret || slices.Contains(v.secrets, secret{name, value, value}) {
		return
	}
	named := func(s secret) bool { return s.name == name }
	known := 0
	for _, s := range v.secrets {
		if named(s) {
			known++
		}
	}
	forms := secretforms.Of(value)
	for ; known > 0 && known+len(forms) > maxSameName; known-- {
		oldest := slices.IndexFunc(v.secrets, named)
		v.secrets = slices.Delete(v.secrets, oldest, oldest+1)
	}
	for _, form := range forms {
		v.secrets = append(v.secrets, secret{name, value, form})
	}
	words := make([]word, len(v.secrets))
	for i, s := range v.secrets {
		words[i] = word{s.form, fmt.Sprintf(cmp.Or(v.Mark, "[%s]"), s.name)}
	}
	v.m = newMatcher(words)
}

// Values returns the values of the secrets.
func (v *Redactor) Values() (values []string) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, s := range v.secrets {
		if s.form == s.value {
			values = append(values, s.value)
		}
	}
	return values
}

// Text returns a text without the secrets.
func (v *Redactor) Text(s string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.m.replace(s)
}

// Brief returns a shortened text from a peer, truncated only after secrets are removed.
func (v *Redactor) Brief(s string) string { return text.Brief(v.Text(s)) }

// Behind returns a text whose start is missing, without the remaining part of a secret there.
func (v *Redactor) Behind(s string) string {
	return s[v.lost(s, func(form string, n int) bool { return strings.HasSuffix(form, s[:n]) }):]
}

// lost returns the length of the longest proper part of a secret for which is holds.
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

// Margin returns how much of a text beyond a cut must be searched, see [Set.Margin].
func (v *Redactor) Margin() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.m == nil {
		return 0
	}
	return (&Set{m: v.m}).Margin()
}

// Value removes secrets from all texts of a value.
func (v *Redactor) Value(x generable.Value) generable.Value {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.m != nil {
		x, _ = v.m.value(x)
	}
	return x
}
