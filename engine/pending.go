package engine

import "sync"

// pending are the effects of a run that were dispatched and have not returned, oldest first. They
// link themselves, so that keeping the list allocates nothing.
type pending struct {
	mu          sync.Mutex
	first, last *Effect
}

func (p *pending) add(e *Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.before = p.last
	if p.last == nil {
		p.first = e
	} else {
		p.last.after = e
	}
	p.last = e
}

func (p *pending) remove(e *Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.before == nil {
		p.first = e.after
	} else {
		e.before.after = e.after
	}
	if e.after == nil {
		p.last = e.before
	} else {
		e.after.before = e.before
	}
	e.before, e.after = nil, nil
}

func (p *pending) list() (all []*Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := p.first; e != nil; e = e.after {
		all = append(all, e)
	}
	return all
}
