package model

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// Rewritten returns a request with all texts passed through do, r itself if none changes. by identifies the rewriting:
// messages that a rewriting with the same number has already seen, in this request or in one that it extends, are
// skipped.
func (r *Request) Rewritten(by uint32, do func(string) string) *Request {
	if r.by != by {
		r.by, r.passed = by, 0
	}
	own := r
	change := func() *Request {
		if own == r {
			copied := *r
			own = &copied
		}
		return own
	}
	r.rewriteHead(do, change)
	for i := int(r.passed); i < len(r.Messages); i++ {
		m := r.Messages[i]
		if m.stands != nil {
			if whole := do(*m.stands); whole != *m.stands {
				m.stands = &whole
			}
		}
		parts := rewrittenParts(m.Parts, do)
		if parts != nil {
			m.Parts = parts
		} else if m.stands == r.Messages[i].stands {
			continue
		}
		if own == r || len(own.Messages) > 0 && &own.Messages[0] == &r.Messages[0] {
			change().Messages = slices.Clone(r.Messages)
		}
		own.Messages[i] = m
		if i < int(r.hashed) {
			own.chain, own.hashed = [sha256.Size]byte{}, 0
		}
	}
	own.passed = int32(len(own.Messages))
	return own
}

// rewriteHead passes all texts but those of the messages through do.
func (r *Request) rewriteHead(do func(string) string, change func() *Request) {
	head := func() *Request {
		own := change()
		own.headed, own.known = false, nil
		return own
	}
	if s := do(r.System); s != r.System {
		head().System = s
	}
	for i := range r.Tools {
		t := r.Tools[i]
		if t.Description, t.Schema = do(t.Description), do(t.Schema); t.Description == r.Tools[i].Description && t.Schema == r.Tools[i].Schema {
			continue
		}
		own := head()
		if &own.Tools[0] == &r.Tools[0] {
			own.Tools = slices.Clone(r.Tools)
		}
		own.Tools[i] = t
	}
	if x := string(r.Params.Extra); x != "" && do(x) != x {
		head().Params.Extra = json.RawMessage(do(x))
	}
	for i, s := range r.Params.Stop {
		if do(s) != s {
			own := head()
			own.Params.Stop = slices.Clone(own.Params.Stop)
			own.Params.Stop[i] = do(s)
		}
	}
}

// Rewritten returns the answer with all texts passed through do, r itself if none changes. Nil stays nil.
func (r *Response) Rewritten(do func(string) string) *Response {
	if r == nil {
		return nil
	}
	same := true
	each := func(t *string) { same = same && do(*t) == *t }
	r.EachText(each)
	if same {
		return r
	}
	own := *r
	own.Parts, own.Citations = slices.Clone(r.Parts), slices.Clone(r.Citations)
	for i := range own.Parts {
		own.Parts[i].own()
	}
	own.EachText(func(t *string) { *t = do(*t) })
	return &own
}

// rewrittenParts returns parts with their texts passed through do, nil if none changes.
func rewrittenParts(parts []Part, do func(string) string) []Part {
	same := true
	for i := range parts {
		parts[i].eachText(func(t *string) { same = same && do(*t) == *t })
	}
	if same {
		return nil
	}
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].own()
		parts[i].eachText(func(t *string) { *t = do(*t) })
	}
	return parts
}

// own replaces what the part shares with others by copies.
func (p *Part) own() {
	p.Image, p.Audio, p.Call, p.Result, p.Opaque = clone(p.Image), clone(p.Audio), clone(p.Call), clone(p.Result), clone(p.Opaque)
	p.Of = clone(p.Of)
}

func (p *Part) eachText(do func(*string)) {
	each := func(texts ...*string) {
		for _, t := range texts {
			do(t)
		}
	}
	each((*string)(&p.Kind), &p.Text)
	if p.Of != nil {
		each(p.Of)
	}
	if p.Image != nil {
		each(&p.Image.URL, &p.Image.MIME)
	}
	if p.Audio != nil {
		each(&p.Audio.URL, &p.Audio.MIME)
	}
	if p.Call != nil {
		each(&p.Call.ID, &p.Call.Name, &p.Call.Args, &p.Call.Dialect)
	}
	if p.Result != nil {
		each(&p.Result.CallID, &p.Result.Name, &p.Result.Text)
	}
	if p.Opaque != nil {
		each(&p.Opaque.Provider, &p.Opaque.Data)
	}
}
