package exec

import "github.com/agentscript/agentscript/engine"

// InCallback is the position of what the running callback does.
func (b *Branch) InCallback() *engine.Frame {
	if b.Callback.Scope == "" {
		return b.At
	}
	return b.At.Child(b.Callback.Scope, "", b.Callback.N)
}

// place is the position of the next thing that the running callback does of a word, counted like
// the places of [run.CallsAt]. kind is what is done there, "" when the word says it.
func (b *Branch) place(word, kind string) *engine.Frame {
	return b.InCallback().Child(word, kind, b.Ordinal(CallKey{word, ""}))
}

// Ordinal counts what the running callback does of a kind and name.
func (b *Branch) Ordinal(key CallKey) int {
	if b.Callback.calls == nil {
		b.Callback.calls = &Tally{}
	}
	return b.Callback.calls.Count(key)
}

// Tally counts by key. Most callbacks have a few keys, for which a map is ten times as large: it
// is held by every run that is parked in a function.
type Tally struct {
	few  []tallied
	many map[CallKey]int // instead, beyond fewKeys
}

type tallied struct {
	key CallKey
	n   int
}

const fewKeys = 8

// Count gives how often a key was counted before, and counts it.
func (t *Tally) Count(key CallKey) int {
	if t.many != nil {
		n := t.many[key]
		t.many[key] = n + 1
		return n
	}
	for i := range t.few {
		if e := &t.few[i]; e.key == key {
			e.n++
			return e.n - 1
		}
	}
	if len(t.few) == fewKeys {
		t.many = make(map[CallKey]int, 2*fewKeys)
		for _, e := range t.few {
			t.many[e.key] = e.n
		}
		t.few = nil
		t.many[key] = 1
		return 0
	}
	t.few = append(t.few, tallied{key, 1})
	return 0
}

func (b *Branch) Wait(ready func() bool) error { return b.Sched.Wait(ready) }

func (b *Branch) Wake() { b.Sched.Wake() }
