package mcp

import (
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/spelling"
	"github.com/agentscript/agentscript/generable"
)

// resolved are the values of settings, by name.
type resolved map[string]string

// resolve looks up what settings stand for. The values that must not be seen go into hidden.
func (c *Client) resolve(spec *engine.ServerSpec, settings []engine.Setting, hidden *veil) (resolved, *engine.Error) {
	out := resolved{}
	for _, s := range settings {
		value := ""
		if s.Secret != "" {
			secret, err := c.secret(spec, s.Secret, s.Name, hidden)
			if err != nil {
				return nil, err
			}
			if strings.ContainsAny(secret, "\r\n\x00") {
				return nil, engine.Errorf(engine.KindConfig, diag.NoSecret, "the secret %s of MCP server %q holds a line break or a NUL", s.Secret, spec.Name).
					WithHelp("set it to one line")
			}
			value = secret
		}
		out[s.Name] = s.Value + value
	}
	return out, nil
}

// secret looks up one that is for something.
func (c *Client) secret(spec *engine.ServerSpec, name, use string, hidden *veil) (string, *engine.Error) {
	if err := c.allowed(spec, engine.EffectEnv, name); err != nil {
		return "", err
	}
	secret, ok := c.cfg.secrets(name)
	if !ok || secret == "" {
		return "", engine.Errorf(engine.KindConfig, diag.NoSecret, "MCP server %q needs the secret %s for %s, and it is not set", spec.Name, name, use).
			WithHelp("set %s in the environment, or have the host give it", name)
	}
	hidden.add(name, secret)
	return secret, nil
}

// allowed asks whether a server may have what it needs.
func (c *Client) allowed(spec *engine.ServerSpec, kind engine.EffectKind, target string) *engine.Error {
	use := engine.Use{Kind: kind, Target: target}
	why := errNotGranted
	if c.cfg.allow != nil {
		if why = c.cfg.allow(use); why == nil {
			return nil
		}
	}
	verb := map[engine.EffectKind]string{engine.EffectExec: "start", engine.EffectHTTP: "be reached at", engine.EffectEnv: "be given the secret"}[kind]
	return engine.Errorf(engine.KindConfig, diag.ServerNotGranted, "MCP server %q may not %s %q: %w", spec.Name, verb, target, why).
		WithHelp("grant it with %s", use.Flag())
}

// veil takes secrets out of texts. All sessions with a server share one.
type veil struct {
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

func (v *veil) add(name, value string) {
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

func (v *veil) text(s string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.r == nil {
		return s
	}
	return v.r.Replace(s)
}

func (v *veil) empty() bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.r == nil
}

// brief is a text that the other side decides about, cut only when no secret is in it any more.
func (v *veil) brief(s string) string { return brief(v.text(s)) }

// behind is a text of which the beginning is lost, without what is left of a secret there.
func (v *veil) behind(s string) string {
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

// value takes secrets out of all texts of a value.
func (v *veil) value(x generable.Value) generable.Value {
	if v.empty() {
		return x
	}
	if s, ok := x.AsStr(); ok {
		return generable.StrOf(v.text(s))
	}
	if l, ok := x.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = v.value(l.At(i))
		}
		return generable.NewList(items).Value()
	}
	if m, ok := x.AsMap(); ok {
		out := generable.NewMap(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			out.Set(v.text(key), v.value(item))
		}
		return out.Value()
	}
	return x
}
