package engine

// Calls is what a callback does at a place of its own in the run: several things at once, or
// one after the other, each on a branch. Their positions read like those of the structures:
// main/parallel0[3] is the fourth branch of the first one that main made.
type Calls struct {
	b    *branch
	at   *Frame // of the callback
	word string
	n    int
}

// CallsAt opens the next place of a word in the callback that runs on a branch. Places are counted
// per word, in the order in which the callback opens them.
func CallsAt(b Branch, word string) Calls {
	own := b.(*branch)
	return Calls{own, own.inCallback(), word, own.ordinal(callKey{word, ""})}
}

// inCallback is the position of what the running callback does.
func (b *branch) inCallback() *Frame {
	if b.callback.scope == "" {
		return b.at
	}
	return b.at.child(b.callback.scope, "", b.callback.n)
}

// place is the position of the next thing that the running callback does of a word, counted like
// the places of [CallsAt]. kind is what is done there, "" when the word says it.
func (b *branch) place(word, kind string) *Frame {
	return b.inCallback().child(word, kind, b.ordinal(callKey{word, ""}))
}

// ordinal counts what the running callback does of a kind and name.
func (b *branch) ordinal(key callKey) int {
	if b.callback.calls == nil {
		b.callback.calls = &tally{}
	}
	return b.callback.calls.count(key)
}

// tally counts by key. Most callbacks have a few keys, for which a map is ten times as large: it
// is held by every run that is parked in a function.
type tally struct {
	few  []tallied
	many map[callKey]int // instead, beyond fewKeys
}

type tallied struct {
	key callKey
	n   int
}

const fewKeys = 8

// count gives how often a key was counted before, and counts it.
func (t *tally) count(key callKey) int {
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
		t.many = make(map[callKey]int, 2*fewKeys)
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

// All runs body for 0 ≤ i < n, at most limit at once (0: all), and returns when all have ended. A
// body that fails cancels the others, and the error of the lowest index is returned.
func (c Calls) All(n, limit int, body func(i int, br Branch) error) error {
	return c.b.sched.Par(n, limit, func(i int, s Sched) error { return c.run(i, c.branch(i, s), body) })
}

// One runs one body, at index i, before it returns.
func (c Calls) One(i int, body func(br Branch) error) error {
	br := c.branch(i, c.b.sched)
	err := c.run(i, br, func(_ int, br Branch) error { return body(br) })
	if err == nil { // what comes next goes on with what was said
		c.b.talk = br.talk
	}
	return err
}

// branch is the branch of body i.
func (c Calls) branch(i int, s Sched) *branch {
	br := c.b.fork(s, c.at.child(c.word, "", c.n).index(i))
	br.heard = hearing{} // a forum's members alone hear what was said
	br.depth++
	br.Apart()
	return br
}

// run is one body on its branch. A panic is its error.
func (c Calls) run(i int, br *branch, body func(i int, br Branch) error) error {
	return br.guard(func() error {
		if br.depth > MaxNesting {
			return br.locate(tooDeep(), nil)
		}
		if err := br.sched.Err(); err != nil {
			return br.locate(err, nil)
		}
		if err := body(i, br); err != nil {
			return br.locate(err, nil)
		}
		return nil
	})
}

func (b *branch) Wait(ready func() bool) error { return b.sched.Wait(ready) }

func (b *branch) Wake() { b.sched.Wake() }
