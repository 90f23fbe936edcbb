package main

import (
	"fmt"
	"time"

	"github.com/agentscript/agentscript/bench/internal/measure"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// hostility is the result for one family.
type hostility struct {
	family family
	small  *measure.Measured // this decoder at half the size
	large  *measure.Measured // this decoder at the full size
	visits float64           // bytes visited per byte of the text
	own    outcome           // the result of weigh, with the default limit of depth
	deep   outcome           // the same without a limit
	peers  []string
}

// stackLimit bounds the stack of a goroutine while a family is decoded. It is the same for all sizes of text, so a
// recursive decoder dies of it.
const stackLimit = 64 << 10

// weighLimit is the factor by which the time limit of a decoder that is weighed exceeds that of a peer: the collector
// runs all the time.
const weighLimit = 4

// peerSizes are the sizes that a peer receives, in order, until one is too large for it.
var peerSizes = []int{10_000, 100_000, 1_000_000}

// hostile runs the families. This decoder is measured at the full size, the peers at peerSizes.
func (b *bench) hostile() error {
	own, err := engineNamed(ownAny)
	if err != nil {
		return err
	}
	limitless, err := engineNamed(ownDeep)
	if err != nil {
		return err
	}
	for _, f := range families {
		h := &hostility{family: f}
		b.hostilities = append(b.hostilities, h)
		small, large := f.make(b.hostileSize/2), f.make(b.hostileSize)
		decode := func(text string) measure.InProcess {
			return func() error { lenient.Decode(nil, text, generable.Options{}); return nil }
		}
		m := measure.Measure([]measure.Task{decode(small), decode(large)}, b.time/4, b.rounds)
		h.small, h.large = m[0], m[1]
		h.visits = float64(lenient.Decode(nil, large, generable.Options{}).Visits) / float64(len(large))
		d, err := b.save(&document{text: large})
		if err != nil {
			return err
		}
		h.own, h.deep = b.weigh(own, d, weighLimit*b.limit), b.weigh(limitless, d, weighLimit*b.limit)
		for _, e := range b.peers() {
			said, err := b.peer(e, f)
			if err != nil {
				return err
			}
			h.peers = append(h.peers, said)
		}
		b.progress("%s: %s", f.name, measure.Duration(h.large.NS()))
	}
	return nil
}

// peers returns the decoders that are made for broken texts.
func (b *bench) peers() []*engine {
	var all []*engine
	for _, e := range b.engines {
		if e.repairs && !e.own && (!e.node || b.node != nil) {
			all = append(all, e)
		}
	}
	return all
}

// peer runs a peer on longer and longer texts of a family, and returns how long the last one took or why it ended.
func (b *bench) peer(e *engine, f family) (string, error) {
	said := ""
	for _, n := range peerSizes {
		if n > b.hostileSize {
			break
		}
		d, err := b.save(&document{text: f.make(n)})
		if err != nil {
			return "", err
		}
		o := b.probe(e, d, b.limit)
		said = measure.Duration(float64(o.CPU))
		switch {
		case o.Over:
			return fmt.Sprintf("over %v at %s", b.limit, amount(n)), nil
		case o.Died != "":
			return "dies at " + amount(n), nil
		case o.Err != "":
			said += ", error"
		}
	}
	return said, nil
}

// bracketsCell is the result of one engine for a text of only opening brackets.
type bracketsCell struct {
	engine *engine
	came   outcome
}

// brackets runs every engine on the text that kills recursive decoders.
func (b *bench) brackets() error {
	d, err := b.save(&document{text: families[0].make(b.hostileSize)})
	if err != nil {
		return err
	}
	limitless, err := engineNamed(ownDeep)
	if err != nil {
		return err
	}
	for _, e := range b.engines {
		if e.node && b.node == nil {
			continue
		}
		b.bracketed = append(b.bracketed, bracketsCell{e, b.probe(e, d, b.limit)})
		if e.name == ownAny {
			b.bracketed = append(b.bracketed, bracketsCell{limitless, b.probe(limitless, d, b.limit)})
		}
	}
	return nil
}

func (b *bench) hostileTables() []measure.Table {
	var all []measure.Table
	if b.bracketed != nil {
		t := measure.Table{Title: amount(b.hostileSize) + " of [", Head: []string{"decoder", "time", "came to"}}
		for _, c := range b.bracketed {
			said := c.came.says(b.limit)
			took := measure.Duration(float64(c.came.CPU))
			if c.came.Over || c.came.Died != "" {
				took = ""
			} else if said == "" {
				said = "a value"
			}
			t.Rows = append(t.Rows, []string{c.engine.name, took, said})
		}
		all = append(all, t)
	}
	if b.hostilities == nil {
		return all
	}
	own := measure.Table{
		Title: "Hostile texts of " + amount(b.hostileSize) + ": agentscript",
		Head:  []string{"text", "time", "beside half of it", "visits per byte", "heap per byte", "heap per byte, no depth limit"},
	}
	peers := measure.Table{Title: "Hostile texts of up to " + amount(min(b.hostileSize, peerSizes[len(peerSizes)-1])) + ": the peers", Head: []string{"text"}}
	for _, e := range b.peers() {
		peers.Head = append(peers.Head, e.name)
	}
	for _, h := range b.hostilities {
		own.Rows = append(own.Rows, []string{
			h.family.name, measure.Duration(h.large.NS()), measure.Figure(h.growth()) + " times", measure.Figure(h.visits), b.heapOf(h.own), b.heapOf(h.deep),
		})
		peers.Rows = append(peers.Rows, append([]string{h.family.name}, h.peers...))
	}
	return append(all, own, peers)
}

// heapOf returns the figure that weigh measured, or the reason for its absence.
func (b *bench) heapOf(o outcome) string {
	if said := o.says(weighLimit * b.limit); said != "" {
		return said
	}
	return measure.Figure(o.Heap)
}

// growth returns how many times longer the text takes than half of it.
func (h *hostility) growth() float64 { return measure.Ratio(h.large, h.small) }

func amount(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%d MB", n/1_000_000)
	case n >= 1000:
		return fmt.Sprintf("%d KB", n/1000)
	}
	return fmt.Sprintf("%d B", n)
}

// defaultLimit is the time limit of a peer for a hostile text.
const defaultLimit = 5 * time.Second
