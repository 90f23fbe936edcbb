package flow

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// VoteBy says how a vote is counted.
type VoteBy uint8

// The ways to count a vote.
const (
	VoteMajority VoteBy = iota // the value of most voters, by weight if there are weights
	VoteMax                    // the value whose key is greatest
	VoteJudge                  // what a judge makes of all values
)

// VoteOptions are the options of a vote.
type VoteOptions struct {
	By      VoteBy
	Weights []float64       // of a majority: one for each voter; nil: all alike
	Field   string          // the field of a value to compare, or
	Key     engine.Func     // the callback that makes the key to compare; neither: the value itself
	Judge   *Node           // list[Y]→Y
	Quorum  int             // voters that must succeed; 0: all, and the first failure fails the vote
	Output  *generable.Type // the declared type of each voter's output, nil to infer it

	KeySpan, WeightsSpan, QuorumSpan diag.Span
}

// Vote runs voters concurrently on one input and returns one of their outputs, or the output of a judge. Nodes X→Y
// become X→Y. A single node that returns a list, usually a parallel, holds all voters.
func (s *Session) Vote(site Site, o VoteOptions, nodes ...*Node) *Node {
	if !s.some(VoteNode, site, nodes) {
		return s.Failed(VoteNode, site)
	}
	ballots := nodes[0]
	at := site.Args
	if len(nodes) > 1 {
		p := ParOptions{Output: o.Output}
		if o.Quorum > 0 {
			p.OnError = OnErrorKeep
		}
		ballots = s.Par(Site{Span: site.Span, What: site.What, Args: at}, p, nodes...)
		at = []diag.Span{site.Span}
	}
	kids := []*Node{ballots}
	if o.Judge != nil {
		kids = append(kids, o.Judge)
	}
	site.Args = at
	return s.structure(&Node{kind: VoteNode, site: site, vote: &o, types: (*Session).vote}, kids, nil)
}

// voters returns how many nodes vote, 0 if that is known only at run time.
func voters(ballots *Node) int {
	if ballots.kind == ParallelNode && ballots.onError != OnErrorDrop {
		return len(ballots.members())
	}
	return 0
}

func (s *Session) vote(n *Node) bool {
	o, ballots := n.vote, n.kids[0]
	n.in, n.out = ballots.in, generable.ErrorT
	if ballots.failed {
		return true
	}
	list := ballots.out.Deref()
	if list.Kind == generable.AnyType {
		list = generable.ListOfType(generable.AnyT)
	}
	if list.Kind != generable.ListType {
		d := s.mistake(diag.BadVote, n.site.Arg(0), "a vote needs several voters", ballots.outputText(), ballots)
		d.Helpf("vote(a, b, c), or vote(node) with one that returns a list, as par(...) does")
		return false
	}
	n.spec.Item = list.Elem
	if n.spec.Keeps = ballots.keeps(); n.spec.Keeps {
		n.spec.Item = ballots.spec.Each
	}
	n.out = n.spec.Item
	return s.counts(n, o, voters(ballots)) && s.compares(n, o) && s.judges(n, o)
}

// keeps reports whether the items of a node's output are attempts, which a vote unwraps.
func (n *Node) keeps() bool {
	return n.onError == OnErrorKeep && (n.kind == EachNode || n.kind == ParallelNode && !n.merges)
}

// counts checks the numbers of a vote.
func (s *Session) counts(n *Node, o *VoteOptions, voters int) bool {
	ok := true
	wrong := func(at diag.Span, format string, args ...any) *diag.Diagnostic {
		ok = false
		return s.Errorf(diag.BadVote, at.Or(n.site.Span), format, args...)
	}
	switch {
	case o.Quorum < 0:
		wrong(o.QuorumSpan, "quorum must be at least 1, not %d", o.Quorum).Helpf("it is the number of voters that must succeed; left out, all must")
	case voters > 0 && o.Quorum > voters:
		wrong(o.QuorumSpan, "a quorum of %d is never reached by %s", o.Quorum, text.CountInWords(voters, "voter")).Helpf("it is the number of voters that must succeed")
	case o.Quorum > 0 && voters > 0 && !n.kids[0].keeps():
		wrong(o.QuorumSpan, "the first failure fails this vote, regardless of the quorum").Helpf("pass the voters themselves, vote(a, b, c), or par(..., on_error = \"keep\")")
	}
	switch {
	case o.Weights == nil:
	case o.By != VoteMajority:
		wrong(o.WeightsSpan, "weights belong to a vote by majority").Helpf("leave them out, or let the votes be counted")
	case voters != len(o.Weights):
		d := wrong(o.WeightsSpan, "there must be a weight for each voter")
		d.Label = fmt.Sprintf("%s for %s", text.CountInWords(len(o.Weights), "weight"), text.CountInWords(voters, "voter"))
		if voters == 0 {
			d.Label = "how many vote is only known in a run"
		}
		d.Helpf("pass one for each voter in vote(a, b, ...) or par(a, b, ...), in their order")
	default:
		for _, w := range o.Weights {
			if w < 0 {
				wrong(o.WeightsSpan, "a weight must not be negative: %g", w).Helpf("a voter that does not count has the weight 0")
			}
		}
	}
	return ok
}

// compares checks the part of the values that a vote compares.
func (s *Session) compares(n *Node, o *VoteOptions) bool {
	at, what := o.KeySpan.Or(n.site.Span), n.spec.Item
	switch {
	case o.By == VoteJudge && (o.Key != nil || o.Field != ""):
		s.Errorf(diag.BadVote, at, "a judge decides: key does nothing").Helpf("leave out key or judge")
		return false
	case o.Key != nil:
		return callback.CheckArity(&s.Reporter, at, o.Key, 1, "key")
	case o.Field != "":
		typ, lacks := typing.FieldType(n.spec.Item, o.Field)
		if lacks != nil {
			d := s.Errorf(diag.UnknownPick, at, "%s has no field %q", lacks, o.Field)
			if lacks = lacks.Deref(); lacks.Kind == generable.RecordType {
				typing.FieldHelp(d, o.Field, lacks, "")
			} else {
				d.Helpf("key = lambda v: ... makes something to compare of any value")
			}
			return false
		}
		what = typ
	}
	if o.By == VoteMax && !typing.Untyped(what) && !typing.IsNumber(what.Deref()) {
		d := s.mistake(diag.BadVote, at, "by = \"max\" compares numbers", "this is "+what.String())
		d.Helpf("name a field that is one, key = \"score\", or make one, key = lambda v: ...")
		return false
	}
	return true
}

// judges checks that a judge turns the list into what a voter returns.
func (s *Session) judges(n *Node, o *VoteOptions) bool {
	if o.By != VoteJudge || n.kids[1].failed {
		return true
	}
	judge, list := n.kids[1], generable.ListOfType(n.spec.Item)
	at := o.KeySpan.Or(n.site.Span)
	if !s.inferOpen(judge, list) {
		return false
	}
	if generable.Assignable(list, judge.in) == nil && generable.Assignable(judge.out, n.spec.Item) == nil {
		s.edge(edgeTo{judge, false}, edge{at, "the vote", list, judge.in})
		return true
	}
	d := s.mistake(diag.CannotJoin, at, "the judge of a vote takes the list of outputs and returns one",
		fmt.Sprintf("%s takes %s and returns %s, want %s and %s", judge.Label(), judge.in, judge.out, list, n.spec.Item), judge)
	d.Helpf("what makes something else of the list is par(..., merge = %s)", judge.Label())
	return false
}
