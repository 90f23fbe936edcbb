package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/generable"
)

// forum runs the participants, round by round, and then the captain. All receive the unchanged input, with the
// transcript of earlier rounds.
func forum(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	if s.group {
		return listed(fan(b, "round", 0, len(s.kids), 0, nil, func(i int) (*step, generable.Value) { return s.kids[i], v }))
	}
	outer := b.Transcript
	b.Transcript.Outside, b.Transcript.Inside = outer.Last, true
	last := len(s.kids)
	decides := s.node.Decides() != nil
	if decides {
		last--
	}
	var ballots []ballot
	for r := range s.node.Spec().Rounds {
		said, err := fan(b, "round", r, last, 0, nil, func(i int) (*step, generable.Value) { return s.kids[i], v })
		if err != nil {
			return v, err
		}
		ballots = ballots[:0]
		for i, words := range said {
			hear(b, s.kids[i], words)
			ballots = append(ballots, ballot{words, words, 1})
		}
	}
	if need := s.node.Consensus(); need > 0 {
		won, votes := majority(ballots)
		if votes >= need {
			took(b, s.node, ways.ForumAgrees)
		} else {
			took(b, s.node, ways.ForumDisagrees)
		}
		if votes >= need || !decides {
			b.Transcript = outer
			return won, agreed(votes, need, last)
		}
	}
	out, err := Run(b, s.kids[last], v)
	b.Transcript = outer
	return out, err
}

// hear adds a participant's output to the transcript; for a group, the output of each member.
func hear(b *exec.Branch, s *step, words generable.Value) {
	if !s.group {
		b.Transcript.Last = &exec.Utterance{Up: b.Transcript.Last, Name: s.node.Label(), Said: words, Typ: s.node.Out()}
		return
	}
	for i, said := range outputsOf(words) {
		hear(b, s.kids[i], said)
	}
}

// agreed returns an error if too few participants of a forum agree.
func agreed(votes, need, of int) error {
	if votes >= need {
		return nil
	}
	return engine.Errorf(engine.KindScript, diag.NoQuorum, "%d of %d participants agree, and consensus needs %d", votes, of, need).
		WithHelp("let them speak in more rounds, ask for fewer, or say who decides then: otherwise = node")
}
