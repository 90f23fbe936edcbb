package model

import (
	"crypto/sha256"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

// Digest returns the hash of the canonical request. It caches hashes in r, so branches must not share a Request before
// its digest was first taken.
func (r *Request) Digest() [sha256.Size]byte {
	if !r.headed {
		r.head, r.headed = r.digestHead(), true
	}
	for ; int(r.hashed) < len(r.Messages); r.hashed++ {
		b := append(make([]byte, 0, 256), r.chain[:]...)
		r.chain = sha256.Sum256(r.Messages[r.hashed].appendCanon(b))
	}
	var both [2 * sha256.Size]byte
	copy(both[:], r.head[:])
	copy(both[sha256.Size:], r.chain[:])
	return sha256.Sum256(both[:])
}

// headDigest is the digest of everything but the messages. An agent's requests share it as long as that part stays the
// same, so that a long prompt is not hashed anew in every run.
type headDigest struct {
	of  headKey
	sum [sha256.Size]byte
}

// HeadCache holds the digest that the requests of an agent share.
type HeadCache struct{ last atomic.Pointer[headDigest] }

// CacheHead makes the request read the digest of its head from a cache and store it there.
func (r *Request) CacheHead(c *HeadCache) { r.known = c }

// headKey identifies a head by the pointers in it, whose contents do not change.
type headKey struct {
	model, system   string
	tools           *ToolDef
	output          *Output
	temperature     *float64
	topP            *float64
	maxTokens, seed *int
	stop            *string
	nTools, nStop   int
	choice          ToolChoice
	effort          string
	reasoning       *int
	cache           bool
	parallel        *bool
	extra           *byte
	fallbacks       *string
	nExtra, nBack   int
}

func (r *Request) digestHead() [sha256.Size]byte {
	p := &r.Params
	key := headKey{r.Model, r.System, unsafe.SliceData(r.Tools), r.Output, p.Temperature, p.TopP, p.MaxTokens, p.Seed,
		unsafe.SliceData(p.Stop), len(r.Tools), len(p.Stop), r.Choice, p.Effort, p.ReasoningTokens, p.Cache, p.ParallelCalls,
		unsafe.SliceData(p.Extra), unsafe.SliceData(r.Fallbacks), len(p.Extra), len(r.Fallbacks)}
	if r.known != nil {
		if d := r.known.last.Load(); d != nil && d.of == key {
			return d.sum
		}
	}
	sum := sha256.Sum256(r.appendHead(make([]byte, 0, 512+len(r.System))))
	if r.known != nil {
		r.known.last.Store(&headDigest{key, sum})
	}
	return sum
}

func (r *Request) appendHead(b []byte) []byte {
	b = abi.AppendText(b, r.Model)
	b = abi.AppendText(b, r.System)
	for _, t := range r.Tools {
		b = abi.AppendText(append(b, 't'), t.Name)
		b = abi.AppendText(b, t.Description)
		if t.Params != nil {
			b = append(b, t.Params.ID()...)
		}
		if t.Schema != "" {
			b = abi.AppendText(append(b, 's'), t.Schema)
		}
	}
	if r.Output != nil {
		b = r.Output.appendCanon(b)
	}
	// Members that were added later are written only when they are set, so that the digests of requests without them
	// stay the same.
	if r.Choice != (ToolChoice{}) {
		b = abi.AppendText(abi.AppendText(append(b, 'c'), string(r.Choice.Mode)), r.Choice.Tool)
	}
	for _, m := range r.Fallbacks {
		b = abi.AppendText(append(b, 'f'), m)
	}
	return r.Params.appendCanon(b)
}

func (p *Params) appendCanon(b []byte) []byte {
	for _, f := range []*float64{p.Temperature, p.TopP} {
		b = append(b, ';')
		if f != nil {
			b = strconv.AppendFloat(b, *f, 'g', -1, 64)
		}
	}
	for _, n := range []*int{p.MaxTokens, p.Seed} {
		b = append(b, ';')
		if n != nil {
			b = strconv.AppendInt(b, int64(*n), 10)
		}
	}
	for _, s := range p.Stop {
		b = abi.AppendText(b, s)
	}
	if p.Effort != "" {
		b = abi.AppendText(append(b, 'e'), p.Effort)
	}
	if p.ReasoningTokens != nil {
		b = strconv.AppendInt(append(b, 'r'), int64(*p.ReasoningTokens), 10)
	}
	if p.Cache {
		b = append(b, 'C')
	}
	if p.ParallelCalls != nil {
		b = strconv.AppendBool(append(b, 'p'), *p.ParallelCalls)
	}
	if len(p.Extra) > 0 {
		b = abi.AppendText(append(b, 'x'), string(p.Extra))
	}
	return b
}

// sent reports whether any parameter is set.
func (p *Params) sent() bool {
	return p.Temperature != nil || p.TopP != nil || p.MaxTokens != nil || p.Seed != nil || p.Stop != nil || p.Effort != "" ||
		p.ReasoningTokens != nil || p.Cache || p.ParallelCalls != nil || len(p.Extra) > 0
}

func (m *Message) appendCanon(b []byte) []byte {
	b = append(b, m.Role...)
	for i := range m.Parts {
		p := &m.Parts[i]
		b = append(append(b, '/'), p.Kind...)
		if m.stands != nil && i == 0 {
			b = abi.AppendText(b, *m.stands)
		} else {
			b = abi.AppendText(b, p.Text)
		}
		if p.Image != nil {
			b = abi.AppendText(abi.AppendText(b, p.Image.URL), p.Image.MIME)
		}
		if p.Audio != nil {
			b = abi.AppendText(abi.AppendText(b, p.Audio.URL), p.Audio.MIME)
		}
		if p.Call != nil {
			b = abi.AppendText(b, p.Call.ID)
			b = abi.AppendText(b, p.Call.Name)
			b = abi.AppendText(b, p.Call.Args)
		}
		if p.Result != nil {
			b = abi.AppendText(b, p.Result.CallID)
			b = abi.AppendText(b, p.Result.Name)
			b = abi.AppendText(b, p.Result.Text)
			b = strconv.AppendBool(b, p.Result.IsError)
			if p.Result.Untrusted {
				b = append(b, 'u')
			}
		}
		if p.Opaque != nil {
			b = abi.AppendText(b, p.Opaque.Provider)
			b = abi.AppendText(b, p.Opaque.Data)
		}
	}
	return b
}
