package main

import (
	"fmt"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// bars compares the measurements with the targets.
func (b *bench) bars() []measure.Bar {
	var all []measure.Bar
	add := func(what, want, got string, met bool) {
		all = append(all, measure.Bar{What: what, Want: want, Got: got, Met: met})
	}
	beside := func(what string, a, of *cell, most float64, want string) {
		if a != nil && of != nil {
			r := measure.Ratio(a.took, of.took)
			add(what, want, fmt.Sprintf("%.2f times", r), r <= most)
		}
	}
	for _, s := range sizes {
		typed, std := b.cellOf(ownTyped, s.name, clean), b.cellOf(stdAny, s.name, clean)
		if typed != nil && std != nil {
			r := measure.Ratio(std.took, typed.took)
			add("decoding "+s.name+" of clean JSON into typed values, in the speed of `encoding/json` into `any`", "2 times or more", fmt.Sprintf("%.2f times", r), r >= 2)
		}
		if typed != nil && s.name == sizes[0].name {
			add("decoding "+s.name+" of clean JSON into typed values, in time", "10 µs", measure.Duration(typed.took.NS()), typed.took.NS() <= 10_000)
			add("decoding "+s.name+" of clean JSON into typed values, in allocations", "60", measure.Figure(typed.took.Allocs), typed.took.Allocs <= 60)
		}
		beside("decoding "+s.name+" in a fence with prose, in the time of the clean text", b.cellOf(ownTyped, s.name, fenced), typed, 1.3, "1.3 times")
		if cut := b.cellOf(ownTyped, s.name, broken); cut != nil && std != nil {
			r := measure.Ratio(std.took, cut.took) * float64(len(cut.doc.text)) / float64(len(std.doc.text))
			add("decoding "+s.name+" of broken JSON, in the speed of `encoding/json` on the clean text", "1 time or more", fmt.Sprintf("%.2f times", r), r >= 1)
		}
		beside("decoding "+s.name+" in tokens of 4 bytes with events, in the time of the whole text at once", b.cellOf(ownEvents, s.name, streamed), typed, 4, "4 times")
	}
	if own := b.ownCells(); own != nil {
		right := 0
		for _, c := range own {
			if c.came.says(0) == "" && c.came.Score.perfect() {
				right++
			}
		}
		add("decoding all of these texts, each item right and nothing beside", fmt.Sprintf("%d of %d", len(own), len(own)), fmt.Sprintf("%d of %d", right, len(own)), right == len(own))
	}
	for _, c := range b.bracketed {
		if c.engine.own && c.engine.name != ownTyped {
			got := measure.Duration(float64(c.came.CPU))
			if c.came.Over || c.came.Died != "" {
				got = c.came.says(b.limit)
			}
			add(fmt.Sprintf("decoding %s of [, %s", amount(b.hostileSize), c.engine.name), "1 s", got, !c.came.Over && c.came.Died == "" && c.came.CPU.Seconds() <= 1)
		}
	}
	return append(all, b.hostileBars()...)
}

func (b *bench) ownCells() (own []*cell) {
	for _, c := range b.cells {
		if c.engine.own {
			own = append(own, c)
		}
	}
	return own
}

// hostileBars compares the worst family for each figure with its target.
func (b *bench) hostileBars() []measure.Bar {
	if b.hostilities == nil {
		return nil
	}
	worst := func(what, want string, most float64, unit string, of func(*hostility) float64) measure.Bar {
		top := b.hostilities[0]
		for _, h := range b.hostilities {
			if of(h) > of(top) {
				top = h
			}
		}
		return measure.Bar{What: what, Want: want, Got: fmt.Sprintf("%.2f%s (%s)", of(top), unit, top.family.name), Met: of(top) <= most}
	}
	over := fmt.Sprintf("decoding %d families of hostile texts of %s: ", len(b.hostilities), amount(b.hostileSize))
	all := []measure.Bar{
		worst(over+"time in that of half of the text", "2.3 times", 2.3, " times", (*hostility).growth),
		worst(over+"visits", "4 per byte", 4, "", func(h *hostility) float64 { return h.visits }),
	}
	for _, way := range []struct {
		name string
		of   func(*hostility) outcome
	}{
		{"", func(h *hostility) outcome { return h.own }},
		{", no depth limit", func(h *hostility) outcome { return h.deep }},
	} {
		failed := 0
		for _, h := range b.hostilities {
			if way.of(h).says(0) != "" {
				failed++
			}
		}
		all = append(all,
			worst(over+"live heap at the peak"+way.name, "48 B per byte", 48, "", func(h *hostility) float64 { return way.of(h).Heap }),
			measure.Bar{What: over + "those that need more than 64 KiB of stack, or do not end" + way.name, Want: "0", Got: fmt.Sprint(failed), Met: failed == 0})
	}
	return all
}
