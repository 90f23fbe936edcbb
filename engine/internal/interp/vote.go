package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// ballot is the vote of one voter.
type ballot struct {
	value, key generable.Value
	weight     float64
}

// elect runs the voters and then counts.
func elect(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	v, err := Run(b, s.kids[0], v)
	if err != nil {
		return v, err
	}
	ballots, failed, err := cast(s.node, v)
	if err != nil {
		return v, err
	}
	o := s.node.Vote()
	if need := max(1, o.Quorum); len(ballots) < need {
		e := engine.Errorf(engine.KindScript, diag.NoQuorum, "the vote has %s and needs %d", text.CountInWords(len(ballots), "ballot"), need).
			WithHelp("see in the notes why voters failed, or ask for a smaller quorum")
		return v, exec.WithNotes(e, failed)
	}
	if o.By == flow.VoteJudge {
		values := make([]generable.Value, len(ballots))
		for i := range ballots {
			values[i] = ballots[i].value
		}
		return Run(b, s.kids[1], generable.NewList(values).Value())
	}
	for i := range ballots {
		if err := keyed(b, o, i, &ballots[i]); err != nil {
			return v, err
		}
	}
	if o.By == flow.VoteMax {
		return highest(ballots), nil
	}
	won, _ := majority(ballots)
	return won, nil
}

// cast turns the voters' outputs into ballots; a failure is not a ballot.
func cast(n *flow.Node, v generable.Value) (ballots []ballot, failed []*engine.Error, err error) {
	list, ok := v.AsList()
	if !ok {
		return nil, nil, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "a vote counts a list, got %s", v.TypeName())
	}
	keeps := n.Spec().Keeps
	for i, item := range list.Items() {
		own := ballot{value: item, weight: 1}
		if i < len(n.Vote().Weights) {
			own.weight = n.Vote().Weights[i]
		}
		if keeps {
			r, _ := item.AsRecord()
			if ok, _ := r.At(0).AsBool(); !ok {
				why, _ := r.At(2).AsRecord()
				failed = append(failed, failureError(why))
				continue
			}
			own.value = r.At(1)
		}
		ballots = append(ballots, own)
	}
	return ballots, failed, nil
}

// failureError returns the error that a failure value represents.
func failureError(r *generable.Record) *engine.Error {
	text := func(name string) string {
		v, _ := r.Get(name)
		s, _ := v.AsStr()
		return s
	}
	return &engine.Error{Kind: engine.ErrKind(text("kind")), Code: diag.Code(text("code")), Message: text("message"), Path: text("path"), Raw: text("raw")}
}

// keyed sets the part of a ballot that is compared.
func keyed(b *exec.Branch, o *flow.VoteOptions, i int, of *ballot) (err error) {
	of.key = of.value
	switch {
	case o.Key != nil:
		of.key, err = b.InvokeAs("key", i, o.Key, of.value)
	case o.Field != "":
		var ok bool
		if of.key, ok = typing.Field(of.value, o.Field); !ok {
			err = engine.Errorf(engine.KindType, diag.UnknownPick, "%s has no field %q", of.value.TypeName(), o.Field)
		}
	}
	if err == nil && o.By == flow.VoteMax {
		if _, ok := of.key.AsNumber(); !ok {
			err = engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "by = \"max\" compares numbers, and a key is %s", of.key.TypeName())
		}
	}
	return err
}

// highest returns the value with the greatest key, the first in case of a tie.
func highest(ballots []ballot) generable.Value {
	best := 0
	for i := range ballots {
		if c, _ := generable.Compare(ballots[i].key, ballots[best].key); c > 0 {
			best = i
		}
	}
	return ballots[best].value
}

// majority returns the first value of the key with the most weight, and the number of its ballots.
func majority(ballots []ballot) (won generable.Value, votes int) {
	type tally struct {
		first, votes int
		weight       float64
	}
	at := make(map[string]int, len(ballots)) // index in tallies by key
	var tallies []tally
	var canon []byte
	for i := range ballots {
		canon = generable.AppendCanon(canon[:0], ballots[i].key)
		k, seen := at[string(canon)]
		if !seen {
			k = len(tallies)
			at[string(canon)] = k
			tallies = append(tallies, tally{first: i})
		}
		tallies[k].weight += ballots[i].weight
		tallies[k].votes++
	}
	best := 0
	for k := range tallies {
		if tallies[k].weight > tallies[best].weight {
			best = k
		}
	}
	return ballots[tallies[best].first].value, tallies[best].votes
}
