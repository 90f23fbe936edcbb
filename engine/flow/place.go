package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// placement says in which structure a node is placed, and where that was written.
type placement struct {
	kind NodeKind
	in   *Node // the structure, once it is built
	at   diag.Span
}

// structure builds n from its operands. It places each operand in n, then calls check to fill in the types and report
// mistakes; check receives the left operand if that was opened. A structure that is refused claims no operands.
func (s *Session) structure(n *Node, operands []*Node, check func(left *Node) bool) *Node {
	if s.Sealed() {
		d := s.Errorf(diag.SealedNode, n.site.Span, "%s composes after loading has ended", n.site.What)
		d.Helpf("compose at the top level; inside def main nodes are called like functions: x = node(input)")
		return s.Failed(n.kind, n.site)
	}
	operands = s.given(n.site, operands)
	n.name, n.kids, n.count = n.site.Name, slices.Clip(operands), len(operands) // the array behind the kids belongs to the caller
	added := operands
	left, how := s.opens(n, operands)
	used := left // set if its kids move into n
	if left != nil {
		n.count = left.count + len(operands) - 1
		n.site.opened = left.count - 1
	}
	if n.lead = how == openedByName; n.lead {
		used = nil
	}
	if used != nil {
		// A chain of operators grows by one node each time: work done for its existing nodes is not repeated. The array
		// is shared, as nobody else appends to it: left is used up now.
		added = operands[1:]
		n.kids, n.lead = append(left.kids, added...), left.lead
		n.depth = left.depth
	}
	if !s.occupy(n, used, added) {
		return s.Failed(n.kind, n.site) // the whole chain of operators is refused: its nodes are free
	}
	if n.site.ByOp {
		for _, k := range operands[1:] {
			k.spec.Joint = n.site.Span
		}
	}
	if used != nil {
		used.place = &placement{n.kind, n, n.site.Span} // composing it again is a second placement
	}
	for _, k := range added {
		n.failed = n.failed || k.failed
		n.depth = max(n.depth, k.depth+1)
	}
	fits := func(left *Node) bool { return n.types(s, n) }
	if check != nil {
		fits = check
	}
	if !s.shallow(n) || !fits(left) || !s.shallowTypes(n) {
		n.failed = true
		n.kids = slices.Clone(n.kids) // left may be opened again
		free(n.kids)
		if used != nil {
			used.place = nil
		}
	}
	s.noteOpened(n, operands, how)
	if left != nil && !left.open && !n.failed { // nothing in it is open
		n.open = slices.ContainsFunc(added, func(k *Node) bool { return k.open })
	} else {
		n.open = isOpen(n)
	}
	placeholder(n)
	return s.add(n)
}

// added returns the kids of n that did not come from an opened left operand.
func (n *Node) added(left *Node) []*Node {
	if left == nil || n.kids[0] == left {
		return n.kids[1:]
	}
	return n.kids[len(left.kids):]
}

// placeholder makes the types of a failed node fit everywhere.
func placeholder(n *Node) {
	if n.failed {
		if n.in == nil {
			n.in = generable.ErrorT
		}
		n.out = generable.ErrorT
	}
}

// given replaces operands that a host left out by failed nodes.
func (s *Session) given(site Site, operands []*Node) []*Node {
	i := slices.Index(operands, nil)
	if i < 0 {
		return operands
	}
	d := s.Errorf(diag.NotANode, site.Arg(i), "%s composes nodes, got nothing", site.What)
	d.Helpf("pass an agent, fn(f), or the result of another composition")
	filled := slices.Clone(operands)
	for j, n := range filled {
		if n == nil {
			filled[j] = s.Failed(FnNode, site)
		}
	}
	return filled
}

// opening says what happens to the left operand of an operator that the same operator made.
type opening uint8

const (
	notOpened    opening = iota // it is something else and stays a single node
	opened                      // its kids move into the new structure, so that a / b / c is one parallel
	openedAgain                 // like opened, and the variable that named it names the new structure: q = q / c
	openedByName                // it stays the first kid, under its name, and its members are those of the new structure
	leftWhole                   // a function returned it
	leftTalking                 // it has a history
)

// opens decides what happens to the left operand, and returns the operand if it is opened. Nested pipelines run as one
// however they are nested. A pipeline with a name is therefore left as it is, which keeps positions in it unchanged.
func (s *Session) opens(n *Node, operands []*Node) (*Node, opening) {
	if !n.flat || len(operands) == 0 {
		return nil, notOpened
	}
	left, nests := operands[0], n.kind == PipelineNode
	switch {
	case left.kind != n.kind || !left.flat || left.place != nil || left.failed || left.session != s || nests && left.name != "":
		return nil, notOpened
	case left.history != nil:
		return nil, leftTalking
	case n.site.Whole && !nests:
		return nil, leftWhole
	case left.name == "":
		return left, opened
	case left.name == n.name:
		return left, openedAgain
	}
	return left, openedByName
}

// noteOpened notes, once for each place, that an operator has another meaning than in versions that opened operands
// regardless of names and functions.
func (s *Session) noteOpened(n *Node, operands []*Node, how opening) {
	at := n.site.Span
	left := operands[0]
	if how == notOpened || how == opened || left.name != "" && how > openedByName || !at.IsValid() || s.noted[at.Pos] {
		return
	}
	s.noted[at.Pos] = true
	d := &diag.Diagnostic{Code: diag.OpenedOperand, Severity: diag.Info, Span: at}
	switch how {
	case openedAgain, openedByName:
		d.Message = fmt.Sprintf("%s opens %s: this is one %s of %d nodes", n.site.What, left.name, n.kind, n.count)
		d.Notef(left.Pos(), "the nodes of %s are in it as if written here; earlier versions kept %s whole, as one node of %d. It is defined", left.name, left.name, len(operands))
		d.Helpf("to keep it whole write %s", s.asFunction(n, operands))
	case leftWhole:
		d.Message = fmt.Sprintf("%s keeps what comes out of a function whole: this is a %s of %d nodes", n.site.What, n.kind, n.count)
		d.Notef(left.Pos(), "earlier versions opened it. It is made")
		d.Helpf("to have one %s of all nodes list them: %s(...)", n.kind, n.kind.Segment())
	case leftTalking:
		d.Message = fmt.Sprintf("%s keeps what has a history whole: this is a %s of %d nodes", n.site.What, n.kind, n.count)
		d.Notef(left.Pos(), "earlier versions opened it, and its history was lost. It is made")
		d.Helpf("to have all nodes in one conversation put it around them all: conversation(... %s ...)", strings.Trim(n.site.What, "`"))
	}
	s.Report(d)
}

// asFunction writes the call that composes the operands of the operator n unopened.
func (s *Session) asFunction(n *Node, operands []*Node) string {
	arguments := asArguments(operands)
	if n.site.Written != nil {
		arguments = operands[0].name + ", " + cmp.Or(n.site.Written(), "...")
	}
	if n.kind == ParallelNode {
		types := text.Each(operands, (*Node).Out)
		if _, ok := s.joined(types); !ok {
			arguments += ", output = " + generable.OneOf(types...).String()
		}
	}
	return n.kind.Segment() + "(" + arguments + ")"
}

// Leads returns the structure that the same operator opened by its name. It is the first child, and its members are
// members of this structure. Leads returns nil for a structure that holds all its members itself.
func (n *Node) Leads() *Node {
	if !n.lead {
		return nil
	}
	return n.kids[0]
}

// operand returns where kid i was written. Spans are counted by members.
func (n *Node) operand(i int) diag.Span {
	if n.lead && i > 0 {
		i += n.count - len(n.kids)
	}
	return n.site.Arg(i)
}

// members returns the nodes that a parallel or forum runs: its kids, with a structure that was opened by its name
// replaced by its members.
func (n *Node) members() []*Node {
	if !n.lead {
		return n.branches()
	}
	return append(slices.Clone(n.kids[0].members()), n.kids[1:]...)
}

// occupy places the kids of n, or none of them if one is already placed. It reports every kid that is. The kids of an
// opened left operand move together with their placement.
func (s *Session) occupy(n, left *Node, added []*Node) bool {
	p := &placement{kind: n.kind}
	switch {
	case left == nil:
	case left.kids[0].place != nil && left.kids[0].place.in == left:
		p = left.kids[0].place
	default: // a refused structure freed them
		added = n.kids
	}
	ok := true
	for j, k := range added {
		i := len(n.kids) - len(added) + j
		if k.session != s && k.session.Sealed() {
			d := s.Errorf(diag.SealedNode, n.operand(i), "%s belongs to a script whose loading has ended", k.Label())
			node.NoteDefined(d, k)
			d.Helpf("%s", factoryHelp(k))
			ok = false
			continue
		}
		taken := k.place
		if taken == nil && k.mark == p {
			taken = p
		}
		k.mark = p
		if taken != nil {
			s.reportTaken(n, i, taken, p)
			ok = false
		}
	}
	if !ok {
		if left != nil && left.kids[0].place == p {
			free(left.kids)
		}
		return false
	}
	p.in, p.at = n, n.site.Span
	for _, k := range added {
		k.place = p
	}
	return true
}

// Refuse turns a structure that was just made into a failed one, and frees its nodes. It is for a structure whose
// arguments contained a reported mistake, so that other mistakes are found as well.
func (s *Session) Refuse(n *Node) *Node {
	if !n.failed {
		n.failed, n.open = true, false
		free(n.kids)
		placeholder(n)
	}
	return n
}

// free takes nodes out of their structure.
func free(nodes []*Node) {
	for _, k := range nodes {
		k.place = nil
	}
}

// reportTaken reports that kid i of n is already placed: in taken, or in n itself if taken is now.
func (s *Session) reportTaken(n *Node, i int, taken, now *placement) {
	k := n.kids[i]
	subject := "the " + k.kind.String() + " " + k.name
	if k.name == "" {
		subject = "this " + k.kind.String()
	}
	what := fmt.Sprintf("%s is part of %s %s, and cannot be part of this %s as well", subject, article(taken.kind), taken.kind, n.kind)
	if taken.kind == n.kind {
		what = fmt.Sprintf("%s is part of another %s already", subject, n.kind)
	}
	if taken == now {
		what = fmt.Sprintf("%s appears twice in this %s", subject, n.kind)
	}
	d := s.Errorf(diag.AlreadyPlaced, n.operand(i), "%s", what)
	d.Label = "a node has one place"
	if taken != now {
		where := taken.kind.String()
		if taken.in != nil && taken.in.name != "" {
			where += " " + taken.in.name
		}
		d.Notef(taken.at.Pos, "%s was placed in %s", k.Label(), where)
	} else if first := n.operand(slices.Index(n.kids, k)); first != n.operand(i) {
		d.Notef(first.Pos, "%s was placed in this %s", k.Label(), n.kind)
	}
	node.NoteDefined(d, k)
	d.Helpf("%s", factoryHelp(k))
}

func factoryHelp(n *Node) string {
	if n.name == "" {
		return "build it in a function and call the function for each place"
	}
	made := cmp.Or(n.site.Made, n.kind.Segment()+"(...)")
	name := n.name
	if strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		name = "node" // an agent may have any name
	}
	return fmt.Sprintf("make it in a factory, def new_%s(): return %s, and call new_%s() for each place", name, made, name)
}

// article returns the indefinite article for the word of a kind.
func article(k NodeKind) string {
	if strings.ContainsRune("aeiou", rune(k.String()[0])) {
		return "an"
	}
	return "a"
}

// shallow refuses structures that nest too deep to run.
func (s *Session) shallow(n *Node) bool {
	if n.depth < node.MaxNesting {
		return true
	}
	d := s.Errorf(diag.WrongArgument, n.site.Span, "%s nests nodes more than %d deep", n.site.What, node.MaxNesting)
	d.Helpf("compose one flat list of nodes: %s(*nodes) or %s([...])", n.kind.Segment(), n.kind.Segment())
	return false
}

// shallowTypes refuses a structure whose types nest too deep, such as lists of lists.
func (s *Session) shallowTypes(n *Node) bool {
	if n.failed || !(n.in.TooDeep() || n.out.TooDeep()) {
		return true
	}
	d := s.Errorf(diag.WrongArgument, n.site.Span, "the type of this %s nests more than %d deep", n.kind, generable.MaxTypeDepth)
	d.Helpf("join each list before it goes into the next one: then(%s(...), fn(..., output = T))", n.kind.Segment())
	return false
}

// some refuses an empty composition.
func (s *Session) some(kind NodeKind, site Site, nodes []*Node) bool {
	if len(nodes) > 0 {
		return true
	}
	d := s.Errorf(diag.EmptyComposition, site.Span, "%s needs at least one node", site.What)
	if kind == VoteNode {
		d.Helpf("name the voters: vote(a, b, c), or make one node return all votes: vote(each(a))")
		return false
	}
	d.Helpf("a %s of nothing has no type; leave it out", kind)
	return false
}
