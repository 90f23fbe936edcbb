package main

import "fmt"

// bar is a promise about speed or size, and whether it was kept.
type bar struct {
	what, want, got string
	met             bool
}

// bars holds what was measured against what is wanted.
func (b *bench) bars() []bar {
	var all []bar
	add := func(what, want, got string, met bool) { all = append(all, bar{what, want, got, met}) }
	beside := func(what string, a, of *cell, most float64, want string) {
		if a != nil && of != nil {
			r := ratio(a.took, of.took)
			add(what, want, fmt.Sprintf("%.2f times", r), r <= most)
		}
	}
	for _, s := range sizes {
		typed, std := b.cellOf(ownTyped, s.name, clean), b.cellOf(stdAny, s.name, clean)
		if typed != nil && std != nil {
			r := ratio(std.took, typed.took)
			add("decoding "+s.name+" of clean JSON into typed values, in the speed of `encoding/json` into `any`", "2 times or more", fmt.Sprintf("%.2f times", r), r >= 2)
		}
		if typed != nil && s.name == sizes[0].name {
			add("decoding "+s.name+" of clean JSON into typed values, in time", "10 µs", duration(typed.took.ns()), typed.took.ns() <= 10_000)
			add("decoding "+s.name+" of clean JSON into typed values, in allocations", "60", figure(typed.took.allocs), typed.took.allocs <= 60)
		}
		beside("decoding "+s.name+" in a fence with prose, in the time of the clean text", b.cellOf(ownTyped, s.name, fenced), typed, 1.3, "1.3 times")
		if cut := b.cellOf(ownTyped, s.name, broken); cut != nil && std != nil {
			r := ratio(std.took, cut.took) * float64(len(cut.doc.text)) / float64(len(std.doc.text))
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
			got := duration(float64(c.came.CPU))
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

// hostileBars tell the worst of the families for each figure.
func (b *bench) hostileBars() []bar {
	if b.hostilities == nil {
		return nil
	}
	worst := func(what, want string, most float64, unit string, of func(*hostility) float64) bar {
		top := b.hostilities[0]
		for _, h := range b.hostilities {
			if of(h) > of(top) {
				top = h
			}
		}
		return bar{what, want, fmt.Sprintf("%.2f%s (%s)", of(top), unit, top.family.name), of(top) <= most}
	}
	over := fmt.Sprintf("decoding %d families of hostile texts of %s: ", len(b.hostilities), amount(b.hostileSize))
	all := []bar{
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
			bar{over + "those that need more than 64 KiB of stack, or do not end" + way.name, "0", fmt.Sprint(failed), failed == 0})
	}
	return all
}
